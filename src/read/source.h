/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - a stream of bytes: a file, standard input, memory, a caller's
 * function, or what a decompressor makes of one of them.
 *
 * Reading is sequential and fills the caller's buffer; nothing is kept. A
 * compressed stream that is truncated or damaged returns what could be read and
 * then ends; ss_source.flaw says what was wrong.
 */
#ifndef SS_READ_SOURCE_H
#define SS_READ_SOURCE_H

#include "base/memory.h"

struct ss_input; /* stepscope.h */

/* How far ss_source_peek() looks. */
#define SS_PEEK_BYTES 512 /* tar archives have their mark at byte 257 */

enum ss_source_flaw {
	SS_SOURCE_WHOLE = 0,
	SS_SOURCE_CUT,      /* the compressed stream stops in the middle */
	SS_SOURCE_CORRUPT,  /* the compressed data is damaged */
	SS_SOURCE_TRAILING, /* bytes after the compressed data were ignored */
};

struct ss_source {
	struct ss_memory *memory;
	/* Reads at most `room` bytes; *got is 0 only at the end. */
	enum ss_status (*read)(struct ss_source *source, char *buffer, size_t room, size_t *got,
			       struct ss_error *err);
	void (*close)(struct ss_source *source); /* frees the source too */
	enum ss_source_flaw flaw;
	/* read from the file so far, as compressed on disk; others ask while one thread reads */
	_Atomic uint64_t done_bytes;
	uint64_t total_bytes;       /* 0: not known */
	uint64_t stamp;             /* of a file: another one when it was changed or replaced */
	char peeked[SS_PEEK_BYTES]; /* read ahead; ss_source_fill() gives them first */
	size_t peeked_at, peeked_end;
};

/*
 * Opens a file or, for "-", standard input; sees by its first bytes how it is
 * compressed. Error messages do not name the file; the caller adds it.
 */
SS_MUST_USE
enum ss_status ss_source_open(const char *path, struct ss_memory *memory, struct ss_source **out,
			      struct ss_error *err);

/*
 * The same for a path that stands in another file: only a file itself, no link, pipe, device or
 * standard input.
 */
SS_MUST_USE
enum ss_status ss_source_open_file(const char *path, struct ss_memory *memory,
				   struct ss_source **out, struct ss_error *err);

/* Reads lent memory, decompressed in the same way. */
SS_MUST_USE
enum ss_status ss_source_open_memory(const void *data, size_t length, struct ss_memory *memory,
				     struct ss_source **out, struct ss_error *err);

/* Reads what is not on disk, in the same way; it must stay as long as the source. */
SS_MUST_USE
enum ss_status ss_source_open_input(const struct ss_input *input, struct ss_memory *memory,
				    struct ss_source **out, struct ss_error *err);

/* The next bytes, unpacked, and at most SS_PEEK_BYTES: ss_source_fill() still gives them. */
SS_MUST_USE
enum ss_status ss_source_peek(struct ss_source *source, const char **next, size_t *length,
			      struct ss_error *err);

/* Fills the buffer unless the stream ends first, however little one read gives. */
SS_MUST_USE
enum ss_status ss_source_fill(struct ss_source *source, char *buffer, size_t room, size_t *got,
			      struct ss_error *err);

/* All bytes of a file, and SS_PAD_BYTES zeros behind them. */
struct ss_whole_file {
	struct ss_memory *memory; /* which pays for it; the caller sets it */
	char *text;
	size_t length, capacity;
};

/* Reads the source to its end; to be released also if it fails. */
SS_MUST_USE
enum ss_status ss_source_read_whole(struct ss_source *source, struct ss_whole_file *out,
				    struct ss_error *err);
void ss_whole_file_release(struct ss_whole_file *file);

/* For files that are read twice: fails where the second time finds another one. */
SS_MUST_USE
enum ss_status ss_source_is_same(const struct ss_source *source, uint64_t stamp, const char *path,
				 struct ss_error *err);

void ss_source_close(struct ss_source *source);

#endif
