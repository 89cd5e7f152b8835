/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - depth first from each task to what it waits for; a task is placed when all
 * of that is placed.
 */
#include "replay/replay_parts.h"

#include <string.h>

enum place_state { STATE_NEW = 0, STATE_OPEN, STATE_PLACED };

/* A task of the job. */
struct order_place {
	uint32_t rank; /* or the number of ranks: `task` is a collective */
	uint32_t task;
};

/* A task whose edges are being followed. */
struct order_visit {
	struct order_place place;
	uint32_t next; /* edge, or member, to be followed next */
	uint32_t last; /* the edge that was followed last */
	enum { VISIT_EDGES, VISIT_COLLECTIVE, VISIT_DONE } part; /* of a task: what comes next */
};

struct task_sorter {
	struct ss_replay *replay;
	/* lent by the replay, which needs this memory only when the order is known: */
	uint8_t *states;
	uint32_t *edges_at; /* per task: its first edge */
	struct order_visit *stack;
	uint32_t depth, capacity;
	uint32_t next; /* task after the last of the order */
	bool failed;
};

static uint32_t place_number(const struct ss_replay *replay, struct order_place place)
{
	return replay->first[place.rank] + place.task;
}

static void push_place(struct task_sorter *sorter, struct order_place place)
{
	if (sorter->depth == sorter->capacity &&
	    !ss_memory_reserve(sorter->replay->memory, (void **)&sorter->stack, &sorter->capacity,
			       (size_t)sorter->depth + 1, sizeof(*sorter->stack))) {
		sorter->failed = true;
		return;
	}
	sorter->states[place_number(sorter->replay, place)] = STATE_OPEN;
	sorter->stack[sorter->depth++] = (struct order_visit){
		.place = place,
		.next = place.rank == sorter->replay->rank_count
				? 0
				: sorter->edges_at[place_number(sorter->replay, place)]
	};
}

/* The next thing that a collective waits for; false: no more. */
static bool next_awaited_arrival(const struct task_sorter *sorter, struct order_visit *visit,
				 struct order_place *out)
{
	const struct ss_replay_collective *collective =
		&sorter->replay->collectives[visit->place.task];
	const struct ss_replay_member *member;

	if (visit->next >= collective->count)
		return false;
	member = &sorter->replay->members[collective->first + visit->next++];
	*out = (struct order_place){ member->rank, member->task };
	return true;
}

/* The member + 1 that a transfer is; 0: the task waits for no collective. */
static uint32_t transfer_member(const struct ss_replay *replay, struct order_place place)
{
	const struct ss_replay_transfer *transfer = NULL;

	if (ss_packed_kind(&replay->ranks[place.rank], place.task) == SS_TASK_TRANSFER)
		transfer = ss_replay_transfer_of(replay, place.rank, place.task);
	return transfer ? transfer->member : 0;
}

/* The next thing that a task waits for; edges first, then its collective. */
static bool next_awaited_task(const struct task_sorter *sorter, struct order_visit *visit,
			      struct order_place *out)
{
	struct ss_replay *replay = sorter->replay;
	const struct ss_packed *graph = &replay->ranks[visit->place.rank];
	const uint8_t *at = &graph->edges[visit->next];
	struct ss_edge edge;
	uint32_t member;

	if (visit->part == VISIT_EDGES && *at != SS_PACKED_NO_EDGE) {
		if (!ss_packed_edge(&at, visit->place.task, &edge))
			visit->part = VISIT_COLLECTIVE;
		visit->last = visit->next;
		visit->next = (uint32_t)(at - graph->edges);
		*out = (struct order_place){ visit->place.rank, edge.from };
		return true;
	}
	member = visit->part == VISIT_DONE ? 0 : transfer_member(replay, visit->place);
	visit->part = VISIT_DONE;
	if (!member)
		return false;
	*out = (struct order_place){ replay->rank_count, replay->members[member - 1].collective };
	return true;
}

/* The edge that was followed last closes a circle. */
static void leave_out_edge(struct task_sorter *sorter, const struct order_visit *visit)
{
	struct ss_replay *replay = sorter->replay;
	struct ss_replay_left_out left_out = { .rank = visit->place.rank, .at = visit->last };

	replay->broken++;
	if (visit->place.rank == replay->rank_count) {
		replay->members[replay->collectives[visit->place.task].first + visit->next - 1]
			.is_awaited = false;
		return;
	}
	if (!ss_memory_reserve(replay->memory, (void **)&replay->left_out,
			       &replay->left_out_capacity, (size_t)replay->left_out_count + 1,
			       sizeof(*replay->left_out))) {
		sorter->failed = true;
		return;
	}
	if (visit->part == VISIT_DONE) {
		struct ss_replay_transfer *transfer =
			ss_replay_transfer_of(replay, visit->place.rank, visit->place.task);

		left_out.at = visit->place.task;
		left_out.member = transfer->member;
		transfer->member = 0;
	} else {
		uint8_t *head = &replay->ranks[visit->place.rank].edges[visit->last];

		left_out.head = *head;
		*head = (uint8_t)((*head & ~SS_PACKED_KIND) | SS_EDGE_KINDS);
	}
	replay->left_out[replay->left_out_count++] = left_out;
}

