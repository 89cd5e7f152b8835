/*
 * merge.c - command: the traces of all ranks as one, on one clock, for Perfetto.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

#define DEFAULT_NAME "merged.json.gz"

struct values {
	struct show_options show;
	const char *output;
};

static const struct option options[] = {
	{ "--output", "FILE", "the trace to write; .gz compresses it (default: " DEFAULT_NAME ")",
	  OPTION_TEXT, offsetof(struct values, output), 'o' },
	{ "--threads", "N", "threads to read with (default: one per core)", OPTION_COUNT,
	  offsetof(struct values, show.threads), 0 },
	{ "--memory-limit", "SIZE", "give up beyond this, as in 512M or 8G (default: none)",
	  OPTION_BYTES, offsetof(struct values, show.memory_limit_bytes), 0 },
	{ "--progress", "auto|bar|json|none",
	  "how to tell that a long load goes on (default: auto)", OPTION_TEXT,
	  offsetof(struct values, show.progress), 0 },
};

static void prepare(void *values)
{
	struct values *own = values;

	show_prepare(&own->show);
	own->output = DEFAULT_NAME;
}

static bool write_bytes(void *context, const char *bytes, size_t length)
{
	return fwrite(bytes, 1, length, context) == length;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), wanted = strlen(end);

	return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* Under another name until it is whole: half a file is no trace. */
static int write_file(const char *what, struct ss_session *session, const char *path)
{
	char part[4096];
	struct ss_merged merged;
	struct ss_error err = { 0 };
	enum ss_status status;
	FILE *file;

	if (snprintf(part, sizeof(part), "%s.part", path) >= (int)sizeof(part)) {
		fprintf(stderr, "stepscope %s: the name of the output is too long\n", what);
		return EXIT_USAGE;
	}
	file = fopen(part, "wb");
	if (!file) {
		fprintf(stderr, "stepscope %s: cannot write '%s': %s\n", what, path,
			strerror(errno));
		return EXIT_FAILED;
	}
	status = ss_session_merge(session, ends_with(path, ".gz"), write_bytes, file, &merged,
				  &err);
	if (fclose(file) != 0 && status == SS_OK) {
		snprintf(err.text, sizeof(err.text), "cannot write '%s': %s", path,
			 strerror(errno));
		status = SS_ERR_IO;
	}
	if (status == SS_OK && rename(part, path) != 0) {
		snprintf(err.text, sizeof(err.text), "cannot write '%s': %s", path,
			 strerror(errno));
		status = SS_ERR_IO;
	}
	if (status != SS_OK) {
		remove(part);
		err.code = status;
		return show_fail(what, &err);
	}
	printf("%s: %u rank%s, %llu events, %.1f MB; open it at ui.perfetto.dev\n", path,
	       merged.ranks, merged.ranks == 1 ? "" : "s", (unsigned long long)merged.events,
	       (double)merged.bytes / 1e6);
	if (merged.unaligned)
		printf("Not aligned: %u of them, which no collective connects with the first.\n",
		       merged.unaligned);
	if (merged.broken)
		printf("Left out: %llu events that could not be read.\n",
		       (unsigned long long)merged.broken);
	return EXIT_FINE;
}

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct values *own = values;
	struct progress_bar bar;
	struct ss_open_options open = {
		.paths = arguments->paths,
		.path_count = arguments->path_count,
		.threads = (uint32_t)(own->show.threads > 64 ? 64 : own->show.threads),
		.memory_limit_bytes = own->show.memory_limit_bytes,
		.reduce = true,
		.progress = progress_step,
		.progress_context = &bar,
	};
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	enum ss_status status;
	int code;

	if (!arguments->path_count) {
		fprintf(stderr, "stepscope %s: name the trace files, or a folder of them\n",
			command->name);
		return EXIT_USAGE;
	}
	progress_begin(&bar, own->show.progress);
	status = ss_session_open(&open, &session, &err);
	progress_end(&bar);
	if (status != SS_OK)
		return show_fail(command->name, &err);
	code = write_file(command->name, session, own->output);
	ss_session_close(session);
	return code;
}

const struct command command_merge = {
	.name = "merge",
	.summary = "One trace of all ranks, on one clock, for Perfetto",
	.usage = "[OPTIONS] PATH...",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.values_bytes = sizeof(struct values),
	.prepare = prepare,
	.run = run,
};
