/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baselines.c - loads the runs of a baseline from files, folders, or folders with several runs.
 */
#include "cli/check/baselines.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/sql/query.h"
#include "store/store.h"

/* Earlier runs of a store as the baseline: --against STORE[:key=value...]. */

#define LABELS_MAX 16

static struct ss_error engine_problem;

/* The length of the path before the labels, since paths may contain colons; 0: not a store. */
static size_t store_length(const char *text)
{
	size_t length = strlen(text);

	for (;;) {
		char path[SS_PATH_BYTES];
		struct stat info;

		if (length &&
		    (size_t)snprintf(path, sizeof(path), "%.*s/stepscope.json", (int)length, text) <
			    sizeof(path) &&
		    stat(path, &info) == 0)
			return length;
		while (length && text[length - 1] != ':')
			length--;
		if (!length)
			return 0;
		length--;
	}
}

bool cli_stored_baseline_is(const char *text)
{
	return store_length(text);
}

void cli_stored_baseline_begin(const struct arguments *arguments)
{
	const char *text = cli_option_text(arguments, "against");

	if (text && cli_stored_baseline_is(text))
		cli_engine_prepare(&engine_problem);
}

/* Reads ":team=x:model=y"; splits the text in place. */
static enum ss_status baseline_read_labels(char *text, struct ss_stored_label *labels,
					   size_t *count, struct ss_error *err)
{
	*count = 0;
	while (text && *text) {
		char *next = strchr(text, ':'), *equals;

		if (next)
			*next++ = '\0';
		equals = strchr(text, '=');
		if (!equals || equals == text || *count == LABELS_MAX)
			return ss_fail(err, SS_ERR_USAGE,
				       "'%.60s' is no label of a store: expected STORE:key=value, "
				       "for example store:job=pretrain",
				       text);
		*equals = '\0';
		labels[(*count)++] = (struct ss_stored_label){ text, equals + 1 };
		text = next;
	}
	return SS_OK;
}

static enum ss_status baseline_add_stored(const char *path, const struct ss_stored_baseline *wanted,
					  struct ss_checking *checking, struct ss_error *err)
{
	struct ss_run_store store;
	enum ss_status status;

	SS_TRY(ss_run_store_open(path, false, &store, err));
	status = ss_run_store_baseline(&store, wanted, checking->before,
				       &checking->check.before_count, &checking->arena, err);
	if (status == SS_OK && !checking->check.before_count)
		return ss_fail(err, SS_ERR_MISSING,
			       "the store '%.200s' has no other run%s; 'stepscope store add' adds "
			       "runs",
			       path, wanted->label_count ? " with these labels" : "");
	checking->is_series = true;
	return status;
}

/* Adds the earlier runs of the store; `session` is the run to be checked. */
static enum ss_status stored_baseline_add(const char *text, const struct ss_session *session,
					  struct ss_checking *checking, struct ss_error *err)
{
	struct ss_stored_label labels[LABELS_MAX];
	struct ss_stored_baseline wanted = { .labels = labels };
	struct ss_identity identity;
	char id[SS_RUN_ID_BYTES];
	size_t length = store_length(text);
	char *path = ss_arena_copy(&checking->arena, text, strlen(text));

	if (engine_problem.code != SS_OK) {
		*err = engine_problem;
		return err->code;
	}
	if (!path)
		return ss_fail_memory(err, "the baseline");
	path[length] = '\0';
	SS_TRY(baseline_read_labels(text[length] ? path + length + 1 : NULL, labels,
				    &wanted.label_count, err));
	ss_run_id_of(session, id);
	wanted.except = id;
	ss_identity_of_job(&session->job, SS_EVERY_RANK, &identity);
	wanted.has_moment = identity.has_clock;
	wanted.moment_ns = identity.start_ns;
	return baseline_add_stored(path, &wanted, checking, err);
}

/* Where a run of a folder with several runs lies. */
struct baseline_place {
	char *path;   /* its own folder, or the folder of all runs */
	char run[16]; /* number for --run; "": the only run of the folder */
	bool is_complete;
};

struct places {
	struct baseline_place items[SS_CHECK_RUNS_MAX];
	uint32_t count;
};

