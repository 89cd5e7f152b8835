/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - loads traces, runs a view or report on them and prints it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "api/find_files.h"
#include "base/system/clock.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/command.h"
#include "cli/stop.h"

/* --- options in messages ------------------------------------------------------------------ */

/* The length of the option name at the start of the text, up to a quote; 0: not an option. */
static size_t option_length(const char *text, uint32_t takers)
{
	size_t length = strcspn(text, "'");

	return text[length] && ss_option_find(text, length, takers) ? length : 0;
}

/*
 * The library writes "option 'rank'", or begins a sentence with the option's name; prints it as the
 * user types it: --rank.
 */
static void print_words(const char *text, uint32_t takers)
{
	static const char word[] = "option '";
	size_t length = *text == '\'' ? option_length(text + 1, takers) : 0;
	const char *rest = text + length + 2;

	if (length &&
	    (ss_string_begins_with(rest, " takes ") || ss_string_begins_with(rest, " applies ") ||
	     ss_string_begins_with(rest, " does not apply "))) {
		fprintf(stderr, "--%.*s", (int)length, text + 1);
		text = rest;
	}
	for (; *text; text++) {
		const char *name = text + sizeof(word) - 1;

		length = ss_string_begins_with(text, word) ? option_length(name, takers) : 0;
		if (!length) {
			fputc(*text, stderr);
			continue;
		}
		fprintf(stderr, "--%.*s", (int)length, name);
		text = name + length;
	}
}

int cli_fail(enum exit_code code, const char *what, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "stepscope %s: ", what);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return code;
}

int cli_print(const char *what, const struct ss_text *text)
{
	if (ss_text_failed(text))
		return cli_fail(EXIT_FAILED, what, "out of memory");
	fwrite(text->data, 1, text->length, stdout);
	return EXIT_FINE;
}

