/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.c - from a row to its collective.
 */
#include "timeline/members.h"

struct ss_members ss_members_of(const struct ss_timeline *timeline, uint32_t file, uint32_t row)
{
	const struct ss_joined *joined = &timeline->job->joined;
	uint32_t rank = timeline->files[file].rank_index;
	struct ss_members out = { 0 };

	if (rank >= joined->rank_count)
		return out;
	for (uint32_t i = 0; i < joined->ranks[rank].arrival_count; i++) {
		const struct ss_arrival *arrival = &joined->ranks[rank].arrivals[i];

		if (arrival->row != row)
			continue;
		out.arrival = arrival;
		if (joined->meeting_of[rank][i] != SS_NO_MEETING)
			out.meeting = &joined->meetings[joined->meeting_of[rank][i]];
		break;
	}
	return out;
}

uint32_t ss_timeline_file_of(const struct ss_timeline *timeline, uint32_t rank_index)
{
	for (uint32_t i = 0; i < timeline->file_count; i++)
		if (timeline->files[i].rank_index == rank_index && timeline->files[i].trace)
			return i;
	return SS_NO_ROW;
}

int64_t ss_members_wait(const struct ss_meeting *meeting, const struct ss_arrival *arrival)
{
	int64_t stay_ns = arrival->end_ns - arrival->start_ns;

	if (!meeting || !meeting->is_symmetric)
		return -1;
	return stay_ns > meeting->transfer_ns ? stay_ns - meeting->transfer_ns : 0;
}
