/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syncs.c - view: host syncs: every place where the host waits for the device, and the
 * device idle time that each one causes.
 *
 * Rows cover calls in the whole file; idle time is that of the gaps view, whose "sync" is
 * the sum of all rows.
 */

#include "analyze/facts.h"
#include "analyze/host/ops.h"
#include "analyze/host/places.h"
#include "analyze/time/moment.h"
#include "analyze/time/roles.h"
#include "analyze/time/waits.h"
#include "base/sort.h"
#include "view/view.h"

enum syncs_group { BY_SITE, BY_LINE, BY_OP, BY_CALL, BY_STEP };

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0 (group step)", 0 },
	{ "call", SS_COLUMN_TEXT, "call that waits", SS_COLUMN_SLICES },
	{ "op", SS_COLUMN_TEXT,
	  "operator around it: aten::item, not the operators inside aten::item", SS_COLUMN_SLICES },
	{ "idle_ns", SS_COLUMN_NS, "device idle time in the steps that the host syncs cause", 0 },
	{ "idle_percent", SS_COLUMN_PERCENT,
	  "share of the time of the counted steps times the number of devices (group step: of the "
	  "step)",
	  SS_COLUMN_BAR },
	{ "blocked_ns", SS_COLUMN_NS, "time the host was blocked in these calls, in the whole file",
	  SS_COLUMN_FILLED },
	{ "per_step", SS_COLUMN_NUMBER, "mean number of host syncs per step", 0 },
	{ "calls", SS_COLUMN_COUNT, "host syncs in the whole file (group step: in the step)",
	  SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "longest_ns", SS_COLUMN_NS, "longest host sync", SS_COLUMN_DETAIL | SS_COLUMN_LENGTH },
	{ "at_ns", SS_COLUMN_NS, "start of the longest one, from the first event",
	  SS_COLUMN_DETAIL | SS_COLUMN_MOMENT },
	{ "line", SS_COLUMN_TEXT,
	  "Python source line of the user around it; recorded only with stacks", 0 },
};

/* What makes a row; fields that the group leaves out are 0. */
struct sync_key {
	uint32_t step; /* + 1 */
	uint32_t call, op, line;
};

struct sync_tally {
	uint32_t id;      /* of its key */
	uint32_t longest; /* row */
	int64_t calls, in_steps, blocked_ns, idle_ns, longest_ns;
};

struct sync_counting {
	const struct ss_trace *trace;
	struct ss_table *out;
	enum syncs_group group;
	struct ss_waits waits;
	const struct ss_ops *ops;
	const struct ss_places *places;
	struct ss_records keys;
	struct sync_tally *tallies; /* per key */
	uint32_t tally_capacity;
	const uint8_t *wraps; /* ss_ops_sync_wrappers() */
	uint32_t devices;
	bool has_calls;
	bool failed;
};

/* The tally of a wait, by group, made now if it is new; NULL: no memory. */
static struct sync_tally *sync_tally_of(struct sync_counting *counting, uint32_t row, uint32_t step)
{
	enum syncs_group group = counting->group;
	const uint32_t *names = counting->trace->slices.name;
	struct sync_key key = { 0 };
	uint32_t op, id, known = counting->keys.count;

	if (group == BY_STEP)
		key.step = step + 1;
	if (group == BY_SITE || group == BY_CALL)
		key.call = names[row];
	if (group == BY_SITE || group == BY_OP) {
		op = ss_ops_sync_op(counting->wraps, counting->ops, row);
		key.op = op == SS_NO_ROW ? 0 : names[op];
	}
	if (group == BY_SITE || group == BY_LINE)
		key.line = counting->places->line[row];
	id = ss_records_add(&counting->keys, &key);
	if (id == SS_NO_ID || !SS_GROW(counting->out->arena->memory, counting->tallies,
				       counting->tally_capacity, id)) {
		counting->failed = true;
		return NULL;
	}
	if (id == known)
		counting->tallies[id] = (struct sync_tally){ .id = id, .longest = row };
	return &counting->tallies[id];
}

