/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.c - view: input, forward, backward and optimizer: the time of the main thread,
 * and the time of each device by what launched its work.
 *
 * The parts never overlap: on the host they add up to the step's range on the CPU, on the
 * device to the effective step, with idle as the last part.
 */
#include "analyze/facts.h"
#include "analyze/time/cover.h"
#include "analyze/time/roles.h"
#include "view/view.h"

enum { GROUP_ALL, GROUP_STEP };

/* Rows: the phases and, for devices, idle time. */
#define IDLE SS_PHASE_COUNT
#define PARTS (SS_PHASE_COUNT + 1)

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_CONTEXT },
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", 0 },
	{ "phase", SS_COLUMN_TEXT,
	  "input, forward, backward, optimizer; other: none of these, or unknown; idle: nothing "
	  "ran on the device",
	  0 },
	{ "host_ns", SS_COLUMN_NS,
	  "time of the main thread, or of the autograd thread it waits for; adds up to the steps "
	  "on the CPU",
	  0 },
	{ "host_percent", SS_COLUMN_PERCENT, "share of the steps' time on the CPU", 0 },
	{ "device_ns", SS_COLUMN_NS,
	  "time in which its work ran on the device, overlaps counted once; with idle it adds up "
	  "to the steps",
	  0 },
	{ "device_percent", SS_COLUMN_PERCENT, "share of the steps' time on the device",
	  SS_COLUMN_BAR },
};

/* The measured steps. */
struct phase_steps {
	struct ss_cover device, host; /* effective steps, ranges on the CPU; in the arena */
	uint32_t *number;
};

static bool phase_find_steps(const struct ss_trace *trace, struct ss_arena *arena,
			     struct phase_steps *steps)
{
	size_t count = (size_t)trace->steps.count + 1;

	steps->device = steps->host = (struct ss_cover){ 0 };
	if (!SS_ALLOC(arena, steps->device.items, count) ||
	    !SS_ALLOC(arena, steps->host.items, count) || !SS_ALLOC(arena, steps->number, count))
		return false;
	for (uint32_t i = 0; i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		if (step->dropped)
			continue;
		steps->number[steps->device.count] = i;
		steps->device.items[steps->device.count++] = (struct ss_interval){ step->start_ns,
										   step->end_ns };
		steps->host.items[steps->host.count++] = (struct ss_interval){ step->host_start_ns,
									       step->host_end_ns };
	}
	return true;
}

/* One set of moments per phase. */
struct phase_sets {
	struct ss_cover phase[SS_PHASE_COUNT];
};

static void phase_sets_init(struct phase_sets *sets, struct ss_memory *memory)
{
	for (int i = 0; i < SS_PHASE_COUNT; i++)
		ss_cover_init(&sets->phase[i], memory);
}

static bool phase_sets_release(struct phase_sets *sets)
{
	bool whole = true;

	for (int i = 0; i < SS_PHASE_COUNT; i++) {
		whole &= !sets->phase[i].failed;
		ss_cover_release(&sets->phase[i]);
	}
	return whole;
}

/* --- the devices -------------------------------------------------------------- */

/* Splits the steps of a device by the phase that launched the work; the rest is idle. */
static bool phase_share_device(const struct ss_phases *phases, int64_t device,
			       const struct phase_steps *steps, struct ss_memory *memory,
			       int64_t *sums)
{
	/* of several at once, the first counts: what it hides costs nothing */
	static const enum ss_phase order[] = { SS_PHASE_FORWARD, SS_PHASE_BACKWARD,
					       SS_PHASE_OPTIMIZER, SS_PHASE_INPUT, SS_PHASE_OTHER };
	const struct ss_slices *slices = &phases->trace->slices;
	uint32_t count = steps->device.count;
	int64_t *idle = sums + (size_t)IDLE * count;
	SS_SCRATCH(scratch, memory);
	struct ss_merge merge;
	struct phase_sets sets;
	bool whole;

	phase_sets_init(&sets, memory);
	whole = ss_merge_init(&merge, phases->trace, device, &scratch);
	for (uint32_t row = whole ? ss_merge_next(&merge) : SS_NO_ROW; row != SS_NO_ROW;
	     row = ss_merge_next(&merge))
		if (ss_kind_on_device(slices->kind[row]))
			ss_cover_add(&sets.phase[ss_phase_of_launch(phases, row)],
				     slices->start_ns[row], ss_slice_end(slices, row));
	for (uint32_t i = 0; i < count; i++)
		idle[i] = steps->device.items[i].end_ns - steps->device.items[i].start_ns;
	for (size_t i = 0; i < SS_COUNT(order); i++) {
		int64_t *own = sums + (size_t)order[i] * count;

		for (size_t k = 0; k < i; k++)
			ss_cover_subtract(&sets.phase[order[i]], &sets.phase[order[k]]);
		ss_cover_share(&sets.phase[order[i]], &steps->device, own);
		for (uint32_t k = 0; k < count; k++)
			idle[k] -= own[k];
	}
	return phase_sets_release(&sets) && whole;
}

/* --- rows --------------------------------------------------------------------- */

/* Times of the steps; NULL: not recorded. */
struct phase_axes {
	const int64_t *host, *device; /* for each part, a value per step */
	const struct phase_steps *steps;
	int64_t device_number;
};

