/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_write.h - compresses bytes that are in memory.
 *
 * A build without libzstd leaves them as they are: who reads sees by the first bytes which it is.
 */
#ifndef SS_READ_ZSTD_WRITE_H
#define SS_READ_ZSTD_WRITE_H

#include "base/error.h"

/* Adds them to `out` as one frame; whether there was memory is in the text. */
void ss_zstd_write(const char *bytes, size_t length, struct ss_text *out);

/* The same in a tenth of the time, and a little longer: for much that somebody waits for. */
void ss_zstd_write_fast(const char *bytes, size_t length, struct ss_text *out);

#endif
