/*
 * report.c - command: one HTML file that shows the traces wherever it is opened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "serve/page.h"

#define DEFAULT_NAME "report.html"

/* What mail and chat still take, and a browser opens in a second or two. */
#define DEFAULT_MAX_BYTES ((uint64_t)64 << 20)

struct values {
	struct show_options show;
	const char *output, *compare, *page;
	uint64_t max_bytes;
};

static const struct option options[] = {
	{ "--output", "FILE", "the page to write (default: " DEFAULT_NAME ")", OPTION_TEXT,
	  offsetof(struct values, output), 'o' },
	{ "--compare", "PATH", "a second run, shown beside the first", OPTION_TEXT,
	  offsetof(struct values, compare), 0 },
	{ "--rank", "N", "only this rank", OPTION_RANK, offsetof(struct values, show.rank), 0 },
	{ "--step", "N|N-M|NAME", "only what was called in these steps", OPTION_TEXT,
	  offsetof(struct values, show.step), 0 },
	{ "--max-size", "SIZE", "give up beyond this (default: 64M)", OPTION_BYTES,
	  offsetof(struct values, max_bytes), 0 },
	{ "--page", "FILE", "another viewer than the one that is built in", OPTION_TEXT,
	  offsetof(struct values, page), 0 },
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
	own->max_bytes = DEFAULT_MAX_BYTES;
}

/* The page that is built in, or the one of a file, which is then to be freed. */
static int find_page(const char *what, const char *path, struct ss_report_options *out, void **held)
{
	const struct ss_page *page = ss_page();
	FILE *file;
	char *bytes = NULL;
	size_t used = 0, got = 1;

	out->page = page->bytes;
	out->page_bytes = page->length;
	if (!path && page->length)
		return EXIT_FINE;
	if (!path) {
		fprintf(stderr, "stepscope %s: this build has no viewer to put the traces into\n",
			what);
		return EXIT_FAILED;
	}
	file = fopen(path, "rb");
	for (size_t room = 1 << 16; file && got; room *= 2) {
		char *moved = realloc(bytes, room);

		if (!moved)
			break;
		bytes = moved;
		got = fread(bytes + used, 1, room - used, file);
		used += got;
	}
	*held = bytes;
	out->page = bytes;
	out->page_bytes = used;
	if (!file || ferror(file) || got) {
		fprintf(stderr, "stepscope %s: cannot read '%s': %s\n", what, path,
			strerror(errno));
		got = 1;
	}
	if (file)
		fclose(file);
	return got ? EXIT_FAILED : EXIT_FINE;
}

static enum ss_status open_run(const struct values *own, const char *const *paths, size_t count,
			       struct ss_session **out, struct ss_error *err)
{
	struct progress_bar bar;
	struct ss_open_options open = {
		.paths = paths,
		.path_count = count,
		.threads = (uint32_t)(own->show.threads > 64 ? 64 : own->show.threads),
		.memory_limit_bytes = own->show.memory_limit_bytes,
		.progress = progress_step,
		.progress_context = &bar,
	};
	enum ss_status status;

	progress_begin(&bar, own->show.progress);
	status = ss_session_open(&open, out, err);
	progress_end(&bar);
	return status;
}

static void tell(const char *path, struct ss_session *const *sessions, size_t count, uint64_t bytes)
{
	uint32_t files = 0, failed = 0;

	for (size_t i = 0; i < count; i++) {
		files += ss_session_file_count(sessions[i]);
		failed += ss_session_failed_count(sessions[i]);
	}
	printf("%s: %.1f MB; open it in any browser, no server is needed\n", path,
	       (double)bytes / 1e6);
	if (failed)
		printf("Left out: %u of %u files that could not be read; 'stepscope files' says "
		       "why.\n",
		       failed, files);
}

static int write_report(const char *what, const struct values *own,
			const struct ss_report_options *options_of_report,
			struct ss_session *const *sessions, size_t count)
{
	struct ss_error err = { 0 };
	struct output output;
	uint64_t bytes = 0;
	int code = output_open(what, own->output, &output);

	if (code != EXIT_FINE)
		return code;
	if (ss_session_report(sessions, count, options_of_report, output_write, &output, &bytes,
			      &err) != SS_OK) {
		output_drop(&output);
		return show_fail(what, &err);
	}
	code = output_close(what, &output);
	if (code == EXIT_FINE)
		tell(own->output, sessions, count, bytes);
	return code;
}

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct values *own = values;
	struct ss_report_options report = { .max_bytes = own->max_bytes,
					    .rank = own->show.rank,
					    .step = own->show.step };
	struct ss_session *sessions[2] = { NULL, NULL };
	size_t count = own->compare ? 2 : 1;
	struct ss_error err = { 0 };
	enum ss_status status;
	void *held = NULL;
	int code;

	if (!arguments->path_count) {
		fprintf(stderr, "stepscope %s: name the trace files, or a folder of them\n",
			command->name);
		return EXIT_USAGE;
	}
	code = find_page(command->name, own->page, &report, &held);
	if (code == EXIT_FINE) {
		status = open_run(own, arguments->paths, arguments->path_count, &sessions[0], &err);
		if (status == SS_OK && own->compare)
			status = open_run(own, &own->compare, 1, &sessions[1], &err);
		code = status == SS_OK ? write_report(command->name, own, &report, sessions, count)
				       : show_fail(command->name, &err);
	}
	ss_session_close(sessions[0]);
	ss_session_close(sessions[1]);
	free(held);
	return code;
}

const struct command command_report = {
	.name = "report",
	.summary = "One HTML file that shows the traces wherever it is opened",
	.usage = "[OPTIONS] PATH...",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.values_bytes = sizeof(struct values),
	.prepare = prepare,
	.run = run,
};
