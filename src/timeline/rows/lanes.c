/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.c - sorts rows by lane, and sums them up level by level.
 */
#include "timeline/rows/lanes.h"

#include <string.h>

#include "base/search.h"
#include "analyze/time/roles.h"

/* The number of nodes of all levels over the rows; a few rows need none. */
static uint32_t lane_node_count(uint32_t rows)
{
	uint32_t sum = 0;

	while (rows > SS_LANE_FAN) {
		rows = (rows - 1) / SS_LANE_FAN + 1;
		sum += rows;
	}
	return sum ? sum + (rows > 1) : 0;
}

static uint32_t lane_row_at(const struct ss_lanes *lanes, uint32_t track,
			    const struct ss_lane *lane, uint32_t place)
{
	return ss_lanes_is_ordered(lanes, track) ? lanes->order[lane->first + place]
						 : lane->first + place;
}

/* --- the tree ---------------------------------------------------------------------- */

static void lane_node_widen(struct ss_lane_node *node, const struct ss_lane_node *by,
			    const struct ss_lane_rows *rows)
{
	if (by->end_ns > node->end_ns)
		node->end_ns = by->end_ns;
	node->busy_ns += by->busy_ns;
	if (rows->dur_ns[by->longest] > rows->dur_ns[node->longest]) {
		node->longest = by->longest;
		node->longest_ns = by->longest_ns;
		node->color = by->color;
		node->cause = by->cause;
	}
}

static void lane_sum_rows(struct ss_lanes *lanes, uint32_t track, const struct ss_lane *lane)
{
	struct ss_lane_node *node = lanes->nodes + lane->node;

	for (uint32_t i = 0; i < lane->count; i++) {
		uint32_t row = lane_row_at(lanes, track, lane, i);
		struct ss_lane_node own = ss_lane_row(&lanes->rows, row);

		if (i % SS_LANE_FAN == 0)
			node[i / SS_LANE_FAN] = own;
		else
			lane_node_widen(&node[i / SS_LANE_FAN], &own, &lanes->rows);
		if (i % SS_LANE_FAN == SS_LANE_FAN - 1 || i == lane->count - 1)
			ss_lane_paint(&lanes->rows, &node[i / SS_LANE_FAN]);
	}
}

static void lane_sum(struct ss_lanes *lanes, uint32_t track, const struct ss_lane *lane)
{
	struct ss_lane_node *below = lanes->nodes + lane->node;
	uint32_t count = (lane->count - 1) / SS_LANE_FAN + 1;

	lane_sum_rows(lanes, track, lane);
	while (count > 1) {
		struct ss_lane_node *above = below + count;

		for (uint32_t i = 0; i < count; i++)
			if (i % SS_LANE_FAN == 0)
				above[i / SS_LANE_FAN] = below[i];
			else
				lane_node_widen(&above[i / SS_LANE_FAN], &below[i], &lanes->rows);
		below = above;
		count = (count - 1) / SS_LANE_FAN + 1;
	}
}

static bool lanes_sum(struct ss_lanes *lanes)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < lanes->lane_count; i++) {
		lanes->lanes[i].node = (uint32_t)sum;
		sum += lane_node_count(lanes->lanes[i].count);
	}
	if (!SS_MEMORY_NEW(lanes->memory, lanes->nodes, sum + 1))
		return false;
	lanes->node_count = (uint32_t)sum;
	for (uint32_t track = 0; track < lanes->track_count; track++)
		for (uint32_t i = lanes->lane_of[track]; i < lanes->lane_of[track + 1]; i++)
			if (lane_node_count(lanes->lanes[i].count))
				lane_sum(lanes, track, &lanes->lanes[i]);
	return true;
}

/* --- lanes ------------------------------------------------------------------------- */

/* Makes room for the lanes and their rows. */
static bool lanes_reserve(struct ss_lanes *lanes, uint64_t lane_count, uint64_t order_count)
{
	lanes->lane_of = ss_memory_resize(lanes->memory, NULL, 0,
					  ((size_t)lanes->track_count + 1) *
						  sizeof(*lanes->lane_of));
	if (!SS_GROW(lanes->memory, lanes->lanes, lanes->lane_capacity, lane_count))
		return false;
	lanes->order = ss_memory_resize(lanes->memory, NULL, 0,
					(size_t)(order_count + 1) * sizeof(*lanes->order));
	lanes->order_count = lanes->order ? (uint32_t)order_count : 0;
	return lanes->lane_of && lanes->order;
}

/* Sorts the rows of a track by lane; stable, so the rows of a lane stay in the order of time. */
static void lanes_order_track(struct ss_lanes *lanes, const struct ss_trace *trace, uint32_t number,
			      uint32_t *at)
{
	const struct ss_track *track = &trace->tracks[number];
	struct ss_lane *own = &lanes->lanes[lanes->lane_of[number]];
	uint32_t to = track->first_row + track->row_count;

	for (uint32_t row = track->first_row; row < to; row++)
		own[trace->slices.depth[row]].count++;
	for (uint32_t i = 0; i <= track->depth_max; i++) {
		own[i].first = *at;
		*at += own[i].count;
		own[i].count = 0;
	}
	for (uint32_t row = track->first_row; row < to; row++) {
		struct ss_lane *lane = &own[trace->slices.depth[row]];

		lanes->order[lane->first + lane->count++] = row;
	}
}

