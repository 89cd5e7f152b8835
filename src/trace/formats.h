/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h - an input format: a kind of file that becomes a trace.
 *
 * To add one: a folder src/trace/X/ with its sources and a meson.build that lists them, one of
 * them with a const struct ss_input_format ss_input_format_X at its bottom, and X in
 * `input_formats` of src/trace/meson.build. Its loader fills batches (batch.h), adds them to a
 * builder (builder.h) and calls ss_finish(), or fills the columns of the trace itself. Who finds,
 * refuses, opens or redacts files asks this list and knows no format by name.
 */
#ifndef SS_TRACE_FORMATS_H
#define SS_TRACE_FORMATS_H

#include "read/source.h"
#include "trace/trace.h"

/* A trace from a stream of bytes. */

struct ss_captures; /* capture.h */

struct ss_load_options {
	uint32_t threads;   /* at least 1 */
	uint32_t part;      /* of files with several processes: which one; 0: all in one trace */
	bool lazy;          /* columns of a pack are unpacked by ss_trace_need_columns(), not now */
	size_t block_bytes; /* how much is read at once; 0: the default. For tests */
	const struct ss_captures *captures; /* lent: of graphs that the trace replays; or NULL */
	uint32_t source;                    /* its own captures have this number */
	/* Called after every block; false stops the load. May be NULL. */
	bool (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes,
			 uint64_t event_count);
	void *progress_context;
};

/* For loaders, after every block: reports the progress. Fails if the load is to stop. */
SS_MUST_USE
enum ss_status ss_trace_report_load(const struct ss_load_options *options,
				    const struct ss_source *source, uint64_t event_count,
				    struct ss_error *err);

/*
 * Reads the whole source into `out`, which must not be released if this fails. The result does not
 * depend on threads and blocks.
 */
SS_MUST_USE
enum ss_status ss_trace_load(struct ss_source *source, const struct ss_load_options *options,
			     struct ss_memory *memory, struct ss_trace *out, struct ss_error *err);

#define SS_ENDINGS_MAX 4

struct ss_input_format {
	/* Files in folders that are taken for traces; NULL ends them. */
	const char *endings[SS_ENDINGS_MAX];
	/*
	 * Whether a file is of this format: by its first bytes (unpacked, at most SS_PEEK_BYTES),
	 * never by its name.
	 */
	bool (*matches)(const char *bytes, size_t length);
	/* `matches` is only a guess: known foreign files (load/files/open.c) go before. */
	bool matches_loosely;
	/* stepscope made the file from other traces. */
	bool is_derived;
	/* Events are JSON: they can be redacted while they are read, and merged. */
	bool is_json;
	/* Where they cannot be redacted: what to do instead. NULL: there is nothing. */
	const char *redact_refusal;
	/* How many processes the file has that can be traces of their own. NULL: always one. */
	uint32_t (*count_parts)(struct ss_source *source);
	/* Fills `out`, which was initialized. */
	enum ss_status (*load)(struct ss_source *source, const struct ss_load_options *options,
			       struct ss_trace *out, struct ss_error *err);
};

/* In the order in which they are tried. */
extern const struct ss_input_format *const ss_input_formats[];
extern const size_t ss_input_format_count;

/* The format of a file by its first bytes; NULL: none. */
const struct ss_input_format *ss_trace_format_of(const char *bytes, size_t length);

/*
 * The length of the ending of an input format in the name; 0: it has none. Without `derived`, only
 * formats that other programs write count.
 */
size_t ss_trace_format_ending(const char *name, bool derived);

#endif
