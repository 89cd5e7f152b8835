/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.c - puts the files of a job on one clock.
 */
#include "timeline/index.h"

int64_t ss_timeline_moment(const struct ss_timeline_file *file, int64_t own_ns)
{
	return ss_moment_add(own_ns,
			     ss_moment_add(file->shift_ns, ss_drift_after(own_ns - file->middle_ns,
									  file->drift_ppb)));
}

int64_t ss_timeline_own(const struct ss_timeline_file *file, int64_t moment_ns)
{
	int64_t own_ns = ss_moment_add(moment_ns, -file->shift_ns);

	/* drifts are so small that their square is negligible */
	return ss_moment_add(own_ns, -ss_drift_after(own_ns - file->middle_ns, file->drift_ppb));
}

/* Places a file on the clock that the aligned ranks share; times are still absolute. */
static void file_place_aligned(struct ss_timeline_file *file, const struct ss_joined *joined)
{
	const struct ss_clock *clock = &joined->clocks[file->rank_index];
	int64_t zero_ns = joined->ranks[file->rank_index].start_ns;

	file->is_aligned = true;
	file->clock_error_ns = clock->error_ns;
	file->shift_ns = ss_moment_add(zero_ns, clock->offset_ns);
	file->middle_ns = ss_moment_add(clock->middle_ns, -zero_ns);
	file->drift_ppb = clock->drift_ppb;
}

struct timeline_span {
	int64_t from_ns, to_ns;
	bool is_known;
};

static void span_widen(struct timeline_span *span, const struct ss_timeline_file *file)
{
	int64_t from_ns = ss_timeline_moment(file, 0);
	int64_t to_ns = ss_timeline_moment(file, file->span_ns);

	if (!span->is_known || from_ns < span->from_ns)
		span->from_ns = from_ns;
	if (!span->is_known || to_ns > span->to_ns)
		span->to_ns = to_ns;
	span->is_known = true;
}

/* The clock that most ranks share; SS_NO_ROW: no clocks were compared. */
static uint32_t clock_main_component(const struct ss_joined *joined, uint32_t *counts)
{
	uint32_t best = SS_NO_ROW;

	for (uint32_t i = 0; i < joined->rank_count; i++)
		if (joined->clocks[i].component < joined->rank_count)
			counts[joined->clocks[i].component]++;
	for (uint32_t i = 0; i < joined->rank_count; i++)
		if (counts[i] > (best == SS_NO_ROW ? 1 : counts[best]))
			best = i;
	return best;
}

static const struct ss_digest *file_wall_clock(const struct ss_timeline_file *file,
					       const struct ss_joined *joined)
{
	const struct ss_digest *digest = NULL;

	if (file->rank_index != SS_NO_ROW)
		digest = &joined->ranks[file->rank_index];
	return digest && digest->has_clock ? digest : NULL;
}

/* Whether files lie far apart in time, so they probably do not belong together. */
static bool span_is_mostly_empty(const struct ss_timeline *timeline,
				 const struct timeline_span *span)
{
	int64_t longest_ns = 0;

	for (uint32_t i = 0; i < timeline->file_count; i++)
		if (timeline->files[i].span_ns > longest_ns)
			longest_ns = timeline->files[i].span_ns;
	/* with more than nine tenths of it empty, the files would be too narrow to see */
	return (span->to_ns - span->from_ns) / 10 > longest_ns;
}

/* Places the files whose clocks were compared on the common clock. */
static void timeline_place_compared(struct ss_timeline *timeline, uint32_t component,
				    struct timeline_span *span)
{
	const struct ss_joined *joined = &timeline->job->joined;

	for (uint32_t i = 0; component != SS_NO_ROW && i < timeline->file_count; i++) {
		struct ss_timeline_file *file = &timeline->files[i];

		if (!file->is_placed || file->rank_index == SS_NO_ROW ||
		    joined->clocks[file->rank_index].component != component)
			continue;
		file_place_aligned(file, joined);
		span_widen(span, file);
	}
}

/* For jobs without compared clocks: by wall clock, or all at 0 if wall clocks are far apart. */
static void timeline_place_by_wall(struct ss_timeline *timeline, struct timeline_span *span)
{
	for (int pass = 0; pass < 2; pass++) {
		*span = (struct timeline_span){ 0 };
		for (uint32_t i = 0; i < timeline->file_count; i++) {
			struct ss_timeline_file *file = &timeline->files[i];
			const struct ss_digest *digest = file_wall_clock(file,
									 &timeline->job->joined);

			if (!file->is_placed || !digest)
				continue;
			file->shift_ns = pass ? 0 : digest->start_ns;
			span_widen(span, file);
		}
		if (!span_is_mostly_empty(timeline, span))
			return;
	}
}

