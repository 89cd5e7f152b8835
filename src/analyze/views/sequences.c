/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequences.c - view: kernel sequences that repeat on a stream: candidates for fusion.
 *
 * Sequences end at steps, communication, copies and memsets, and have at most 8 kernels:
 * longer ones are not candidates for one kernel. A sequence must occur at least three
 * times, and twice per step on average: steps repeat as a whole, so what occurs once per
 * step could be the whole step. Occurrences do not overlap, and no sequence is listed as
 * part of another (repeats.h).
 */
#include <string.h>

#include "analyze/facts.h"
#include "analyze/host/ops.h"
#include "analyze/host/repeats.h"
#include "analyze/kernel/category.h"
#include "base/sort.h"
#include "base/text.h"
#include "view/view.h"

#define LONGEST 8
#define LEAST_CALLS 3
#define LEAST_CALLS_PER_STEP 2

/* Width of each name in a sequence: 8 of them fill half a page. */
#define NAME_COLUMNS 60

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "share_percent", SS_COLUMN_PERCENT,
	  "share of the total duration of all kernels in the file", SS_COLUMN_BAR },
	{ "calls", SS_COLUMN_COUNT, "number of occurrences that do not overlap", SS_COLUMN_FILLED },
	{ "kernels", SS_COLUMN_COUNT, "number of kernels in the sequence", 0 },
	{ "total_ns", SS_COLUMN_NS, "sum of the durations of its kernels", SS_COLUMN_FILLED },
	{ "mean_ns", SS_COLUMN_NS, "mean duration of one kernel of the sequence", 0 },
	{ "span_ns", SS_COLUMN_NS,
	  "from the start of the first kernel to the end of the last, summed", SS_COLUMN_DETAIL },
	{ "gap_ns", SS_COLUMN_NS, "part of span_ns in which none of its kernels ran", 0 },
	{ "op", SS_COLUMN_TEXT,
	  "outermost operator that launches the whole sequence, if it is always the same",
	  SS_COLUMN_SLICES },
	{ "sequence", SS_COLUMN_TEXT, "kernels of the sequence, in order",
	  SS_COLUMN_WRAP | SS_COLUMN_KERNELS },
};

/* Compared as bytes; UINT32_MAX after the last. */
struct sequence_names {
	uint32_t id[LONGEST];
};

#define NO_OP UINT32_MAX

struct sequence_tally {
	uint32_t pattern; /* number, in the order of first appearance */
	uint32_t length;
	uint32_t op; /* name, or NO_OP: not always the same */
	int64_t calls, total_ns, span_ns, gap_ns;
};

struct sequence_counting {
	const struct ss_trace *trace;
	struct ss_table *out;
	const struct ss_ops *ops;
	uint32_t *rows; /* device row of each kernel that was added */
	uint32_t row_count, row_capacity;
	uint32_t *root; /* outermost operator of each host row, or SS_NO_ROW */
	struct ss_repeats repeats;
	struct ss_records patterns;
	struct sequence_tally *tallies;
	uint32_t tally_capacity;
	int64_t all_ns; /* of all kernels */
};

/* Counts steps that begin by this moment; moments of a track only move forward. */
static void sequences_pass_steps(const struct ss_steps *steps, int64_t at_ns, uint32_t *passed)
{
	while (*passed < steps->count && steps->items[*passed].start_ns <= at_ns)
		(*passed)++;
}

/* All compute kernels, stream after stream. */
static bool sequences_add_kernels(struct sequence_counting *sequences)
{
	const struct ss_trace *trace = sequences->trace;
	const struct ss_slices *slices = &trace->slices;
	struct ss_memory *memory = sequences->out->arena->memory;
	uint32_t track = UINT32_MAX, passed = 0;
	bool starts = true;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t before = passed;

		if (!ss_kind_on_device(slices->kind[row]))
			continue;
		if (slices->track[row] != track) {
			track = slices->track[row];
			before = passed = 0;
			starts = true;
		}
		if (ss_kind_is_kernel(slices->kind[row]))
			ss_ns_add(&sequences->all_ns, slices->dur_ns[row]);
		sequences_pass_steps(&trace->steps, slices->start_ns[row], &passed);
		starts |= passed != before || slices->kind[row] != SS_KIND_KERNEL;
		if (slices->kind[row] != SS_KIND_KERNEL)
			continue;
		if (!ss_memory_reserve(memory, (void **)&sequences->rows, &sequences->row_capacity,
				       (size_t)sequences->row_count + 1, sizeof(uint32_t)) ||
		    !ss_repeats_add(&sequences->repeats, slices->name[row], starts))
			return false;
		sequences->rows[sequences->row_count++] = row;
		starts = false;
	}
	return true;
}

