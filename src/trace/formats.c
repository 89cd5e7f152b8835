/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.c - the list of input formats, made from src/trace/meson.build, and a trace of any of
 * them.
 */

#include <string.h>

#include "base/system/thread.h"
#include "base/text.h"
#include "trace/formats.h"
#include "trace/pack/pack.h"

#define SS_FORMAT(name) extern const struct ss_input_format ss_input_format_##name;
#include "formats.inc"
#undef SS_FORMAT

#define SS_FORMAT(name) &ss_input_format_##name,
const struct ss_input_format *const ss_input_formats[] = {
#include "formats.inc"
};
#undef SS_FORMAT

const size_t ss_input_format_count = SS_COUNT(ss_input_formats);

const struct ss_input_format *ss_trace_format_of(const char *bytes, size_t length)
{
	for (size_t i = 0; i < ss_input_format_count; i++)
		if (ss_input_formats[i]->matches(bytes, length))
			return ss_input_formats[i];
	return NULL;
}

size_t ss_trace_format_ending(const char *name, bool derived)
{
	for (size_t i = 0; i < ss_input_format_count; i++) {
		const struct ss_input_format *format = ss_input_formats[i];

		if (format->is_derived && !derived)
			continue;
		for (size_t k = 0; k < SS_ENDINGS_MAX && format->endings[k]; k++)
			if (ss_string_ends_with(name, format->endings[k]))
				return strlen(format->endings[k]);
	}
	return 0;
}

enum ss_status ss_trace_report_load(const struct ss_load_options *options,
				    const struct ss_source *source, uint64_t event_count,
				    struct ss_error *err)
{
	if (options->progress && !options->progress(options->progress_context, source->done_bytes,
						    source->total_bytes, event_count))
		return ss_fail(err, SS_ERR_STOPPED, "stopped");
	return SS_OK;
}

/* A file of no known format goes to the last one, which says why it is not a trace. */
static enum ss_status load_by_format(struct ss_source *source,
				     const struct ss_load_options *options, struct ss_trace *out,
				     struct ss_error *err)
{
	const struct ss_input_format *format;
	const char *bytes;
	size_t length;

	SS_TRY(ss_source_peek(source, &bytes, &length, err));
	format = ss_trace_format_of(bytes, length);
	if (!format)
		format = ss_input_formats[ss_input_format_count - 1];
	return format->load(source, options, out, err);
}

enum ss_status ss_trace_load(struct ss_source *source, const struct ss_load_options *options,
			     struct ss_memory *memory, struct ss_trace *out, struct ss_error *err)
{
	enum ss_status status = ss_trace_init(out, memory, err);

	assert(options->threads >= 1 && options->threads <= SS_THREADS_MAX);
	if (status == SS_OK)
		status = load_by_format(source, options, out, err);
	if (status == SS_OK && !options->lazy)
		status = ss_trace_need_columns(out, SS_COLUMNS_ALL, options->threads, err);
	if (status != SS_OK)
		ss_trace_release(out);
	return status;
}