static void sync_count_wait(struct sync_counting *counting, uint32_t row)
{
	uint32_t step = ss_step_at(counting->trace, counting->trace->slices.start_ns[row]);
	int64_t dur_ns = counting->trace->slices.dur_ns[row];
	struct sync_tally *tally;

	if (counting->group == BY_STEP && step == SS_NO_ROW)
		return;
	tally = sync_tally_of(counting, row, step);
	if (!tally)
		return;
	if (!tally->calls || dur_ns > tally->longest_ns) {
		tally->longest_ns = dur_ns;
		tally->longest = row;
	}
	tally->calls++;
	tally->in_steps += step != SS_NO_ROW;
	tally->blocked_ns = ss_ns_sum(tally->blocked_ns, dur_ns);
}

/* Counts all waits and their idle time; steps come first, so that each has a row. */
static void syncs_count(struct sync_counting *counting, const uint32_t *cover_steps)
{
	const struct ss_waits *waits = &counting->waits;
	const struct ss_steps *steps = &counting->trace->steps;

	for (uint32_t row = 0; row < waits->row_count && !counting->has_calls; row++)
		counting->has_calls = ss_kind_is_call(counting->trace->slices.kind[row]);
	for (uint32_t i = 0; counting->group == BY_STEP && i < steps->count; i++)
		if (counting->has_calls && !steps->items[i].dropped && !counting->failed)
			sync_tally_of(counting, SS_NO_ROW, i);
	for (uint32_t row = 0; row < waits->row_count && !counting->failed; row++)
		if (waits->wait[row] == row)
			sync_count_wait(counting, row);
	for (uint32_t i = 0; i < waits->idle_count && !counting->failed; i++) {
		const struct ss_wait_idle *idle = &waits->idle[i];
		struct sync_tally *tally = sync_tally_of(counting, idle->row,
							 cover_steps[idle->step]);

		if (tally)
			tally->idle_ns = ss_ns_sum(tally->idle_ns, idle->idle_ns);
	}
}

/* By idle time, blocked time, then in order of first appearance. */
SS_COMPARATOR(sync_compare_idle, struct sync_tally,
	      SS_DESCENDING(idle_ns) SS_DESCENDING(blocked_ns) SS_ASCENDING(id))

static void syncs_add_name(struct ss_table *out, const struct ss_trace *trace, uint32_t name)
{
	ss_row_text(out, name ? ss_strings_text(&trace->names, name) : NULL);
}

static void syncs_add_row(const struct sync_counting *counting, const struct sync_tally *tally,
			  double base_ns)
{
	const struct ss_trace *trace = counting->trace;
	const struct sync_key *key = ss_records_at(&counting->keys, tally->id);
	struct ss_table *out = counting->out;
	bool waited = tally->calls, idles = counting->devices && trace->has_launches;

	ss_row_begin(out);
	ss_row_int_known(out, (int64_t)key->step - 1);
	syncs_add_name(out, trace, key->call);
	syncs_add_name(out, trace, key->op);
	ss_row_int_known(out, idles ? tally->idle_ns : -1);
	ss_row_share(out, (double)tally->idle_ns, idles ? base_ns : 0);
	ss_row_int(out, tally->blocked_ns);
	if (key->step)
		ss_row_null(out);
	else
		ss_row_rate(out, (double)tally->in_steps, trace->steps.kept_count);
	ss_row_int(out, tally->calls);
	ss_row_int_known(out, waited ? tally->longest_ns : -1);
	ss_row_int_known(out, waited ? trace->slices.start_ns[tally->longest] : -1);
	ss_row_text(out, key->line ? ss_strings_text(&counting->places->lines, key->line) : NULL);
	ss_row_end(out);
}

/* All rows; idle time is shown as a share of the steps, or of the row's step. */
static void syncs_add_rows(struct sync_counting *counting)
{
	const struct ss_steps *steps = &counting->trace->steps;
	double steps_ns = 0;

	for (uint32_t i = 0; i < steps->count; i++)
		if (!steps->items[i].dropped)
			steps_ns += (double)(steps->items[i].end_ns - steps->items[i].start_ns);
	if (counting->keys.count && counting->group != BY_STEP)
		SS_SORT(counting->tallies, counting->keys.count, sync_compare_idle);
	for (uint32_t i = 0; i < counting->keys.count; i++) {
		const struct sync_key *key = ss_records_at(&counting->keys,
							   counting->tallies[i].id);
		const struct ss_step *step = key->step ? &steps->items[key->step - 1] : NULL;
		double base_ns = step ? (double)(step->end_ns - step->start_ns) : steps_ns;

		syncs_add_row(counting, &counting->tallies[i], base_ns * counting->devices);
	}
}

