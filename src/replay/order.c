/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - depth first from each task to what it waits for; a task is placed when all
 * of that is placed.
 */
#include "replay/order.h"

enum state { STATE_NEW = 0, STATE_OPEN, STATE_PLACED };

/* A task whose edges are being followed. */
struct visit {
	struct ss_replay_place place;
	uint32_t next; /* edge, or member, to be followed next */
};

struct sorter {
	struct ss_replay *replay;
	uint8_t *states;
	struct visit *stack;
	uint32_t depth, capacity;
	uint32_t placed;
	bool failed;
};

static uint32_t number_of(const struct ss_replay *replay, struct ss_replay_place place)
{
	return replay->first[place.rank] + place.task;
}

static void push(struct sorter *sorter, struct ss_replay_place place)
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
static bool next_arrival(const struct sorter *sorter, struct visit *visit,
			 struct ss_replay_place *out)
{
	const struct ss_replay_meeting *meeting = &sorter->replay->meetings[visit->place.task];
	const struct ss_replay_member *member;

	if (visit->next >= meeting->count)
		return false;
	member = &sorter->replay->members[meeting->first + visit->next++];
	*out = (struct ss_replay_place){ member->rank, member->task };
	return true;
}

/* The next thing that a task waits for; edges first, then its meeting. */
static bool next_edge(const struct sorter *sorter, struct visit *visit, struct ss_replay_place *out)
{
	struct ss_replay *replay = sorter->replay;
	const struct ss_graph *graph = &replay->ranks[visit->place.rank];
	const struct ss_task *task = &graph->tasks[visit->place.task];
	uint32_t edges = task[1].edges - task->edges, member;

	if (visit->next < edges) {
		*out = (struct ss_replay_place){ visit->place.rank,
						 graph->edges[task->edges + visit->next].from };
		visit->next++;
		return true;
	}
	member = replay->meeting_of[number_of(replay, visit->place)];
	if (visit->next > edges || !member)
		return false;
	visit->next++;
	*out = (struct ss_replay_place){ replay->rank_count, replay->members[member - 1].meeting };
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
		replay->meeting_of[number_of(replay, visit->place)] = 0;
}

static void place(struct sorter *sorter, struct ss_replay_place from)
{
	push(sorter, from);
	while (sorter->depth && !sorter->failed) {
		struct visit *visit = &sorter->stack[sorter->depth - 1];
		struct ss_replay_place to;
		bool more = visit->place.rank == sorter->replay->rank_count
				    ? next_arrival(sorter, visit, &to)
				    : next_edge(sorter, visit, &to);

		if (!more) {
			sorter->states[number_of(sorter->replay, visit->place)] = STATE_PLACED;
			sorter->replay->order[sorter->placed++] = visit->place;
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
				place(&sorter, (struct ss_replay_place){ rank, i });
	}
	ss_memory_free(replay->memory, sorter.stack, sorter.capacity * sizeof(*sorter.stack));
	ss_arena_release(&scratch);
	return !sorter.failed;
}
