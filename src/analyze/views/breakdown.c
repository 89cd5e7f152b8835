/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown.c - view: what each step was spent on, in parts that add up to it.
 *
 * The parts and their priority are those of the TensorBoard plugin: compute kernels hide
 * copies, copies hide communication, and so on. So communication here is exposed
 * communication.
 */
#include "analyze/time/roles.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", 0 },
	{ "name", SS_COLUMN_TEXT, "name of the step in the trace; empty if it has none",
	  SS_COLUMN_DETAIL | SS_COLUMN_SLICES },
	{ "dur_ns", SS_COLUMN_NS, "effective duration of the step; the parts add up to it", 0 },
	{ "kernel_ns", SS_COLUMN_NS, "a compute kernel ran", 0 },
	{ "memcpy_ns", SS_COLUMN_NS, "a copy ran, but no kernel", 0 },
	{ "memset_ns", SS_COLUMN_NS, "a memset ran, but no kernel or copy", SS_COLUMN_DETAIL },
	{ "communication_ns", SS_COLUMN_NS,
	  "exposed communication: it ran, but no compute kernel, copy or memset", 0 },
	{ "runtime_ns", SS_COLUMN_NS,
	  "the host was in a runtime or driver call while the device was idle", 0 },
	{ "dataloader_ns", SS_COLUMN_NS,
	  "the host waited for a batch or made one while the device was idle", 0 },
	{ "cpu_ns", SS_COLUMN_NS,
	  "the host ran another operator or range while the device was idle", 0 },
	{ "other_ns", SS_COLUMN_NS, "none of these", 0 },
	{ "part", SS_COLUMN_TEXT,
	  "what the time was spent on; the same parts as the columns by step", 0 },
	{ "mean_ns", SS_COLUMN_NS, "mean time per step", 0 },
	{ "step_percent", SS_COLUMN_PERCENT, "share of the time of all counted steps",
	  SS_COLUMN_BAR },
	{ "total_ns", SS_COLUMN_NS, "total over all counted steps; the parts add up to their time",
	  SS_COLUMN_DETAIL },
};

enum { GROUP_STEP, GROUP_PART };

/* The number of columns that only parts, or only steps, fill. */
#define PART_COLUMNS 4
#define STEP_COLUMNS (3 + SS_ROLE_COUNT)

static const char *const breakdown_part_names[] = {
	[SS_ROLE_KERNEL] = "kernel",   [SS_ROLE_MEMCPY] = "memcpy",
	[SS_ROLE_MEMSET] = "memset",   [SS_ROLE_COMM] = "communication",
	[SS_ROLE_RUNTIME] = "runtime", [SS_ROLE_INPUT] = "dataloader",
	[SS_ROLE_CPU] = "cpu",         [SS_ROLE_OTHER] = "other",
};

/* Parts that took no time are left out. */
static void breakdown_add_parts(struct ss_table *out, const int64_t *sums,
				const struct ss_cover *steps)
{
	int64_t all_ns = ss_cover_length(steps);

	for (int role = 0; role < SS_ROLE_COUNT; role++) {
		int64_t total_ns = 0;

		for (uint32_t i = 0; i < steps->count; i++)
			ss_ns_add(&total_ns, sums[(size_t)role * steps->count + i]);
		if (!total_ns)
			continue;
		ss_row_begin(out);
		ss_row_nulls(out, STEP_COLUMNS);
		ss_row_text(out, breakdown_part_names[role]);
		ss_row_int(out, total_ns / (int64_t)steps->count);
		ss_row_share(out, (double)total_ns, (double)all_ns);
		ss_row_int(out, total_ns);
		ss_row_end(out);
	}
}

static void breakdown_add_steps(const struct ss_trace *trace, struct ss_table *out,
				const int64_t *sums, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		if (step->dropped || step->end_ns <= step->start_ns)
			continue;
		ss_row_begin(out);
		ss_row_int(out, i);
		ss_row_text(out, ss_strings_text(&trace->names, step->name));
		ss_row_int(out, step->end_ns - step->start_ns);
		for (int role = 0; role < SS_ROLE_COUNT; role++)
			ss_row_int(out, sums[(size_t)role * count + kept]);
		ss_row_nulls(out, PART_COLUMNS);
		ss_row_end(out);
		kept++;
	}
}

/* A role gets what its subtraction takes from the rest; what remains is "other". */
static void breakdown_split_steps(const struct ss_roles *roles, const struct ss_cover *steps,
				  struct ss_cover *left, int64_t *sums)
{
	int64_t *rest = sums + (size_t)SS_ROLE_OTHER * steps->count;

	ss_cover_share(left, steps, rest);
	for (int role = 0; role < SS_ROLE_OTHER; role++) {
		int64_t *own = sums + (size_t)role * steps->count;

		if (!roles->covers[role].count)
			continue;
		ss_cover_subtract(left, &roles->covers[role]);
		ss_cover_share(left, steps, own);
		for (uint32_t i = 0; i < steps->count; i++) {
			int64_t after_ns = own[i];

			own[i] = rest[i] - after_ns;
			rest[i] = after_ns;
		}
	}
}

static enum ss_status breakdown_run(const struct ss_subject *subject, struct ss_table *out,
				    struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct ss_memory *memory = out->arena->memory;
	struct ss_cover steps = { 0 }, left = { 0 };
	struct ss_roles roles;
	int64_t *sums = NULL;
	bool whole = ss_roles_init(&roles, trace, memory) &&
		     ss_steps_cover(trace, memory, &steps) && ss_steps_cover(trace, memory, &left);

	if (whole)
		sums = SS_ARENA_NEW(out->arena, int64_t, ((size_t)steps.count + 1) * SS_ROLE_COUNT);
	if (sums) {
		breakdown_split_steps(&roles, &steps, &left, sums);
		whole = !left.failed;
		if (subject->group == GROUP_PART)
			breakdown_add_parts(out, sums, &steps);
		else
			breakdown_add_steps(trace, out, sums, steps.count);
	}
	ss_roles_release(&roles);
	ss_cover_release(&steps);
	ss_cover_release(&left);
	return sums && whole ? SS_OK : ss_fail_memory(err, "the breakdown of steps");
}

const struct ss_view ss_view_breakdown = {
	.name = "breakdown",
	.summary = "What each step was spent on, in parts that add up to it",
	.empty = "No steps: the file has neither CPU operators nor device events.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.sums = "dur_ns kernel_ns memcpy_ns memset_ns communication_ns runtime_ns "
		"dataloader_ns cpu_ns other_ns mean_ns total_ns",
	.basis = SS_BASIS_MEAN,
	.bases = { [GROUP_STEP] = SS_BASIS_STEP },
	.groups = { "step", "part" },
	.by_moment = true,
	.run = breakdown_run,
};
