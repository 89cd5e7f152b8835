/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_hosts.c - sums what threads do for their launches, and the time in which a device does
 * something.
 */
#include "diagnose/stragglers/slow_hosts.h"

#include "base/sort.h"
#include "diagnose/rank_findings.h"

/* --- stretches of threads ------------------------------------------------------------- */

/* What a thread does from one launch to the next: tasks from..to, the last is a launch. */
struct host_stretch {
	uint32_t from, to;
	int64_t work_ns;
};

static bool is_launch_work(const struct ss_packed_task *task, const struct ss_host_limits *limits)
{
	return (task->kind == SS_TASK_WORK ||
		(task->kind == SS_TASK_LAUNCH && task->own_ns < limits->loading_ns)) &&
	       task->step != SS_NO_STEP;
}

/* The next stretch with work in it; false: there is none. `at` begins as 0. */
static bool next_launch_stretch(const struct ss_packed *graph, const struct ss_host_limits *limits,
				struct host_stretch *stretch, uint32_t *at)
{
	*stretch = (struct host_stretch){ .from = *at };
	for (; *at < graph->task_count && ss_packed_kind(graph, *at) <= SS_TASK_JOIN; ++*at) {
		const struct ss_packed_task task = ss_packed_task_from(graph, *at, 0);

		if (*at && task.track != ss_packed_run(graph, *at - 1)->track)
			*stretch = (struct host_stretch){ .from = *at };
		if (is_launch_work(&task, limits))
			stretch->work_ns = ss_ns_sum(stretch->work_ns, task.own_ns);
		if (task.kind != SS_TASK_LAUNCH)
			continue;
		stretch->to = *at;
		if (stretch->work_ns) {
			++*at;
			return true;
		}
		*stretch = (struct host_stretch){ .from = *at + 1 };
	}
	return false;
}

struct host_load {
	int64_t work_ns, pause_ns;
	uint32_t pauses;
};

/* Only the main thread: of other threads only operators are recorded. */
static bool is_main_thread_pause(const struct ss_packed *graph, const struct host_stretch *stretch)
{
	return ss_packed_run(graph, stretch->to)->track == graph->main;
}

static struct host_load host_load_of(const struct ss_packed *graph,
				     const struct ss_host_limits *limits)
{
	struct host_load load = { 0 };
	struct host_stretch stretch;
	uint32_t at = 0;

	while (next_launch_stretch(graph, limits, &stretch, &at)) {
		if (stretch.work_ns < limits->pause_ns) {
			load.work_ns = ss_ns_sum(load.work_ns, stretch.work_ns);
		} else if (is_main_thread_pause(graph, &stretch)) {
			load.pause_ns = ss_ns_sum(load.pause_ns, stretch.work_ns);
			load.pauses++;
		}
	}
	return load;
}

/* --- devices -------------------------------------------------------------------------- */

struct busy_span {
	int64_t from_ns, to_ns;
};

SS_COMPARATOR(busy_span_compare_start, struct busy_span, SS_ASCENDING(from_ns) SS_ASCENDING(to_ns))

static bool is_device_task(const struct ss_packed *graph, uint32_t task)
{
	enum ss_task_kind kind = ss_packed_kind(graph, task);

	return (ss_task_on_device(kind) || kind == SS_TASK_TRANSFER) &&
	       ss_packed_run(graph, task)->step != SS_NO_STEP;
}

/* How long the device computes or moves data; -1: no memory. */
static int64_t device_busy_ns(const struct ss_packed *graph, struct ss_memory *memory)
{
	int64_t sum_ns = 0, until_ns = INT64_MIN;
	struct ss_packed_starts starts;
	SS_SCRATCH(scratch, memory);
	struct busy_span *items;
	uint32_t count = 0;

	ss_packed_starts_init(&starts, graph);
	for (uint32_t i = 0; i < graph->task_count; i++)
		count += is_device_task(graph, i);
	if (!SS_ALLOC(&scratch, items, (size_t)count + 1))
		return -1;
	count = 0;
	for (uint32_t i = 0; i < graph->task_count; i++)
		if (is_device_task(graph, i)) {
			int64_t start_ns = ss_packed_starts_get(&starts, i);

			items[count++] = (struct busy_span){ start_ns,
							     start_ns + ss_packed_own(graph, i) };
		}
	SS_SORT(items, count, busy_span_compare_start);
	for (uint32_t i = 0; i < count; i++) {
		int64_t from_ns = items[i].from_ns > until_ns ? items[i].from_ns : until_ns;

		if (items[i].to_ns <= from_ns)
			continue;
		sum_ns = ss_ns_sum(sum_ns, items[i].to_ns - from_ns);
		until_ns = items[i].to_ns;
	}
	return sum_ns;
}

