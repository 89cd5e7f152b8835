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
	const char *missing; /* how to get it; NULL when it is there */
	const char *magic;   /* first bytes of a stream */
	size_t magic_bytes;
	/* Returns the state of a decoder, NULL without memory. */
	void *(*open)(struct ss_memory *memory);
	/* Decodes on; afterwards `io` tells what is left. */
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

#endif
