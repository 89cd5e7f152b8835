/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - a heap of streams, the one with the earliest row on top.
 */
#include "analyze/time/merge.h"
#include "analyze/time/roles.h"

/* Whether stream x comes before y; of equal starts, the lower stream. */
static bool merge_stream_before(const struct ss_merge *merge, const struct ss_merge_stream *x,
				const struct ss_merge_stream *y)
{
	const int64_t *start_ns = merge->trace->slices.start_ns;

	if (start_ns[x->at] != start_ns[y->at])
		return start_ns[x->at] < start_ns[y->at];
	return x->at < y->at; /* rows are sorted by stream */
}

/* Restores the heap below a place. */
static void merge_sift_down(struct ss_merge *merge, uint32_t place)
{
	struct ss_merge_stream moving = merge->heap[place];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= merge->count)
			break;
		if (child + 1 < merge->count &&
		    merge_stream_before(merge, &merge->heap[child + 1], &merge->heap[child]))
			child++;
		if (!merge_stream_before(merge, &merge->heap[child], &moving))
			break;
		merge->heap[place] = merge->heap[child];
		place = child;
	}
	merge->heap[place] = moving;
}

bool ss_merge_init(struct ss_merge *merge, const struct ss_trace *trace, int64_t device,
		   struct ss_arena *arena)
{
	uint32_t count = 0;

	*merge = (struct ss_merge){ .trace = trace };
	for (uint32_t i = ss_stream_first(trace, device); i != SS_NO_ROW;
	     i = ss_stream_next(trace, i))
		count++;
	merge->heap = SS_ARENA_NEW(arena, struct ss_merge_stream, (size_t)count + 1);
	if (!merge->heap)
		return false;
	for (uint32_t i = ss_stream_first(trace, device); i != SS_NO_ROW;
	     i = ss_stream_next(trace, i)) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->row_count)
			merge->heap[merge->count++] = (struct ss_merge_stream){
				track->first_row, track->first_row + track->row_count
			};
	}
	for (uint32_t i = merge->count / 2; i-- > 0;)
		merge_sift_down(merge, i);
	return true;
}

uint32_t ss_merge_next(struct ss_merge *merge)
{
	uint32_t row;

	if (!merge->count)
		return SS_NO_ROW;
	row = merge->heap[0].at++;
	if (merge->heap[0].at == merge->heap[0].end)
		merge->heap[0] = merge->heap[--merge->count];
	if (merge->count > 1)
		merge_sift_down(merge, 0);
	return row;
}
