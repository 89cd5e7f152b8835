/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.c - one pass over the kernels of a device in order of their starts.
 */
#include "analyze/time/overlap.h"

#include "analyze/time/merge.h"
#include "base/search.h"

bool ss_cover_index_init(struct ss_cover_index *index, const struct ss_cover *cover,
			 struct ss_arena *arena)
{
	int64_t sum_ns = 0;

	index->cover = cover;
	index->before_ns = SS_ARENA_NEW(arena, int64_t, (size_t)cover->count + 1);
	if (!index->before_ns)
		return false;
	for (uint32_t i = 0; i < cover->count; i++) {
		index->before_ns[i] = sum_ns;
		sum_ns += cover->items[i].end_ns - cover->items[i].start_ns;
	}
	index->before_ns[cover->count] = sum_ns;
	return true;
}

/* How much of the cover lies before a moment. */
static int64_t cover_length_before(const struct ss_cover_index *index, int64_t at_ns)
{
	const struct ss_interval *items = index->cover->items;
	uint32_t low = 0, high = index->cover->count;
	int64_t end_ns;

	SS_SEARCH(low, high, at, items[at].start_ns < at_ns);
	if (!low)
		return 0;
	end_ns = items[low - 1].end_ns < at_ns ? items[low - 1].end_ns : at_ns;
	return index->before_ns[low - 1] + end_ns - items[low - 1].start_ns;
}

int64_t ss_cover_index_in(const struct ss_cover_index *index, int64_t from_ns, int64_t to_ns)
{
	return from_ns < to_ns
		       ? cover_length_before(index, to_ns) - cover_length_before(index, from_ns)
		       : 0;
}

bool ss_overlap_count(const struct ss_trace *trace, int64_t device, const struct ss_cover *comm,
		      struct ss_arena *scratch, struct ss_overlapping *hiders)
{
	const struct ss_slices *slices = &trace->slices;
	struct ss_cover_index index;
	int64_t reached_ns = INT64_MIN; /* charged up to here */
	struct ss_merge merge;
	uint32_t row;

	if (!ss_merge_init(&merge, trace, device, scratch) ||
	    !ss_cover_index_init(&index, comm, scratch))
		return false;
	while ((row = ss_merge_next(&merge)) != SS_NO_ROW) {
		struct ss_overlapping *hider = &hiders[slices->name[row]];
		int64_t from_ns = slices->start_ns[row], to_ns = ss_slice_end(slices, row),
			hidden_ns;

		if (slices->kind[row] != SS_KIND_KERNEL || to_ns <= reached_ns)
			continue;
		from_ns = from_ns > reached_ns ? from_ns : reached_ns;
		reached_ns = to_ns;
		hidden_ns = ss_cover_index_in(&index, from_ns, to_ns);
		if (!hidden_ns)
			continue;
		hider->name = slices->name[row];
		ss_ns_add(&hider->hidden_ns, hidden_ns);
		hider->calls++;
	}
	return true;
}
