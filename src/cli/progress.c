/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - shows the progress of a long load or answer, and stops a load on Ctrl-C.
 *
 * The bar appears on stderr, only on a terminal and only after a delay: a short load shows nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/stop.h"

#define FIRST_NS ((int64_t)400000000)
#define AGAIN_NS ((int64_t)100000000)
#define BAR_COLUMNS 24

static int64_t progress_clock_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return 0;
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void cli_progress_prepare(struct progress_bar *bar, const char *mode)
{
	*bar = (struct progress_bar){ .next_ns = progress_clock_ns() + FIRST_NS };
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
	now = progress_clock_ns();
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