static enum ss_status baseline_open(const struct arguments *arguments, const char *path,
				    const char *run, struct ss_session **out, struct ss_error *err)
{
	struct ss_open_options open = show_loading(arguments, &path, 1);

	open.run = run && *run ? run : NULL;
	open.reduce = true;
	open.diagnose = true;
	open.snapshots = true;
	SS_TRY(show_load(arguments, &open, out, err));
	show_failed(*out, "check");
	return SS_OK;
}

/* Whether no other run has files in or below that folder. */
static bool run_is_alone_in_folder(const struct ss_job *job, uint32_t run, const char *folder)
{
	size_t length = strlen(folder);

	for (uint32_t i = 0; i < job->run_count; i++)
		if (i != run && strncmp(job->runs[i].path, folder, length) == 0 &&
		    job->runs[i].path[length] == '/')
			return false;
	return true;
}

/* Lists the newest runs of the folder; a run with its own folder is loaded from there. */
static bool baseline_list_newest(const struct ss_job *job, const char *path, struct ss_arena *arena,
				 struct places *out)
{
	uint32_t first = job->run_count > SS_CHECK_RUNS_MAX ? job->run_count - SS_CHECK_RUNS_MAX
							    : 0;
	char folder[SS_PATH_BYTES];

	out->count = 0;
	for (uint32_t i = first; i < job->run_count; i++) {
		struct baseline_place *place = &out->items[out->count++];
		bool has_folder = ss_folder_of(job->runs[i].path, folder) &&
				  run_is_alone_in_folder(job, i, folder);

		place->path = ss_arena_copy(arena, has_folder ? folder : path,
					    strlen(has_folder ? folder : path));
		if (!place->path)
			return false;
		if (has_folder)
			place->run[0] = '\0';
		else
			snprintf(place->run, sizeof(place->run), "%u", i + 1);
		place->is_complete = job->runs[i].is_complete;
	}
	return true;
}

/* Loads and measures the runs; incomplete ones only if all are incomplete. */
static enum ss_status baseline_add_newest(const struct arguments *arguments,
					  struct ss_checking *checking, const struct places *places,
					  struct ss_error *err)
{
	bool has_complete = false;

	checking->is_series = places->count > 1;
	for (uint32_t i = 0; i < places->count; i++)
		has_complete = has_complete || places->items[i].is_complete;
	for (uint32_t i = 0; i < places->count; i++) {
		const struct baseline_place *place = &places->items[i];
		struct ss_session *session = NULL;
		enum ss_status status;

		if (has_complete && !place->is_complete)
			continue;
		status = baseline_open(arguments, place->path, place->run, &session, err);
		if (status == SS_OK)
			status = ss_checking_add(checking, session, err);
		ss_session_close(session);
		SS_TRY(status);
	}
	return SS_OK;
}

static enum ss_status baseline_add_path(const struct arguments *arguments,
					struct ss_checking *checking, const char *path,
					struct ss_error *err)
{
	struct places *places = SS_ARENA_NEW(&checking->arena, struct places, 1);
	struct ss_session *session = NULL;
	enum ss_status status = places ? baseline_open(arguments, path, NULL, &session, err)
				       : ss_fail_memory(err, "the baseline");

	if (status == SS_OK && session->job.run_count <= 1)
		status = ss_checking_add(checking, session, err);
	else if (status == SS_OK &&
		 !baseline_list_newest(&session->job, path, &checking->arena, places))
		status = ss_fail_memory(err, "the baseline");
	ss_session_close(session);
	return status == SS_OK ? baseline_add_newest(arguments, checking, places, err) : status;
}

enum ss_status cli_baselines_add(const struct arguments *arguments,
				 const struct ss_session *session, struct ss_checking *checking,
				 struct ss_error *err)
{
	const char *text = cli_option_text(arguments, "against");
	struct stat info;

	if (text && cli_stored_baseline_is(text))
		return stored_baseline_add(text, session, checking, err);
	/* a path may contain commas */
	if (text && stat(text, &info) == 0)
		return baseline_add_path(arguments, checking, text, err);
	for (; text && *text; text += *text == ',') {
		size_t length = strcspn(text, ",");
		char *path = ss_arena_copy(&checking->arena, text, length);

		if (!path)
			return ss_fail_memory(err, "the baseline");
		if (length)
			SS_TRY(baseline_add_path(arguments, checking, path, err));
		text += length;
	}
	return SS_OK;
}
