/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.c - view: memory peaks in forward, backward and optimizer, and the phase in which
 * each step peaks.
 *
 * The stack of an event gives its phase; an event without a stack belongs to the phase
 * before it: frees on autograd threads often have none. Memory is normally highest where
 * forward ends and backward begins; a peak outside all phases is memory that is kept, or
 * work other than training.
 */
#include "base/text.h"
#include "memory/events/pools.h"
#include "memory/subject.h"
#include "memory/training_steps.h"

enum snapshot_phases_group { BY_PHASE, BY_STEP };

enum part { SETUP, FORWARD, BACKWARD, OPTIMIZER, OTHER, PARTS };

static const char *const part_names[PARTS] = { "setup", "forward", "backward", "optimizer",
					       "other" };

static const struct ss_column columns[] = {
	SS_COLUMN_DEVICE,
	{ "step", SS_COLUMN_ID, "number of the step, from 0; empty: outside the steps (group step)",
	  0 },
	{ "phase", SS_COLUMN_TEXT,
	  "forward, backward, optimizer; setup: creating or loading a model; other: none of "
	  "these, or unknown",
	  0 },
	{ "steps", SS_COLUMN_COUNT, "steps with events in the phase; empty: steps are unknown", 0 },
	{ "peaks", SS_COLUMN_COUNT, "number of these steps that peak in the phase", 0 },
	{ "peak_bytes", SS_COLUMN_BYTES, "maximum of the active memory in the phase", 0 },
	{ "peak_percent", SS_COLUMN_PERCENT, "share of the device's peak", SS_COLUMN_BAR },
	{ "rise_bytes", SS_COLUMN_BYTES,
	  "largest rise of memory within the phase, until another phase begins", 0 },
	{ "net_bytes", SS_COLUMN_BYTES,
	  "allocated minus freed bytes in the phase; the rows add up to the growth of memory", 0 },
	{ "line", SS_COLUMN_TEXT, "source line at peak_bytes", SS_COLUMN_EVIDENCE },
	{ "event", SS_COLUMN_ID, "number of the event at peak_bytes, from 0",
	  SS_COLUMN_DETAIL | SS_COLUMN_EVIDENCE },
	{ "at_ns", SS_COLUMN_NS, "time of peak_bytes, from the first event", SS_COLUMN_DETAIL },
};

/* A phase in a step, or in all of them. */
struct phase_spell {
	uint32_t steps, peaks;
	int64_t peak_bytes, rise_bytes, net_bytes;
	uint32_t peak_row; /* SS_NO_ROW: it has no events */
};

struct phase_listing {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	struct ss_table *out;
	struct ss_snapshot_steps rounds;
	struct phase_spell all[PARTS], now[PARTS]; /* of all events, and of the round */
	uint32_t step_count;
	int64_t first_peak_bytes, last_peak_bytes; /* of steps */
	bool rises;                                /* every step's is higher than the last */
};

static enum part step_part_of(enum ss_stack_phase phase)
{
	switch (phase) {
	case SS_STACK_SETUP:
		return SETUP;
	case SS_STACK_FORWARD:
		return FORWARD;
	case SS_STACK_BACKWARD:
		return BACKWARD;
	case SS_STACK_OPTIMIZER:
	case SS_STACK_STEP:
		return OPTIMIZER;
	case SS_STACK_UNKNOWN:
	case SS_STACK_OTHER:
		break;
	}
	return OTHER;
}

static void phases_clear(struct phase_spell spells[static PARTS])
{
	for (int i = 0; i < PARTS; i++)
		spells[i] = (struct phase_spell){ .peak_row = SS_NO_ROW };
}

static void phases_add_row(const struct phase_listing *work, const struct phase_spell *spell,
			   enum part part, int64_t step)
{
	const struct ss_device_memory *device = work->device;
	const struct ss_snapshot_subject *subject = work->subject;
	struct ss_table *out = work->out;
	uint32_t stack = subject->snapshot->events.stack[spell->peak_row];
	bool has_steps = work->rounds.has_steps;

	ss_row_begin(out);
	ss_row_text(out, ss_snapshot_device_name(device, out));
	ss_row_int_known(out, step);
	ss_row_text(out, part_names[part]);
	ss_row_int_known(out, has_steps ? (int64_t)spell->steps : -1);
	ss_row_int_known(out, has_steps ? (int64_t)spell->peaks : -1);
	ss_row_int(out, spell->peak_bytes);
	ss_row_share(out, (double)spell->peak_bytes, (double)device->peak_active_bytes);
	ss_row_int(out, spell->rise_bytes);
	ss_row_int(out, spell->net_bytes);
	ss_row_text(out, ss_snapshot_places_line(subject->spots, stack));
	ss_row_int(out, spell->peak_row - device->first);
	ss_row_int_known(out, ss_snapshot_time_ns(subject->snapshot, device, spell->peak_row));
	ss_row_end(out);
}

