/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h - an input format: a kind of file that becomes a trace.
 *
 * To add one: a folder src/trace/X/ with its sources and a meson.build that lists them, one of
 * them with a const struct ss_input_format ss_input_format_X at its bottom, and X in
 * `input_formats` of src/trace/meson.build. Its loader fills a store (kineto/store.h) and calls
 * ss_finish(), or fills the columns of the trace itself.
 */
#ifndef SS_TRACE_FORMATS_H
#define SS_TRACE_FORMATS_H

#include "trace/load.h"

#define SS_ENDINGS_MAX 4

struct ss_input_format {
	/* Files in folders that are taken for traces; NULL ends them. */
	const char *endings[SS_ENDINGS_MAX];
	/*
	 * Whether the source, of which nothing was read, is of this format: by its first bytes,
	 * never by its name. NULL: whatever no other format is.
	 */
	enum ss_status (*is_next)(struct ss_source *source, bool *out, struct ss_error *err);
	/* Fills `out`, which was initialized. */
	enum ss_status (*load)(struct ss_source *source, const struct ss_load_options *options,
			       struct ss_trace *out, struct ss_error *err);
};

/* In the order in which they are tried. */
extern const struct ss_input_format *const ss_input_formats[];
extern const size_t ss_input_format_count;

#endif
