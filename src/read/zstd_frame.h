/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_frame.h - compresses and decompresses bytes that are in memory, in one go.
 *
 * A build without libzstd leaves bytes as they are, and reads no frame at all: who reads sees by
 * the first bytes which it is. For streams, and for frames that do not say how long they are, see
 * source.h.
 */
#ifndef SS_READ_ZSTD_FRAME_H
#define SS_READ_ZSTD_FRAME_H

#include "base/error.h"

/* Adds them to `out` as one frame; whether there was memory is in the text. */
void ss_zstd_write(const char *bytes, size_t length, struct ss_text *out);

/* The same in a tenth of the time, and a little longer: for much that somebody waits for. */
void ss_zstd_write_fast(const char *bytes, size_t length, struct ss_text *out);

/* Whether this build has libzstd. */
extern const bool ss_zstd_is_here;

/* How long the frame is when it is decompressed, as it says; false: it is none, or does not say. */
bool ss_zstd_length(const void *frame, size_t bytes, uint64_t *out);

/* True when the frame is whole and has exactly `room` bytes. */
bool ss_zstd_read(const void *frame, size_t bytes, void *out, size_t room);

#endif
