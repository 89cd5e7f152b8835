/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.c - view: kernels by name: calls, times, occupancy, tensor cores.
 *
 * Covers the whole file, including communication. Occupancy and blocks per SM are weighted
 * by time; the launch configuration is that of the longest call.
 */
#include <string.h>

#include "analyze/facts.h"
#include "analyze/host/ops.h"
#include "analyze/host/places.h"
#include "analyze/kernel/category.h"
#include "base/sort.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "kernel", SS_COLUMN_TEXT, "short name of the kernel (group category: the category)",
	  SS_COLUMN_KERNELS },
	{ "op", SS_COLUMN_TEXT, "operator that launched it (groups op and launch)", 0 },
	{ "device", SS_COLUMN_ID, "number of the device (group stream)", SS_COLUMN_CONTEXT },
	{ "stream", SS_COLUMN_ID, "number of the stream (group stream)", 0 },
	{ "line", SS_COLUMN_TEXT, "source line that launched it (group source-line)", 0 },
	{ "calls", SS_COLUMN_COUNT, "number of calls", SS_COLUMN_FILLED },
	{ "total_ns", SS_COLUMN_NS, "sum of the durations", SS_COLUMN_FILLED },
	{ "share_percent", SS_COLUMN_PERCENT, "share of the total duration of all kernels",
	  SS_COLUMN_BAR },
	{ "mean_ns", SS_COLUMN_NS, "mean duration", 0 },
	{ "max_ns", SS_COLUMN_NS, "longest", SS_COLUMN_DETAIL },
	{ "occupancy_percent", SS_COLUMN_PERCENT,
	  "share of the warps that fit on an SM, weighted by time (estimate); empty: unknown", 0 },
	{ "tensor_cores", SS_COLUMN_TEXT, "yes: the name shows that it uses tensor or matrix cores",
	  SS_COLUMN_DETAIL },
	{ "name", SS_COLUMN_TEXT, "full name of the kernel", SS_COLUMN_DETAIL | SS_COLUMN_KERNELS },
	{ "category", SS_COLUMN_TEXT, "kind of work, from its name", SS_COLUMN_DETAIL },
	{ "kind", SS_COLUMN_TEXT, "compute or communication", SS_COLUMN_DETAIL },
	{ "min_ns", SS_COLUMN_NS, "shortest", SS_COLUMN_DETAIL },
	{ "std_ns", SS_COLUMN_NS, "standard deviation of the durations", SS_COLUMN_DETAIL },
	{ "blocks_per_sm", SS_COLUMN_NUMBER, "blocks per SM, weighted by time", SS_COLUMN_DETAIL },
	{ "grid", SS_COLUMN_TEXT, "grid of the longest call",
	  SS_COLUMN_DETAIL | SS_COLUMN_EVIDENCE },
	{ "block", SS_COLUMN_TEXT, "threads per block of the longest call",
	  SS_COLUMN_DETAIL | SS_COLUMN_EVIDENCE },
	{ "registers", SS_COLUMN_COUNT, "registers per thread of the longest call",
	  SS_COLUMN_DETAIL },
	{ "shared_bytes", SS_COLUMN_BYTES, "shared memory per block of the longest call",
	  SS_COLUMN_DETAIL },
};

enum kernels_group { BY_KERNEL, BY_OP, BY_CATEGORY, BY_STREAM, BY_LAUNCH, BY_SOURCE };

/* Rows with equal keys are one. Compared as bytes: cleared before it is filled. */
struct kernel_key {
	uint32_t name;  /* by category: the category; by source-line: the line */
	uint32_t other; /* name of the operator + 1, or the track; 0: none */
	int32_t grid[3], block[3], registers, padding;
	int64_t shared_bytes;
};

struct kernel_tally {
	struct kernel_key key;
	uint32_t longest; /* row */
	int64_t calls, total_ns, min_ns, max_ns;
	double mean, squares; /* Welford's algorithm: sums of squares would lose digits */
	double occupied, blocks;
	int64_t occupied_ns, blocks_ns; /* time of the calls that recorded it */
};

struct kernel_counting {
	const struct ss_trace *trace;
	struct ss_table *out;
	enum kernels_group group;
	struct ss_kernel_name *names;
	const struct ss_ops *ops;       /* by op and launch */
	const struct ss_places *places; /* by source-line */
	struct ss_records keys;
	struct kernel_tally *tallies;
	uint32_t tally_capacity;
};