/* --- ranks ---------------------------------------------------------------------------- */

/* Pauses of most ranks, in every step and too many for a start-up, belong to the loop. */
static void count_host_pauses(struct ss_slow_hosts *hosts, const struct ss_judgement *judgement,
			      const struct host_load *loads, uint32_t many)
{
	uint32_t paused = 0;
	double sum = 0;

	for (uint32_t i = 0; i < judgement->rank_count; i++) {
		uint32_t steps = judgement->graphs[i].step_count;

		paused += loads[i].pauses >= many && loads[i].pauses >= steps;
		if (!steps)
			continue;
		hosts->pauses += (double)loads[i].pauses / steps / judgement->rank_count;
		sum += (double)loads[i].pause_ns / steps;
	}
	hosts->pause_ns = (int64_t)(sum / judgement->rank_count);
	hosts->with_pauses = 2 * paused >= judgement->rank_count;
}

bool ss_slow_hosts_find(struct ss_slow_hosts *hosts, const struct ss_judgement *judgement,
			const struct ss_host_limits *limits, struct ss_arena *arena)
{
	struct host_load *loads = SS_ARENA_NEW(arena, struct host_load,
					       (size_t)judgement->rank_count + 1);
	double host = 0, device = 0;

	*hosts = (struct ss_slow_hosts){ 0 };
	if (!SS_ALLOC(arena, hosts->is_slow, (size_t)judgement->rank_count + 1) || !loads)
		return false;
	for (uint32_t i = 0; i < judgement->rank_count; i++)
		loads[i] = host_load_of(&judgement->graphs[i], limits);
	count_host_pauses(hosts, judgement, loads, limits->pauses);
	for (uint32_t i = 0; i < judgement->rank_count; i++) {
		const struct ss_packed *graph = &judgement->graphs[i];
		int64_t on_host_ns = loads[i].work_ns;
		int64_t on_device_ns = device_busy_ns(graph, arena->memory);

		if (on_device_ns < 0)
			return false;
		if (hosts->with_pauses)
			on_host_ns = ss_ns_sum(on_host_ns, loads[i].pause_ns);
		if (!graph->step_count || on_host_ns <= on_device_ns)
			continue;
		hosts->is_slow[i] = true;
		hosts->count++;
		host += (double)on_host_ns / graph->step_count;
		device += (double)on_device_ns / graph->step_count;
	}
	if (hosts->count) {
		hosts->host_ns = (int64_t)(host / hosts->count);
		hosts->device_ns = (int64_t)(device / hosts->count);
	}
	return true;
}

/* Not claimed yet, or claimed by a rule that compares ranks: that takes the difference only. */
static bool is_claimable(const struct ss_judgement *judgement, uint32_t rank, uint32_t task)
{
	const struct ss_rank_findings *findings = judgement->rank_findings[rank];
	uint8_t owner = findings->owner[task];

	return !owner || owner == judgement->number + 1 ||
	       findings->parts[owner - 1].claim_from == findings->parts[owner - 1].claim_to;
}

/* Claims the launches of a stretch and the work between them. */
static void claim_launch_stretch(struct ss_judgement *judgement, struct ss_finding *finding,
				 uint32_t rank, const struct host_stretch *stretch,
				 const struct ss_host_limits *limits)
{
	for (uint32_t i = stretch->from; i <= stretch->to; i++) {
		const struct ss_packed_task task = ss_packed_task_from(&judgement->graphs[rank], i,
								       0);
		struct ss_claim claim = { .task = i };

		if (!is_launch_work(&task, limits) || !is_claimable(judgement, rank, i))
			continue;
		claim.own_ns = task.kind == SS_TASK_LAUNCH ? limits->launch_ns : 0;
		if (claim.own_ns >= task.own_ns)
			continue;
		/* torch.compile without graphs: about half of the host's work stays */
		claim.low_ns = claim.own_ns + (task.own_ns - claim.own_ns) / 2;
		claim.high_ns = claim.own_ns;
		ss_judgement_overrule(judgement, finding, rank, claim, false);
	}
}

void ss_slow_hosts_claim(const struct ss_slow_hosts *hosts, struct ss_judgement *judgement,
			 struct ss_finding *finding, uint32_t rank,
			 const struct ss_host_limits *limits)
{
	const struct ss_packed *graph = &judgement->graphs[rank];
	struct host_stretch stretch;
	uint32_t at = 0;

	while (next_launch_stretch(graph, limits, &stretch, &at))
		if (stretch.work_ns < limits->pause_ns ||
		    (hosts->with_pauses && is_main_thread_pause(graph, &stretch)))
			claim_launch_stretch(judgement, finding, rank, &stretch, limits);
}
