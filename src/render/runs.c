/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - the runs that files are of, and what makes figures doubtful, for programs.
 */
#include <inttypes.h>

#include "render/runs.h"

void ss_render_recorded_runs(const struct ss_job_run *runs, uint32_t count, uint32_t chosen,
			     struct ss_text *out)
{
	ss_text_add_string(out, "[");
	for (uint32_t i = 0; i < count; i++) {
		const struct ss_job_run *run = &runs[i];

		ss_text_addf(out, "%s{\"number\":%" PRIu32 ",\"name\":", i ? ",\n  " : "\n  ",
			     i + 1);
		/* a run has a name only beside others */
		ss_render_quoted(out, run->name ? run->name : run->path);
		ss_text_add_string(out, ",\"first_file\":");
		ss_render_quoted(out, run->path);
		if (run->has_clock)
			ss_text_addf(out, ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64,
				     run->start_ns, run->end_ns);
		else
			ss_text_add_string(out, ",\"start_ns\":null,\"end_ns\":null");
		ss_text_addf(out, ",\"files\":%" PRIu32 ",\"ranks\":%" PRIu32 ",\"world_size\":",
			     run->file_count, run->rank_count);
		if (run->world_size > 0)
			ss_text_add_int(out, run->world_size);
		else
			ss_text_add_string(out, "null");
		ss_text_addf(out, ",\"cut_files\":%" PRIu32 ",\"complete\":%s,\"chosen\":%s}",
			     run->cut_count, run->is_complete ? "true" : "false",
			     i == chosen ? "true" : "false");
	}
	ss_text_add_string(out, "]");
}

void ss_render_doubts(const struct ss_doubts *doubts, struct ss_text *out)
{
	ss_text_add_string(out, "[");
	for (uint32_t i = 0; i < doubts->count; i++) {
		const struct ss_doubt *doubt = &doubts->items[i];

		ss_text_addf(out,
			     "%s{\"what\":\"%s\",\"files\":%" PRIu32 ",\"of_files\":%" PRIu32
			     ",\"text\":",
			     i ? "," : "", ss_doubt_name(doubt->kind), doubt->files,
			     doubt->of_files);
		ss_render_quoted(out, doubt->text);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
}
