/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_write.h - writes a gzip stream piece by piece.
 *
 * The files that read gzip also write it: one per library, and a twin for builds
 * without one. Level 1, no name and no time in the header, so that the
 * same bytes in the same pieces give the same stream within one library.
 */
#ifndef SS_READ_GZIP_WRITE_H
#define SS_READ_GZIP_WRITE_H

#include "base/memory.h"

struct ss_gzip_writer;

/* Takes compressed bytes; its failure is passed on to who wrote. */
typedef enum ss_status (*ss_gzip_output)(void *context, const char *bytes, size_t length,
					 struct ss_error *err);

SS_MUST_USE
enum ss_status ss_gzip_writer_open(struct ss_memory *memory, ss_gzip_output output, void *context,
				   struct ss_gzip_writer **out, struct ss_error *err);

SS_MUST_USE
enum ss_status ss_gzip_writer_write(struct ss_gzip_writer *writer, const char *bytes, size_t length,
				    struct ss_error *err);

/* Writes what is held back and the end of the stream; nothing may follow. */
SS_MUST_USE
enum ss_status ss_gzip_writer_finish(struct ss_gzip_writer *writer, struct ss_error *err);

/* Frees the writer, finished or not; NULL is fine. */
void ss_gzip_writer_close(struct ss_gzip_writer *writer);

#endif