static const struct ss_kernel_args *kernel_args_of(const struct ss_trace *trace, uint32_t row)
{
	uint32_t args = trace->slices.args[row];

	return args == SS_NO_ARGS ? NULL : ss_records_at(&trace->kernel_args, args);
}

/* Adds a call; occupancy and blocks are weighted by time, where they are recorded. */
static void kernel_count_row(const struct ss_trace *trace, uint32_t row, struct kernel_tally *tally)
{
	const struct ss_kernel_args *args = kernel_args_of(trace, row);
	int64_t dur_ns = trace->slices.dur_ns[row];
	double away, occupancy;

	if (!tally->calls || dur_ns < tally->min_ns)
		tally->min_ns = dur_ns;
	if (!tally->calls || dur_ns > tally->max_ns) {
		tally->max_ns = dur_ns;
		tally->longest = row;
	}
	tally->calls++;
	ss_ns_add(&tally->total_ns, dur_ns);
	away = (double)dur_ns - tally->mean;
	tally->mean += away / (double)tally->calls;
	tally->squares += away * ((double)dur_ns - tally->mean);
	if (!args)
		return;
	occupancy = ss_kernel_occupancy(args);
	if (occupancy == occupancy) {
		tally->occupied += occupancy * (double)dur_ns;
		ss_ns_add(&tally->occupied_ns, dur_ns);
	}
	if (args->blocks_per_sm == args->blocks_per_sm) {
		tally->blocks += args->blocks_per_sm * (double)dur_ns;
		ss_ns_add(&tally->blocks_ns, dur_ns);
	}
}

/* The name of the operator that launched the row, + 1. */
static uint32_t kernel_launcher_name(const struct kernel_counting *kernels, uint32_t row)
{
	const struct ss_slices *slices = &kernels->trace->slices;
	uint32_t launch = slices->link[row], op;

	if (launch == SS_NO_ROW || launch >= kernels->ops->row_count)
		return 0;
	op = kernels->ops->owner[launch];
	return op == SS_NO_ROW ? 0 : slices->name[op] + 1;
}

/* The call that launched the row, or SS_NO_ROW. */
static uint32_t kernel_launch_row(const struct kernel_counting *kernels, uint32_t row)
{
	uint32_t launch = kernels->trace->slices.link[row];

	return launch < kernels->places->row_count ? launch : SS_NO_ROW;
}

/* What makes a row, by group; fields that the group leaves out stay 0. */
static void kernel_fill_key(const struct kernel_counting *kernels, uint32_t row,
			    struct kernel_key *key)
{
	const struct ss_trace *trace = kernels->trace;
	const struct ss_kernel_args *args;

	memset(key, 0, sizeof(*key));
	key->name = trace->slices.name[row];
	switch (kernels->group) {
	case BY_KERNEL:
		break;
	case BY_CATEGORY:
		key->name = (uint32_t)kernels->names[key->name].category;
		break;
	case BY_STREAM:
		key->other = trace->slices.track[row];
		break;
	case BY_LAUNCH:
		args = kernel_args_of(trace, row);
		if (args) {
			memcpy(key->grid, args->grid, sizeof(key->grid));
			memcpy(key->block, args->block, sizeof(key->block));
			key->registers = args->registers;
			key->shared_bytes = args->shared_bytes;
		}
		key->other = kernel_launcher_name(kernels, row);
		break;
	case BY_OP:
		key->other = kernel_launcher_name(kernels, row);
		break;
	case BY_SOURCE:
		key->name = kernel_launch_row(kernels, row);
		if (key->name != SS_NO_ROW)
			key->name = kernels->places->line[key->name];
		else
			key->name = 0;
		break;
	}
}

static bool kernels_count(struct kernel_counting *kernels)
{
	const struct ss_trace *trace = kernels->trace;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t known = kernels->keys.count, id;
		struct kernel_key key;

		if (!ss_kind_is_kernel(trace->slices.kind[row]))
			continue;
		kernel_fill_key(kernels, row, &key);
		id = ss_records_add(&kernels->keys, &key);
		if (id == SS_NO_ID || !SS_GROW(kernels->out->arena->memory, kernels->tallies,
					       kernels->tally_capacity, id))
			return false;
		if (id == known)
			kernels->tallies[id] = (struct kernel_tally){ .key = key };
		kernel_count_row(trace, row, &kernels->tallies[id]);
	}
	return true;
}

