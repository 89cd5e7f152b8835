/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_steps.c - a row belongs to the step in which it starts, a kernel to the step of
 * its launch.
 */
#include <string.h>

#include "analyze/host/region_steps.h"
#include "analyze/time/cover.h"
#include "analyze/time/moment.h"

/* Moments in which a thread ran code of this kind. */
static bool region_cover_of_kind(const struct ss_regions *regions, enum ss_compiled kind,
				 struct ss_cover *out)
{
	const struct ss_trace *trace = regions->trace;
	struct ss_cover_pile pile = { 0 };
	struct ss_cover thread;

	ss_cover_init(&thread, out->memory);
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class != SS_TRACK_HOST)
			continue;
		for (uint32_t k = 0; k < track->row_count; k++) {
			uint32_t row = track->first_row + k;

			if (ss_region_kind(regions, row) == kind)
				ss_cover_add(&thread, trace->slices.start_ns[row],
					     ss_slice_end(&trace->slices, row));
		}
		ss_cover_pile_add(&pile, &thread);
	}
	ss_cover_pile_finish(&pile, out);
	ss_cover_release(&thread);
	return !out->failed;
}

/* Sums the time of this kind in the range of each step on the CPU. */
static bool region_steps_time(const struct ss_regions *regions, enum ss_compiled kind,
			      struct ss_arena *scratch, struct ss_region_step *tallies)
{
	const struct ss_steps *steps = &regions->trace->steps;
	size_t size = (size_t)steps->count + 1;
	struct ss_cover cover, ranges = { .count = steps->count };
	int64_t *sums = SS_ARENA_NEW(scratch, int64_t, size);
	bool whole;

	ss_cover_init(&cover, scratch->memory);
	ranges.items = SS_ARENA_NEW(scratch, struct ss_interval, size);
	whole = sums && ranges.items && region_cover_of_kind(regions, kind, &cover);
	if (whole) {
		for (uint32_t i = 0; i < steps->count; i++)
			ranges.items[i] = (struct ss_interval){ steps->items[i].host_start_ns,
								steps->items[i].host_end_ns };
		ss_cover_share(&cover, &ranges, sums);
		for (uint32_t i = 0; i < steps->count; i++)
			if (kind == SS_COMPILED_COMPILE)
				tallies[i].compile_ns = sums[i];
			else
				tallies[i].guard_ns = sums[i];
	}
	ss_cover_release(&cover);
	return whole;
}

/* Counts outermost calls, graph breaks and guard checks in the step in which they start. */
static void region_steps_calls(const struct ss_regions *regions, struct ss_region_step *tallies)
{
	const struct ss_trace *trace = regions->trace;

	for (uint32_t i = 0; i < regions->call_count; i++) {
		const struct ss_region_call *call = &regions->calls[i];
		uint32_t step = ss_step_at(trace, trace->slices.start_ns[call->row]);

		if (step == SS_NO_ROW)
			continue;
		tallies[step].calls += call->around == SS_NO_ROW;
		tallies[step].breaks += call->is_break;
	}
	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t step;

		if (ss_region_kind(regions, row) != SS_COMPILED_LOOKUP)
			continue;
		step = ss_step_at(trace, trace->slices.start_ns[row]);
		if (step != SS_NO_ROW)
			tallies[step].lookups++;
	}
}

/*
 * Marks host rows between two outermost calls of their thread and step: the nearest call
 * before it and the nearest call after it are in the same step.
 */
static bool region_rows_between(const struct ss_regions *regions, struct ss_arena *scratch,
				uint8_t **out)
{
	const struct ss_trace *trace = regions->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t *before = SS_ARENA_NEW(scratch, uint32_t, (size_t)trace->device_from + 1);
	uint32_t step = SS_NO_ROW, track = SS_NO_ROW;

	*out = SS_ARENA_NEW(scratch, uint8_t, (size_t)trace->device_from + 1);
	if (!before || !*out)
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		if (slices->track[row] != track)
			step = SS_NO_ROW;
		track = slices->track[row];
		before[row] = step;
		if (regions->call[row] != SS_NO_ROW)
			step = ss_step_at(trace, slices->start_ns[row]);
	}
	step = track = SS_NO_ROW;
	for (uint32_t row = trace->device_from; row-- > 0;) {
		if (slices->track[row] != track)
			step = SS_NO_ROW;
		track = slices->track[row];
		(*out)[row] = step != SS_NO_ROW && before[row] == step;
		if (regions->call[row] != SS_NO_ROW)
			step = ss_step_at(trace, slices->start_ns[row]);
	}
	return true;
}

/* Counts kernels in the step of their launch, compiled and eager ones apart. */
static void region_steps_launches(const struct ss_regions *regions, const uint8_t *between,
				  struct ss_region_step *tallies)
{
	const struct ss_trace *trace = regions->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t step = ss_kind_is_kernel(slices->kind[row]) ? ss_step_of_launch(trace, row)
								     : SS_NO_ROW;
		bool triton = step != SS_NO_ROW &&
			      strncmp(ss_strings_text(&trace->names, slices->name[row]), "triton_",
				      7) == 0;

		if (step == SS_NO_ROW)
			continue;
		if (ss_region_of_launch(regions, row)) {
			tallies[step].kernels++;
			ss_ns_add(&tallies[step].device_ns, slices->dur_ns[row]);
			ss_ns_add(&tallies[step].triton_ns, triton ? slices->dur_ns[row] : 0);
		} else {
			tallies[step].eager_kernels++;
			ss_ns_add(&tallies[step].eager_ns, slices->dur_ns[row]);
			tallies[step].between += between[slices->link[row]];
		}
	}
}

struct ss_region_step *ss_region_steps(const struct ss_regions *regions, struct ss_arena *arena)
{
	struct ss_region_step *tallies = SS_ARENA_NEW(arena, struct ss_region_step,
						      (size_t)regions->trace->steps.count + 1);
	struct ss_arena scratch;
	uint8_t *between;
	bool whole;

	ss_arena_init(&scratch, arena->memory);
	whole = tallies && region_rows_between(regions, &scratch, &between) &&
		region_steps_time(regions, SS_COMPILED_COMPILE, &scratch, tallies) &&
		region_steps_time(regions, SS_COMPILED_LOOKUP, &scratch, tallies);
	if (whole) {
		region_steps_calls(regions, tallies);
		region_steps_launches(regions, between, tallies);
	}
	ss_arena_release(&scratch);
	return whole ? tallies : NULL;
}
