/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - loads traces, runs a view or report on them and prints it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/command.h"

const struct option show_option_list[] = {
	{ "--format", "text|json|csv|markdown", "how to print it (default: text)", OPTION_TEXT,
	  offsetof(struct show_options, format), 0 },
	{ "--rank", "N|all", "only this rank; all: least, median and most of all ranks",
	  OPTION_RANK, offsetof(struct show_options, rank), 0 },
	{ "--step", "N|N-M|NAME", "only these steps, as the view steps numbers them", OPTION_TEXT,
	  offsetof(struct show_options, step), 0 },
	{ "--device", "N", "only what ran on this device", OPTION_TEXT,
	  offsetof(struct show_options, device), 0 },
	{ "--stream", "N", "only what ran on this stream", OPTION_TEXT,
	  offsetof(struct show_options, stream), 0 },
	{ "--name", "TEXT", "only rows with this in a name; * and ? stand for any letters",
	  OPTION_TEXT, offsetof(struct show_options, name), 0 },
	{ "--group", "WHAT", "what a row is about, where the view has a choice", OPTION_TEXT,
	  offsetof(struct show_options, group), 0 },
	{ "--sort", "COLUMN", "order of the rows; -COLUMN turns it round", OPTION_TEXT,
	  offsetof(struct show_options, sort), 0 },
	{ "--top", "N", "at most so many rows a table and rank; 0 is all (default: 0)",
	  OPTION_COUNT, offsetof(struct show_options, top), 0 },
	{ "--color", "auto|always|never", "colours (default: auto: on a terminal)", OPTION_TEXT,
	  offsetof(struct show_options, color), 0 },
	{ "--width", "N", "columns of text (default: the terminal's, else 80)", OPTION_COUNT,
	  offsetof(struct show_options, width), 0 },
	{ "--run", "N|NAME", "which run, where the files are of several (default: newest complete)",
	  OPTION_TEXT, offsetof(struct show_options, run), 0 },
	{ "--threads", "N", "threads to read with (default: one per core)", OPTION_COUNT,
	  offsetof(struct show_options, threads), 0 },
	{ "--memory-limit", "SIZE", "give up beyond this, as in 512M or 8G (default: none)",
	  OPTION_BYTES, offsetof(struct show_options, memory_limit_bytes), 0 },
	{ "--progress", "auto|bar|json|none",
	  "how to tell that a long load goes on (default: auto)", OPTION_TEXT,
	  offsetof(struct show_options, progress), 0 },
	{ "--no-sandbox", "", "keep the rights that reading does not need", OPTION_FLAG,
	  offsetof(struct show_options, no_sandbox), 0 },
};

const size_t show_option_count = sizeof(show_option_list) / sizeof(show_option_list[0]);

/* Run, threads, memory limit, progress and sandbox stand last. */
const size_t load_option_first = sizeof(show_option_list) / sizeof(show_option_list[0]) - 5;

void show_prepare(void *values)
{
	struct show_options *options = values;

	*options = (struct show_options){
		.format = "text",
		.color = "auto",
		.progress = "auto",
		.rank = SS_EVERY_RANK,
	};
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

bool show_color(const struct show_options *options)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (strcmp(options->color, "auto") != 0)
		return strcmp(options->color, "always") == 0;
	return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       !(term && strcmp(term, "dumb") == 0);
}