/* The most time first, then in order of first appearance. */
SS_COMPARATOR(kernel_compare_total, struct kernel_tally,
	      SS_DESCENDING(total_ns) SS_ASCENDING(key.name) SS_ASCENDING(key.other)
		      SS_ASCENDING(longest))

/* The square root by Newton's method: the same digits with every math library. */
static double square_root(double square)
{
	double guess = square > 1 ? square : 1;

	if (square <= 0)
		return 0;
	for (int i = 0; i < 200; i++) {
		double next = (guess + square / guess) / 2;

		if (next >= guess)
			break;
		guess = next;
	}
	return guess;
}

static const char *kernel_size_text(struct ss_table *out, const int32_t *size)
{
	if (!size || size[0] < 0 || size[1] < 0 || size[2] < 0)
		return NULL;
	return ss_table_print(out, "%dx%dx%d", size[0], size[1], size[2]);
}

static void kernels_add_launch(const struct kernel_counting *kernels,
			       const struct kernel_tally *tally)
{
	const struct ss_kernel_args *args = kernel_args_of(kernels->trace, tally->longest);
	struct ss_table *out = kernels->out;

	if (kernels->group == BY_CATEGORY || kernels->group == BY_SOURCE)
		args = NULL;
	ss_row_text(out, kernel_size_text(out, args ? args->grid : NULL));
	ss_row_text(out, kernel_size_text(out, args ? args->block : NULL));
	ss_row_int_known(out, args ? args->registers : -1);
	ss_row_int_known(out, args ? args->shared_bytes : -1);
}

/* In group launch, the name includes the sizes, as in CUDA: k<<<grid, block>>>. */
static const char *kernels_row_name(const struct kernel_counting *kernels,
				    const struct kernel_tally *tally)
{
	const struct ss_kernel_args *args = kernel_args_of(kernels->trace, tally->longest);
	const char *grid, *block, *name;

	if (kernels->group == BY_SOURCE)
		return NULL;
	if (kernels->group == BY_CATEGORY)
		return ss_kernel_category_name((enum ss_kernel_category)tally->key.name);
	name = kernels->names[tally->key.name].text;
	if (kernels->group != BY_LAUNCH || !args)
		return name;
	grid = kernel_size_text(kernels->out, args->grid);
	block = kernel_size_text(kernels->out, args->block);
	return grid && block ? ss_table_print(kernels->out, "%s<<<%s, %s>>>", name, grid, block)
			     : name;
}

