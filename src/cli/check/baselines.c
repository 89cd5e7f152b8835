/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baselines.c - loads the runs of a baseline from files, folders, or folders with several runs.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/check/baselines.h"

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
		return cli_stored_baseline_add(text, session, checking, err);
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
