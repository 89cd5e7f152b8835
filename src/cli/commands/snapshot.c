/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - command: the memory of a snapshot or trace, as a report or as one view.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/output.h"

static bool snapshot_is_view(const char *word)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; ss_snapshots_offer_at(i, &offer); i++)
		if (strcmp(offer.name, word) == 0)
			return true;
	return false;
}

static void list_views(void)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	printf("\nViews:\n");
	for (size_t i = 0; ss_snapshots_offer_at(i, &offer); i++) {
		const char *group;

		printf("  %-12s %s\n", offer.name, offer.summary);
		for (size_t k = 0; (group = ss_snapshots_group_at(offer.name, k)) != NULL; k++)
			printf("%s%s", k ? ", " : "               --group ", group);
		if (ss_snapshots_group_at(offer.name, 0))
			printf("\n");
	}
}

/* A word that is not a file can only be a view. */
static bool is_file(const char *word)
{
	struct stat info;

	return strcmp(word, "-") == 0 || strchr(word, '/') || stat(word, &info) == 0;
}

/* Finds the view among the words: last, or first as in `diff BEFORE AFTER`; NULL: none. */
static const char *snapshot_split_words(const struct arguments *arguments, struct arguments *files)
{
	size_t last = arguments->path_count - 1;

	*files = *arguments;
	if (arguments->path_count > 1 &&
	    (snapshot_is_view(arguments->paths[last]) || !is_file(arguments->paths[last]))) {
		files->path_count--;
		return arguments->paths[last];
	}
	if (arguments->path_count > 1 && snapshot_is_view(arguments->paths[0])) {
		files->paths++;
		files->path_count--;
		return arguments->paths[0];
	}
	return arguments->path_count == 2 ? "diff" : NULL;
}

/* Compares two files; each gets its own session, as each may be a folder. */
static enum ss_status open_sides(const struct arguments *files, struct ss_session **sides,
				 struct ss_error *err)
{
	bool is_pair = files->path_count == 2;

	for (size_t i = 0; i < (is_pair ? 2 : 1); i++) {
		struct ss_open_options open = show_loading(files, files->paths + i,
							   is_pair ? 1 : files->path_count);

		open.snapshots = true;
		SS_TRY(show_load(files, &open, &sides[i], err));
		show_failed(sides[i], "snapshot");
	}
	return SS_OK;
}

static int snapshot_run(const struct command *command, const struct arguments *arguments)
{
	struct ss_session *sides[2] = { NULL };
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	struct ss_request request;
	struct arguments files;
	enum ss_status status;
	struct shown shown;
	int code;

	if (!arguments->path_count)
		return cli_fail(EXIT_USAGE, command->name,
				"expected a memory snapshot or a trace with memory events; "
				"'stepscope help %s' lists the views",
				command->name);
	request = show_request(snapshot_split_words(arguments, &files), arguments);
	code = show_begin(command->name, arguments,
			  &(struct output_inputs){ .paths = files.paths,
						   .path_count = files.path_count },
			  &shown);
	if (code != EXIT_FINE)
		return code;
	status = open_sides(&files, sides, &err);
	if (status == SS_OK)
		status = sides[1] ? ss_session_memory(sides[1], sides[0], &request, &out, &err)
				  : ss_session_memory(sides[0], NULL, &request, &out, &err);
	ss_session_close(sides[1]);
	ss_session_close(sides[0]);
	return show_end(command->name, status, &shown, &out, &err);
}

const struct command command_snapshot = {
	.name = "snapshot",
	.summary = "Memory of a snapshot or trace: holders, leaks, out of memory",
	.usage = "[OPTIONS] PATH [VIEW]",
	.takers = SS_TAKER_MEMORY | SS_TAKERS_ROWS,
	.print_more = list_views,
	.run = snapshot_run,
};
