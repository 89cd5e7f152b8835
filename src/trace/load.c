/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - the list of input formats, made from src/trace/meson.build, and a trace of any of them.
 */
#include "trace/load.h"

#include "base/system/thread.h"
#include "trace/formats.h"
#include "trace/pack/later.h"

#define SS_FORMAT(name) extern const struct ss_input_format ss_input_format_##name;
#include "formats.inc"
#undef SS_FORMAT

#define SS_FORMAT(name) &ss_input_format_##name,
const struct ss_input_format *const ss_input_formats[] = {
#include "formats.inc"
};
#undef SS_FORMAT

const size_t ss_input_format_count = SS_COUNT(ss_input_formats);

static enum ss_status input_format_find(struct ss_source *source,
					const struct ss_input_format **out, struct ss_error *err)
{
	for (size_t i = 0; i < ss_input_format_count; i++) {
		bool is_next = true;

		*out = ss_input_formats[i];
		if ((*out)->is_next)
			SS_TRY((*out)->is_next(source, &is_next, err));
		if (is_next)
			break;
	}
	return SS_OK;
}

enum ss_status ss_load(struct ss_source *source, const struct ss_load_options *options,
		       struct ss_memory *memory, struct ss_trace *out, struct ss_error *err)
{
	enum ss_status status = ss_trace_init(out, memory, err);
	const struct ss_input_format *format = NULL;

	assert(options->threads >= 1 && options->threads <= SS_THREADS_MAX);
	if (status == SS_OK)
		status = input_format_find(source, &format, err);
	if (status == SS_OK)
		status = format->load(source, options, out, err);
	if (status == SS_OK && !options->lazy)
		status = ss_trace_need(out, SS_COLUMNS_ALL, options->threads, err);
	if (status != SS_OK)
		ss_trace_release(out);
	return status;
}
