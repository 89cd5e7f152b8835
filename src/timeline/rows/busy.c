/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.c - unions of rows as intervals, with running sums.
 */
#include "analyze/time/roles.h"
#include "base/search.h"
#include "timeline/rows/busy.h"

/* --- sets -------------------------------------------------------------------------- */

static uint32_t busy_block_count(uint32_t count)
{
	return count / SS_BUSY_BLOCK + 1;
}

static void busy_set_release(struct ss_busy_set *set, struct ss_memory *memory)
{
	ss_memory_free(memory, set->items, ((size_t)set->count + 1) * sizeof(*set->items));
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
	uint32_t low = near, step = 1, high;

	if (low > set->count || (low && set->items[low - 1].start_ns >= moment_ns))
		low = 0;
	while (set->count - low > step && set->items[low + step].start_ns < moment_ns) {
		low += step;
		step = step < 1u << 30 ? step * 2 : step;
	}
	high = set->count - low > step ? low + step : set->count;
	SS_SEARCH(low, high, at, set->items[at].start_ns < moment_ns);
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

	if (!ss_memory_reserve(busy->memory, (void **)&busy->devices, &busy->capacity,
			       (size_t)busy->count + 1, sizeof(*busy->devices)))
		return false;
	added = &busy->devices[busy->count++];
	*added = (struct ss_busy_device){ .device = device };
	return busy_set_make(&added->compute, compute, busy->memory) &&
	       busy_set_make(&added->comm, comm, busy->memory);
}

static bool busy_add_device(struct ss_busy *busy, const struct ss_trace *trace, int64_t device)
{
	struct ss_device_cover cover;
	bool whole = ss_device_cover_init(&cover, trace, device, busy->memory);

	if (whole) {
		ss_device_cover_expose(&cover);
		whole = !cover.comm.failed &&
			busy_add_sets(busy, device, &cover.compute, &cover.comm);
	}
	ss_device_cover_release(&cover);
	return whole;
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
	struct ss_cover ops, comm;
	bool whole;

	ss_cover_init(&ops, busy->memory);
	ss_cover_init(&comm, busy->memory);
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
	whole = !ops.failed && !comm.failed && busy_add_sets(busy, -1, &ops, &comm);
	ss_cover_release(&ops);
	ss_cover_release(&comm);
	return whole;
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
		ss_memory_free(busy->memory, busy->devices,
			       busy->capacity * sizeof(*busy->devices));
	*busy = (struct ss_busy){ 0 };
}