/* Most of them are the profiler's: its last synchronize comes after the last step. */
static void syncs_note_outside(const struct sync_counting *counting)
{
	int64_t outside = 0, blocked_ns = 0;

	for (uint32_t i = 0; i < counting->keys.count; i++) {
		const struct sync_tally *tally = &counting->tallies[i];

		outside += tally->calls - tally->in_steps;
		if (!tally->in_steps)
			blocked_ns = ss_ns_sum(blocked_ns, tally->blocked_ns);
	}
	if (blocked_ns && counting->trace->steps.kept_count)
		ss_table_note(
			counting->out,
			"%lld host sync%s outside the steps: the figures per step leave %s out.",
			(long long)outside, outside == 1 ? " is" : "s are",
			outside == 1 ? "it" : "them");
}

static void syncs_add_notes(const struct sync_counting *counting)
{
	syncs_note_outside(counting);
	if (counting->devices && !counting->has_calls)
		ss_table_note(counting->out, "Runtime calls are not recorded: the file has GPU "
					     "work, but host syncs are not visible.");
	if (counting->out->row_count && !counting->places->has_lines &&
	    (counting->group == BY_SITE || counting->group == BY_LINE))
		ss_note_missing(counting->out, SS_MISSING_LINES);
}

static bool sync_counting_init(struct sync_counting *counting, struct ss_arena *scratch)
{
	counting->wraps = ss_ops_sync_wrappers(counting->trace, scratch);
	return counting->wraps && ss_records_init(&counting->keys, counting->out->arena->memory,
						  sizeof(struct sync_key));
}

static enum ss_status syncs_run(const struct ss_subject *subject, struct ss_table *out,
				struct ss_error *err)
{
	struct sync_counting counting = { .trace = subject->trace,
					  .out = out,
					  .group = (enum syncs_group)subject->group };
	struct ss_memory *memory = out->arena->memory;
	const uint32_t *steps = ss_steps_numbers(subject->trace, out->arena);
	const struct ss_idle *idle;
	enum ss_status status;

	SS_TRY(ss_facts_idle(subject->facts, &idle, err));
	SS_TRY(ss_facts_ops(subject->facts, &counting.ops, err));
	SS_TRY(ss_facts_places(subject->facts, &counting.places, err));
	counting.devices = idle->device_count;
	if (!steps || !sync_counting_init(&counting, out->arena))
		status = ss_fail_memory(err, "the waits for the device");
	else
		status = ss_waits_init(&counting.waits, idle, memory, err);
	if (status == SS_OK)
		syncs_count(&counting, steps);
	if (counting.failed)
		status = ss_fail_memory(err, "the waits for the device");
	if (status == SS_OK) {
		syncs_add_rows(&counting);
		syncs_add_notes(&counting);
	}
	SS_FREE(memory, counting.tallies, counting.tally_capacity);
	ss_records_release(&counting.keys);
	ss_waits_release(&counting.waits);
	return status;
}

const struct ss_view ss_view_syncs = {
	.name = "syncs",
	.summary = "Host syncs, and the GPU idle time they cause",
	.empty = "No host syncs: the host never waited for a GPU, or its runtime calls are not "
		 "recorded.",
	SS_TABLE_COLUMNS(columns),
	.sums = "idle_ns blocked_ns calls",
	.wide = "longest_ns",
	.basis = SS_BASIS_STEPS,
	.bases = { [BY_STEP] = SS_BASIS_STEP },
	.groups = { "site", "line", "op", "call", "step" },
	.order = { "idle_ns", "blocked_ns" },
	.own_order = 1u << BY_STEP,
	.of_device = true,
	.run = syncs_run,
};
