/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits.c - gauges for the textfile collector of node_exporter, and events.
 */
#include "cli/store/exits.h"

#include <stdio.h>
#include <string.h>

#include "api/write/metrics.h"
#include "base/system/clock.h"

/* Prometheus reads every 15 to 60 seconds. */
#define AGAIN_NS INT64_C(30000000000)

struct watch_exits cli_exits_begin(const struct arguments *arguments)
{
	return (struct watch_exits){
		.arguments = arguments,
		.folder = arguments->paths[0],
		.metrics = cli_option_text(arguments, "metrics"),
		.has_events = cli_option_given(arguments, "events"),
	};
}

void cli_exits_end(struct watch_exits *exits)
{
	ss_text_release(&exits->verdict);
}

static void exits_print(struct ss_text *text)
{
	if (text->length && !ss_text_failed(text)) {
		fwrite(text->data, 1, text->length, stdout);
		fflush(stdout);
	}
	ss_text_release(text);
}

static const char *exits_job(const struct watch_exits *exits, const struct ss_live *live)
{
	const char *job = cli_option_text(exits->arguments, "job");

	return job ? job : live && live->rank_count ? live->ranks[0].file->job : "";
}

void cli_exits_run(struct watch_exits *exits, struct ss_session *session, const char *run)
{
	const struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
	const struct ss_diagnosis *verdict;
	struct ss_text events = { 0 };

	if ((!exits->metrics && !exits->has_events) ||
	    ss_session_verdict(session, &options, &verdict, NULL) != SS_OK)
		return;
	ss_text_release(&exits->verdict);
	exits->verdict = (struct ss_text){ 0 };
	ss_metrics_add_verdict(verdict, exits_job(exits, NULL), &exits->verdict);
	if (exits->has_events)
		ss_metrics_add_findings(verdict, exits_job(exits, NULL), run, &events);
	exits_print(&events);
}

void cli_exits_live(struct watch_exits *exits, bool must)
{
	struct ss_open_options open = show_loading(exits->arguments, &exits->folder, 1);
	struct ss_session *session = NULL;
	struct ss_text metrics = { 0 }, events = { 0 };
	struct ss_error err = { 0 };

	if ((!exits->metrics && !exits->has_events) || (!must && ss_clock_ns() < exits->next_ns))
		return;
	exits->next_ns = ss_clock_ns() + AGAIN_NS;
	open.live = 2;
	/* a folder without live numbers is none that can be opened: then there is nothing to say */
	if (ss_session_open(&open, &session, &err) == SS_OK &&
	    ss_job_find_live(&session->job, &err) == SS_OK) {
		const struct ss_live *live = &session->job.live;

		ss_metrics_add_live(live, exits_job(exits, live), &metrics);
		ss_metrics_add_changes(live, exits_job(exits, live), &exits->told, &events);
	}
	ss_session_close(session);
	ss_text_add(&metrics, exits->verdict.data ? exits->verdict.data : "",
		    exits->verdict.length);
	err = (struct ss_error){ 0 };
	if (exits->metrics && output_write_whole(exits->metrics, &metrics, &err) != SS_OK)
		(void)show_fail("watch", &err);
	if (exits->has_events)
		exits_print(&events);
	ss_text_release(&metrics);
	ss_text_release(&events);
}
