/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - which run an output is about, for people and programs; the runs that files are of and
 * what makes figures doubtful, for programs.
 */
#include <inttypes.h>

#include "load/doubts.h"
#include "render/render.h"

#define DOT " \xc2\xb7 "

/* Enough of a hash to find the commit. */
#define COMMIT_SHOWN 10

static void identity_add_member(struct ss_text *out, const char *key, const char *text)
{
	ss_text_addf(out, "\"%s\":", key);
	if (text)
		ss_render_quoted(out, text);
	else
		ss_text_add_string(out, "null");
}

void ss_render_identity(const struct ss_identity *run, struct ss_text *out)
{
	char time[SS_IDENTITY_TIME_BYTES];

	ss_identity_time(run, time);
	ss_text_add_string(out, "{");
	identity_add_member(out, "id", run->facts[SS_RUN_ID]);
	if (run->has_clock)
		ss_text_addf(out, ",\"start_ns\":%" PRId64 ",\"start\":", run->start_ns);
	else
		ss_text_add_string(out, ",\"start_ns\":null,\"start\":");
	if (*time)
		ss_render_quoted(out, time);
	else
		ss_text_add_string(out, "null");
	ss_text_add_string(out, ",");
	identity_add_member(out, "host", run->facts[SS_RUN_HOST]);
	ss_text_add_string(out, ",\"hosts\":");
	if (run->hosts)
		ss_text_add_int(out, run->hosts);
	else
		ss_text_add_string(out, "null");
	ss_text_add_string(out, ",");
	identity_add_member(out, "command", run->facts[SS_RUN_COMMAND]);
	ss_text_add_string(out, ",");
	identity_add_member(out, "commit", run->facts[SS_RUN_COMMIT]);
	ss_text_add_string(out, "}");
}

void ss_render_run_member(const struct ss_identity *run, struct ss_text *out)
{
	if (!run->is_known)
		return;
	ss_text_add_string(out, "\"run\":");
	ss_render_identity(run, out);
	ss_text_add_string(out, ",\n");
}

static void run_line_add_part(struct ss_text *out, const char *word, const char *text,
			      size_t length)
{
	ss_text_addf(out, "%s%s", out->length ? DOT : "Run: ", word);
	ss_text_add(out, text, length);
}

void ss_render_run_line(const struct ss_identity *run, uint32_t width, struct ss_text *out)
{
	const char *host = run->facts[SS_RUN_HOST], *commit = run->facts[SS_RUN_COMMIT];
	const char *command = run->facts[SS_RUN_COMMAND], *id = run->facts[SS_RUN_ID];
	char time[SS_IDENTITY_TIME_BYTES];
	struct ss_text line = { 0 };

	ss_identity_time(run, time);
	if (id && !run->is_trace_id) /* programs compare those, people do not */
		run_line_add_part(&line, "", id, strlen(id));
	if (*time) {
		time[10] = ' ';
		run_line_add_part(&line, "", time, 19);
		ss_text_add_string(&line, " UTC");
	}
	if (run->hosts > 1) {
		run_line_add_part(&line, "", "", 0);
		ss_text_addf(&line, "%" PRIu32 " hosts", run->hosts);
	} else if (host) {
		run_line_add_part(&line, "host ", host, strlen(host));
	}
	if (commit)
		run_line_add_part(&line, "commit ", commit,
				  ss_text_prefix(commit, strlen(commit), COMMIT_SHOWN));
	if (command)
		run_line_add_part(&line, "", command, strlen(command));
	if (line.length) {
		bool fits = !width || ss_text_columns(line.data, line.length) <= width;
		size_t length = fits ? line.length
				     : ss_text_prefix(line.data, line.length, width - 1);

		ss_text_add(out, line.data, length);
		ss_text_add_string(out, fits ? "\n" : "\xe2\x80\xa6\n");
	}
	ss_text_end(&line, out);
}

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
