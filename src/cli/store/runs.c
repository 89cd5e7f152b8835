/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - loads a run, diagnoses it and adds it to a store.
 */
#define _DEFAULT_SOURCE /* realpath() */

#include "cli/store/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "cli/stop.h"

static bool store_runs_is_stopped(void *context)
{
	(void)context;
	return stop_asked();
}

/* Splits the option's labels in place; if a key occurs twice, the later label counts. */
static bool store_runs_read_labels(struct store_runs *runs)
{
	const char *given = cli_option_text(runs->arguments, "label");
	size_t most = 1;
	char *at, *next;

	for (const char *c = given; c && *c; c++)
		most += *c == SS_PAIR_END;
	runs->label_texts = given ? strdup(given) : NULL;
	runs->labels = calloc(most + BY_PATH_MAX, sizeof(*runs->labels));
	if (!runs->labels || (given && !runs->label_texts))
		return false;
	for (at = runs->label_texts; at; at = next) {
		char *equals = strchr(at, '=');
		size_t i = 0;

		next = strchr(at, SS_PAIR_END);
		if (next)
			*next++ = '\0';
		*equals = '\0';
		while (i < runs->label_count && strcmp(runs->labels[i].key, at) != 0)
			i++;
		runs->labels[i] = (struct ss_stored_label){ at, equals + 1 };
		runs->label_count += i == runs->label_count;
	}
	return true;
}

/* --- what the folders of a run say --------------------------------------------------------- */

static size_t part_length(const char *text)
{
	return strcspn(text, "/");
}

bool cli_store_runs_is_rule(const char *rule)
{
	uint32_t keys = 0;

	for (;; rule++) {
		size_t length = part_length(rule);
		bool is_key = length > 2 && rule[0] == '{' && rule[length - 1] == '}';

		keys += is_key;
		if (!length || (memchr(rule, '{', length) != NULL) != is_key)
			return false;
		rule += length;
		if (!*rule)
			return keys && keys <= BY_PATH_MAX;
	}
}

/* Whether a part of the rule holds for a folder; *key: what it names, if it names something. */
static bool part_holds(const char *rule, size_t length, const char *folder, size_t folder_length,
		       bool *has_key)
{
	*has_key = rule[0] == '{';
	return folder_length && (*has_key || (length == 1 && rule[0] == '*') ||
				 (length == folder_length && memcmp(rule, folder, length) == 0));
}

static bool by_path_take(struct store_runs *runs, const char *key, const char *value)
{
	size_t count = runs->label_count + runs->by_path_count;

	if (!key || !value)
		return false;
	/* a key has one value: the user's, or that of the upper folder */
	for (size_t i = 0; i < count; i++)
		if (strcmp(runs->labels[i].key, key) == 0)
			return true;
	if (strcmp(key, "job") == 0)
		runs->job = value;
	else if (strcmp(key, "commit") == 0)
		runs->commit = value;
	else {
		runs->labels[count] = (struct ss_stored_label){ key, value };
		runs->by_path_count++;
	}
	return true;
}

/* The name of a folder, or its pseudonym: nobody has given it as a label. */
static const char *by_path_value(const struct store_runs *runs, const char *folder, size_t length,
				 struct ss_arena *arena)
{
	const char *value = ss_arena_copy(arena, folder, length);
	SS_TEXT(name);

	if (!value || !runs->redactor)
		return value;
	if (ss_redactor_name(runs->redactor, value, &name, NULL) != SS_OK)
		return NULL;
	return ss_arena_copy(arena, name.data, name.length);
}

bool cli_store_runs_by_path(struct store_runs *runs, const char *rule, const char *below,
			    struct ss_arena *arena)
{
	const char *folder = below, *part = rule;
	bool has_key, is_done = false;

