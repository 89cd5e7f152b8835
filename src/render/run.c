/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - which run an output is about: a member of JSON, a line for people.
 */
#include <inttypes.h>

#include "render/render.h"

#define DOT " \xc2\xb7 "

/* Enough of a hash to find the commit. */
#define COMMIT_SHOWN 10

static void add_member(struct ss_text *out, const char *key, const char *text)
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
	add_member(out, "id", run->facts[SS_RUN_ID]);
	if (run->has_clock)
		ss_text_addf(out, ",\"start_ns\":%" PRId64 ",\"start\":", run->start_ns);
	else
		ss_text_add_string(out, ",\"start_ns\":null,\"start\":");
	if (*time)
		ss_render_quoted(out, time);
	else
		ss_text_add_string(out, "null");
	ss_text_add_string(out, ",");
	add_member(out, "host", run->facts[SS_RUN_HOST]);
	ss_text_add_string(out, ",\"hosts\":");
	if (run->hosts)
		ss_text_add_int(out, run->hosts);
	else
		ss_text_add_string(out, "null");
	ss_text_add_string(out, ",");
	add_member(out, "command", run->facts[SS_RUN_COMMAND]);
	ss_text_add_string(out, ",");
	add_member(out, "commit", run->facts[SS_RUN_COMMIT]);
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

static void add_part(struct ss_text *out, const char *word, const char *text, size_t length)
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
		add_part(&line, "", id, strlen(id));
	if (*time) {
		time[10] = ' ';
		add_part(&line, "", time, 19);
		ss_text_add_string(&line, " UTC");
	}
	if (run->hosts > 1) {
		add_part(&line, "", "", 0);
		ss_text_addf(&line, "%" PRIu32 " hosts", run->hosts);
	} else if (host) {
		add_part(&line, "host ", host, strlen(host));
	}
	if (commit)
		add_part(&line, "commit ", commit,
			 ss_text_prefix(commit, strlen(commit), COMMIT_SHOWN));
	if (command)
		add_part(&line, "", command, strlen(command));
	if (line.length) {
		bool fits = !width || ss_text_columns(line.data, line.length) <= width;
		size_t length = fits ? line.length
				     : ss_text_prefix(line.data, line.length, width - 1);

		ss_text_add(out, line.data, length);
		ss_text_add_string(out, fits ? "\n" : "\xe2\x80\xa6\n");
	}
	ss_text_end(&line, out);
}
