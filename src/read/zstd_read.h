/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_read.h - decompresses a frame that is in memory, in one go, to where it is wanted.
 *
 * For streams, and for frames that do not say how long they are, see source.h.
 */
#ifndef SS_READ_ZSTD_READ_H
#define SS_READ_ZSTD_READ_H

#include "base/error.h"

/* Builds without libzstd read no frame at all. */
extern const bool ss_zstd_is_here;

/* How long the frame is when it is decompressed, as it says; false: it is none, or does not say. */
bool ss_zstd_length(const void *frame, size_t bytes, uint64_t *out);

/* True when the frame is whole and has exactly `room` bytes. */
bool ss_zstd_read(const void *frame, size_t bytes, void *out, size_t room);

#endif
