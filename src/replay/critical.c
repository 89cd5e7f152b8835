/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical.c - walks back from the last task, at each task along the edge it waited for
 * longest.
 */
#include "replay/critical.h"

/* A launch reaches its stream in microseconds; what starts so much later was held by something. */
#define LATE_NS 1000000

static const char *const critical_names[] = {
	[SS_CRITICAL_COMPUTE] = "compute",
	[SS_CRITICAL_COMM] = "communication",
	[SS_CRITICAL_COPY] = "copies",
	[SS_CRITICAL_HOST] = "host",
	[SS_CRITICAL_LAUNCH] = "launches",
	[SS_CRITICAL_LATENCY] = "latency",
	[SS_CRITICAL_SYNC] = "sync",
	[SS_CRITICAL_INPUT] = "input",
	[SS_CRITICAL_ALLOCATOR] = "allocator",
	[SS_CRITICAL_COMPILE] = "compile",
	[SS_CRITICAL_GC] = "garbage collection",
	[SS_CRITICAL_UNEXPLAINED] = "unexplained",
};

static const enum ss_critical_part part_of_task[] = {
	[SS_TASK_WORK] = SS_CRITICAL_HOST,       [SS_TASK_LAUNCH] = SS_CRITICAL_LAUNCH,
	[SS_TASK_CALL] = SS_CRITICAL_SYNC,       [SS_TASK_WAIT] = SS_CRITICAL_SYNC,
	[SS_TASK_INPUT] = SS_CRITICAL_INPUT,     [SS_TASK_ALLOCATOR] = SS_CRITICAL_ALLOCATOR,
	[SS_TASK_COMPILE] = SS_CRITICAL_COMPILE, [SS_TASK_GC] = SS_CRITICAL_GC,
	[SS_TASK_JOIN] = SS_CRITICAL_HOST,       [SS_TASK_KERNEL] = SS_CRITICAL_COMPUTE,
	[SS_TASK_COPY] = SS_CRITICAL_COPY,       [SS_TASK_MEMSET] = SS_CRITICAL_COPY,
	[SS_TASK_ARRIVE] = SS_CRITICAL_COMM,     [SS_TASK_TRANSFER] = SS_CRITICAL_COMM,
};

static const enum ss_critical_part part_of_edge[] = {
	[SS_EDGE_THREAD] = SS_CRITICAL_HOST,   [SS_EDGE_HANDOVER] = SS_CRITICAL_HOST,
	[SS_EDGE_LAUNCH] = SS_CRITICAL_LAUNCH, [SS_EDGE_STREAM] = SS_CRITICAL_LATENCY,
	[SS_EDGE_EVENT] = SS_CRITICAL_LATENCY, [SS_EDGE_INFERRED] = SS_CRITICAL_LATENCY,
	[SS_EDGE_SYNC] = SS_CRITICAL_SYNC,     [SS_EDGE_QUEUE] = SS_CRITICAL_LAUNCH,
	[SS_EDGE_BATCH] = SS_CRITICAL_INPUT,
};

const char *ss_critical_name(enum ss_critical_part part)
{
	return critical_names[part];
}

void ss_critical_release(struct ss_critical *path)
{
	if (path->memory)
		SS_FREE(path->memory, path->pieces, path->capacity);
	*path = (struct ss_critical){ 0 };
}

struct critical_walk {
	struct ss_critical *path;
	const struct ss_replay *replay;
	uint32_t rank, task;
	int64_t now_ns;   /* everything after it is done */
	int64_t until_ns; /* where the steps begin on this rank */
	bool failed;
};

/* Adds the path from now back to the moment, as a piece of this part. */
static void walk_back_to(struct critical_walk *walk, int64_t moment_ns, enum ss_critical_part part)
{
	struct ss_critical *path = walk->path;

	if (moment_ns < walk->until_ns)
		moment_ns = walk->until_ns;
	if (moment_ns >= walk->now_ns || walk->failed)
		return;
	if (path->count == path->capacity &&
	    !SS_GROW(path->memory, path->pieces, path->capacity, path->count)) {
		walk->failed = true;
		return;
	}
	path->pieces[path->count++] = (struct ss_critical_piece){ moment_ns, walk->now_ns,
								  walk->rank, walk->task, part };
	ss_ns_add(&path->length_ns, walk->now_ns - moment_ns);
	walk->now_ns = moment_ns;
}

static int64_t first_step_start(const struct ss_replay *replay, uint32_t rank)
{
	return replay->ranks[rank].steps[0].start_ns + replay->offset_ns[rank];
}

