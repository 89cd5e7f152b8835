/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.c - device work as tasks: after its launch, and after the previous work on its
 * stream.
 *
 * The trace itself shows how long a launch needs to reach an idle stream, and how far
 * apart two queued pieces of work are: the median of the clear cases. A start that one of
 * the two explains keeps its recorded lag; if both are near, each gets at most its median,
 * so that neither delays the task when the other is removed.
 */
#include <string.h>

#include "base/median.h"
#include "base/search.h"
#include "replay/build.h"
#include "trace/outward.h"

/*
 * A launch reaches an idle stream in 5 to 20 us; beyond this multiple of the median, something else
 * delayed it.
 */
#define LATENCY_TIMES 3
#define LATENCY_MIN_NS 20000

/*
 * The slowest usual latencies are near this. If most launches take longer, most streams wait for
 * events, and only the shorter ones show the latency.
 */
#define LATENCY_MAX_NS 100000

/* Queued work starts 1 to 5 us after the work before it. */
#define GAP_MAX_NS 5000

struct streams {
	struct ss_build *build;
	const struct ss_trace *trace;
	int64_t *samples; /* room for one a device row */
	int64_t latency_ns, gap_ns;
};

static enum ss_task_kind device_task_kind(enum ss_kind kind)
{
	switch (kind) {
	case SS_KIND_MEMCPY:
		return SS_TASK_COPY;
	case SS_KIND_MEMSET:
		return SS_TASK_MEMSET;
	default:
		return SS_TASK_KERNEL;
	}
}

/* The task of the call that launched a device row. */
static uint32_t launch_task_of(const struct ss_build *build, uint32_t row)
{
	const struct ss_slices *slices = &build->trace->slices;
	uint32_t call = ss_slice_launch(slices, row), tries = 0;

	while (call < build->trace->device_from && build->call_task[call] == SS_NO_TASK)
		call = tries++ < SS_OUTWARD_MAX ? slices->parent[call] : SS_NO_ROW;
	return call < build->trace->device_from ? build->call_task[call] : SS_NO_TASK;
}

/* Work without a launch belongs to the step that it ran in. */
static uint16_t step_of_device_work(const struct ss_graph *graph, int64_t moment_ns)
{
	uint32_t low = 0, high = graph->step_count;

	SS_SEARCH(low, high, at, graph->steps[at].end_ns <= moment_ns);
	if (low == graph->step_count || graph->steps[low].start_ns > moment_ns || low >= SS_NO_STEP)
		return SS_NO_STEP;
	return (uint16_t)low;
}

/* Adds the tasks of a device row; of a collective two. */
static void add_device_row(struct ss_build *build, uint32_t row)
{
	const struct ss_slices *slices = &build->trace->slices;
	struct ss_graph *graph = build->graph;
	uint32_t launch = launch_task_of(build, row);
	struct ss_task task = {
		.start_ns = slices->start_ns[row],
		.own_ns = slices->dur_ns[row],
		.row = row,
		.track = slices->track[row],
		.kind = (uint8_t)device_task_kind(slices->kind[row]),
		.phase = SS_PHASE_OTHER,
	};

	if (launch != SS_NO_TASK) {
		task.step = graph->tasks[launch].step;
		task.phase = graph->tasks[launch].phase;
	} else {
		task.step = step_of_device_work(graph, task.start_ns);
	}
	if (slices->kind[row] == SS_KIND_COMM_KERNEL) {
		struct ss_task arrive = task;

		arrive.kind = SS_TASK_ARRIVE;
		arrive.own_ns = 0;
		ss_build_comm(build, row, ss_build_task(build, arrive));
		task.kind = SS_TASK_TRANSFER;
	}
	build->device_task[row - build->trace->device_from] = ss_build_task(build, task);
}

/* The task of a device row that its start depends on: of a collective the arrival. */
static uint32_t row_start_task(const struct ss_build *build, uint32_t row)
{
	uint32_t task = build->device_task[row - build->trace->device_from];

	return build->graph->tasks[task].kind == SS_TASK_TRANSFER ? task - 1 : task;
}

/* --- what is usual here --------------------------------------------------------------- */

