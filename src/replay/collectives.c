/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.c - joins the graphs of the ranks at their collectives, and finds the order of all
 * tasks.
 *
 * If a stage of a pipeline has no file, its neighbours send to a rank that is not there. Without
 * more they would wait as long as they did, whatever other ranks do. The next rank of the
 * neighbour's own stage does the same with a rank of the missing one's stage, at the same time: the
 * neighbour waits for that one.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/replay_parts.h"
#include "base/search.h"
#include "base/sort.h"

/* --- neighbours of ranks without a file ----------------------------------------------------- */

/* An arrival that met nobody waits for a collective of peers. */
struct lone_arrival {
	uint32_t collective, rank, arrival;
};

SS_COMPARATOR(lone_arrival_compare, struct lone_arrival,
	      SS_ASCENDING(collective) SS_ASCENDING(rank) SS_ASCENDING(arrival))

struct lone_arrivals {
	struct lone_arrival *items; /* by collective */
	uint32_t count, capacity, next;
};

static bool is_send(const struct ss_digest *rank, uint32_t arrival)
{
	return rank->arrivals[arrival].kind >= SS_COLLECTIVE_SEND_RECV;
}

static uint32_t count_sends(const struct ss_digest *rank)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rank->arrival_count; i++)
		count += is_send(rank, i);
	return count;
}

/* The first send or receive from `at` on; its count of arrivals: there is none. */
static uint32_t next_send(const struct ss_digest *rank, uint32_t at)
{
	while (at < rank->arrival_count && !is_send(rank, at))
		at++;
	return at;
}

/* The nearest rank of the same stage that sends as often: its neighbours have files. */
static uint32_t find_stand_in(const struct ss_joined *joined, uint32_t r)
{
	uint32_t sends = count_sends(&joined->ranks[r]);

	for (uint32_t apart = 1; apart < joined->rank_count; apart++)
		for (int side = 0; side < 2; side++) {
			uint32_t k = side ? r + apart : r - apart;

			if (k < joined->rank_count && joined->roles[k] == joined->roles[r] &&
			    count_sends(&joined->ranks[k]) == sends)
				return k;
		}
	return SS_NO_ROW;
}

/* Whether the partner of this send or receive has no file. */
static bool is_lone(const struct ss_joined *joined, uint32_t r, uint32_t arrival)
{
	uint32_t group = joined->rank_groups[r][joined->ranks[r].arrivals[arrival].group];

	return joined->collective_of[r][arrival] == SS_NO_COLLECTIVE &&
	       joined->groups[group].count == 1;
}

/* Lists the sends and receives of a rank that met nobody, with what its stand-in does instead. */
static void list_lone_arrivals(struct lone_arrivals *out, const struct ss_joined *joined,
			       uint32_t r)
{
	uint32_t peer = find_stand_in(joined, r), at = 0;
	const struct ss_digest *rank = &joined->ranks[r], *other;

	if (peer == SS_NO_ROW)
		return;
	other = &joined->ranks[peer];
	for (uint32_t i = next_send(rank, 0); i < rank->arrival_count; i = next_send(rank, i + 1)) {
		at = next_send(other, at);
		if (is_lone(joined, r, i) && other->arrivals[at].kind == rank->arrivals[i].kind &&
		    joined->collective_of[peer][at] != SS_NO_COLLECTIVE)
			out->items[out->count++] =
				(struct lone_arrival){ joined->collective_of[peer][at], r, i };
		at++;
	}
}

static uint32_t count_lone(const struct ss_joined *joined, uint32_t r)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < joined->ranks[r].arrival_count; i++)
		count += is_send(&joined->ranks[r], i) && is_lone(joined, r, i);
	return count;
}

/* False: no memory. */
static bool find_lone_arrivals(struct ss_replay *replay, struct lone_arrivals *out,
			       const struct ss_joined *joined)
{
	bool whole = true;

	*out = (struct lone_arrivals){ 0 };
	for (uint32_t r = 0; r < joined->rank_count && joined->role_count; r++)
		out->capacity += count_lone(joined, r);
	if (!out->capacity)
		return true;
	out->items = ss_replay_array(replay, out->capacity, sizeof(*out->items), &whole);
	for (uint32_t r = 0; whole && r < joined->rank_count; r++)
		if (joined->roles[r] < joined->role_count && count_lone(joined, r))
			list_lone_arrivals(out, joined, r);
	if (whole)
		SS_SORT(out->items, out->count, lone_arrival_compare);
	return whole;
}

