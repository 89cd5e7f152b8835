/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown.c - view: what each step was spent on, in parts that add up to it.
 *
 * The parts and their priority are those of the TensorBoard plugin: compute kernels hide
 * copies, copies hide communication, and so on. So communication here is exposed
 * communication.
 */
#include "analyze/facts.h"
#include "analyze/time/roles.h"
#include "trace/select.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", 0 },
	{ "name", SS_COLUMN_TEXT, "name of the step in the trace; empty if it has none",
	  SS_COLUMN_DETAIL | SS_COLUMN_SLICES },
	{ "start_ns", SS_COLUMN_NS, "start, from the first event of the file (group piece)", 0 },
	{ "phase", SS_COLUMN_TEXT,
	  "what the main thread did for most of it: a phase of the step (group piece)", 0 },
	{ "dur_ns", SS_COLUMN_NS,
	  "effective duration of the step, or of the piece; the parts add up to it", 0 },
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

enum { GROUP_STEP, GROUP_PART, GROUP_PIECE };

/* Pieces of equal length: as many as a narrow screen shows, each with a few pixels. */
#define PIECES 128

/* The number of columns that only parts, steps, or pieces fill. */
#define PART_COLUMNS 4
#define PIECE_COLUMNS 2
#define STEP_COLUMNS (3 + PIECE_COLUMNS + SS_ROLE_COUNT)

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
		ss_row_nulls(out, PIECE_COLUMNS);
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

/* From the first to the last of the chosen steps; if none is chosen, the whole file. */
static struct ss_interval breakdown_span(const struct ss_trace *trace)
{
	struct ss_interval chosen = { INT64_MAX, INT64_MIN };
	bool is_part = false;

	for (uint32_t i = 0; i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		is_part |= step->dropped == ss_step_not_selected;
		if (step->dropped)
			continue;
		if (step->start_ns < chosen.start_ns)
			chosen.start_ns = step->start_ns;
		if (step->end_ns > chosen.end_ns)
			chosen.end_ns = step->end_ns;
	}
	return is_part ? chosen : (struct ss_interval){ 0, trace->span_ns };
}

/* The pieces of the file; false: no memory. */
static bool breakdown_pieces(const struct ss_trace *trace, struct ss_memory *memory,
			     struct ss_cover *out)
{
	struct ss_interval span = breakdown_span(trace);
	double whole_ns = (double)span.end_ns - (double)span.start_ns;
	int64_t from_ns = span.start_ns;

	ss_cover_init(out, memory);
	for (int i = 1; i <= PIECES && whole_ns > 0; i++) {
		int64_t to_ns = i == PIECES ? span.end_ns
					    : span.start_ns + (int64_t)(whole_ns * i / PIECES);

		if (to_ns > from_ns)
			ss_cover_append(out, from_ns, to_ns);
		from_ns = to_ns;
	}
	return !out->failed;
}

/* The phase with the most time in a piece; NULL: not known. */
static const char *breakdown_phase(const int64_t *sums, uint32_t count, uint32_t piece)
{
	int best = SS_PHASE_OTHER;

	for (int i = 0; sums && i < SS_PHASE_OTHER; i++)
		if (sums[(size_t)i * count + piece] > sums[(size_t)best * count + piece])
			best = i;
	return sums ? ss_phase_name((enum ss_phase)best) : NULL;
}

static enum ss_status breakdown_add_pieces(const struct ss_subject *subject, struct ss_table *out,
					   const int64_t *sums, const struct ss_cover *pieces,
					   struct ss_error *err)
{
	const struct ss_phases *phases;
	int64_t *host = NULL;

	SS_TRY(ss_facts_phases(subject->facts, &phases, err));
	if (phases->main != SS_NO_ROW) {
		if (!SS_ALLOC(out->arena, host, ((size_t)pieces->count + 1) * SS_PHASE_COUNT) ||
		    !ss_phases_share_host(phases, pieces, out->arena->memory, host))
			return ss_fail_memory(err, "the breakdown of steps");
	}
	for (uint32_t i = 0; i < pieces->count; i++) {
		ss_row_begin(out);
		ss_row_nulls(out, 2);
		ss_row_int(out, pieces->items[i].start_ns);
		ss_row_text(out, breakdown_phase(host, pieces->count, i));
		ss_row_int(out, pieces->items[i].end_ns - pieces->items[i].start_ns);
		for (int role = 0; role < SS_ROLE_COUNT; role++)
			ss_row_int(out, sums[(size_t)role * pieces->count + i]);
		ss_row_nulls(out, PART_COLUMNS);
		ss_row_end(out);
	}
	return SS_OK;
}

/* The stretches that the rows are about, or whose sums they are. */
static bool breakdown_stretches(const struct ss_subject *subject, struct ss_memory *memory,
				struct ss_cover *out)
{
	return subject->group == GROUP_PIECE ? breakdown_pieces(subject->trace, memory, out)
					     : ss_steps_cover(subject->trace, memory, out);
}

static enum ss_status breakdown_run(const struct ss_subject *subject, struct ss_table *out,
				    struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct ss_memory *memory = out->arena->memory;
	SS_OWNED(ss_roles_release) struct ss_roles roles = { 0 };
	SS_COVER(steps, memory);
	SS_COVER(left, memory);
	int64_t *sums;

	if (!ss_roles_init(&roles, trace, memory) ||
	    !breakdown_stretches(subject, memory, &steps) ||
	    !breakdown_stretches(subject, memory, &left) ||
	    !SS_ALLOC(out->arena, sums, ((size_t)steps.count + 1) * SS_ROLE_COUNT))
		return ss_fail_memory(err, "the breakdown of steps");
	breakdown_split_steps(&roles, &steps, &left, sums);
	if (left.failed)
		return ss_fail_memory(err, "the breakdown of steps");
	if (subject->group == GROUP_PIECE)
		return breakdown_add_pieces(subject, out, sums, &steps, err);
	if (subject->group == GROUP_PART)
		breakdown_add_parts(out, sums, &steps);
	else
		breakdown_add_steps(trace, out, sums, steps.count);
	return SS_OK;
}

const struct ss_view ss_view_breakdown = {
	.name = "breakdown",
	.summary = "Steps in TensorBoard's parts: kernel, copy, input, other",
	.empty = "No steps: the file has neither CPU operators nor device events.",
	SS_TABLE_COLUMNS(columns),
	.sums = "dur_ns kernel_ns memcpy_ns memset_ns communication_ns runtime_ns "
		"dataloader_ns cpu_ns other_ns mean_ns total_ns",
	.basis = SS_BASIS_MEAN,
	.bases = { [GROUP_STEP] = SS_BASIS_STEP, [GROUP_PIECE] = SS_BASIS_FILE },
	.groups = { "step", "part", "piece" },
	.by_moment = true,
	.kept = { [GROUP_STEP] = 1024, [GROUP_PART] = 32, [GROUP_PIECE] = PIECES },
	.run = breakdown_run,
};
