/*
 * merge.c - a device has a few streams, so the earliest is looked for.
 */
#include "analyze/merge.h"

bool ss_merge_init(struct ss_merge *merge, const struct ss_trace *trace, int64_t device,
		   struct ss_arena *arena)
{
	*merge = (struct ss_merge){ .trace = trace };
	merge->at = SS_ARENA_NEW(arena, uint32_t, (size_t)trace->track_count + 1);
	merge->end = SS_ARENA_NEW(arena, uint32_t, (size_t)trace->track_count + 1);
	if (!merge->at || !merge->end)
		return false;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class != SS_TRACK_DEVICE || track->pid != device || !track->row_count)
			continue;
		merge->at[merge->count] = track->first_row;
		merge->end[merge->count++] = track->first_row + track->row_count;
	}
	return true;
}

uint32_t ss_merge_next(struct ss_merge *merge)
{
	const int64_t *start_ns = merge->trace->slices.start_ns;
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < merge->count; i++)
		if (merge->at[i] < merge->end[i] &&
		    (best == UINT32_MAX || start_ns[merge->at[i]] < start_ns[merge->at[best]]))
			best = i;
	return best == UINT32_MAX ? SS_NO_ROW : merge->at[best]++;
}