/* Finds the outermost operator of each row; parents come before children. */
static bool sequences_find_roots(struct sequence_counting *sequences)
{
	const struct ss_ops *ops = sequences->ops;

	sequences->root = ss_memory_resize(ops->memory, NULL, 0,
					   ((size_t)ops->row_count + 1) * sizeof(uint32_t));
	if (!sequences->root)
		return false;
	for (uint32_t row = 0; row < ops->row_count; row++) {
		uint32_t owner = ops->owner[row];

		if (owner == SS_NO_ROW)
			sequences->root[row] = sequences->trace->slices.kind[row] == SS_KIND_OP
						       ? row
						       : SS_NO_ROW;
		else
			sequences->root[row] = owner;
	}
	for (uint32_t row = 0; row < ops->row_count; row++) {
		uint32_t root = sequences->root[row];

		if (root != SS_NO_ROW && root < row)
			sequences->root[row] = sequences->root[root];
	}
	/* a call that is longer than its operator comes before it */
	for (uint32_t row = 0; row < ops->row_count; row++)
		if (sequences->root[row] != SS_NO_ROW && sequences->root[row] > row)
			sequences->root[row] = sequences->root[sequences->root[row]];
	return true;
}

/* The outermost operator that launched all kernels of the run: its name, or NO_OP. */
static uint32_t sequence_op(const struct sequence_counting *sequences,
			    const struct ss_repeat_run *run)
{
	const struct ss_slices *slices = &sequences->trace->slices;
	uint32_t common = SS_NO_ROW;

	for (uint32_t i = 0; i < run->length; i++) {
		uint32_t launch = slices->link[sequences->rows[run->first + i]], root;

		if (launch == SS_NO_ROW || launch >= sequences->ops->row_count)
			return NO_OP;
		root = sequences->root[launch];
		if (root == SS_NO_ROW || (i && root != common))
			return NO_OP;
		common = root;
	}
	return slices->name[common];
}

/* Adds one occurrence; the operator stays only while it is the same in all of them. */
static void sequence_count_run(const struct sequence_counting *sequences,
			       const struct ss_repeat_run *run, struct sequence_tally *tally)
{
	const struct ss_slices *slices = &sequences->trace->slices;
	int64_t start_ns = slices->start_ns[sequences->rows[run->first]], end_ns = start_ns;

	for (uint32_t i = 0; i < run->length; i++) {
		uint32_t row = sequences->rows[run->first + i];

		if (slices->start_ns[row] > end_ns)
			ss_ns_add(&tally->gap_ns, slices->start_ns[row] - end_ns);
		if (ss_slice_end(slices, row) > end_ns)
			end_ns = ss_slice_end(slices, row);
		ss_ns_add(&tally->total_ns, slices->dur_ns[row]);
	}
	ss_ns_add(&tally->span_ns, end_ns - start_ns);
	if (tally->calls++ == 0)
		tally->op = sequence_op(sequences, run);
	else if (tally->op != NO_OP && tally->op != sequence_op(sequences, run))
		tally->op = NO_OP;
}

/* Runs of the same kernels are one sequence, whichever way they were joined. */
static bool sequences_count(struct sequence_counting *sequences)
{
	struct ss_memory *memory = sequences->out->arena->memory;

	for (uint32_t i = 0; i < sequences->repeats.count; i++) {
		const struct ss_repeat_run *run = &sequences->repeats.runs[i];
		uint32_t known = sequences->patterns.count, id;
		struct sequence_names names;

		if (run->length < 2)
			continue;
		memset(&names, 0xff, sizeof(names));
		for (uint32_t at = 0; at < run->length; at++)
			names.id[at] =
				sequences->trace->slices.name[sequences->rows[run->first + at]];
		id = ss_records_add(&sequences->patterns, &names);
		if (id == SS_NO_ID ||
		    !SS_GROW(memory, sequences->tallies, sequences->tally_capacity, id))
			return false;
		if (id == known)
			sequences->tallies[id] = (struct sequence_tally){ .pattern = id,
									  .length = run->length };
		sequence_count_run(sequences, run, &sequences->tallies[id]);
	}
	return true;
}

SS_COMPARATOR(sequence_compare_total, struct sequence_tally,
	      SS_DESCENDING(total_ns) SS_ASCENDING(pattern))

