/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle.h - Python's pickles as data, protocols 0 to 5, read as a stream.
 *
 * A pickle is a program for a stack machine, and in Python it may call anything. Here only data
 * is allowed: an operation that would import, call or rebuild an object ends in an error that
 * says what it tried. No tree is built. When items are added to a container, its reader gets
 * them and returns its own number, which stands for the container from then on; what the reader
 * does not keep is gone. Memory is the stack, the memo (8 bytes per entry) and the texts,
 * each stored once.
 *
 * Where items come one by one (protocol 0) they are held back until the container is put into
 * another one, so that readers get a dictionary at once. Readers see containers that contain
 * themselves as they were when they were put in.
 */
#ifndef SS_READ_PICKLE_H
#define SS_READ_PICKLE_H

#include "base/intern.h"
#include "read/source.h"

enum ss_pickle_kind {
	SS_PICKLE_NONE,
	SS_PICKLE_BOOL,
	SS_PICKLE_INT,
	SS_PICKLE_UNSIGNED, /* 2^63 and above: read `word` as unsigned */
	SS_PICKLE_WIDE,     /* an integer of more than 64 bits: its value is not kept */
	SS_PICKLE_REAL,
	SS_PICKLE_TEXT, /* also bytes; as UTF-8, repaired */
	SS_PICKLE_LIST, /* also sets */
	SS_PICKLE_TUPLE,
	SS_PICKLE_DICT,
};

struct ss_pickle_value {
	uint8_t kind;  /* enum ss_pickle_kind */
	bool is_open;  /* the machine's own: items are held back */
	uint32_t slot; /* the machine's own: memo entry + 1 that stands for it; 0: none */
	union {
		int64_t word;     /* number, 0 or 1, id of the text */
		double real;      /* SS_PICKLE_REAL */
		uint64_t content; /* of a container: what its reader answered; 0: empty */
	};
};

/* What a reader may answer for a container is below this. */
#define SS_PICKLE_CONTENT_MAX (UINT64_C(1) << 59)

struct ss_pickle_reader {
	struct ss_memory *memory;
	struct ss_strings *texts; /* where texts go; may hold some already */
	void *context;
	/*
	 * Items for a container; of a dictionary key and value in turn, `count` is even.
	 * `content` is 0 the first time, then what was answered before. An answer of 0
	 * leaves the container empty.
	 */
	enum ss_status (*fill)(void *context, enum ss_pickle_kind kind, uint64_t *content,
			       const struct ss_pickle_value *items, uint32_t count,
			       struct ss_error *err);
	/* Called now and then; false stops. May be NULL. */
	bool (*progress)(void *context, const struct ss_source *source);
};

struct ss_pickle_result {
	struct ss_pickle_value root;
	bool is_cut;    /* the file ended first: root is what there was, NONE when nothing */
	uint64_t bytes; /* read */
	uint64_t memo_count;
};

/* Reads one pickle; what follows it is not looked at. */
SS_MUST_USE
enum ss_status ss_pickle_read(struct ss_source *source, const struct ss_pickle_reader *reader,
			      struct ss_pickle_result *out, struct ss_error *err);

/* pickle_start.c: whether these bytes begin a pickle: a list, a dictionary, or one that imports. */
bool ss_pickle_is_start(const char *bytes, size_t length);

#endif