/* Places a file by its wall clock if that falls among the others, else at their beginning. */
static void file_place_alone(struct ss_timeline_file *file, const struct ss_joined *joined,
			     const struct timeline_span *others)
{
	const struct ss_digest *digest = file_wall_clock(file, joined);

	if (digest && digest->start_ns < others->to_ns && digest->end_ns > others->from_ns)
		file->shift_ns = digest->start_ns;
	else
		file->shift_ns = others->from_ns;
}

static void timeline_place_files(struct ss_timeline *timeline, uint32_t component)
{
	const struct ss_joined *joined = &timeline->job->joined;
	struct timeline_span known = { 0 }, all;
	bool compared;

	timeline_place_compared(timeline, component, &known);
	compared = known.is_known;
	if (!compared)
		timeline_place_by_wall(timeline, &known);
	all = known;
	for (uint32_t i = 0; i < timeline->file_count; i++) {
		struct ss_timeline_file *file = &timeline->files[i];

		if (!file->is_placed || file->is_aligned ||
		    (!compared && file_wall_clock(file, joined)))
			continue;
		file_place_alone(file, joined, &known);
		span_widen(&all, file);
	}
	for (uint32_t i = 0; i < timeline->file_count; i++)
		timeline->files[i].shift_ns -= all.from_ns;
	timeline->span_ns = all.to_ns - all.from_ns;
}

static struct ss_timeline_file timeline_file_from_job(const struct ss_job *job,
						      const struct ss_job_file *from)
{
	struct ss_timeline_file file = {
		.trace = from->is_reduced ? NULL : from->subject.trace,
		.subject = &from->subject,
		.rank_index = from->rank_index,
		.clock_error_ns = -1,
	};

	if (file.trace) {
		file.is_placed = true;
		file.span_ns = file.trace->span_ns;
	} else if (from->is_reduced && from->rank_index != SS_NO_ROW) {
		const struct ss_digest *digest = &job->joined.ranks[from->rank_index];

		file.is_placed = true;
		file.span_ns = digest->end_ns - digest->start_ns;
	}
	return file;
}

enum ss_status ss_timeline_make(struct ss_timeline *timeline, struct ss_job *job,
				struct ss_memory *memory, struct ss_error *err)
{
	uint32_t capacity = 0, *counts;
	SS_SCRATCH(scratch, memory);

	*timeline = (struct ss_timeline){ .memory = memory, .job = job };
	SS_TRY(ss_job_join(job, err));
	if (!SS_GROW(memory, timeline->files, capacity, job->file_count))
		return ss_fail_memory(err, "the timeline");
	timeline->file_capacity = capacity;
	timeline->file_count = job->file_count;
	for (uint32_t i = 0; i < job->file_count; i++)
		timeline->files[i] = timeline_file_from_job(job, &job->files[i]);
	counts = SS_ARENA_NEW(&scratch, uint32_t, (size_t)job->joined.rank_count + 1);
	if (counts)
		timeline_place_files(timeline, clock_main_component(&job->joined, counts));
	if (counts)
		return SS_OK;
	ss_timeline_release(timeline);
	return ss_fail_memory(err, "the timeline");
}

void ss_timeline_release(struct ss_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->file_count; i++)
		ss_index_release(timeline->files[i].index);
	if (timeline->memory)
		SS_FREE(timeline->memory, timeline->files, timeline->file_capacity);
	*timeline = (struct ss_timeline){ 0 };
}

/* --- a slice as a collective --------------------------------------------------------- */

struct ss_slice_collective ss_slice_collective_of(const struct ss_timeline *timeline, uint32_t file,
						  uint32_t row)
{
	const struct ss_joined *joined = &timeline->job->joined;
	uint32_t rank = timeline->files[file].rank_index;
	struct ss_slice_collective out = { 0 };

	if (rank >= joined->rank_count)
		return out;
	for (uint32_t i = 0; i < joined->ranks[rank].arrival_count; i++) {
		const struct ss_arrival *arrival = &joined->ranks[rank].arrivals[i];

		if (arrival->row != row)
			continue;
		out.arrival = arrival;
		if (joined->collective_of[rank][i] != SS_NO_COLLECTIVE)
			out.collective = &joined->collectives[joined->collective_of[rank][i]];
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

int64_t ss_slice_collective_wait(const struct ss_collective *collective,
				 const struct ss_arrival *arrival)
{
	int64_t stay_ns = arrival->end_ns - arrival->start_ns;

	if (!collective || !collective->is_symmetric)
		return -1;
	return stay_ns > collective->transfer_ns ? stay_ns - collective->transfer_ns : 0;
}
