/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked_host.c - finds when the host is blocked: long calls of all threads.
 */
#include "ranks/blocked_host.h"

/* A launch takes 5 to 10 us, some 30 on a busy host: what takes longer was waiting. */
#define STUCK_NS_MIN 50000

bool ss_blocked_host_subtract(struct ss_cover *set, const struct ss_trace *trace,
			      struct ss_memory *memory)
{
	const struct ss_slices *slices = &trace->slices;
	struct ss_cover_pile pile = { 0 };
	struct ss_cover all = { 0 };
	bool whole;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		struct ss_cover stuck;

		if (track->class == SS_TRACK_DEVICE)
			continue;
		ss_cover_init(&stuck, memory);
		for (uint32_t row = track->first_row; row < track->first_row + track->row_count;
		     row++)
			if (ss_kind_is_call(slices->kind[row]) &&
			    slices->dur_ns[row] >= STUCK_NS_MIN)
				ss_cover_add(&stuck, slices->start_ns[row],
					     ss_slice_end(slices, row));
		ss_cover_pile_add(&pile, &stuck);
	}
	ss_cover_init(&all, memory);
	ss_cover_pile_finish(&pile, &all);
	whole = !all.failed;
	if (whole)
		ss_cover_subtract(set, &all);
	ss_cover_release(&all);
	return whole && !set->failed;
}
