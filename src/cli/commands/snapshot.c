/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - command: the memory of a snapshot or trace, all that matters of it or one view.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"

static bool is_view(const char *word)
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

/* A word that is no file can only be meant as a view. */
static bool is_file(const char *word)
{
	struct stat info;

	return strcmp(word, "-") == 0 || strchr(word, '/') || stat(word, &info) == 0;
}

/* `diff BEFORE AFTER` reads as it is said; elsewhere the file comes first. */
static const char *split(const struct arguments *arguments, struct arguments *files)
{
	size_t last = arguments->path_count - 1;

	*files = *arguments;
	if (arguments->path_count > 1 &&
	    (is_view(arguments->paths[last]) || !is_file(arguments->paths[last]))) {
		files->path_count--;
		return arguments->paths[last];
	}
	if (arguments->path_count > 1 && is_view(arguments->paths[0])) {
		files->paths++;
		files->path_count--;
		return arguments->paths[0];
	}
	return arguments->path_count == 2 ? "diff" : NULL;
}

/* Two files are compared; each is a session of its own, as each may be a folder. */
static enum ss_status open_sides(const struct show_options *options, const struct arguments *files,
				 struct ss_session **sides, struct ss_error *err)
{
	bool is_pair = files->path_count == 2;
	enum ss_status status = SS_OK;
	struct progress_bar bar;

	progress_begin(&bar, options->progress);
	for (size_t i = 0; i < (is_pair ? 2 : 1) && status == SS_OK; i++) {
		struct ss_open_options open = { .size = sizeof(open),
						.paths = files->paths + i,
						.path_count = is_pair ? 1 : files->path_count,
						.threads = (uint32_t)options->threads,
						.memory_limit_bytes = options->memory_limit_bytes,
						.run = options->run,
						.snapshots = true,
						.progress = progress_step,
						.progress_context = &bar };

		status = ss_session_open(&open, &sides[i], err);
		if (status == SS_OK)
			show_failed(sides[i], "snapshot");
	}
	progress_end(&bar);
	return status;
}

static int show(const struct command *command, const char *view, const struct show_options *options,
		const struct arguments *files)
{
	struct ss_request request = show_request(view, options);
	struct ss_session *sides[2] = { NULL };
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status = open_sides(options, files, sides, &err);

	if (status == SS_OK)
		status = sides[1] ? ss_session_memory(sides[1], sides[0], &request, &out, &err)
				  : ss_session_memory(sides[0], NULL, &request, &out, &err);
	if (status == SS_OK && out.length)
		fwrite(out.data, 1, out.length, stdout);
	ss_text_release(&out);
	ss_session_close(sides[1]);
	ss_session_close(sides[0]);
	return status == SS_OK ? EXIT_FINE : show_fail(command->name, &err);
}

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct show_options *options = values;
	struct arguments files;
	const char *view;

	if (!arguments->path_count) {
		fprintf(stderr,
			"stepscope %s: name a snapshot of memory, or a trace with memory events; "
			"'stepscope help %s' lists the views\n",
			command->name, command->name);
		return EXIT_USAGE;
	}
	if (!show_check(command->name, options, arguments))
		return EXIT_USAGE;
	if (options->step || options->stream) {
		fprintf(stderr, "stepscope %s: --step and --stream are for other views\n",
			command->name);
		return EXIT_USAGE;
	}
	view = split(arguments, &files);
	return show(command, view, options, &files);
}

const struct command command_snapshot = {
	.name = "snapshot",
	.summary = "A snapshot or a trace with memory: who holds it, leaks, failures",
	.usage = "[OPTIONS] PATH [VIEW]",
	.shows = true,
	.values_bytes = sizeof(struct show_options),
	.print_more = list_views,
	.prepare = show_prepare,
	.run = run,
};