	runs->job = runs->commit = NULL;
	runs->by_path_count = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (folder = below, part = rule, is_done = false; !is_done;) {
			size_t length = part_length(part), there = part_length(folder);

			if (!part_holds(part, length, folder, there, &has_key))
				return true;
			if (pass && has_key &&
			    !by_path_take(runs, ss_arena_copy(arena, part + 1, length - 2),
					  by_path_value(runs, folder, there, arena)))
				return false;
			is_done = !part[length];
			part += length + !is_done;
			folder += there + (folder[there] == '/');
		}
	}
	return true;
}

int cli_store_runs_open(const char *what, const struct arguments *arguments, const char *store,
			const struct output_inputs *inputs, struct store_runs *out)
{
	struct ss_error err = { 0 };

	int code;

	*out = (struct store_runs){ .what = what,
				    .arguments = arguments,
				    .redaction = redaction_of(arguments) };
	out->redaction.is_quiet = !out->redaction.is_on;
	if (!store_runs_read_labels(out)) {
		(void)ss_fail_memory(&err, "the labels");
		return show_fail(what, &err);
	}
	code = redaction_begin(what, &out->redaction, inputs, store, &out->redactor);
	if (code != EXIT_FINE)
		return code;
	if (ss_run_store_open(store, true, &out->store, &err) != SS_OK)
		return show_fail(what, &err);
	return EXIT_FINE;
}

int cli_store_runs_close(struct store_runs *runs, int code)
{
	free(runs->label_texts);
	free(runs->labels);
	return redaction_end(runs->what, &runs->redaction, runs->redactor, NULL, runs->added, code);
}

/* The user's word, that of the folders, or what the traces call their run; NULL: none. */
static const char *store_runs_job(const struct store_runs *runs, const struct ss_session *session)
{
	const char *given = cli_option_text(runs->arguments, "job");
	struct ss_identity identity;

	if (given || runs->job || !runs->exits)
		return given ? given : runs->job;
	ss_identity_of_job(&session->job, SS_EVERY_RANK, &identity);
	return identity.is_trace_id ? NULL : identity.facts[SS_RUN_ID];
}

static void store_runs_print_added(struct store_runs *runs, struct ss_session *session,
				   const char *path)
{
	/* events have standard output for themselves */
	FILE *out = runs->exits && runs->exits->has_events ? stderr : stdout;
	char size[BYTES_WORDS];

	cli_bytes_in_words(runs->last.bytes, size);
	if (runs->last.was_there)
		fprintf(out, "%s: run %s is in the store already (date=%s)\n", path,
			runs->last.run_id, runs->last.date);
	else
		fprintf(out, "%s: added run %s (date=%s, %s)\n", path, runs->last.run_id,
			runs->last.date, size);
	runs->added += !runs->last.was_there;
	fflush(out);
	if (runs->exits)
		cli_exits_run(runs->exits, session, store_runs_job(runs, session), &runs->last);
	output_tell_cut(stderr, ss_session_cut_count(session));
}

static enum ss_status store_runs_add_session(struct store_runs *runs, struct ss_session *session,
					     const char *path, struct ss_error *err)
{
	const struct arguments *arguments = runs->arguments;
	char *real = realpath(path, NULL);
	const char *source = cli_option_text(arguments, "source");
	SS_TEXT(name);
	const char *commit = cli_option_text(arguments, "commit");
	struct ss_stored_run run = { .job = store_runs_job(runs, session),
				     .commit = commit ? commit : runs->commit,
				     .source = source ? source
					       : real ? real
						      : path,
				     .labels = runs->labels,
				     .label_count = runs->label_count + runs->by_path_count,
				     .threads = cli_option_count(arguments, "threads"),
				     .memory_limit_bytes = cli_option_number(arguments,
									     "memory-limit", 0),
				     .is_stopped = store_runs_is_stopped };
	struct progress_bar bar;
	enum ss_status status = SS_OK;

	/* what the user gives is stored as it is */
	if (!source && runs->redactor) {
		status = ss_redactor_name(runs->redactor, run.source, &name, err);
		run.source = name.data;
	}
	cli_progress_begin(&bar, cli_option_text(arguments, "progress"));
	ss_session_watch(session, cli_progress_step, &bar);
	if (runs->exits)
		cli_exits_begin_run(runs->exits, session);
	if (status == SS_OK)
		status = ss_run_store_add(&runs->store, session, &run, &runs->last, err);
	cli_progress_end(&bar);
	free(real);
	return status;
}

