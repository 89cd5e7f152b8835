/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_share.c - how long the host was in each phase, in any pieces of time.
 */
#include "analyze/host/step_phase.h"
#include "analyze/time/cover.h"

struct phase_painter {
	const struct ss_phases *phases;
	struct ss_cover *sets; /* by phase */
	int64_t at_ns;         /* charged up to here */
};

/* Charges the rest of the row, up to the moment, to its phase. */
static void phase_paint_row(struct phase_painter *painter, uint32_t row, int64_t until_ns)
{
	const struct ss_slices *slices = &painter->phases->trace->slices;
	int64_t from_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row);
	uint8_t phase = painter->phases->phase[row];

	if (from_ns < painter->at_ns)
		from_ns = painter->at_ns;
	if (end_ns < until_ns)
		until_ns = end_ns;
	if (until_ns <= from_ns)
		return;
	if (phase != SS_PHASE_OTHER)
		ss_cover_add(&painter->sets[phase], from_ns, until_ns);
	painter->at_ns = until_ns;
}

/* Each moment of the thread has the phase of its innermost row. */
static void phase_paint_thread(const struct ss_phases *phases, struct ss_cover *sets)
{
	const struct ss_slices *slices = &phases->trace->slices;
	const struct ss_track *track = &phases->trace->tracks[phases->main];
	struct phase_painter painter = { phases, sets, INT64_MIN };
	uint32_t open = SS_NO_ROW;

	for (uint32_t i = 0; i < track->row_count; i++) {
		uint32_t row = track->first_row + i;

		for (; open != SS_NO_ROW && open != slices->parent[row];
		     open = slices->parent[open])
			phase_paint_row(&painter, open, slices->start_ns[row]);
		if (open != SS_NO_ROW)
			phase_paint_row(&painter, open, slices->start_ns[row]);
		open = row;
	}
	for (; open != SS_NO_ROW; open = slices->parent[open])
		phase_paint_row(&painter, open, INT64_MAX);
}

/* Whether the row is part of backward on another thread of the process. */
static bool phase_is_other_backward(const void *context, uint32_t row)
{
	const struct ss_phases *phases = context;
	const struct ss_track *main = &phases->trace->tracks[phases->main];
	const struct ss_track *own = &phases->trace->tracks[phases->trace->slices.track[row]];

	return phases->phase[row] == SS_PHASE_BACKWARD && own != main && own->pid == main->pid &&
	       own->pid_text == main->pid_text;
}

/* The moments of each phase; false: no memory. Release them either way. */
static bool phase_paint_host(const struct ss_phases *phases, struct ss_cover sets[SS_PHASE_COUNT],
			     struct ss_memory *memory)
{
	SS_COVER(waits, memory);
	bool whole;

	for (int i = 0; i < SS_PHASE_COUNT; i++)
		ss_cover_init(&sets[i], memory);
	phase_paint_thread(phases, sets);
	/* where the main thread does nothing else, it waits for those of autograd */
	ss_cover_rows(&waits, phases->trace, 1u << SS_TRACK_HOST, phase_is_other_backward, phases);
	for (int i = 0; i < SS_PHASE_OTHER; i++)
		ss_cover_subtract(&waits, &sets[i]);
	ss_cover_unite(&sets[SS_PHASE_BACKWARD], &waits);
	whole = !waits.failed;
	for (int i = 0; i < SS_PHASE_COUNT; i++)
		whole &= !sets[i].failed;
	return whole;
}

bool ss_phases_share_host(const struct ss_phases *phases, const struct ss_cover *parts,
			  struct ss_memory *memory, int64_t *sums)
{
	uint32_t count = parts->count;
	int64_t *other = sums + (size_t)SS_PHASE_OTHER * count;
	struct ss_cover sets[SS_PHASE_COUNT];
	bool whole = phase_paint_host(phases, sets, memory);

	for (int i = 0; i < SS_PHASE_OTHER; i++)
		ss_cover_share(&sets[i], parts, sums + (size_t)i * count);
	for (uint32_t i = 0; i < count; i++) {
		other[i] = parts->items[i].end_ns - parts->items[i].start_ns;
		for (int k = 0; k < SS_PHASE_OTHER; k++)
			other[i] -= sums[(size_t)k * count + i];
	}
	for (int i = 0; i < SS_PHASE_COUNT; i++)
		ss_cover_release(&sets[i]);
	return whole;
}
