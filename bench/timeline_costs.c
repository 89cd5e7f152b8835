/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_costs.c - what the timeline costs: the index of a large trace, and answers to
 * random windows of all zooms.
 *
 * The trace is built in memory (timeline_trace.c). Prints one line of JSON for the index and
 * one for each sort of request and width. Also built for WebAssembly: bench/timeline runs
 * both.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COSTS_NAME "timeline_costs"
#include "costs.h"
#include "timeline/draw/draw.h"
#include "timeline_trace.h"

/* Enough for a 99th percentile. */
#define WINDOWS 1000

/* From all of it to a millionth: there a window shows a few kernels. */
#define ZOOMS 20

enum request { TILES, STRIPS, UTILIZATION, MEMORY, QUEUE, REQUESTS };

static const char *const request_names[] = { "tiles", "strips", "utilization", "memory", "queue" };

struct bench {
	struct ss_memory memory;
	struct ss_trace trace;
	struct ss_job job;
	struct ss_timeline_file file;
	struct ss_timeline timeline;
};

/* CPU time, not wall time: machines are shared. */
static double now_ms(void)
{
	return cpu_seconds() * 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct ss_curve *find_curve(struct ss_index *index, enum request request)
{
	const enum ss_curve_kind kinds[] = { [UTILIZATION] = SS_CURVE_UTILIZATION,
					     [MEMORY] = SS_CURVE_MEMORY,
					     [QUEUE] = SS_CURVE_QUEUE };

	for (uint32_t i = 0; i < index->curves.count; i++)
		if (index->curves.items[i].kind == kinds[request])
			return &index->curves.items[i];
	fail("a curve is missing");
}

static void ask(struct bench *bench, struct ss_index *index, enum request request,
		const struct ss_window *window, struct ss_text *out)
{
	uint32_t tracks[] = { 0, 1, 2, 3 }, file = 0;
	struct ss_error err = { 0 };
	enum ss_status status;

	if (request == TILES)
		status = ss_tiles_write(&bench->file, index, tracks,
					bench->trace.track_count + index->idle.device_count, window,
					NULL, out, &err);
	else if (request == STRIPS)
		status = ss_draw_strips(&bench->timeline, &file, 1, window, out, &err);
	else
		status = ss_draw_curve(&bench->timeline, 0, find_curve(index, request), window, out,
				       &err);
	if (status != SS_OK)
		fail(err.text);
}

static uint32_t entries_of(enum request request, const struct ss_text *answer)
{
	uint32_t count = 0;

	if (request == TILES)
		memcpy(&count, answer->data + 8, sizeof(count));
	return count;
}

static void measure(struct bench *bench, struct ss_index *index, enum request request,
		    uint32_t pixels)
{
	static double times[WINDOWS];
	uint64_t random = 99;
	size_t bytes = 0, bytes_max = 0;
	uint32_t entries_max = 0;
	struct ss_text out = { 0 };
	double first_ms = now_ms();

	/* what is made by the first is told apart */
	ask(bench, index, request, &(struct ss_window){ 0, bench->trace.span_ns, pixels }, &out);
	first_ms = now_ms() - first_ms;
	for (uint32_t i = 0; i < WINDOWS; i++) {
		int64_t length_ns = (bench->trace.span_ns >> bench_random(&random, ZOOMS + 1)) + 1;
		int64_t from_ns = (int64_t)((double)(bench->trace.span_ns - length_ns) *
					    bench_random(&random, 1u << 30) / (1u << 30));
		struct ss_window window = { from_ns, from_ns + length_ns, pixels };
		double begin_ms = now_ms();

		out.length = 0;
		ask(bench, index, request, &window, &out);
		times[i] = now_ms() - begin_ms;
		bytes += out.length;
		bytes_max = out.length > bytes_max ? out.length : bytes_max;
		if (entries_of(request, &out) > entries_max)
			entries_max = entries_of(request, &out);
	}
	ss_text_release(&out);
	qsort(times, WINDOWS, sizeof(*times), by_value);
	printf("{\"request\":\"%s\",\"pixels\":%" PRIu32
	       ",\"first_ms\":%.3f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f"
	       ",\"entries_max\":%" PRIu32 ",\"bytes_mean\":%zu,\"bytes_max\":%zu}\n",
	       request_names[request], pixels, first_ms, times[WINDOWS / 2],
	       times[WINDOWS * 99 / 100], times[WINDOWS - 1], entries_max, bytes / WINDOWS,
	       bytes_max);
	fflush(stdout);
}

static void run(struct bench *bench, uint32_t count)
{
	static const uint32_t widths[] = { 1280, 2560 };
	double begin_ms, lanes_ms;
	struct ss_error err = { 0 };
	struct ss_index *index;
	struct ss_colors colors;
	struct ss_lanes lanes;
	size_t trace_bytes;

	if (!bench_trace_make(&bench->trace, count, &bench->memory))
		fail("no memory for the trace");
	bench->file = (struct ss_timeline_file){ .trace = &bench->trace, .rank_index = SS_NO_ROW };
	bench->timeline = (struct ss_timeline){
		.memory = &bench->memory, .job = &bench->job, .files = &bench->file, .file_count = 1
	};
	begin_ms = now_ms();
	if (ss_colors_init(&colors, &bench->trace, &bench->memory, &err) != SS_OK ||
	    ss_lanes_init(&lanes, &bench->trace, &colors, &bench->memory, &err) != SS_OK)
		fail(err.text);
	lanes_ms = now_ms() - begin_ms;
	ss_lanes_release(&lanes);
	ss_colors_release(&colors);
	trace_bytes = bench->memory.used_bytes;
	begin_ms = now_ms();
	if (ss_index_of(&bench->timeline, 0, &index, &err) != SS_OK)
		fail(err.text);
	printf("{\"slices\":%" PRIu32 ",\"index_ms\":%.0f,\"lanes_ms\":%.0f"
	       ",\"lane_bytes_per_slice\":%.2f,\"index_bytes_per_slice\":%.2f}\n",
	       bench->trace.slices.count, now_ms() - begin_ms, lanes_ms,
	       (double)ss_lanes_bytes(&index->lanes) / bench->trace.slices.count,
	       (double)(bench->memory.used_bytes - trace_bytes) / bench->trace.slices.count);
	fflush(stdout);
	for (int request = 0; request < REQUESTS; request++)
		for (size_t i = 0; i < SS_COUNT(widths); i++)
			measure(bench, index, (enum request)request, widths[i]);
	ss_index_release(bench->file.index);
	ss_trace_release(&bench->trace);
}

int main(int argc, char **argv)
{
	static struct bench bench;
	long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;

	if (count < 1000 || count > 400000000) {
		fprintf(stderr, "usage: timeline_costs SLICES\n");
		return 2;
	}
	ss_memory_init(&bench.memory, 0);
	run(&bench, (uint32_t)count);
	return 0;
}