/*
 * From launch to start on an idle stream, else from the end of the work before to the start of
 * queued work; -1: neither.
 */
static int64_t latency_sample(const struct ss_build *build, uint32_t row, uint32_t before,
			      bool idle)
{
	const struct ss_slices *slices = &build->trace->slices;
	uint32_t launch = launch_task_of(build, row);
	int64_t launch_ns, end_ns;

	if (launch == SS_NO_TASK)
		return -1;
	launch_ns = build->graph->tasks[launch].start_ns;
	end_ns = before == SS_NO_ROW ? INT64_MIN : ss_slice_end(slices, before);
	if (idle)
		return end_ns <= launch_ns ? slices->start_ns[row] - launch_ns : -1;
	return end_ns > launch_ns + LATENCY_MIN_NS ? slices->start_ns[row] - end_ns : -1;
}

/* Collects the samples; returns how many there are. */
static size_t find_latency_samples(const struct streams *streams, bool idle)
{
	const struct ss_trace *trace = streams->trace;
	size_t count = 0;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t before = row > trace->device_from && trace->slices.track[row - 1] ==
								      trace->slices.track[row]
					  ? row - 1
					  : SS_NO_ROW;
		int64_t sample_ns;

		if (!ss_kind_on_device(trace->slices.kind[row]))
			continue;
		sample_ns = latency_sample(streams->build, row, before, idle);
		if (sample_ns >= 0)
			streams->samples[count++] = sample_ns;
	}
	return count;
}

/* The median of the samples up to `most_ns`; changes their order. */
static int64_t median_below(int64_t *samples, size_t count, int64_t most_ns, int64_t otherwise_ns)
{
	size_t below = 0;

	for (size_t i = 0; i < count; i++)
		if (samples[i] <= most_ns) {
			int64_t sample_ns = samples[i];

			samples[i] = samples[below];
			samples[below++] = sample_ns;
		}
	return below ? ss_median(samples, below) : otherwise_ns;
}

/*
 * Waits for other streams only make samples longer. If the median of the shorter half is far below
 * the median, half of the samples waited, as on the last stage of a pipeline: then only those near
 * the shorter ones count.
 */
static int64_t usual_latency(const struct streams *streams, bool idle, int64_t otherwise_ns)
{
	int64_t *samples = streams->samples;
	size_t count = find_latency_samples(streams, idle);
	int64_t usual_ns = median_below(samples, count, INT64_MAX, otherwise_ns);
	int64_t short_ns = median_below(samples, count, usual_ns, otherwise_ns);

	if (usual_ns > LATENCY_MIN_NS && usual_ns / LATENCY_TIMES > short_ns)
		usual_ns = median_below(samples, count,
					short_ns * LATENCY_TIMES > LATENCY_MIN_NS
						? short_ns * LATENCY_TIMES
						: LATENCY_MIN_NS,
					otherwise_ns);
	return usual_ns <= LATENCY_MAX_NS
		       ? usual_ns
		       : median_below(samples, count, LATENCY_MAX_NS, otherwise_ns);
}

/* --- edges ----------------------------------------------------------------------------- */

/*
 * A copy from pageable memory starts when the host has put the first piece where the
 * device can read it: until then the call works.
 */
static void stage_copy_call(const struct streams *streams, uint32_t launch, int64_t start_ns)
{
	struct ss_task *call = &streams->build->graph->tasks[launch];

	call->own_ns = start_ns - call->start_ns;
	streams->build->calls[call->row] |= SS_CALL_STAGES;
}

/*
 * How a start follows from its launch. Mostly from the start of the call; a call that takes
 * long (a graph, a kernel that is loaded first) gives its work to the device at its end, also if
 * the stream became free while it took.
 * What ran on a stream before its first work is not recorded: that starts as late as it did.
 */