/* `start`: what was active before the stretch of the phase. */
static void phases_take_event(struct phase_spell *spell, uint32_t row, int64_t start,
			      int64_t before, int64_t after)
{
	if (spell->peak_row == SS_NO_ROW || after > spell->peak_bytes) {
		spell->peak_bytes = after;
		spell->peak_row = row;
	}
	if (ss_amount_subtract(after, start) > spell->rise_bytes)
		spell->rise_bytes = ss_amount_subtract(after, start);
	spell->net_bytes = ss_amount_add(spell->net_bytes, ss_amount_subtract(after, before));
}

static void phases_take_step(struct phase_listing *work, int64_t peak_bytes)
{
	work->rises = (work->rises || work->step_count < 2) &&
		      (!work->step_count || peak_bytes > work->last_peak_bytes);
	if (!work->step_count++)
		work->first_peak_bytes = peak_bytes;
	work->last_peak_bytes = peak_bytes;
}

/* What comes after the last update is no step yet: its peak would be where events end. */
static bool phases_is_step(const struct phase_listing *work, int64_t step)
{
	return step >= 0 &&
	       (work->rounds.is_recorded || work->now[BACKWARD].peak_row != SS_NO_ROW ||
		work->now[OPTIMIZER].peak_row != SS_NO_ROW);
}

/* Adds what a round has to the sums; for a step also where its peak is. */
static void phases_end_round(struct phase_listing *work, int64_t step)
{
	bool counts = phases_is_step(work, step);
	int highest = -1;

	for (int i = 0; i < PARTS; i++)
		if (work->now[i].peak_row != SS_NO_ROW &&
		    (highest < 0 || work->now[i].peak_bytes > work->now[highest].peak_bytes ||
		     (work->now[i].peak_bytes == work->now[highest].peak_bytes &&
		      work->now[i].peak_row < work->now[highest].peak_row)))
			highest = i;
	if (counts && highest >= 0)
		phases_take_step(work, work->now[highest].peak_bytes);
	for (int i = 0; i < PARTS; i++) {
		struct phase_spell *spell = &work->now[i], *sum = &work->all[i];

		if (spell->peak_row == SS_NO_ROW)
			continue;
		spell->steps = counts;
		spell->peaks = counts && i == highest;
		if (work->subject->group == BY_STEP)
			phases_add_row(work, spell, (enum part)i, step);
		sum->steps += spell->steps;
		sum->peaks += spell->peaks;
		sum->net_bytes = ss_amount_add(sum->net_bytes, spell->net_bytes);
		if (spell->rise_bytes > sum->rise_bytes)
			sum->rise_bytes = spell->rise_bytes;
		if (sum->peak_row == SS_NO_ROW || spell->peak_bytes > sum->peak_bytes) {
			sum->peak_bytes = spell->peak_bytes;
			sum->peak_row = spell->peak_row;
		}
	}
	phases_clear(work->now);
}

static void phases_count_events(struct phase_listing *work)
{
	const struct ss_snapshot_events *events = &work->subject->snapshot->events;
	const struct ss_device_memory *device = work->device;
	const struct ss_snapshot_steps *rounds = &work->rounds;
	int64_t active = device->first_active_bytes, start = active;
	enum part part = OTHER;
	uint32_t round = 0;

	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		enum ss_stack_phase told =
			(enum ss_stack_phase)work->subject->spots->phase[events->stack[row]];
		int64_t before = active;

		while (round + 1 < rounds->count && rounds->starts[round + 1] <= row) {
			phases_end_round(work,
					 ss_snapshot_steps_step(rounds, rounds->starts[round++]));
			start = active;
		}
		if (told != SS_STACK_UNKNOWN && step_part_of(told) != part) {
			part = step_part_of(told);
			start = active;
		}
		active = ss_amount_add(active, ss_history_change(work->subject->history, row));
		phases_take_event(&work->now[part], row, start, before, active);
	}
	phases_end_round(work, ss_snapshot_steps_step(rounds, rounds->starts[round]));
}

/* --- sentences ------------------------------------------------------------------------ */

/* "backward in 4 of 5 steps, forward in 1" */
static void phases_note_peaks(const struct phase_listing *work, struct ss_text *text)
{
	bool told[PARTS] = { false };

	for (int k = 0; k < PARTS; k++) {
		int most = -1;

		for (int i = 0; i < PARTS; i++)
			if (!told[i] && work->all[i].peaks &&
			    (most < 0 || work->all[i].peaks > work->all[most].peaks))
				most = i;
		if (most < 0)
			return;
		told[most] = true;
		ss_text_addf(text, "%s%s in %u", k ? ", " : "", part_names[most],
			     work->all[most].peaks);
		if (!k)
			ss_text_addf(text, " of %u step%s", work->step_count,
				     work->step_count == 1 ? "" : "s");
	}
}