static int64_t phase_sum(const int64_t *values, uint32_t from, uint32_t to)
{
	int64_t total = 0;

	for (uint32_t i = from; i < to; i++)
		total += values[i];
	return total;
}

static int64_t phase_steps_ns(const struct ss_cover *steps, uint32_t from, uint32_t to)
{
	int64_t total = 0;

	for (uint32_t i = from; i < to; i++)
		ss_ns_add(&total, steps->items[i].end_ns - steps->items[i].start_ns);
	return total;
}

static void phases_add_time(struct ss_table *out, bool known, int64_t part_ns, int64_t whole_ns)
{
	if (known) {
		ss_row_int(out, part_ns);
		ss_row_share(out, (double)part_ns, (double)whole_ns);
		return;
	}
	ss_row_null(out);
	ss_row_null(out);
}

/* Rows for the parts of steps from..to that have any time. */
static void phases_add_rows(const struct phase_axes *axes, bool by_step, uint32_t from, uint32_t to,
			    struct ss_table *out)
{
	const struct phase_steps *steps = axes->steps;
	uint32_t count = steps->host.count;
	int64_t host_ns = phase_steps_ns(&steps->host, from, to);
	int64_t device_ns = phase_steps_ns(&steps->device, from, to);

	for (int part = 0; part < PARTS; part++) {
		const int64_t *host = axes->host && part != IDLE ? axes->host + (size_t)part * count
								 : NULL;
		const int64_t *device = axes->device ? axes->device + (size_t)part * count : NULL;
		int64_t own_host_ns = host ? phase_sum(host, from, to) : 0;
		int64_t own_device_ns = device ? phase_sum(device, from, to) : 0;

		if (!own_host_ns && !own_device_ns)
			continue;
		ss_row_begin(out);
		if (device)
			ss_row_int(out, axes->device_number);
		else
			ss_row_null(out);
		if (by_step)
			ss_row_int(out, steps->number[from]);
		else
			ss_row_null(out);
		ss_row_text(out, part == IDLE ? "idle" : ss_phase_name((enum ss_phase)part));
		phases_add_time(out, host, own_host_ns, host_ns);
		phases_add_time(out, device, own_device_ns, device_ns);
		ss_row_end(out);
	}
}

static void phases_add_group(const struct phase_axes *axes, uint32_t group, struct ss_table *out)
{
	uint32_t count = axes->steps->host.count;

	if (group == GROUP_ALL)
		phases_add_rows(axes, false, 0, count, out);
	for (uint32_t i = 0; group == GROUP_STEP && i < count; i++)
		phases_add_rows(axes, true, i, i + 1, out);
}

static enum ss_status phases_fill(const struct ss_phases *phases, const struct phase_steps *steps,
				  uint32_t group, struct ss_table *out, struct ss_error *err)
{
	struct ss_memory *memory = out->arena->memory;
	size_t size = (size_t)PARTS * steps->host.count + 1;
	const uint32_t most = ss_devices_by_step(phases->trace);
	struct phase_axes axes = { .steps = steps };
	uint32_t number = 0;
	int64_t device = INT64_MIN, *sums = SS_ARENA_NEW(out->arena, int64_t, size);

	if (!sums || (phases->main != SS_NO_ROW &&
		      !ss_phases_share_host(phases, &steps->host, memory, sums)))
		return ss_fail_memory(err, "the phases");
	axes.host = phases->main == SS_NO_ROW ? NULL : sums;
	for (; ss_device_next(phases->trace, device, &device); number++) {
		if (number >= most)
			continue;
		if (!SS_ALLOC(out->arena, sums, size) ||
		    !phase_share_device(phases, device, steps, memory, sums))
			return ss_fail_memory(err, "the phases");
		axes.device = sums;
		axes.device_number = device;
		phases_add_group(&axes, group, out);
	}
	if (!axes.device)
		phases_add_group(&axes, group, out);
	ss_note_devices(out, number > most ? number - most : 0);
	return SS_OK;
}

static enum ss_status phases_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	const struct ss_phases *phases;
	enum ss_status status;
	struct phase_steps steps;

	if (!phase_find_steps(trace, out->arena, &steps))
		return ss_fail_memory(err, "the phases");
	SS_TRY(ss_facts_phases(subject->facts, &phases, err));
	status = phases_fill(phases, &steps, subject->group, out, err);
	if (out->row_count && !phases->has_ops)
		ss_note_missing(out, SS_MISSING_OPERATORS);
	if (out->row_count && phases->has[SS_PHASE_BACKWARD] && !phases->has[SS_PHASE_OPTIMIZER])
		ss_table_note(out, "The file has no optimizer range, so work after backward "
				   "counts as forward. Use a torch.optim.Optimizer, or "
				   "record_function(\"optimizer\").");
	return status;
}

const struct ss_view ss_view_phases = {
	.name = "phases",
	.summary = "Time by training phase: input, forward, backward, optimizer",
	.empty = "No steps: the file has neither CPU operators nor device events.",
	SS_TABLE_COLUMNS(columns),
	.sums = "device_ns",
	.basis = SS_BASIS_STEPS,
	.bases = { [GROUP_STEP] = SS_BASIS_STEP },
	.groups = { "all", "step" },
	.by_moment = true,
	.kept = { [GROUP_ALL] = 32 },
	.run = phases_run,
};
