/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits.c - gauges for the textfile collector of node_exporter, and events.
 */
#include "cli/store/exits.h"

#include <stdio.h>
#include <string.h>

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

static void exits_print(struct ss_text *text)
{
	if (text->length && !ss_text_failed(text)) {
		fwrite(text->data, 1, text->length, stdout);
		fflush(stdout);
	}
	ss_text_release(text);
}

/* --- recordings ------------------------------------------------------------------------------ */

/* The place of a job's verdict; the job that was heard of first makes room for a new one. */
static struct ss_metrics_verdict *exits_verdict_of(struct watch_exits *exits, const char *job)
{
	struct ss_metrics_verdict *verdicts = exits->verdicts;

	for (uint32_t i = 0; i < exits->verdict_count; i++)
		if (strcmp(verdicts[i].job, job) == 0)
			return &verdicts[i];
	if (exits->verdict_count == SS_METRICS_JOBS) {
		exits->verdict_count--;
		memmove(verdicts, verdicts + 1, exits->verdict_count * sizeof(*verdicts));
	}
	snprintf(verdicts[exits->verdict_count].job, sizeof(verdicts->job), "%s", job);
	return &verdicts[exits->verdict_count++];
}

void cli_exits_begin_run(struct watch_exits *exits, const struct ss_session *session)
{
	char run[SS_RUN_ID_BYTES];

	ss_run_id_of(session, run);
	exits->is_due = exits->has_events && ss_watcher_begin_run(exits->watcher, run);
}

static void exits_tell_run(struct watch_exits *exits, struct ss_session *session, const char *job,
			   const char *run)
{
	const struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
	const struct ss_diagnosis *verdict;
	struct ss_text events = { 0 };

	job = job ? job : "";
	if ((!exits->metrics && !exits->has_events) ||
	    ss_session_verdict(session, &options, &verdict, NULL) != SS_OK)
		return;
	ss_metrics_take_verdict(verdict, exits_verdict_of(exits, job));
	if (exits->has_events)
		ss_metrics_add_findings(session, verdict, job, run, &events);
	exits_print(&events);
}

void cli_exits_run(struct watch_exits *exits, struct ss_session *session, const char *job,
		   const struct ss_stored_added *added)
{
	if (!added->was_there || exits->is_due)
		exits_tell_run(exits, session, job, added->run_id);
	/* killed before this line, the next process tells them again: twice is better than never */
	if (exits->has_events)
		ss_watcher_end_run(exits->watcher, added->run_id);
}

/* --- live numbers ---------------------------------------------------------------------------- */

struct exits_lives {
	struct ss_live lives[SS_METRICS_JOBS];
	struct ss_metrics_live jobs[SS_METRICS_JOBS]; /* those with steps */
	uint32_t live_count, job_count;
};

/* The job whose last step is the newest of those that were not taken; NULL: none. */
static const char *lives_next_job(const struct ss_job *job, const struct exits_lives *lives)
{
	const char *newest = NULL;
	int64_t newest_us = 0;

	for (uint32_t i = 0; i < job->live_count; i++) {
		const struct ss_live_file *file = &job->lives[i];
		bool is_taken = !file->row_count;

		for (uint32_t k = 0; k < lives->job_count; k++)
			is_taken |= strcmp(lives->jobs[k].job, file->job) == 0;
		if (!is_taken && file->rows[file->row_count - 1].end_us > newest_us) {
			newest = file->job;
			newest_us = file->rows[file->row_count - 1].end_us;
		}
	}
	return newest;
}

/* Joins the files of each job; `one`: all files are of that job. */
static enum ss_status lives_make(struct ss_job *job, const char *one, struct exits_lives *out,
				 struct ss_error *err)
{
	const struct ss_live_file **files;
	const char *name;

	if (!SS_ALLOC(&job->arena, files, (size_t)job->live_count + 1))
		return ss_fail_memory(err, "live numbers");
	while (out->live_count < (one ? 1 : SS_METRICS_JOBS) && (name = lives_next_job(job, out))) {
		struct ss_live *live = &out->lives[out->live_count++];
		uint32_t count = 0;

		for (uint32_t i = 0; i < job->live_count; i++)
			if (one || strcmp(job->lives[i].job, name) == 0)
				files[count++] = &job->lives[i];
		SS_TRY(ss_live_make(live, files, count, job->memory, err));
		if (live->step_count)
			out->jobs[out->job_count++] = (struct ss_metrics_live){ live,
										one ? one : name };
	}
	return SS_OK;
}

/* The changes of a job that nobody has told; where one lies is known to a block or two. */
static void exits_tell_changes(const struct watch_exits *exits, const struct ss_metrics_live *job)
{
	const struct ss_live *live = job->live;

	for (uint32_t i = 0; i < live->change_count; i++) {
		const struct ss_live_change *change = &live->changes[i];
		struct ss_text event = { 0 };

		/* a job that starts again has other changes */
		if (!ss_watcher_may_tell(exits->watcher, job->job, live->ranks[0].file->begin_ns,
					 change->number, 2 * SS_LIVE_BLOCK))
			continue;
		ss_metrics_add_change(live, change, job->job, &event);
		exits_print(&event);
	}
}

static void exits_write(struct watch_exits *exits, const struct exits_lives *lives)
{
	struct ss_text metrics = { 0 };
	struct ss_error err = { 0 };

	ss_metrics_add_lives(lives->jobs, lives->job_count, &metrics);
	ss_metrics_add_verdicts(exits->verdicts, exits->verdict_count, &metrics);
	if (exits->metrics && output_write_whole(exits->metrics, &metrics, &err) != SS_OK)
		(void)show_fail("watch", &err);
	for (uint32_t i = 0; exits->has_events && i < lives->job_count; i++)
		exits_tell_changes(exits, &lives->jobs[i]);
	ss_text_release(&metrics);
}

void cli_exits_live(struct watch_exits *exits, bool must)
{
	struct ss_open_options open = show_loading(exits->arguments, &exits->folder, 1);
	struct exits_lives lives = { .live_count = 0 };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };

	if ((!exits->metrics && !exits->has_events) || (!must && ss_clock_ns() < exits->next_ns))
		return;
	exits->next_ns = ss_clock_ns() + AGAIN_NS;
	open.live = SS_OPEN_LIVE_ALONE;
	/* a folder without live numbers is none that can be opened: then there is nothing to say */
	if (ss_session_open(&open, &session, &err) == SS_OK &&
	    lives_make(&session->job, cli_option_text(exits->arguments, "job"), &lives, &err) !=
		    SS_OK)
		lives.job_count = 0;
	exits_write(exits, &lives);
	for (uint32_t i = 0; i < lives.live_count; i++)
		ss_live_release(&lives.lives[i]);
	ss_session_close(session);
}
