/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.c - counts what the parts of a graph take, and fills them.
 */
#include "replay/packed.h"

#include "base/search.h"

/* --- numbers of few bytes ---------------------------------------------------------------- */

/* Most bytes of a difference. */
#define DIFFERENCE_BYTES_MAX 10

/* Writes a signed difference, 7 bits per byte. Returns the bytes. */
static inline uint32_t put_packed_difference(uint8_t *out, int64_t difference)
{
	uint64_t value = (uint64_t)difference << 1 ^ (difference < 0 ? UINT64_MAX : 0);
	uint32_t bytes = 0;

	do {
		out[bytes++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	return bytes;
}

static inline int64_t read_packed_difference(const uint8_t **at)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

/* The difference of two rows; SS_NO_ROW is the one before 0. */
static int64_t row_difference(uint32_t row, uint32_t before)
{
	return (int32_t)(row - before);
}

static const uint8_t bytes_of_form[] = {
	[SS_PACKED_NEXT] = 1, [SS_PACKED_LAGGING] = 3, [SS_PACKED_NEAR] = 5, [SS_PACKED_FAR] = 13
};

static enum ss_packed_form edge_form(const struct ss_edge *edge, uint32_t task)
{
	bool is_short = edge->lag_ns >= INT16_MIN && edge->lag_ns <= INT16_MAX;

	if (is_short && edge->from + 1 == task)
		return edge->lag_ns ? SS_PACKED_LAGGING : SS_PACKED_NEXT;
	return is_short && edge->from < task && task - edge->from <= UINT16_MAX ? SS_PACKED_NEAR
										: SS_PACKED_FAR;
}

/* Returns its bytes. */
static uint32_t put_packed_edge(uint8_t *out, const struct ss_edge *edge, uint32_t task,
				bool is_last)
{
	enum ss_packed_form form = edge_form(edge, task);
	uint16_t distance = (uint16_t)(task - edge->from);
	int16_t lag = (int16_t)edge->lag_ns;

	*out++ = (uint8_t)(edge->kind | (edge->from_start ? SS_PACKED_FROM_START : 0) |
			   (is_last ? SS_PACKED_LAST : 0) | form << SS_PACKED_FORM_AT);
	if (form == SS_PACKED_LAGGING)
		memcpy(out, &lag, sizeof(lag));
	if (form == SS_PACKED_NEAR) {
		memcpy(out, &distance, sizeof(distance));
		memcpy(out + sizeof(distance), &lag, sizeof(lag));
	}
	if (form == SS_PACKED_FAR) {
		memcpy(out, &edge->from, sizeof(edge->from));
		memcpy(out + sizeof(edge->from), &edge->lag_ns, sizeof(edge->lag_ns));
	}
	return bytes_of_form[form];
}

/* --- from a graph ------------------------------------------------------------------------ */

static uint32_t packed_block_count(uint32_t tasks)
{
	return tasks / SS_PACKED_BLOCK + 1;
}

static uint32_t packed_mark_count(uint32_t tasks)
{
	return tasks / SS_PACKED_MARK + 1;
}

/* What is kept for its start. */
static int64_t packed_moment(const struct ss_task *task)
{
	return task->kind == SS_TASK_TRANSFER ? ss_task_end(task) : task->start_ns;
}

/* Whether its own time, or what a replay makes of it, needs more than 4 bytes. */
static bool is_long_task(const struct ss_graph *graph, uint32_t task)
{
	const struct ss_task *own = &graph->tasks[task];
	int64_t most_ns = own->own_ns;

	if (own->kind != SS_TASK_TRANSFER)
		return (uint64_t)most_ns >= SS_PACKED_LONG_NS;
	if (task && ss_task_end(own) - own[-1].start_ns > most_ns)
		most_ns = ss_task_end(own) - own[-1].start_ns;
	return own->own_ns < 0 || most_ns >= SS_PACKED_LONG_NS;
}

static bool starts_new_run(const struct ss_graph *graph, uint32_t task)
{
	const struct ss_task *own = &graph->tasks[task];

	return !task || own->track != own[-1].track || own->step != own[-1].step;
}

/* From the end of the task before it to its moment. */
static int64_t moment_difference(const struct ss_task *task)
{
	const struct ss_task *before = task - 1;
	uint64_t end_ns = (uint64_t)before->start_ns + (uint64_t)before->own_ns;

	return (int64_t)((uint64_t)packed_moment(task) - end_ns);
}

static void *packed_new_array(const struct ss_packed *packed, size_t number, size_t bytes,
			      bool *whole)
{
	void *items = ss_memory_resize(packed->memory, NULL, 0, (number + 1) * bytes);

	*whole &= items != NULL;
	return items;
}

/* The arrays with as many items as there are tasks. */
static bool packed_allocate(struct ss_packed *packed)
{
	uint32_t tasks = packed->task_count;
	bool whole = true;

	packed->kinds = packed_new_array(packed, tasks, sizeof(*packed->kinds), &whole);
	packed->own_ns = packed_new_array(packed, tasks, sizeof(*packed->own_ns), &whole);
	packed->blocks = packed_new_array(packed, packed_block_count(tasks),
					  sizeof(*packed->blocks), &whole);
	packed->marks = packed_new_array(packed, packed_mark_count(tasks), sizeof(*packed->marks),
					 &whole);
	return whole;
}

/* Room of the other arrays, which grow block by block; each has one item more than it needs. */
struct packed_room {
	uint32_t runs, longs, starts, rows, edges;
};

/* Makes room for the tasks from .. to - 1; false: no memory, or more than can be numbered. */
static bool packed_reserve(struct ss_packed *packed, const struct ss_graph *graph,
			   struct packed_room *room, uint32_t from, uint32_t to)
{
	struct ss_memory *memory = packed->memory;
	size_t tasks = (size_t)to - from + 1;
	/* a graph without tasks has no array of them */
	size_t edges = to > from ? (size_t)graph->tasks[to].edges - graph->tasks[from].edges : 0;

	return SS_RESERVE(memory, packed->runs, room->runs, packed->run_count + tasks) &&
	       SS_RESERVE(memory, packed->longs, room->longs, packed->long_count + tasks) &&
	       SS_RESERVE(memory, packed->starts, room->starts,
			  packed->start_bytes + tasks * DIFFERENCE_BYTES_MAX) &&
	       SS_RESERVE(memory, packed->rows, room->rows,
			  packed->row_bytes + tasks * DIFFERENCE_BYTES_MAX) &&
	       SS_RESERVE(memory, packed->edges, room->edges,
			  packed->edge_bytes + tasks + edges * bytes_of_form[SS_PACKED_FAR]);
}

/* The room becomes what is there, or, without memory, what is to be freed. */
static void packed_fit(struct ss_packed *packed, struct packed_room *room, bool whole)
{
	struct ss_memory *memory = packed->memory;
	const struct {
		void **items;
		uint32_t *room, *count;
		size_t item_bytes;
	} arrays[] = {
		{ (void **)&packed->runs, &room->runs, &packed->run_count, sizeof(*packed->runs) },
		{ (void **)&packed->longs, &room->longs, &packed->long_count,
		  sizeof(*packed->longs) },
		{ (void **)&packed->starts, &room->starts, &packed->start_bytes, 1 },
		{ (void **)&packed->rows, &room->rows, &packed->row_bytes, 1 },
		{ (void **)&packed->edges, &room->edges, &packed->edge_bytes, 1 },
	};

	for (size_t i = 0; i < SS_COUNT(arrays); i++) {
		if (whole)
			ss_memory_fit(memory, arrays[i].items, arrays[i].room, *arrays[i].count + 1,
				      arrays[i].item_bytes);
		else
			*arrays[i].count = *arrays[i].room ? *arrays[i].room - 1 : 0;
	}
}

static void open_packed_block(struct ss_packed *packed, const struct ss_graph *graph, uint32_t task)
{
	packed->blocks[task / SS_PACKED_BLOCK] =
		(struct ss_packed_block){ .base_ns = packed_moment(&graph->tasks[task]),
					  .starts_at = packed->start_bytes,
					  .run = packed->run_count ? packed->run_count - 1 : 0,
					  .rows_at = packed->row_bytes };
}

static void put_packed_times(struct ss_packed *packed, const struct ss_graph *graph, uint32_t task)
{
	const struct ss_task *from = &graph->tasks[task];

	if (task % SS_PACKED_BLOCK)
		packed->start_bytes += put_packed_difference(&packed->starts[packed->start_bytes],
							     moment_difference(from));
	packed->own_ns[task] = (uint32_t)from->own_ns;
	if (is_long_task(graph, task)) {
		packed->own_ns[task] = UINT32_MAX;
		packed->longs[packed->long_count++] = (struct ss_packed_time){ task, from->own_ns };
	}
}

static void put_packed_edges(struct ss_packed *packed, const struct ss_graph *graph, uint32_t task)
{
	uint32_t end = graph->tasks[task + 1].edges;

	if (task % SS_PACKED_MARK == 0)
		packed->marks[task / SS_PACKED_MARK] = packed->edge_bytes;
	if (graph->tasks[task].edges == end)
		packed->edges[packed->edge_bytes++] = SS_PACKED_NO_EDGE;
	for (uint32_t i = graph->tasks[task].edges; i < end; i++) {
		struct ss_edge edge = ss_replay_edge_of(graph, &graph->edges[i]);

		packed->edge_bytes += put_packed_edge(&packed->edges[packed->edge_bytes], &edge,
						      task, i + 1 == end);
	}
}

static void fill_packed_block(struct ss_packed *packed, const struct ss_graph *graph, uint32_t from,
			      uint32_t to)
{
	uint32_t row = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (starts_new_run(graph, i))
			packed->runs[packed->run_count++] = (struct ss_packed_run){ i, task->track,
										    task->step };
		if (i == from)
			open_packed_block(packed, graph, i);
		packed->kinds[i] = (uint8_t)(task->kind | task->phase << 4);
		put_packed_times(packed, graph, i);
		packed->row_bytes += put_packed_difference(&packed->rows[packed->row_bytes],
							   row_difference(task->row, row));
		row = task->row;
		put_packed_edges(packed, graph, i);
	}
}

/* False: no memory. */
static bool fill_packed(struct ss_packed *packed, const struct ss_graph *graph)
{
	struct packed_room room = { 0 };
	bool whole = packed_allocate(packed) && packed_reserve(packed, graph, &room, 0, 0);

	for (uint32_t from = 0, to; whole && from < graph->task_count; from = to) {
		to = graph->task_count - from < SS_PACKED_BLOCK ? graph->task_count
								: from + SS_PACKED_BLOCK;
		whole = packed_reserve(packed, graph, &room, from, to);
		if (whole)
			fill_packed_block(packed, graph, from, to);
	}
	if (whole)
		packed->runs[packed->run_count] = (struct ss_packed_run){ UINT32_MAX, SS_NO_ROW,
									  SS_NO_STEP };
	packed_fit(packed, &room, whole);
	return whole;
}

void ss_packed_take(struct ss_packed *packed, struct ss_graph *graph)
{
	ss_memory_fit(graph->memory, (void **)&graph->names_of, &graph->name_room,
		      graph->task_count, graph->name_bytes);
	packed->names = graph->names;
	packed->names_of = graph->names_of;
	packed->name_room = graph->name_room;
	packed->name_bytes = graph->name_bytes;
	ss_memory_fit(graph->memory, (void **)&graph->delays, &graph->delay_capacity,
		      graph->delay_count, sizeof(*graph->delays));
	packed->delays = graph->delays;
	packed->delay_count = graph->delay_count;
	packed->steps = graph->steps;
	packed->step_count = graph->step_count;
	packed->comms = graph->comms;
	packed->comm_count = graph->comm_count;
	packed->comm_capacity = graph->comm_capacity;
	packed->main = graph->main;
	memcpy(packed->edges_of, graph->edges_of, sizeof(packed->edges_of));
	graph->names = (struct ss_strings){ 0 };
	graph->names_of = NULL;
	graph->delays = NULL;
	graph->name_room = graph->delay_count = graph->delay_capacity = 0;
	graph->steps = NULL;
	graph->step_count = 0;
	graph->comms = NULL;
	graph->comm_count = graph->comm_capacity = 0;
}

enum ss_status ss_packed_fill(struct ss_packed *packed, const struct ss_graph *graph,
			      struct ss_error *err)
{
	_Static_assert(SS_TASK_KINDS <= 16 && SS_PHASE_COUNT <= 16, "a byte has both");
	_Static_assert((int)SS_EDGE_KINDS < (int)SS_PACKED_KIND,
		       "one is left to say that there is none");
	*packed = (struct ss_packed){ .memory = graph->memory,
				      .task_count = graph->task_count,
				      .edge_count = graph->edge_count,
				      .main = SS_NO_ROW };
	if (!graph->memory)
		return SS_OK;
	if (fill_packed(packed, graph))
		return SS_OK;
	ss_packed_release(packed);
	return ss_fail_memory(err, "the graph of the steps");
}

enum ss_status ss_packed_make(struct ss_packed *packed, struct ss_graph *graph,
			      struct ss_error *err)
{
	SS_TRY(ss_packed_fill(packed, graph, err));
	ss_packed_take(packed, graph);
	return SS_OK;
}

void ss_packed_release(struct ss_packed *packed)
{
	struct ss_memory *memory = packed->memory;
	size_t tasks = (size_t)packed->task_count + 1;

	if (!memory)
		return;
	SS_FREE(memory, packed->kinds, tasks);
	SS_FREE(memory, packed->own_ns, tasks);
	ss_memory_free(memory, packed->names_of, (size_t)packed->name_room * packed->name_bytes);
	ss_memory_free(memory, packed->blocks,
		       ((size_t)packed_block_count(packed->task_count) + 1) *
			       sizeof(*packed->blocks));
	SS_FREE(memory, packed->runs, (size_t)packed->run_count + 1);
	SS_FREE(memory, packed->longs, (size_t)packed->long_count + 1);
	SS_FREE(memory, packed->delays, packed->delay_count);
	ss_memory_free(memory, packed->starts, (size_t)packed->start_bytes + 1);
	ss_memory_free(memory, packed->rows, (size_t)packed->row_bytes + 1);
	ss_memory_free(memory, packed->edges, (size_t)packed->edge_bytes + 1);
	ss_memory_free(memory, packed->marks,
		       ((size_t)packed_mark_count(packed->task_count) + 1) *
			       sizeof(*packed->marks));
	ss_strings_release(&packed->names);
	SS_FREE(memory, packed->comms, packed->comm_capacity);
	SS_FREE(memory, packed->steps, packed->step_count);
	*packed = (struct ss_packed){ 0 };
}

/* --- reading ----------------------------------------------------------------------------- */

/* The time of a task in a table; NULL: it has none. */
static int64_t *find_packed_time(struct ss_packed_time *items, uint32_t item_count, uint32_t task)
{
	uint32_t low = 0, high = item_count;

	SS_SEARCH(low, high, at, items[at].task < task);
	return low < item_count && items[low].task == task ? &items[low].ns : NULL;
}

int64_t *ss_packed_long(const struct ss_packed *packed, uint32_t task)
{
	int64_t *ns = find_packed_time(packed->longs, packed->long_count, task);

	assert(ns);
	return ns;
}

int64_t ss_packed_delay(const struct ss_packed *packed, uint32_t task)
{
	const int64_t *ns = find_packed_time(packed->delays, packed->delay_count, task);

	return ns ? *ns : 0;
}

uint32_t ss_packed_name(const struct ss_packed *packed, uint32_t task)
{
	return packed->names_of ? ss_replay_name_at(packed->names_of, packed->name_bytes, task) : 0;
}

uint32_t ss_packed_row(const struct ss_packed *packed, uint32_t task)
{
	const uint8_t *at = &packed->rows[packed->blocks[task / SS_PACKED_BLOCK].rows_at];
	uint32_t row = 0;

	for (uint32_t i = 0; i <= task % SS_PACKED_BLOCK; i++)
		row += (uint32_t)read_packed_difference(&at);
	return row;
}

/* From the moment of a task to that of the next one. */
static inline uint64_t next_packed_moment(const struct ss_packed *packed, uint32_t task,
					  uint64_t moment_ns, const uint8_t **at)
{
	uint32_t own_ns = packed->own_ns[task];

	/* a transfer has its end already */
	if (ss_packed_kind(packed, task) != SS_TASK_TRANSFER)
		moment_ns += own_ns < UINT32_MAX ? own_ns : (uint64_t)*ss_packed_long(packed, task);
	/* most tasks of a thread begin when the one before ends */
	if (!**at) {
		++*at;
		return moment_ns;
	}
	return moment_ns + (uint64_t)read_packed_difference(at);
}

void ss_packed_moments(const struct ss_packed *packed, uint32_t block,
		       int64_t moments_ns[SS_PACKED_BLOCK])
{
	const uint8_t *at = &packed->starts[packed->blocks[block].starts_at];
	uint32_t first = block * SS_PACKED_BLOCK, left = packed->task_count - first;
	uint64_t moment_ns = (uint64_t)packed->blocks[block].base_ns;

	moments_ns[0] = (int64_t)moment_ns;
	for (uint32_t i = 1; i < SS_PACKED_BLOCK && i < left; i++) {
		moment_ns = next_packed_moment(packed, first + i - 1, moment_ns, &at);
		moments_ns[i] = (int64_t)moment_ns;
	}
}

/* The moment of one task; `at` goes to the next one of its block. */
static uint64_t find_packed_moment(const struct ss_packed *packed, uint32_t task,
				   const uint8_t **at)
{
	const struct ss_packed_block *block = &packed->blocks[task / SS_PACKED_BLOCK];
	uint64_t moment_ns = (uint64_t)block->base_ns;

	*at = &packed->starts[block->starts_at];
	for (uint32_t i = task - task % SS_PACKED_BLOCK; i < task; i++)
		moment_ns = next_packed_moment(packed, i, moment_ns, at);
	return moment_ns;
}

int64_t ss_packed_transfer_end(const struct ss_packed *packed, uint32_t arrival,
			       int64_t *arrived_ns)
{
	const uint8_t *at;
	uint64_t moment_ns = find_packed_moment(packed, arrival, &at);

	*arrived_ns = (int64_t)moment_ns;
	return (int64_t)((arrival + 1) % SS_PACKED_BLOCK
				 ? next_packed_moment(packed, arrival, moment_ns, &at)
				 : find_packed_moment(packed, arrival + 1, &at));
}

int64_t ss_packed_start(const struct ss_packed *packed, uint32_t task)
{
	const uint8_t *at;
	uint64_t moment_ns = find_packed_moment(packed, task, &at);

	if (ss_packed_kind(packed, task) == SS_TASK_TRANSFER)
		moment_ns -= (uint64_t)ss_packed_own(packed, task);
	return (int64_t)moment_ns;
}

uint32_t ss_packed_edges(const struct ss_packed *packed, uint32_t task)
{
	uint32_t at = packed->marks[task / SS_PACKED_MARK];

	for (uint32_t left = task % SS_PACKED_MARK; left;) {
		uint8_t head = packed->edges[at];

		at += bytes_of_form[head >> SS_PACKED_FORM_AT];
		left -= (head & SS_PACKED_LAST) != 0;
	}
	return at;
}

void ss_packed_settle(struct ss_packed *packed, uint32_t task, int64_t own_ns)
{
	int64_t *delay_ns = find_packed_time(packed->delays, packed->delay_count, task);

	if (packed->own_ns[task] == UINT32_MAX)
		*ss_packed_long(packed, task) = own_ns;
	else
		packed->own_ns[task] = (uint32_t)own_ns;
	if (delay_ns)
		*delay_ns = 0;
}

/* --- back to a graph --------------------------------------------------------------------- */

static void unpack_task(const struct ss_packed *packed, uint32_t index, struct ss_task *out)
{
	struct ss_packed_task task = ss_packed_task(packed, index);

	*out = (struct ss_task){ .start_ns = task.start_ns,
				 .own_ns = task.own_ns,
				 .row = ss_packed_row(packed, index),
				 .track = task.track,
				 .step = task.step,
				 .kind = task.kind,
				 .phase = task.phase };
}

bool ss_packed_unpack(const struct ss_packed *packed, struct ss_graph *graph)
{
	if (!SS_GROW(graph->memory, graph->tasks, graph->task_capacity, packed->task_count) ||
	    !SS_GROW(graph->memory, graph->edges, graph->edge_capacity, packed->edge_count))
		return false;
	graph->task_count = packed->task_count;
	for (uint32_t i = 0; i < packed->task_count; i++) {
		struct ss_packed_visit visit = ss_packed_visit(packed, i);
		struct ss_edge edge;

		unpack_task(packed, i, &graph->tasks[i]);
		graph->tasks[i].edges = graph->edge_count;
		while (ss_packed_next(&visit, &edge))
			if (!ss_replay_edge_shorten(graph, &edge,
						    &graph->edges[graph->edge_count++]))
				return false;
	}
	graph->tasks[packed->task_count] = (struct ss_task){ .edges = graph->edge_count };
	return true;
}