enum ss_status ss_lanes_init(struct ss_lanes *lanes, const struct ss_trace *trace,
			     const struct ss_colors *colors, struct ss_memory *memory,
			     struct ss_error *err)
{
	uint64_t lane_count = 0, order_count = 0;
	uint32_t at = 0;

	*lanes = (struct ss_lanes){ .memory = memory,
				    .rows = { trace->slices.start_ns, trace->slices.dur_ns, colors,
					      NULL },
				    .track_count = trace->track_count };
	for (uint32_t i = 0; i < trace->track_count; i++) {
		lane_count += (uint64_t)trace->tracks[i].depth_max + 1;
		order_count += trace->tracks[i].depth_max ? trace->tracks[i].row_count : 0;
	}
	if (!lanes_reserve(lanes, lane_count, order_count))
		return ss_fail_memory(err, "the lanes");
	memset(lanes->lanes, 0, (size_t)lane_count * sizeof(*lanes->lanes));
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		lanes->lane_of[i] = lanes->lane_count;
		lanes->lane_count += (uint32_t)track->depth_max + 1;
		if (track->depth_max)
			lanes_order_track(lanes, trace, i, &at);
		else
			lanes->lanes[lanes->lane_of[i]] = (struct ss_lane){ track->first_row,
									    track->row_count, 0 };
	}
	lanes->lane_of[lanes->track_count] = lanes->lane_count;
	return lanes_sum(lanes) ? SS_OK : ss_fail_memory(err, "the lanes");
}

enum ss_status ss_lanes_init_plain(struct ss_lanes *lanes, struct ss_lane_rows rows,
				   const uint32_t *from, uint32_t track_count,
				   struct ss_memory *memory, struct ss_error *err)
{
	*lanes = (struct ss_lanes){ .memory = memory, .rows = rows, .track_count = track_count };
	if (!lanes_reserve(lanes, track_count, 0))
		return ss_fail_memory(err, "the lanes");
	for (uint32_t i = 0; i < track_count; i++) {
		lanes->lane_of[i] = i;
		lanes->lanes[i] = (struct ss_lane){ from[i], from[i + 1] - from[i], 0 };
	}
	lanes->lane_of[track_count] = track_count;
	lanes->lane_count = track_count;
	return lanes_sum(lanes) ? SS_OK : ss_fail_memory(err, "the lanes");
}

void ss_lanes_release(struct ss_lanes *lanes)
{
	struct ss_memory *memory = lanes->memory;

	if (memory) {
		SS_FREE(memory, lanes->lane_of, (size_t)lanes->track_count + 1);
		SS_FREE(memory, lanes->lanes, lanes->lane_capacity);
		SS_FREE(memory, lanes->order, (size_t)lanes->order_count + 1);
		SS_FREE(memory, lanes->nodes, (size_t)lanes->node_count + 1);
	}
	*lanes = (struct ss_lanes){ 0 };
}

size_t ss_lanes_bytes(const struct ss_lanes *lanes)
{
	return lanes->track_count * sizeof(*lanes->lane_of) +
	       lanes->lane_capacity * sizeof(*lanes->lanes) +
	       lanes->order_count * sizeof(*lanes->order) +
	       lanes->node_count * sizeof(*lanes->nodes);
}

uint32_t ss_lanes_neighbour(const struct ss_lanes *lanes, uint32_t track, uint32_t lane,
			    uint32_t row, int by)
{
	const struct ss_lane *own = &lanes->lanes[lanes->lane_of[track] + lane];
	uint32_t low = 0, high = own->count;

	SS_SEARCH(low, high, at, lane_row_at(lanes, track, own, at) < row);
	if (by < 0 ? low == 0 : low + 1 >= own->count)
		return SS_NO_ROW;
	return lane_row_at(lanes, track, own, by < 0 ? low - 1 : low + 1);
}

/* Unions of rows as intervals, with running sums. */

/* --- sets -------------------------------------------------------------------------- */

static uint32_t busy_block_count(uint32_t count)
{
	return count / SS_BUSY_BLOCK + 1;
}

static void busy_set_release(struct ss_busy_set *set, struct ss_memory *memory)
{
	SS_FREE(memory, set->items, (size_t)set->count + 1);
	ss_memory_free(memory, set->sums, busy_block_count(set->count) * sizeof(*set->sums));
	*set = (struct ss_busy_set){ 0 };
}

/* Copies the intervals: the cover has capacity for up to twice as many. */
static bool busy_set_make(struct ss_busy_set *set, const struct ss_cover *cover,
			  struct ss_memory *memory)
{
	int64_t sum_ns = 0;