uint32_t show_width(const struct show_options *options)
{
	struct winsize size;

	if (options->width)
		return options->width > 10000 ? 10000 : (uint32_t)options->width;
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	    size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

bool show_check(const char *what, const struct show_options *options,
		const struct arguments *arguments)
{
	static const char *const colors[] = { "auto", "always", "never", NULL };
	static const char *const progress[] = { "auto", "bar", "json", "none", NULL };
	const char *format = NULL;

	for (size_t i = 0; (format = ss_format_at(i)) != NULL; i++)
		if (strcmp(format, options->format) == 0)
			break;
	if (!format)
		fprintf(stderr, "stepscope %s: --format takes %s, not '%s'\n", what,
			show_option_list[0].argument, options->format);
	else if (!is_one_of(options->color, colors))
		fprintf(stderr, "stepscope %s: --color takes auto, always or never, not '%s'\n",
			what, options->color);
	else if (!is_one_of(options->progress, progress))
		fprintf(stderr,
			"stepscope %s: --progress takes auto, bar, json or none, not '%s'\n", what,
			options->progress);
	else if (!arguments->path_count)
		fprintf(stderr,
			"stepscope %s: name a trace file or a folder of them; '-' is standard "
			"input\n",
			what);
	else
		return true;
	return false;
}

int show_fail(const char *what, const struct ss_error *err)
{
	fprintf(stderr, "stepscope %s: %s\n", what, err->text);
	return err->code == SS_ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

void show_failed(const struct ss_session *session, const char *what)
{
	uint32_t failed = ss_session_failed_count(session);
	uint32_t unread = ss_session_unread_packs(session);

	if (unread)
		fprintf(stderr,
			"stepscope: %u pack%s could not be read: %s read instead; 'stepscope pack "
			"--force' packs again\n",
			unread, unread == 1 ? "" : "s",
			unread == 1 ? "its file is" : "their files are");
	if (failed)
		fprintf(stderr, "stepscope: %u file%s could not be read%s\n", failed,
			failed == 1 ? "" : "s",
			strcmp(what, "files") == 0 || strcmp(what, "info") == 0
				? ""
				: "; 'stepscope files' says why");
}

/* What a view or report is; verdicts are not in the list. */
static struct ss_offer offer_of(const char *what)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		if (strcmp(offer.name, what) == 0)
			return offer;
	return (struct ss_offer){
		.size = sizeof(struct ss_offer), .name = what, .of_job = true, .of_replay = true
	};
}

struct ss_request show_request(const char *what, const struct show_options *options)
{
	return (struct ss_request){
		.what = what,
		.format = options->format,
		.width = show_width(options),
		.color = show_color(options),
		.top = (uint32_t)(options->top > UINT32_MAX ? UINT32_MAX : options->top),
		.rank = options->rank,
		.step = options->step,
		.device = options->device,
		.stream = options->stream,
		.name = options->name,
		.sort = options->sort,
		.group = options->group,
		.fix = options->fix,
	};
}

/* Verdicts are about memory, too; views of traces leave snapshots alone. */
static bool takes_snapshots(const char *what)
{
	return strcmp(what, "diagnose") == 0 || strcmp(what, "what-if") == 0;
}

struct ss_open_options show_loading(const struct show_options *options, const char *const *paths,
				    size_t path_count)
{
	return (struct ss_open_options){
		.size = sizeof(struct ss_open_options),
		.paths = paths,
		.path_count = path_count,
		.threads = (uint32_t)(options->threads > 64 ? 64 : options->threads),
		.memory_limit_bytes = options->memory_limit_bytes,
		.run = options->run,
	};
}

enum ss_status show_open(const char *what, const struct show_options *options,
			 const char *const *paths, size_t path_count, struct ss_session **out,
			 struct ss_error *err)
{
	struct ss_offer offer = offer_of(what);
	struct progress_bar bar;
	struct ss_open_options open = show_loading(options, paths, path_count);
	enum ss_status status;

	open.reduce = offer.of_job;
	open.diagnose = offer.of_replay;
	open.snapshots = takes_snapshots(what);
	open.progress = progress_step;
	open.progress_context = &bar;
	progress_begin(&bar, options->progress);
	status = ss_session_open(&open, out, err);
	progress_end(&bar);
	if (status == SS_OK)
		show_failed(*out, what);
	return status;
}

int show_run(const char *what, const struct show_options *options,
	     const struct arguments *arguments)
{
	struct ss_request request = show_request(what, options);
	struct ss_session *session = NULL;
	struct progress_bar bar;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status;

	if (!show_check(what, options, arguments))
		return EXIT_USAGE;
	status = show_open(what, options, arguments->paths, arguments->path_count, &session, &err);
	if (status != SS_OK)
		return show_fail(what, &err);
	progress_prepare(&bar, options->progress);
	ss_session_watch(session, progress_step, &bar);
	status = ss_session_run(session, &request, &out, &err);
	progress_clear(&bar);
	if (status == SS_OK && out.length)
		fwrite(out.data, 1, out.length, stdout);
	ss_text_release(&out);
	ss_session_close(session);
	return status == SS_OK ? EXIT_FINE : show_fail(what, &err);
}