int show_fail(const char *what, const struct ss_error *err)
{
	struct command command = { 0 };

	(void)command_find(what, &command);
	fprintf(stderr, "stepscope %s: ", what);
	print_words(err->text, command.takers);
	fputc('\n', stderr);
	return err->code == SS_ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

/* Says why the first pack is damaged: views that read little of it do not notice. */
static void show_damaged_pack(const struct ss_session *session)
{
	for (uint32_t i = 0; i < ss_session_file_count(session); i++) {
		struct ss_file file = { .size = sizeof(file) };
		struct ss_error err = { 0 };

		if (ss_session_file(session, i, &file, &err) == SS_OK && file.problem &&
		    ss_find_is_pack(file.path)) {
			fprintf(stderr, "stepscope: '%.300s': %s\n", file.path, file.problem);
			return;
		}
	}
}

void show_failed(const struct ss_session *session, const char *what)
{
	uint32_t failed = ss_session_failed_count(session);
	uint32_t unread = ss_session_unread_packs(session);

	if (unread)
		fprintf(stderr,
			"stepscope: %u pack%s could not be read; %s read instead (renew with "
			"'stepscope pack --force')\n",
			unread, unread == 1 ? "" : "s",
			unread == 1 ? "the original file was" : "the original files were");
	if (failed)
		fprintf(stderr, "stepscope: %u file%s could not be read%s\n", failed,
			failed == 1 ? "" : "s",
			strcmp(what, "files") == 0 || strcmp(what, "info") == 0
				? ""
				: "; 'stepscope files' says why");
	if (failed)
		show_damaged_pack(session);
}

int show_begin(const char *what, const struct arguments *arguments,
	       const struct output_inputs *inputs, struct shown *out)
{
	const char *path = cli_option_text(arguments, "output");

	out->to_file = path && strcmp(path, "-") != 0;
	return out->to_file ? output_open(what, path, inputs, &out->output) : EXIT_FINE;
}

int show_end(const char *what, enum ss_status status, struct shown *shown, struct ss_text *out,
	     const struct ss_error *err)
{
	if (status == SS_OK && out->length && shown->to_file)
		(void)output_write(&shown->output, out->data, out->length);
	else if (status == SS_OK && out->length)
		fwrite(out->data, 1, out->length, stdout);
	ss_text_release(out);
	if (!shown->to_file)
		return status == SS_OK ? EXIT_FINE : show_fail(what, err);
	return status == SS_OK ? output_close(what, &shown->output)
			       : output_fail(what, &shown->output, err);
}

/* --- requests ---------------------------------------------------------------------------- */

/* Whether a person sees the output directly: it goes to a terminal and not to a file. */
static bool is_on_terminal(const struct arguments *arguments)
{
	const char *file = cli_option_text(arguments, "output");

	return isatty(STDOUT_FILENO) && (!file || strcmp(file, "-") == 0);
}

static bool has_color(const struct arguments *arguments)
{
	const char *color = cli_option_text(arguments, "color");
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (strcmp(color, "auto") != 0)
		return strcmp(color, "always") == 0;
	return is_on_terminal(arguments) && !(no_color && *no_color) &&
	       !(term && strcmp(term, "dumb") == 0);
}

/* Narrower terminals get lines of this width, because no table fits. */
#define WIDTH_MIN 40
#define WIDTH_MAX 10000

/*
 * COLUMNS takes precedence over the terminal's width, also in a pipe to a pager, as in git and
 * Python.
 */
static uint32_t width_of(const struct arguments *arguments)
{
	const char *columns = getenv("COLUMNS");
	uint32_t width = cli_option_count(arguments, "width");
	struct winsize size;
	uint64_t wanted;

	if (width)
		return width > WIDTH_MAX ? WIDTH_MAX : width;
	if (columns && ss_option_read_count(columns, &wanted) && wanted >= WIDTH_MIN)
		return wanted > WIDTH_MAX ? WIDTH_MAX : (uint32_t)wanted;
	if (is_on_terminal(arguments) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	    size.ws_col >= WIDTH_MIN)
		return size.ws_col;
	return 80;
}

/* Default number of table rows on a terminal; a pager or a file gets all rows. */
#define TERMINAL_ROWS 30

static uint32_t rows_of(const struct arguments *arguments)
{
	const uint32_t views = SS_TAKER_VIEW | SS_TAKER_JOB_VIEW | SS_TAKER_MEMORY | SS_TAKER_SQL;

	return arguments->takers & views && is_on_terminal(arguments) &&
			       !cli_option_given(arguments, "top")
		       ? TERMINAL_ROWS
		       : 0;
}

/* 0 is all, also where fewer are shown unless another number is given. */
static uint32_t top_of(const struct arguments *arguments)
{
	uint32_t top = cli_option_count(arguments, "top");

	return top || !cli_option_given(arguments, "top") ? top : UINT32_MAX;
}

struct ss_request show_request(const char *what, const struct arguments *arguments)
{
	return (struct ss_request){
		.size = sizeof(struct ss_request),
		.what = what,
		.format = cli_option_text(arguments, "format"),
		.width = width_of(arguments),
		.color = has_color(arguments),
		.top = top_of(arguments),
		.rank = cli_option_text(arguments, "rank"),
		.step = cli_option_text(arguments, "step"),
		.options = arguments->options,
		.rows = rows_of(arguments),
	};
}

/* --- loading ----------------------------------------------------------------------------- */

bool show_check(const char *what, const struct arguments *arguments)
{
	if (arguments->path_count)
		return true;
	fprintf(stderr,
		"stepscope %s: expected a trace file or a folder of traces ('-': standard input)\n",
		what);
	return false;
}

/* Describes a view or report; verdicts are not in the list. */
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

/* Verdicts cover memory, too; views of traces ignore snapshots. */
static bool takes_snapshots(const char *what)
{
	return strcmp(what, "diagnose") == 0 || strcmp(what, "what-if") == 0;
}

struct ss_open_options show_loading(const struct arguments *arguments, const char *const *paths,
				    size_t path_count)
{
	uint32_t threads = cli_option_count(arguments, "threads");

	return (struct ss_open_options){
		.size = sizeof(struct ss_open_options),
		.paths = paths,
		.path_count = path_count,
		.threads = threads > 64 ? 64 : threads,
		.memory_limit_bytes = cli_option_number(arguments, "memory-limit", 0),
		.run = cli_option_text(arguments, "run"),
		.file_limit = cli_option_count(arguments, "file-limit"),
	};
}

bool show_are_digests(const char *const *paths, size_t path_count)
{
	struct ss_paths found = { .limit = UINT32_MAX };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	uint32_t digests = 0, others = 0;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	if (ss_find_files(paths, path_count, &arena, &found, &err) != SS_OK)
		others++;
	for (uint32_t i = 0; i < found.count; i++) {
		const char *path = found.items[i].path;

		if (ss_find_is_digest(path))
			digests++;
		else if (!ss_find_is_snapshot(path))
			others++;
	}
	ss_find_release(&found, &memory);
	ss_arena_release(&arena);
	return digests && !others;
}

enum ss_status show_load(const struct arguments *arguments, const struct ss_open_options *open,
			 struct ss_session **out, struct ss_error *err)
{
	struct ss_open_options own = *open;
	struct progress_bar bar;
	enum ss_status status;

	own.progress = cli_progress_step;
	own.progress_context = &bar;
	cli_progress_begin(&bar, cli_option_text(arguments, "progress"));
	status = ss_session_open(&own, out, err);
	cli_progress_end(&bar);
	return status;
}

static int show_once(const char *what, const struct arguments *arguments)
{
	struct ss_request request = show_request(what, arguments);
	struct ss_open_options open = show_loading(arguments, arguments->paths,
						   arguments->path_count);
	struct ss_offer offer = offer_of(what);
	struct ss_session *session = NULL;
	struct progress_bar bar;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status;
	struct shown shown;
	int code;

	if (!show_check(what, arguments))
		return EXIT_USAGE;
	code = show_begin(what, arguments,
			  &(struct output_inputs){ .paths = arguments->paths,
						   .path_count = arguments->path_count },
			  &shown);
	if (code != EXIT_FINE)
		return code;
	/* for another GPU the work of kernels is looked up again, once the fixes are known */
	open.reduce = offer.of_job && !cli_option_text(arguments, "gpu");
	open.diagnose = offer.of_replay && open.reduce;
	open.snapshots = takes_snapshots(what);
	open.live = offer.of_live ? SS_OPEN_LIVE_FIRST : SS_OPEN_LIVE_TOO;
	status = show_load(arguments, &open, &session, &err);
	if (status != SS_OK)
		return show_end(what, status, &shown, &out, &err);
	cli_progress_prepare(&bar, cli_option_text(arguments, "progress"));
	ss_session_watch(session, cli_progress_step, &bar);
	status = ss_session_run(session, &request, &out, &err);
	cli_progress_clear(&bar);
	/* some damage of packs is found when their columns are read */
	show_failed(session, what);
	ss_session_close(session);
	return show_end(what, status, &shown, &out, &err);
}

#define FOLLOW_MS 2000
#define STOP_LOOK_MS 100

int show_run(const char *what, const struct arguments *arguments)
{
	int code;

	if (!cli_option_given(arguments, "follow") || !isatty(STDOUT_FILENO))
		return show_once(what, arguments);
	stop_filling(true);
	do {
		/* the screen is cleared, and the next line is its first */
		fputs("\033[2J\033[H", stdout);
		code = show_once(what, arguments);
		fflush(stdout);
		for (int i = 0; i < FOLLOW_MS / STOP_LOOK_MS && !stop_asked(); i++)
			poll(NULL, 0, STOP_LOOK_MS);
	} while (code == EXIT_FINE && !stop_asked());
	stop_filling(false);
	return code;
}

/*
 * Shows the progress of a long load or answer, and stops a load on Ctrl-C.
 *
 * The bar appears on stderr, only on a terminal and only after a delay: a short load shows nothing.
 */

#define FIRST_NS ((int64_t)400000000)
#define AGAIN_NS ((int64_t)100000000)
#define BAR_COLUMNS 24

void cli_progress_prepare(struct progress_bar *bar, const char *mode)
{
	*bar = (struct progress_bar){ .next_ns = ss_clock_ns() + FIRST_NS };
	bar->json = strcmp(mode, "json") == 0;
	bar->bar = strcmp(mode, "bar") == 0 || (strcmp(mode, "auto") == 0 && isatty(STDERR_FILENO));
}

void cli_progress_begin(struct progress_bar *bar, const char *mode)
{
	/* a second Ctrl-C ends the program at once */
	stop_reading(true);
	cli_progress_prepare(bar, mode);
}

static void draw_bar(const struct ss_progress *progress)
{
	char cells[BAR_COLUMNS + 1];
	int full = (int)(progress->share * BAR_COLUMNS);

	for (int i = 0; i < BAR_COLUMNS; i++)
		cells[i] = i < full ? '#' : '.';
	cells[BAR_COLUMNS] = '\0';
	fprintf(stderr, "\r\033[K[%s]", cells);
	if (progress->share > 0)
		fprintf(stderr, " %3.0f %%", 100 * progress->share);
	if (!progress->path) {
		fprintf(stderr, "  %s: %u of %u", progress->doing, progress->file_index,
			progress->file_count);
		fflush(stderr);
		return;
	}
	if (progress->file_count > 1)
		fprintf(stderr, "  file %u of %u", progress->file_index + 1, progress->file_count);
	fprintf(stderr, "  %.0f MB  %.1f M events", (double)progress->done_bytes / 1e6,
		(double)progress->event_count / 1e6);
	fflush(stderr);
}

static void print_json(const struct ss_progress *progress)
{
	fprintf(stderr,
		"{\"doing\":\"%s\",\"share\":%.4f,\"file_index\":%u,\"file_count\":%u"
		",\"done_bytes\":%" PRIu64 ",\"total_bytes\":%" PRIu64 ",\"events\":%" PRIu64 "}\n",
		progress->doing ? progress->doing : "", progress->share, progress->file_index,
		progress->file_count, progress->done_bytes, progress->total_bytes,
		progress->event_count);
}

bool cli_progress_step(void *context, const struct ss_progress *progress)
{
	struct progress_bar *bar = context;
	int64_t now;

	if (stop_asked())
		return false;
	if (!bar->bar && !bar->json)
		return true;
	now = ss_clock_ns();
	if (now < bar->next_ns)
		return true;
	bar->next_ns = now + AGAIN_NS;
	if (bar->json)
		print_json(progress);
	else
		draw_bar(progress);
	bar->drawn |= bar->bar;
	return true;
}

void cli_progress_clear(struct progress_bar *bar)
{
	if (bar->drawn)
		fprintf(stderr, "\r\033[K");
	bar->drawn = false;
}

void cli_progress_end(struct progress_bar *bar)
{
	stop_reading(false);
	cli_progress_clear(bar);
}
