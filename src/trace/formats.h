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

#include "trace/load.h"

#define SS_ENDINGS_MAX 4

struct ss_input_format {
	/* Files in folders that are taken for traces; NULL ends them. */
	const char *endings[SS_ENDINGS_MAX];
	/*
	 * Whether a file is of this format: by its first bytes (unpacked, at most SS_PEEK_BYTES),
	 * never by its name.
	 */
	bool (*matches)(const char *bytes, size_t length);
	/* `matches` is only a guess: known foreign files (load/files/foreign_file.c) go before. */
	bool matches_loosely;
	/* stepscope made the file of other traces. */
	bool is_derived;
	/* Events are JSON: they can be redacted while they are read, and merged. */
	bool is_json;
	/* Where they cannot be redacted: what to do instead. NULL: there is nothing. */
	const char *redact_refusal;
	/* Fills `out`, which was initialized. */
	enum ss_status (*load)(struct ss_source *source, const struct ss_load_options *options,
			       struct ss_trace *out, struct ss_error *err);
};

/* In the order in which they are tried. */
extern const struct ss_input_format *const ss_input_formats[];
extern const size_t ss_input_format_count;

/* The format of a file by its first bytes; NULL: it is of none. */
const struct ss_input_format *ss_trace_format_of(const char *bytes, size_t length);

/*
 * The length of the ending by which the name is one of the formats', 0: it is none. Without
 * `derived` only of formats that others write.
 */
size_t ss_trace_format_ending(const char *name, bool derived);

#endif
