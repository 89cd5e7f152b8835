/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - depth first from each task to what it waits for; a task is placed when all
 * of that is placed.
 */
#include "replay/order.h"

enum state { STATE_NEW = 0, STATE_OPEN, STATE_PLACED };

/* A task of the job. */
struct place {
	uint32_t rank; /* or the number of ranks: `task` is a meeting */
	uint32_t task;
};

/* A task whose edges are being followed. */
struct visit {
	struct place place;
	uint32_t next; /* edge, or member, to be followed next */
};

struct sorter {
	struct ss_replay *replay;
	uint8_t *states;
	struct visit *stack;
	uint32_t depth, capacity;
	bool failed;
};

static uint32_t number_of(const struct ss_replay *replay, struct place place)
{
	return replay->first[place.rank] + place.task;
}

static void push(struct sorter *sorter, struct place place)
{
	if (sorter->depth == sorter->capacity &&
	    !ss_memory_reserve(sorter->replay->memory, (void **)&sorter->stack, &sorter->capacity,
			       (size_t)sorter->depth + 1, sizeof(*sorter->stack))) {
		sorter->failed = true;
		return;
	}
	sorter->states[number_of(sorter->replay, place)] = STATE_OPEN;
	sorter->stack[sorter->depth++] = (struct visit){ place, 0 };
}

/* The next thing that a meeting waits for; false: no more. */
static bool next_arrival(const struct sorter *sorter, struct visit *visit, struct place *out)
{
	const struct ss_replay_meeting *meeting = &sorter->replay->meetings[visit->place.task];
	const struct ss_replay_member *member;

	if (visit->next >= meeting->count)
		return false;
	member = &sorter->replay->members[meeting->first + visit->next++];
	*out = (struct place){ member->rank, member->task };
	return true;
}

/* The member + 1 that a transfer is; 0: the task waits for no meeting. */
static uint32_t member_of(const struct ss_replay *replay, struct place place)
{
	const struct ss_replay_transfer *transfer = NULL;

	if (replay->ranks[place.rank].tasks[place.task].kind == SS_TASK_TRANSFER)
		transfer = ss_replay_transfer_of(replay, place.rank, place.task);
	return transfer ? transfer->member : 0;
}

/* The next thing that a task waits for; edges first, then its meeting. */
static bool next_edge(const struct sorter *sorter, struct visit *visit, struct place *out)
{
	struct ss_replay *replay = sorter->replay;
	const struct ss_graph *graph = &replay->ranks[visit->place.rank];
	const struct ss_task *task = &graph->tasks[visit->place.task];
	uint32_t edges = task[1].edges - task->edges, member;

	if (visit->next < edges) {
		*out = (struct place){ visit->place.rank,
				       graph->edges[task->edges + visit->next].from };
		visit->next++;
		return true;
	}
	member = visit->next > edges ? 0 : member_of(replay, visit->place);
	if (!member)
		return false;
	visit->next++;
	*out = (struct place){ replay->rank_count, replay->members[member - 1].meeting };
	return true;
}

/* The edge that was followed last closes a circle. */
static void leave_out(struct sorter *sorter, const struct visit *visit)
{
	struct ss_replay *replay = sorter->replay;
	struct ss_graph *graph;
	const struct ss_task *task;

	replay->broken++;
	if (visit->place.rank == replay->rank_count) {
		replay->members[replay->meetings[visit->place.task].first + visit->next - 1]
			.is_met = false;
		return;
	}
	graph = &replay->ranks[visit->place.rank];
	task = &graph->tasks[visit->place.task];
	if (visit->next <= task[1].edges - task->edges)
		graph->edges[task->edges + visit->next - 1].kind = SS_EDGE_KINDS;
	else
		ss_replay_transfer_of(replay, visit->place.rank, visit->place.task)->member = 0;
}

/* Behind everything that is in the order; with the tasks before it where it follows them. */
static void append(struct sorter *sorter, struct place place)
{
	struct ss_replay *replay = sorter->replay;
	struct ss_replay_stretch *last = replay->stretch_count
						 ? &replay->order[replay->stretch_count - 1]
						 : NULL;
	uint32_t member = place.rank < replay->rank_count ? member_of(replay, place) : 0;

	if (last && !member && last->rank == place.rank && last->task + last->count == place.task) {
		last->count++;
		return;
	}
	if (replay->stretch_count == replay->stretch_capacity &&
	    !ss_memory_reserve(replay->memory, (void **)&replay->order, &replay->stretch_capacity,
			       (size_t)replay->stretch_count + 1, sizeof(*replay->order))) {
		sorter->failed = true;
		return;
	}
	replay->order[replay->stretch_count++] = (struct ss_replay_stretch){ place.rank, place.task,
									     1, member };
}

static void place(struct sorter *sorter, struct place from)
{
	push(sorter, from);
	while (sorter->depth && !sorter->failed) {
		struct visit *visit = &sorter->stack[sorter->depth - 1];
		struct place to;
		bool more = visit->place.rank == sorter->replay->rank_count
				    ? next_arrival(sorter, visit, &to)
				    : next_edge(sorter, visit, &to);

		if (!more) {
			sorter->states[number_of(sorter->replay, visit->place)] = STATE_PLACED;
			append(sorter, visit->place);
			sorter->depth--;
			continue;
		}
		switch (sorter->states[number_of(sorter->replay, to)]) {
		case STATE_NEW:
			push(sorter, to);
			break;
		case STATE_OPEN:
			leave_out(sorter, visit);
			break;
		default:
			break;
		}
	}
}

bool ss_replay_sort(struct ss_replay *replay)
{
	struct sorter sorter = { .replay = replay };
	struct ss_arena scratch;

	ss_arena_init(&scratch, replay->memory);
	sorter.states = SS_ARENA_NEW(&scratch, uint8_t, (size_t)replay->task_count + 1);
	sorter.failed = !sorter.states;
	for (uint32_t rank = 0; rank <= replay->rank_count && !sorter.failed; rank++) {
		uint32_t count = rank < replay->rank_count ? replay->ranks[rank].task_count
							   : replay->meeting_count;

		for (uint32_t i = 0; i < count && !sorter.failed; i++)
			if (sorter.states[replay->first[rank] + i] == STATE_NEW)
				place(&sorter, (struct place){ rank, i });
	}
	ss_memory_fit(replay->memory, (void **)&replay->order, &replay->stretch_capacity,
		      replay->stretch_count, sizeof(*replay->order));
	ss_memory_free(replay->memory, sorter.stack, sorter.capacity * sizeof(*sorter.stack));
	ss_arena_release(&scratch);
	return !sorter.failed;
}