/* What peaks outside of forward and backward mean. */
static void phases_note_meaning(const struct phase_listing *work, struct ss_text *text)
{
	const struct phase_spell *other = &work->all[OTHER];
	const uint32_t *stacks = work->subject->snapshot->events.stack;

	if (work->rises && work->step_count > 2)
		ss_text_addf(text,
			     ". Each step peaks higher than the previous one, from %s to %s: "
			     "steps leave memory behind.",
			     ss_amount_text(work->first_peak_bytes, work->out),
			     ss_amount_text(work->last_peak_bytes, work->out));
	else if (!other->peaks && !work->all[OPTIMIZER].peaks && !work->all[SETUP].peaks)
		ss_text_add_string(text, ": this is normal, because activations are held from "
					 "forward until backward frees them.");
	else
		ss_text_add_string(text, ".");
	if (other->peaks) {
		const char *line = ss_snapshot_places_line(work->subject->spots,
							   stacks[other->peak_row]);

		ss_text_addf(
			text,
			" A peak outside forward, backward and optimizer (highest: %s%s%s) points "
			"to tensors that are kept after the step, or to evaluation or logging "
			"inside the loop.",
			ss_amount_text(other->peak_bytes, work->out), line ? ", " : "",
			line ? line : "");
	}
	if (work->all[OPTIMIZER].peaks)
		ss_text_add_string(text, " A peak in the optimizer comes from creating its state "
					 "or from temporary copies; fused=True or foreach=False "
					 "avoids the copies.");
}

static void phases_note_unknown(const struct phase_listing *work, const char *name)
{
	if (work->device->traced)
		ss_table_note(work->out,
			      "Device %s: phases are unknown, because no operators are recorded "
			      "around the memory events: use profile(activities=[CPU, CUDA], "
			      "profile_memory=True, with_stack=True).",
			      name);
	else
		ss_table_note(
			work->out,
			"Device %s: phases are unknown, because no stack shows a forward(), "
			"autograd or an optimizer. "
			"torch.cuda.memory._record_memory_history(stacks=\"all\") records such "
			"stacks.",
			name);
}

static void phases_note(const struct phase_listing *work)
{
	const char *name = ss_snapshot_device_name(work->device, work->out);
	const struct phase_spell *all = work->all;
	SS_TEXT(text);

	if (all[FORWARD].peak_row == SS_NO_ROW && all[BACKWARD].peak_row == SS_NO_ROW &&
	    all[OPTIMIZER].peak_row == SS_NO_ROW) {
		phases_note_unknown(work, name);
		return;
	}
	if (all[BACKWARD].peak_row == SS_NO_ROW)
		ss_table_note(work->out,
			      "Device %s: no event is in backward: the run is inference, or the "
			      "stacks of backward were not recorded%s.",
			      name,
			      work->device->traced ? ""
						   : " (stacks=\"all\" records the stacks of "
						     "autograd threads)");
	if (!work->rounds.has_steps || !work->step_count)
		return;
	phases_note_peaks(work, &text);
	phases_note_meaning(work, &text);
	work->out->failed = work->out->failed || ss_text_failed(&text);
	if (text.data)
		ss_table_note(work->out, "Device %s: memory peaks in %s", name, text.data);
}

static enum ss_status snapshot_phases_run(const struct ss_snapshot_subject *subject,
					  struct ss_table *out, struct ss_error *err)
{
	if (subject->snapshot->curve.count)
		out->empty = "A memory timeline has no phases: use a memory snapshot, or a trace "
			     "with profile_memory=True.";
	for (uint32_t i = 0; i < subject->history->device_count; i++) {
		struct phase_listing work = { .subject = subject,
					      .device = &subject->history->devices[i],
					      .out = out };

		if (!work.device->count)
			continue;
		SS_TRY(ss_snapshot_steps_init(&work.rounds, subject->history, work.device,
					      subject->spots, err));
		phases_clear(work.all);
		phases_clear(work.now);
		phases_count_events(&work);
		for (int k = 0; k < PARTS && subject->group == BY_PHASE; k++)
			if (work.all[k].peak_row != SS_NO_ROW)
				phases_add_row(&work, &work.all[k], (enum part)k, -1);
		if (ss_snapshot_is_noted(subject->history, work.device))
			phases_note(&work);
		ss_snapshot_steps_release(&work.rounds);
	}
	ss_snapshot_notes(subject, out);
	return SS_OK;
}

const struct ss_view ss_snapshot_view_phases = {
	.name = "snapshot-phases",
	.summary = "Memory peaks in forward, backward and optimizer",
	.empty = "No events were recorded: call torch.cuda.memory._record_memory_history() first.",
	SS_TABLE_COLUMNS(columns),
	.groups = { "phase", "step" },
	.rankless = true,
	.run_snapshot = snapshot_phases_run,
};