/* The member that arrived last at a collective. */
static const struct ss_replay_member *last_arrived_member(const struct ss_replay *replay,
							  uint32_t index)
{
	const struct ss_replay_collective *collective = &replay->collectives[index];
	const struct ss_replay_member *last = NULL;
	int64_t last_ns = INT64_MIN;

	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_replay_member *member = &replay->members[collective->first + i];
		int64_t at_ns = ss_replay_start(replay, replay->first[member->rank] + member->task);

		if (member->is_awaited && (!last || at_ns > last_ns)) {
			last = member;
			last_ns = at_ns;
		}
	}
	return last;
}

/* The edge that a task waited for longest, and until when; false: none. */
static bool find_binding_edge(const struct critical_walk *walk, struct ss_edge *out,
			      int64_t *until_ns)
{
	const struct ss_replay *replay = walk->replay;
	struct ss_packed_visit visit = ss_packed_visit(&replay->ranks[walk->rank], walk->task);
	uint32_t first = replay->first[walk->rank];
	uint8_t flags = replay->flags[first + walk->task];
	struct ss_edge edge;

	*until_ns = INT64_MIN;
	while (ss_packed_next(&visit, &edge)) {
		int64_t at_ns = ss_replay_edge_ns(replay, first, &edge, flags);

		if (at_ns > *until_ns) {
			*until_ns = at_ns;
			*out = edge;
		}
	}
	return *until_ns > INT64_MIN;
}

/* One task back; false: the path begins here. */
static bool walk_one_back(struct critical_walk *walk)
{
	const struct ss_replay *replay = walk->replay;
	uint32_t first = replay->first[walk->rank];
	const struct ss_replay_transfer *transfer;
	int64_t edge_ns, from_ns;
	struct ss_edge edge;
	bool is_bound;

	walk_back_to(walk, ss_replay_start(replay, first + walk->task),
		     part_of_task[ss_packed_kind(&replay->ranks[walk->rank], walk->task)]);
	is_bound = find_binding_edge(walk, &edge, &edge_ns);
	transfer = ss_replay_transfer_of(replay, walk->rank, walk->task);
	if (transfer && transfer->member &&
	    !(replay->flags[first + walk->task] & SS_REPLAY_RELEASED)) {
		const struct ss_replay_member *last =
			last_arrived_member(replay,
					    replay->members[transfer->member - 1].collective);

		if (last &&
		    ss_replay_start(replay, replay->first[last->rank] + last->task) >= edge_ns) {
			walk->rank = last->rank;
			walk->task = last->task;
			walk->until_ns = first_step_start(replay, last->rank);
			return walk->now_ns > walk->until_ns;
		}
	}
	if (!is_bound)
		return false;
	walk_back_to(walk, edge_ns, SS_CRITICAL_UNEXPLAINED);
	from_ns = edge_ns - edge.lag_ns;
	/* what held the work is not recorded */
	if (edge.kind == SS_EDGE_LAUNCH && edge.lag_ns > LATE_NS)
		walk_back_to(walk,
			     from_ns + (edge.from_start ? ss_replay_own(replay, first + edge.from)
							: 0),
			     SS_CRITICAL_UNEXPLAINED);
	walk_back_to(walk, from_ns, part_of_edge[edge.kind]);
	walk->task = edge.from;
	return walk->now_ns > walk->until_ns && !walk->failed;
}

/* The task that ends last in the last steps of all ranks; false: there are no steps. */
static bool find_last_task(struct critical_walk *walk)
{
	const struct ss_replay *replay = walk->replay;
	bool any = false;

	for (uint32_t rank = 0; rank < replay->rank_count; rank++) {
		const struct ss_packed *graph = &replay->ranks[rank];

		for (uint32_t i = 0; graph->step_count && i < graph->task_count; i++) {
			uint32_t task = replay->first[rank] + i;
			int64_t end_ns;

			if (!(replay->flags[task] & SS_REPLAY_IN_STEP))
				continue;
			end_ns = ss_replay_start(replay, task) + ss_replay_own(replay, task);
			if (any && end_ns <= walk->now_ns)
				continue;
			any = true;
			walk->now_ns = end_ns;
			walk->rank = rank;
			walk->task = i;
		}
	}
	return any;
}

enum ss_status ss_critical_find(struct ss_critical *path, const struct ss_replay *replay,
				struct ss_memory *memory, struct ss_error *err)
{
	struct critical_walk walk = { .path = path, .replay = replay };

	*path = (struct ss_critical){ .memory = memory };
	if (!find_last_task(&walk))
		return SS_OK;
	walk.until_ns = first_step_start(replay, walk.rank);
	/* each task is passed once: each step back goes to one that is earlier in the order */
	for (uint32_t i = 0; i < replay->task_count && walk_one_back(&walk); i++)
		;
	/* what the first task waited for is not recorded */
	walk_back_to(&walk, walk.until_ns, SS_CRITICAL_UNEXPLAINED);
	if (!walk.failed)
		return SS_OK;
	ss_critical_release(path);
	return ss_fail_memory(err, "the critical path");
}