static void kernels_add_subject(const struct kernel_counting *kernels,
				const struct kernel_tally *tally)
{
	const struct ss_trace *trace = kernels->trace;
	struct ss_table *out = kernels->out;
	uint32_t other = tally->key.other;
	bool by_op = kernels->group == BY_OP || kernels->group == BY_LAUNCH;

	ss_row_text(out, kernels_row_name(kernels, tally));
	ss_row_text(out, by_op && other ? ss_strings_text(&trace->names, other - 1) : NULL);
	if (kernels->group == BY_STREAM) {
		ss_row_int(out, trace->tracks[other].pid);
		ss_row_int(out, trace->tracks[other].tid);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_text(out, kernels->group == BY_SOURCE
				 ? ss_places_line(kernels->places,
						  kernel_launch_row(kernels, tally->longest))
				 : NULL);
}

/* The columns that follow from the name; a category has no name. */
static void kernels_add_name(const struct kernel_counting *kernels,
			     const struct kernel_tally *tally)
{
	const struct ss_trace *trace = kernels->trace;
	struct ss_table *out = kernels->out;
	const struct ss_kernel_name *facts;

	if (kernels->group == BY_SOURCE) {
		ss_row_nulls(out, 4);
		return;
	}
	if (kernels->group == BY_CATEGORY) {
		ss_row_null(out);
		ss_row_null(out);
		ss_row_text(out, kernels_row_name(kernels, tally));
		ss_row_text(out, tally->key.name == SS_KERNEL_COMMUNICATION ? "communication"
									    : "compute");
		return;
	}
	facts = &kernels->names[tally->key.name];
	ss_row_text(out, trace->name_flags[tally->key.name] & SS_NAME_TENSOR_CORE ? "yes" : "no");
	ss_row_text(out, ss_strings_text(&trace->names, tally->key.name));
	ss_row_text(out, ss_kernel_category_name(facts->category));
	ss_row_text(out, facts->is_comm ? "communication" : "compute");
}

static void kernels_add_row(const struct kernel_counting *kernels, const struct kernel_tally *tally,
			    int64_t all_ns)
{
	double mean = (double)tally->total_ns / (double)tally->calls;
	double variance = tally->squares / (double)tally->calls;
	struct ss_table *out = kernels->out;

	ss_row_begin(out);
	kernels_add_subject(kernels, tally);
	ss_row_int(out, tally->calls);
	ss_row_int(out, tally->total_ns);
	ss_row_share(out, (double)tally->total_ns, (double)all_ns);
	ss_row_int(out, (int64_t)(mean + 0.5));
	ss_row_int(out, tally->max_ns);
	ss_row_share(out, tally->occupied / 100, (double)tally->occupied_ns);
	kernels_add_name(kernels, tally);
	ss_row_int(out, tally->min_ns);
	ss_row_int(out, (int64_t)(square_root(variance) + 0.5));
	ss_row_rate(out, tally->blocks, (double)tally->blocks_ns);
	kernels_add_launch(kernels, tally);
	ss_row_end(out);
}

static bool kernels_fill(struct kernel_counting *kernels)
{
	int64_t all_ns = 0;

	kernels->names = ss_kernel_names(kernels->trace, kernels->out->arena);
	if (!kernels->names ||
	    !ss_records_init(&kernels->keys, kernels->out->arena->memory,
			     sizeof(struct kernel_key)) ||
	    !kernels_count(kernels))
		return false;
	for (uint32_t i = 0; i < kernels->keys.count; i++)
		ss_ns_add(&all_ns, kernels->tallies[i].total_ns);
	SS_SORT(kernels->tallies, kernels->keys.count, kernel_compare_total);
	for (uint32_t i = 0; i < kernels->keys.count; i++)
		kernels_add_row(kernels, &kernels->tallies[i], all_ns);
	return true;
}

static enum ss_status kernels_run(const struct ss_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	struct kernel_counting kernels = { .trace = subject->trace,
					   .out = out,
					   .group = (enum kernels_group)subject->group };
	struct ss_memory *memory = out->arena->memory;
	bool whole;

	if (kernels.group == BY_OP || kernels.group == BY_LAUNCH)
		SS_TRY(ss_facts_ops(subject->facts, &kernels.ops, err));
	if (kernels.group == BY_SOURCE)
		SS_TRY(ss_facts_places(subject->facts, &kernels.places, err));
	whole = kernels_fill(&kernels);
	if (kernels.places && !kernels.places->has_lines && out->row_count)
		ss_note_missing(out, SS_MISSING_LINES);
	SS_FREE(memory, kernels.tallies, kernels.tally_capacity);
	ss_records_release(&kernels.keys);
	return whole ? SS_OK : ss_fail_memory(err, "the kernels");
}

const struct ss_view ss_view_kernels = {
	.name = "kernels",
	.summary = "Kernels by name: calls, times, occupancy, tensor cores",
	.empty = "No kernels: record them with ProfilerActivity.CUDA.",
	SS_TABLE_COLUMNS(columns),
	.sums = "calls total_ns",
	.wide = "tensor_cores blocks_per_sm",
	.basis = SS_BASIS_FILE,
	.groups = { "kernel", "op", "category", "stream", "launch", "source-line" },
	.order = { "total_ns" },
	.of_device = true,
	.reads = SS_COLUMNS_KIND | SS_COLUMNS_DUR | SS_COLUMNS_NAME | SS_COLUMNS_ARGS |
		 SS_COLUMNS_TRACK,
	.reads_all = 1u << BY_OP | 1u << BY_LAUNCH | 1u << BY_SOURCE,
	.kept = { [BY_KERNEL] = 100 },
	.run = kernels_run,
};