static struct ss_edge make_launch_edge(const struct streams *streams, uint32_t launch,
				       int64_t start_ns, int64_t since_work_ns, int64_t limit_ns)
{
	const struct ss_task *call = &streams->build->graph->tasks[launch];
	int64_t since_ns = start_ns - call->start_ns, since_end_ns = start_ns - ss_task_end(call);
	struct ss_edge edge = { .from = launch, .kind = SS_EDGE_LAUNCH, .from_start = true };

	edge.lag_ns = streams->latency_ns;
	if (since_work_ns > limit_ns && since_ns > limit_ns && since_end_ns > -limit_ns &&
	    since_end_ns <= limit_ns) {
		edge.from_start = false;
		edge.lag_ns = since_end_ns;
		return edge;
	}
	if (since_work_ns <= since_ns)
		return edge;
	if (since_ns <= limit_ns || since_work_ns == INT64_MAX) {
		edge.lag_ns = since_ns;
	} else if (since_end_ns < 0 && call->kind == SS_TASK_CALL) {
		stage_copy_call(streams, launch, start_ns);
		edge.from_start = false;
		edge.lag_ns = 0;
	}
	return edge;
}

/* Adds the edges from the launch and from the work before, with the lags that explain the start. */
static void add_device_edges(const struct streams *streams, uint32_t row, uint32_t before)
{
	struct ss_build *build = streams->build;
	const struct ss_task *tasks = build->graph->tasks;
	uint32_t task = row_start_task(build, row), launch = launch_task_of(build, row);
	int64_t start_ns = tasks[task].start_ns, limit_ns = LATENCY_TIMES * streams->latency_ns;
	int64_t since_launch_ns = INT64_MAX, since_work_ns = INT64_MAX;

	if (limit_ns < LATENCY_MIN_NS)
		limit_ns = LATENCY_MIN_NS;
	if (launch != SS_NO_TASK)
		since_launch_ns = start_ns - tasks[launch].start_ns;
	if (before != SS_NO_TASK)
		since_work_ns = start_ns - ss_task_end(&tasks[before]);
	if (launch != SS_NO_TASK) {
		struct ss_edge edge = make_launch_edge(streams, launch, start_ns, since_work_ns,
						       limit_ns);

		if (before == SS_NO_TASK && since_launch_ns > limit_ns && edge.from_start)
			build->first_edge[tasks[task].track] = build->edge_count;
		ss_build_edge(build, task, edge);
	}
	if (before != SS_NO_TASK) {
		bool alone = since_work_ns <= GAP_MAX_NS && since_launch_ns > limit_ns;

		ss_build_edge(build, task,
			      (struct ss_edge){ .from = before,
						.kind = SS_EDGE_STREAM,
						.lag_ns = alone ? since_work_ns
								: streams->gap_ns });
	}
	if (task != build->device_task[row - build->trace->device_from])
		ss_build_edge(build, task + 1,
			      (struct ss_edge){ .from = task, .kind = SS_EDGE_STREAM });
}

void ss_build_streams(struct ss_build *build)
{
	const struct ss_trace *trace = build->trace;
	struct streams streams = { .build = build, .trace = trace };
	uint32_t before = SS_NO_TASK;

	if (!SS_ALLOC(&build->scratch, streams.samples,
		      (size_t)trace->device_to - trace->device_from + 1) ||
	    !SS_ALLOC(&build->scratch, build->first_edge, (size_t)trace->track_count + 1)) {
		build->failed = true;
		return;
	}
	memset(build->first_edge, 0xff, trace->track_count * sizeof(*build->first_edge));
	for (uint32_t row = trace->device_from; row < trace->device_to && !build->failed; row++)
		if (ss_kind_on_device(trace->slices.kind[row]))
			add_device_row(build, row);
	if (build->failed)
		return;
	/* without samples: what CUDA needs on common machines */
	streams.latency_ns = usual_latency(&streams, true, 6000);
	build->latency_ns = streams.latency_ns;
	streams.gap_ns = usual_latency(&streams, false, 1000);
	if (streams.gap_ns > GAP_MAX_NS)
		streams.gap_ns = GAP_MAX_NS;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		if (!ss_kind_on_device(trace->slices.kind[row]))
			continue;
		if (before != SS_NO_TASK &&
		    build->graph->tasks[before].track != trace->slices.track[row])
			before = SS_NO_TASK;
		add_device_edges(&streams, row, before);
		before = build->device_task[row - trace->device_from];
	}
}
