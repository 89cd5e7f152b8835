/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - the interface to a decompression library.
 *
 * One file per library implements a codec; where a library is missing, a twin
 * ending in _none.c gives a codec that says so. codec.c drives them all.
 */
#ifndef SS_READ_CODEC_H
#define SS_READ_CODEC_H

#include "read/source.h"
#include "base/memory.h"
#include "base/error.h"

struct ss_codec_io {
	const char *in;
	size_t in_bytes; /* what is left of the input */
	char *out;
	size_t out_bytes; /* what is left of the room */
};

enum ss_codec_result {
	SS_CODEC_MORE, /* wants input, or room */
	SS_CODEC_END,  /* one member or frame is complete; another may follow */
	SS_CODEC_CORRUPT,
	SS_CODEC_NO_MEMORY,
};

struct ss_codec {
	const char *name;    /* "gzip" */
	const char *missing; /* how to get the library; NULL when this build has it */
	const char *magic;   /* first bytes of a stream */
	size_t magic_bytes;
	/* Returns the state of a decoder, NULL without memory. */
	void *(*open)(struct ss_memory *memory);
	/* Decodes more; afterwards `io` has what is left. */
	enum ss_codec_result (*step)(void *state, struct ss_codec_io *io);
	/* Makes the state ready for the next member. */
	bool (*reset)(void *state);
	void (*close)(void *state, struct ss_memory *memory);
};

extern const struct ss_codec ss_codec_gzip;
extern const struct ss_codec ss_codec_zstd;

/* Wraps `inner`, which it then owns, also when it fails. */
SS_MUST_USE
enum ss_status ss_codec_open(const struct ss_codec *codec, struct ss_source *inner,
			     struct ss_source **out, struct ss_error *err);

/*
 * Writes a gzip stream piece by piece.
 *
 * The files that read gzip also write it: one per library, and a twin for builds without one.
 * Level 1, no name and no time in the header, so that the same bytes in the same pieces give the
 * same stream within one library.
 */

struct ss_gzip_writer;

/* Takes compressed bytes; its failure is returned to the writer. */
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

/*
 * Compresses and decompresses with zstd what is in memory, in one go.
 *
 * A build without libzstd leaves bytes as they are, and reads no frame at all: who reads sees by
 * the first bytes which it is. For streams, and for frames that do not say how long they are, see
 * source.h.
 */

/* Adds them to `out` as one frame; whether there was memory is in the text. */
void ss_zstd_write(const char *bytes, size_t length, struct ss_text *out);

/* The same in a tenth of the time, and a little longer: for much that somebody waits for. */
void ss_zstd_write_fast(const char *bytes, size_t length, struct ss_text *out);

/* Whether this build has libzstd. */
extern const bool ss_zstd_is_here;

/* The decompressed length that the frame states; false: not a frame, or it does not state it. */
bool ss_zstd_length(const void *frame, size_t bytes, uint64_t *out);

/* True when the frame is whole and has exactly `room` bytes decompressed. */
bool ss_zstd_read(const void *frame, size_t bytes, void *out, size_t room);

#endif