	set->count = cover->count;
	set->items = ss_memory_resize(memory, NULL, 0,
				      ((size_t)cover->count + 1) * sizeof(*set->items));
	set->sums = ss_memory_resize(memory, NULL, 0,
				     busy_block_count(set->count) * sizeof(*set->sums));
	if (!set->items || !set->sums)
		return false;
	set->sums[0] = 0;
	for (uint32_t i = 0; i < cover->count; i++) {
		if (i % SS_BUSY_BLOCK == 0)
			set->sums[i / SS_BUSY_BLOCK] = sum_ns;
		set->items[i] = cover->items[i];
		sum_ns += cover->items[i].end_ns - cover->items[i].start_ns;
	}
	if (set->count % SS_BUSY_BLOCK == 0)
		set->sums[set->count / SS_BUSY_BLOCK] = sum_ns;
	return true;
}

/* The number of intervals that start before the moment; gallops from `near`. */
static uint32_t busy_set_find(const struct ss_busy_set *set, int64_t moment_ns, uint32_t near)
{
	uint32_t low = near, high = set->count;

	if (low > high || (low && set->items[low - 1].start_ns >= moment_ns))
		low = 0;
	SS_SEARCH_NEAR(low, high, at, set->items[at].start_ns < moment_ns);
	return low;
}

int64_t ss_busy_before(const struct ss_busy_set *set, int64_t moment_ns, uint32_t *near)
{
	uint32_t to = busy_set_find(set, moment_ns, *near);
	int64_t sum_ns = set->sums[to / SS_BUSY_BLOCK];

	*near = to;
	for (uint32_t i = to - to % SS_BUSY_BLOCK; i < to; i++)
		sum_ns += set->items[i].end_ns - set->items[i].start_ns;
	/* the last one may reach beyond */
	if (to && set->items[to - 1].end_ns > moment_ns)
		sum_ns -= set->items[to - 1].end_ns - moment_ns;
	return sum_ns;
}

/* --- devices ----------------------------------------------------------------------- */

static bool busy_add_sets(struct ss_busy *busy, int64_t device, const struct ss_cover *compute,
			  const struct ss_cover *comm)
{
	struct ss_busy_device *added;

	if (!SS_GROW(busy->memory, busy->devices, busy->capacity, busy->count))
		return false;
	added = &busy->devices[busy->count++];
	*added = (struct ss_busy_device){ .device = device };
	return busy_set_make(&added->compute, compute, busy->memory) &&
	       busy_set_make(&added->comm, comm, busy->memory);
}

static bool busy_add_device(struct ss_busy *busy, const struct ss_trace *trace, int64_t device)
{
	SS_DEVICE_COVER cover = { 0 };

	if (!ss_device_cover_init(&cover, trace, device, busy->memory))
		return false;
	ss_device_cover_expose(&cover);
	return !cover.comm.failed && busy_add_sets(busy, device, &cover.compute, &cover.comm);
}

static void busy_cover_thread(const struct ss_trace *trace, const struct ss_track *track,
			      struct ss_cover *ops, struct ss_cover *comm)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = track->first_row; row < track->first_row + track->row_count; row++) {
		bool is_op = slices->kind[row] == SS_KIND_OP;

		if ((is_op || slices->kind[row] == SS_KIND_ANNOTATION) &&
		    (ss_slice_flags(trace, row) & SS_NAME_COMM_RANGE))
			ss_cover_add(comm, slices->start_ns[row], ss_slice_end(slices, row));
		else if (is_op)
			ss_cover_add(ops, slices->start_ns[row], ss_slice_end(slices, row));
	}
}

static bool busy_add_host(struct ss_busy *busy, const struct ss_trace *trace)
{
	struct ss_cover_pile piles[2] = { 0 };
	SS_COVER(ops, busy->memory);
	SS_COVER(comm, busy->memory);

	for (uint32_t i = 0; i < trace->track_count; i++) {
		if (trace->tracks[i].class != SS_TRACK_HOST)
			continue;
		busy_cover_thread(trace, &trace->tracks[i], &ops, &comm);
		ss_cover_pile_add(&piles[0], &ops);
		ss_cover_pile_add(&piles[1], &comm);
	}
	ss_cover_pile_finish(&piles[0], &ops);
	ss_cover_pile_finish(&piles[1], &comm);
	ss_cover_subtract(&ops, &comm);
	return !ops.failed && !comm.failed && busy_add_sets(busy, -1, &ops, &comm);
}

enum ss_status ss_busy_init(struct ss_busy *busy, const struct ss_trace *trace,
			    struct ss_memory *memory, struct ss_error *err)
{
	int64_t device = INT64_MIN;
	bool whole = true;

	*busy = (struct ss_busy){ .memory = memory };
	while (whole && ss_device_next(trace, device, &device))
		whole = busy_add_device(busy, trace, device);
	if (whole && !busy->count)
		whole = busy_add_host(busy, trace);
	if (whole)
		return SS_OK;
	ss_busy_release(busy);
	return ss_fail_memory(err, "the busy time of devices");
}

void ss_busy_release(struct ss_busy *busy)
{
	for (uint32_t i = 0; i < busy->count; i++) {
		busy_set_release(&busy->devices[i].compute, busy->memory);
		busy_set_release(&busy->devices[i].comm, busy->memory);
	}
	if (busy->memory)
		SS_FREE(busy->memory, busy->devices, busy->capacity);
	*busy = (struct ss_busy){ 0 };
}