/* --- collectives ---------------------------------------------------------------------------- */

/* Adds those who wait for this collective, and for whom nobody waits. */
static void replay_add_lone(struct ss_replay *replay, const struct ss_joined *joined,
			    struct ss_replay_collective *own, struct lone_arrivals *lone,
			    uint32_t number)
{
	for (; lone->next < lone->count && lone->items[lone->next].collective == number;
	     lone->next++) {
		const struct lone_arrival *item = &lone->items[lone->next];
		uint32_t task =
			ss_packed_comm_of(&replay->ranks[item->rank],
					  joined->ranks[item->rank].arrivals[item->arrival].row);

		if (task != SS_NO_TASK && own->count)
			replay->members[own->first + own->count++] =
				(struct ss_replay_member){ .rank = item->rank,
							   .task = task,
							   .collective = replay->collective_count };
	}
}

/* Adds a collective with the members that have tasks, if there are at least two. */
static void replay_add_collective(struct ss_replay *replay, const struct ss_joined *joined,
				  struct lone_arrivals *lone, uint32_t number)
{
	const struct ss_collective *collective = &joined->collectives[number];
	struct ss_replay_collective own = { replay->member_count, 0 };

	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_member *member = &joined->members[collective->first + i];
		uint32_t task = ss_packed_comm_of(&replay->ranks[member->rank],
						  ss_joined_arrival(joined, member)->row);

		if (task == SS_NO_TASK ||
		    joined->clocks[member->rank].component !=
			    joined->clocks[joined->members[collective->first].rank].component)
			continue;
		replay->members[own.first + own.count++] =
			(struct ss_replay_member){ .rank = member->rank,
						   .task = task,
						   .collective = replay->collective_count,
						   .is_awaited = true };
	}
	replay_add_lone(replay, joined, &own, lone, number);
	if (own.count < 2)
		return;
	replay->member_count += own.count;
	replay->collectives[replay->collective_count++] = own;
}

struct ss_replay_transfer *ss_replay_transfer_of(const struct ss_replay *replay, uint32_t rank,
						 uint32_t task)
{
	uint32_t low = replay->transfers_from[rank], end = replay->transfers_from[rank + 1];
	uint32_t high = end;

	SS_SEARCH(low, high, at, replay->transfers[at].task < task);
	return low < end && replay->transfers[low].task == task ? &replay->transfers[low] : NULL;
}

/* Finds when the last member arrived, as recorded, and how long the others took from then on. */
static void settle_collective(struct ss_replay *replay,
			      const struct ss_replay_collective *collective, int64_t *ends_ns,
			      int64_t *arrived_ns)
{
	struct ss_replay_member *members = &replay->members[collective->first];
	int64_t complete_ns = INT64_MIN;

	for (uint32_t i = 0; i < collective->count; i++) {
		int64_t offset_ns = replay->offset_ns[members[i].rank], at_ns;

		ends_ns[i] = offset_ns + ss_packed_transfer_end(&replay->ranks[members[i].rank],
								members[i].task, &at_ns);
		arrived_ns[i] = at_ns + offset_ns;
		if (members[i].is_awaited && arrived_ns[i] > complete_ns)
			complete_ns = arrived_ns[i];
	}
	for (uint32_t i = 0; i < collective->count; i++) {
		struct ss_replay_member *member = &members[i];
		int64_t from_ns = arrived_ns[i] > complete_ns ? arrived_ns[i] : complete_ns;

		/* a member that left before the last arrived did not wait for it */
		if (ends_ns[i] < from_ns)
			continue;
		ss_packed_settle(&replay->ranks[member->rank], member->task + 1,
				 ends_ns[i] - from_ns);
		ss_replay_transfer_of(replay, member->rank, member->task + 1)->member =
			collective->first + i + 1;
	}
}

SS_COMPARATOR(replay_transfer_compare, struct ss_replay_transfer, SS_ASCENDING(task))