/* Appends a task to the order: to the last stretch if it follows its tasks. */
static void append_to_order(struct task_sorter *sorter, struct order_place place)
{
	struct ss_replay *replay = sorter->replay;
	struct ss_replay_stretch *last = replay->stretch_count
						 ? &replay->order[replay->stretch_count - 1]
						 : NULL;
	uint32_t member = place.rank < replay->rank_count ? transfer_member(replay, place) : 0;

	if (last && !member && last->rank == place.rank && sorter->next == place.task &&
	    last->count < SS_REPLAY_STRETCH_MAX) {
		last->count++;
		sorter->next++;
		return;
	}
	if (replay->stretch_count == replay->stretch_capacity &&
	    !ss_memory_reserve(replay->memory, (void **)&replay->order, &replay->stretch_capacity,
			       (size_t)replay->stretch_count + 1, sizeof(*replay->order))) {
		sorter->failed = true;
		return;
	}
	sorter->next = place.task + 1;
	replay->order[replay->stretch_count++] = (struct ss_replay_stretch){
		.rank = place.rank & SS_REPLAY_RANKS_MAX,
		.waits = member != 0,
		.count = 1,
		.task = member ? member - 1 : place.task,
		.edges_at = place.rank < replay->rank_count
				    ? sorter->edges_at[place_number(replay, place)]
				    : 0
	};
}

/* Places a task after everything that it waits for, depth first. */
static void place_with_awaited(struct task_sorter *sorter, struct order_place from)
{
	push_place(sorter, from);
	while (sorter->depth && !sorter->failed) {
		struct order_visit *visit = &sorter->stack[sorter->depth - 1];
		struct order_place to;
		bool more = visit->place.rank == sorter->replay->rank_count
				    ? next_awaited_arrival(sorter, visit, &to)
				    : next_awaited_task(sorter, visit, &to);

		if (!more) {
			sorter->states[place_number(sorter->replay, visit->place)] = STATE_PLACED;
			append_to_order(sorter, visit->place);
			sorter->depth--;
			continue;
		}
		switch (sorter->states[place_number(sorter->replay, to)]) {
		case STATE_NEW:
			push_place(sorter, to);
			break;
		case STATE_OPEN:
			leave_out_edge(sorter, visit);
			break;
		default:
			break;
		}
	}
}

/* Whether all that a task waits for is placed; never of a transfer, which may wait for others. */
static bool is_place_ready(const struct task_sorter *sorter, struct order_place place)
{
	const struct ss_replay *replay = sorter->replay;
	const struct ss_packed *graph = &replay->ranks[place.rank];
	const uint8_t *states = &sorter->states[replay->first[place.rank]];
	const uint8_t *at = &graph->edges[sorter->edges_at[place_number(replay, place)]];
	struct ss_edge edge;
	bool more = true;

	if (ss_packed_kind(graph, place.task) == SS_TASK_TRANSFER)
		return false;
	if (*at == SS_PACKED_CHAIN)
		return states[place.task - 1] == STATE_PLACED;
	if (*at == SS_PACKED_NO_EDGE)
		return true;
	while (more) {
		more = ss_packed_edge(&at, place.task, &edge);
		if (states[edge.from] != STATE_PLACED)
			return false;
	}
	return true;
}

/* Most tasks wait for earlier ones only, and need no stack. */
static void place_next(struct task_sorter *sorter, struct order_place from)
{
	if (from.rank == sorter->replay->rank_count || !is_place_ready(sorter, from)) {
		place_with_awaited(sorter, from);
		return;
	}
	sorter->states[place_number(sorter->replay, from)] = STATE_PLACED;
	append_to_order(sorter, from);
}

/* Finds where the edges of each task begin, in bytes. */
static void find_first_edges(struct task_sorter *sorter)
{
	const struct ss_replay *replay = sorter->replay;

	for (uint32_t rank = 0; rank < replay->rank_count; rank++) {
		const struct ss_packed *graph = &replay->ranks[rank];
		const uint8_t *at = graph->edges;

		for (uint32_t i = 0; i < graph->task_count; i++) {
			struct ss_edge edge;

			sorter->edges_at[replay->first[rank] + i] = (uint32_t)(at - graph->edges);
			while (ss_packed_edge(&at, i, &edge))
				;
		}
	}
}

bool ss_replay_sort(struct ss_replay *replay)
{
	struct task_sorter sorter = { .replay = replay,
				      .states = replay->flags,
				      .edges_at = replay->starts.behind_ns };

	find_first_edges(&sorter);
	for (uint32_t rank = 0; rank <= replay->rank_count && !sorter.failed; rank++) {
		uint32_t count = rank < replay->rank_count ? replay->ranks[rank].task_count
							   : replay->collective_count;

		for (uint32_t i = 0; i < count && !sorter.failed; i++)
			if (sorter.states[replay->first[rank] + i] == STATE_NEW)
				place_next(&sorter, (struct order_place){ rank, i });
	}
	ss_memory_fit(replay->memory, (void **)&replay->order, &replay->stretch_capacity,
		      replay->stretch_count, sizeof(*replay->order));
	ss_memory_free(replay->memory, sorter.stack, sorter.capacity * sizeof(*sorter.stack));
	memset(replay->flags, 0, replay->task_count);
	return !sorter.failed;
}
