/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulated.c - writes a simulated job and prints its faults.
 */
#include <stdio.h>

#include "api/simulator.h"
#include "base/system/clock.h"
#include "cli/output.h"
#include "cli/command.h"
#include "cli/stop.h"

/* The simulator plants no more faults than this. */
#define PLANTED_MAX SS_SIM_CAUSES_MAX

struct planted_list {
	uint32_t count;
	struct ss_planted items[PLANTED_MAX];
};

static void add_planted(void *context, const struct ss_planted *planted)
{
	struct planted_list *list = context;

	if (list->count < PLANTED_MAX)
		list->items[list->count++] = *planted;
}

static void print_simulated(const struct ss_simulation *simulation, const struct ss_simulated *done,
			    const struct planted_list *list, double seconds)
{
	char size[BYTES_WORDS];

	cli_bytes_in_words(done->bytes, size);
	printf("%s: %u rank%s, %u steps\n%.2f M events, %s, written in %.2f s (%.1f M events/s)\n",
	       simulation->folder, done->ranks, done->ranks == 1 ? "" : "s", done->steps,
	       (double)done->events / 1e6, size, seconds,
	       seconds > 0 ? (double)done->events / 1e6 / seconds : 0);
	printf("A step takes %.3f ms", (double)done->step_ns / 1e6);
	if (!list->count) {
		printf("; the job has no faults.\n");
		return;
	}
	printf("; without the faults below it would take %.3f ms.\n\n",
	       (double)done->healthy_step_ns / 1e6);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct ss_planted *planted = &list->items[i];

		printf("  %u  %-20s %s %9.3f ms per step   ", i + 1, planted->name,
		       list->count > 1 ? "fixed alone, saves" : "costs",
		       (double)planted->cost_ns / 1e6);
		if (planted->rank >= 0)
			printf("rank %lld\n", (long long)planted->rank);
		else
			printf("all ranks\n");
		printf("     %s\n     -> %s\n", planted->summary, planted->fix);
	}
	if (list->count > 1)
		printf("\nFaults hide each other: what one fix saves depends on the others.\n");
}

/*
 * Progress in ranks instead of bytes. The first call comes before any file exists, so that stopping
 * then leaves nothing behind.
 */
static bool simulation_on_step(void *context, uint32_t done, uint32_t count)
{
	struct ss_progress progress = {
		.size = sizeof(progress),
		.path = "simulating",
		.file_index = done ? done - 1 : 0,
		.file_count = count,
		.done_bytes = 1,
		.total_bytes = 1,
	};

	stop_filling(true);
	return cli_progress_step(context, &progress);
}

int simulated_write(const char *what, const struct ss_simulation *simulation, const char *progress)
{
	struct ss_simulation own = *simulation;
	struct ss_simulated done = { .size = sizeof(done) };
	struct planted_list planted = { 0 };
	struct ss_error err = { 0 };
	struct progress_bar bar;
	int64_t start_ns = ss_clock_ns();
	enum ss_status status;

	own.progress = simulation_on_step;
	own.progress_context = &bar;
	own.planted = add_planted;
	own.planted_context = &planted;
	cli_progress_begin(&bar, progress);
	status = ss_simulate(&own, &done, &err);
	cli_progress_end(&bar);
	stop_filling(false); /* begun by the first step: earlier there is no folder to remove */
	if (status != SS_OK)
		return show_fail(what, &err);
	print_simulated(&own, &done, &planted, (double)(ss_clock_ns() - start_ns) / 1e9);
	return EXIT_FINE;
}