/* Each trace is freed once its digest is made: the store needs no more of it. */
static struct ss_open_options store_runs_loading(const struct store_runs *runs,
						 const char *const *paths, size_t path_count)
{
	struct ss_open_options open = show_loading(runs->arguments, paths, path_count);

	open.reduce = true;
	open.diagnose = true;
	open.tables = true;
	open.redactor = runs->redactor;
	return open;
}

static void store_runs_tell_live(const struct store_runs *runs, const char *path,
				 const struct ss_stored_live *added)
{
	/* events have standard output for themselves */
	FILE *out = runs->exits && runs->exits->has_events ? stderr : stdout;

	/* `watch` adds what came each time, and says so where something did */
	if (runs->exits && !added->steps && !added->minutes)
		return;
	fprintf(out, "%s: added %" PRIu64 " steps and %" PRIu64 " rank-minutes%s%s\n", path,
		added->steps, added->minutes, added->job[0] ? " of job " : "", added->job);
	fflush(out);
}

/* Live numbers of running jobs, one after the other: rows that the store does not have yet. */
static int store_runs_add_live(struct store_runs *runs, struct ss_session *session,
			       const char *path)
{
	const struct arguments *arguments = runs->arguments;
	const struct ss_stored_run run = {
		.job = cli_option_text(arguments, "job"),
		.threads = cli_option_count(arguments, "threads"),
		.memory_limit_bytes = cli_option_number(arguments, "memory-limit", 0),
		.is_stopped = store_runs_is_stopped,
	};
	struct ss_job *job = &session->job;
	struct ss_stored_live added;
	struct ss_error err = { 0 };
	enum ss_status status = SS_OK;

	for (uint32_t i = 0; status == SS_OK && i < (run.job ? 1 : job->live_count); i++) {
		const char *name = run.job ? NULL : job->lives[i].job;
		bool is_first = true;

		for (uint32_t k = 0; name && k < i; k++)
			is_first &= strcmp(job->lives[k].job, name) != 0;
		if (!is_first)
			continue;
		status = ss_job_choose_live(job, name, &err);
		if (status == SS_OK)
			status = ss_run_store_add_live(&runs->store, session, &run, &added, &err);
		if (status == SS_OK)
			store_runs_tell_live(runs, path, &added);
	}
	return status == SS_OK ? EXIT_FINE : show_fail(runs->what, &err);
}

int cli_store_runs_add_lives(struct store_runs *runs, const char *folder)
{
	struct ss_open_options open = show_loading(runs->arguments, &folder, 1);
	struct ss_session *session = NULL;
	int code = EXIT_FINE;

	open.live = SS_OPEN_LIVE_ALONE;
	open.redactor = runs->redactor;
	/* a folder without live numbers is none that can be opened: there is nothing to add */
	if (ss_session_open(&open, &session, NULL) == SS_OK)
		code = store_runs_add_live(runs, session, folder);
	ss_session_close(session);
	return code;
}