/* "a -> b x 3 -> c" */
static const char *sequence_text(const struct sequence_counting *sequences,
				 const struct ss_kernel_name *kernels,
				 const struct sequence_tally *tally)
{
	const struct sequence_names *names = ss_records_at(&sequences->patterns, tally->pattern);
	const char *text = "";

	for (uint32_t i = 0; i < tally->length;) {
		const char *name = kernels[names->id[i]].text;
		size_t length = strlen(name), shown = ss_text_prefix(name, length, NAME_COLUMNS);
		uint32_t same = 1;

		while (i + same < tally->length && names->id[i + same] == names->id[i])
			same++;
		text = ss_table_print(sequences->out, "%s%s%.*s%s", text, i ? " -> " : "",
				      (int)shown, name, shown < length ? "..." : "");
		if (same > 1)
			text = ss_table_print(sequences->out, "%s x %u", text, same);
		i += same;
	}
	return text;
}

static void sequences_add_row(const struct sequence_counting *sequences,
			      const struct ss_kernel_name *kernels,
			      const struct sequence_tally *tally)
{
	const struct ss_trace *trace = sequences->trace;
	struct ss_table *out = sequences->out;
	double mean = (double)tally->total_ns / (double)tally->calls / (double)tally->length;

	ss_row_begin(out);
	ss_row_share(out, (double)tally->total_ns, (double)sequences->all_ns);
	ss_row_int(out, tally->calls);
	ss_row_int(out, tally->length);
	ss_row_int(out, tally->total_ns);
	ss_row_int(out, (int64_t)(mean + 0.5));
	ss_row_int(out, tally->span_ns);
	ss_row_int(out, tally->gap_ns);
	ss_row_text(out, tally->op == NO_OP ? NULL : ss_strings_text(&trace->names, tally->op));
	ss_row_text(out, sequence_text(sequences, kernels, tally));
	ss_row_end(out);
}

static bool sequences_fill(struct sequence_counting *sequences)
{
	const struct ss_trace *trace = sequences->trace;
	struct ss_memory *memory = sequences->out->arena->memory;
	struct ss_kernel_name *kernels = ss_kernel_names(trace, sequences->out->arena);
	uint64_t least = (uint64_t)trace->steps.count * LEAST_CALLS_PER_STEP;

	if (least < LEAST_CALLS)
		least = LEAST_CALLS;
	if (!kernels || !sequences_add_kernels(sequences) || !sequences_find_roots(sequences) ||
	    !ss_repeats_find(&sequences->repeats, trace->names.count, LONGEST, least) ||
	    !ss_records_init(&sequences->patterns, memory, sizeof(struct sequence_names)) ||
	    !sequences_count(sequences))
		return false;
	SS_SORT(sequences->tallies, sequences->patterns.count, sequence_compare_total);
	for (uint32_t i = 0; i < sequences->patterns.count; i++)
		if ((uint64_t)sequences->tallies[i].calls >= least)
			sequences_add_row(sequences, kernels, &sequences->tallies[i]);
	return true;
}

static enum ss_status sequences_run(const struct ss_subject *subject, struct ss_table *out,
				    struct ss_error *err)
{
	struct ss_memory *memory = out->arena->memory;
	struct sequence_counting sequences = { .trace = subject->trace,
					       .out = out,
					       .repeats = { .memory = memory } };
	size_t host_rows;
	bool whole;

	SS_TRY(ss_facts_ops(subject->facts, &sequences.ops, err));
	host_rows = (size_t)sequences.ops->row_count + 1;
	whole = sequences_fill(&sequences);
	ss_memory_free(memory, sequences.rows, (size_t)sequences.row_capacity * sizeof(uint32_t));
	ss_memory_free(memory, sequences.root, host_rows * sizeof(uint32_t));
	SS_FREE(memory, sequences.tallies, sequences.tally_capacity);
	ss_repeats_release(&sequences.repeats);
	ss_records_release(&sequences.patterns);
	return whole ? SS_OK : ss_fail_memory(err, "the sequences");
}

const struct ss_view ss_view_sequences = {
	.name = "sequences",
	.summary = "Repeated kernel sequences: candidates for fusion",
	.empty = "No kernel sequence repeats within a step, or there are no kernels (record them "
		 "with ProfilerActivity.CUDA).",
	SS_TABLE_COLUMNS(columns),
	.order = { "total_ns" },
	.basis = SS_BASIS_FILE,
	.of_device = true,
	.run = sequences_run,
};