/* The transfers of all members; whether they wait is not known yet. */
static void list_transfers(struct ss_replay *replay)
{
	uint32_t *from = replay->transfers_from, count = 0;

	for (uint32_t i = 0; i < replay->member_count; i++)
		from[replay->members[i].rank]++;
	for (uint32_t i = 0; i <= replay->rank_count; i++) {
		count += from[i];
		from[i] = count;
	}
	for (uint32_t i = 0; i < replay->member_count; i++)
		replay->transfers[--from[replay->members[i].rank]].task = replay->members[i].task +
									  1;
	for (uint32_t i = 0; i < replay->rank_count; i++)
		qsort(&replay->transfers[from[i]], from[i + 1] - from[i],
		      sizeof(*replay->transfers), replay_transfer_compare);
}

bool ss_replay_settle(struct ss_replay *replay)
{
	bool whole = true;
	size_t room = 2 * (size_t)replay->member_count;
	int64_t *ends_ns = ss_replay_array(replay, room, sizeof(*ends_ns), &whole);

	if (!whole)
		return false;
	list_transfers(replay);
	for (uint32_t i = 0; i < replay->collective_count; i++)
		settle_collective(replay, &replay->collectives[i], ends_ns,
				  ends_ns + replay->member_count);
	ss_replay_free_array(replay, ends_ns, room, sizeof(*ends_ns));
	replay->is_settled = true;
	return true;
}

/* The graphs are lent: makes them as they were before. */
void ss_replay_unsettle(struct ss_replay *replay)
{
	for (uint32_t i = 0; i < replay->left_out_count; i++) {
		const struct ss_replay_left_out *left_out = &replay->left_out[i];

		if (left_out->member)
			ss_replay_transfer_of(replay, left_out->rank, left_out->at)->member =
				left_out->member;
		else
			replay->ranks[left_out->rank].edges[left_out->at] = left_out->head;
	}
	for (uint32_t i = 0; replay->is_settled && i < replay->member_count; i++) {
		const struct ss_replay_member *member = &replay->members[i];
		struct ss_packed *graph = &replay->ranks[member->rank];
		int64_t end_ns, arrived_ns;

		if (!ss_replay_transfer_of(replay, member->rank, member->task + 1)->member)
			continue;
		end_ns = ss_packed_transfer_end(graph, member->task, &arrived_ns);
		ss_packed_settle(graph, member->task + 1, end_ns - arrived_ns);
	}
}

bool ss_replay_join(struct ss_replay *replay, const struct ss_joined *joined)
{
	struct lone_arrivals lone = { 0 };
	bool whole = !joined || find_lone_arrivals(replay, &lone, joined);

	replay->collective_capacity = joined ? joined->collective_count : 0;
	replay->member_capacity = joined ? joined->member_count + lone.count : 0;
	replay->collectives = ss_replay_array(replay, replay->collective_capacity,
					      sizeof(*replay->collectives), &whole);
	replay->members = ss_replay_array(replay, replay->member_capacity, sizeof(*replay->members),
					  &whole);
	if (!whole) {
		ss_replay_free_array(replay, lone.items, lone.capacity, sizeof(*lone.items));
		return false;
	}
	replay->is_together = joined && replay->rank_count > 1;
	for (uint32_t i = 0; joined && i < replay->rank_count; i++) {
		replay->offset_ns[i] = ss_joined_align(joined, i, joined->ranks[i].start_ns);
		replay->is_together &= joined->clocks[i].component != SS_NO_ROW &&
				       joined->clocks[i].component == joined->clocks[0].component &&
				       replay->ranks[i].step_count == replay->ranks[0].step_count &&
				       replay->ranks[i].step_count > 0;
	}
	for (uint32_t i = 0; joined && i < joined->collective_count; i++)
		replay_add_collective(replay, joined, &lone, i);
	ss_replay_free_array(replay, lone.items, lone.capacity, sizeof(*lone.items));
	return true;
}

/*
 * Depth first from each task to what it waits for; a task is placed when all
 * of that is placed.
 */

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
	    !SS_GROW(sorter->replay->memory, sorter->stack, sorter->capacity, sorter->depth)) {
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
	if (!SS_GROW(replay->memory, replay->left_out, replay->left_out_capacity,
		     replay->left_out_count)) {
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
	    !SS_GROW(replay->memory, replay->order, replay->stretch_capacity,
		     replay->stretch_count)) {
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
	SS_FREE(replay->memory, sorter.stack, sorter.capacity);
	memset(replay->flags, 0, replay->task_count);
	return !sorter.failed;
}