int cli_store_runs_add(struct store_runs *runs, const char *path)
{
	struct ss_open_options open = store_runs_loading(runs, &path, 1);
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	enum ss_status status;

	/* traces beside live numbers are those that a node keeps, some of a run */
	open.live = SS_OPEN_LIVE_FIRST;
	status = show_load(runs->arguments, &open, &session, &err);
	if (status == SS_OK && session->job.live_count && !session->job.file_count) {
		int code = store_runs_add_live(runs, session, path);

		ss_session_close(session);
		return code;
	}
	if (status == SS_OK) {
		show_failed(session, runs->what);
		status = store_runs_add_session(runs, session, path, &err);
	}
	if (status == SS_OK)
		store_runs_print_added(runs, session, path);
	if (status == SS_OK && session->job.run_count > 1)
		printf("%s: has %u runs, and this is number %u; --run N adds another\n", path,
		       session->job.run_count, session->job.chosen_run + 1);
	ss_session_close(session);
	return status == SS_OK ? EXIT_FINE : show_fail(runs->what, &err);
}

/* Whether to add the run that was chosen; *has_rest: some files may be of none yet. */
static bool store_runs_takes(const struct ss_job *job, enum store_runs_taken taken, bool *has_rest)
{
	const struct ss_job_run *run = job->run_count ? &job->runs[job->chosen_run] : NULL;

	for (uint32_t i = 0; taken == STORE_RUNS_SURE && i < job->file_count; i++)
		*has_rest |= job->files[i].subject.problem != NULL;
	if (taken == STORE_RUNS_SURE)
		return run && run->is_complete && run->world_size > 0;
	return taken == STORE_RUNS_ALL || !run || run->is_complete;
}

/*
 * Adds one of the runs that the files contain; *count is the number of these runs. A run that is
 * not complete yet is SS_ERR_MISSING without a sentence: nothing is wrong, it comes later.
 */
static enum ss_status store_runs_add_run(struct store_runs *runs, const char *name,
					 struct ss_open_options *open, enum store_runs_taken taken,
					 uint32_t *count, bool *has_rest, struct ss_error *err)
{
	struct ss_session *session = NULL;
	enum ss_status status = show_load(runs->arguments, open, &session, err);

	if (status == SS_OK) {
		const struct ss_job *job = &session->job;

		*count = job->run_count;
		if (!store_runs_takes(job, taken, has_rest)) {
			ss_session_close(session);
			return SS_ERR_MISSING;
		}
		for (uint32_t i = 0; i < job->file_count && !runs->is_mute; i++)
			if (job->files[i].subject.problem)
				fprintf(stderr, "stepscope %s: '%s': %s\n", runs->what,
					job->files[i].subject.path, job->files[i].subject.problem);
		status = store_runs_add_session(runs, session, name, err);
	}
	if (status == SS_OK)
		store_runs_print_added(runs, session, name);
	ss_session_close(session);
	return status;
}

enum store_runs_result cli_store_runs_add_all(struct store_runs *runs, const char *name,
					      const char *const *paths, size_t path_count,
					      enum store_runs_taken taken)
{
	struct ss_open_options open = store_runs_loading(runs, paths, path_count);
	struct ss_error err = { 0 };
	enum ss_status status = SS_OK;
	uint32_t count = 1, added = 0, partial = 0;
	bool has_rest = false;

	runs->is_mute |= taken == STORE_RUNS_SURE;
	while (status == SS_OK && added < count && !stop_asked()) {
		char number[16];

		snprintf(number, sizeof(number), "%u", added + 1);
		open.run = number;
		status = store_runs_add_run(runs, name, &open, taken, &count, &has_rest, &err);
		/* a recording that still arrives does not hold up the others of its folder */
		if (status == SS_ERR_MISSING && err.code == SS_OK) {
			status = SS_OK;
			partial++;
		}
		if (status == SS_OK)
			added++;
	}
	/* a signal after the last run has not stopped anything */
	if (added == count)
		return partial || has_rest ? STORE_RUNS_NOT_WHOLE : STORE_RUNS_ADDED;
	if (stop_asked())
		return STORE_RUNS_STOPPED;
	if (taken == STORE_RUNS_SURE)
		return STORE_RUNS_NOT_WHOLE;
	if (!runs->is_mute)
		(void)show_fail(runs->what, &err);
	return STORE_RUNS_FAILED;
}
