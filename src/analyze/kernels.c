/*
 * kernels.c - view: kernels by name: calls, times, and how they fill the device.
 *
 * Over the whole file, communication included. Occupancy and blocks per SM are
 * weighted by time; the launch configuration is that of the longest call.
 */
#include <stdlib.h>

#include "analyze/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "the kernel", SS_COLUMN_WRAP },
	{ "calls", SS_COLUMN_COUNT, "how often it ran", 0 },
	{ "total_ns", SS_COLUMN_NS, "sum of its durations", 0 },
	{ "share_percent", SS_COLUMN_PERCENT, "its total, of that of all kernels", 0 },
	{ "mean_ns", SS_COLUMN_NS, "mean duration", 0 },
	{ "min_ns", SS_COLUMN_NS, "shortest", 0 },
	{ "max_ns", SS_COLUMN_NS, "longest", 0 },
	{ "std_ns", SS_COLUMN_NS, "standard deviation of its durations", SS_COLUMN_DETAIL },
	{ "occupancy_percent", SS_COLUMN_PERCENT,
	  "of the warps that fit, weighted by time (estimate)", 0 },
	{ "blocks_per_sm", SS_COLUMN_NUMBER, "blocks for each SM, weighted by time", 0 },
	{ "tensor_cores", SS_COLUMN_TEXT, "yes: it uses tensor or matrix cores, by its name", 0 },
	{ "kind", SS_COLUMN_TEXT, "compute or communication", 0 },
	{ "grid", SS_COLUMN_TEXT, "blocks of its longest call", SS_COLUMN_DETAIL },
	{ "block", SS_COLUMN_TEXT, "threads of a block of its longest call", SS_COLUMN_DETAIL },
	{ "registers", SS_COLUMN_COUNT, "per thread, of its longest call", SS_COLUMN_DETAIL },
	{ "shared_bytes", SS_COLUMN_BYTES, "shared memory of a block, of its longest call",
	  SS_COLUMN_DETAIL },
};

struct tally {
	uint32_t name, longest; /* row */
	int64_t calls, total_ns, min_ns, max_ns;
	double mean, squares; /* Welford's: sums of squares lose the digits of long kernels */
	double occupied, blocks;
	int64_t occupied_ns, blocks_ns; /* time of the calls that recorded it */
	bool comm;
};

static void count_row(const struct ss_trace *trace, uint32_t row, struct tally *tally)
{
	const struct ss_slices *slices = &trace->slices;
	int64_t dur_ns = slices->dur_ns[row];
	const struct ss_kernel_args *args;
	double away;

	if (!tally->calls || dur_ns < tally->min_ns)
		tally->min_ns = dur_ns;
	if (!tally->calls || dur_ns > tally->max_ns) {
		tally->max_ns = dur_ns;
		tally->longest = row;
	}
	tally->name = slices->name[row];
	tally->calls++;
	tally->total_ns += dur_ns;
	away = (double)dur_ns - tally->mean;
	tally->mean += away / (double)tally->calls;
	tally->squares += away * ((double)dur_ns - tally->mean);
	tally->comm |= slices->kind[row] == SS_KIND_COMM_KERNEL;
	if (slices->args[row] == SS_NO_ARGS)
		return;
	args = ss_records_at(&trace->kernel_args, slices->args[row]);
	if (args->occupancy_percent == args->occupancy_percent) {
		tally->occupied += args->occupancy_percent * (double)dur_ns;
		tally->occupied_ns += dur_ns;
	}
	if (args->blocks_per_sm == args->blocks_per_sm) {
		tally->blocks += args->blocks_per_sm * (double)dur_ns;
		tally->blocks_ns += dur_ns;
	}
}

static int compare(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* The square root by Newton's steps: the same digits with every math library. */
static double root(double square)
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

static void add_size(struct ss_table *out, const int32_t size[3])
{
	if (size[0] < 0 || size[1] < 0 || size[2] < 0)
		ss_row_null(out);
	else
		ss_row_text(out, ss_table_print(out, "%dx%dx%d", size[0], size[1], size[2]));
}

static void add_launch(const struct ss_trace *trace, struct ss_table *out, uint32_t row)
{
	static const int32_t unknown[3] = { -1, -1, -1 };
	const struct ss_kernel_args *args = NULL;

	if (trace->slices.args[row] != SS_NO_ARGS)
		args = ss_records_at(&trace->kernel_args, trace->slices.args[row]);
	add_size(out, args ? args->grid : unknown);
	add_size(out, args ? args->block : unknown);
	ss_row_int_known(out, args ? args->registers : -1);
	ss_row_int_known(out, args ? args->shared_bytes : -1);
}

static void add(const struct ss_trace *trace, struct ss_table *out, const struct tally *tally,
		int64_t all_ns)
{
	double mean = (double)tally->total_ns / (double)tally->calls;
	double variance = tally->squares / (double)tally->calls;
	bool tensor = trace->name_flags[tally->name] & SS_NAME_TENSOR_CORE;

	ss_row_begin(out);
	ss_row_text(out, ss_strings_text(&trace->names, tally->name));
	ss_row_int(out, tally->calls);
	ss_row_int(out, tally->total_ns);
	ss_row_share(out, (double)tally->total_ns, (double)all_ns);
	ss_row_int(out, (int64_t)(mean + 0.5));
	ss_row_int(out, tally->min_ns);
	ss_row_int(out, tally->max_ns);
	ss_row_int(out, (int64_t)(root(variance) + 0.5));
	ss_row_share(out, tally->occupied / 100, (double)tally->occupied_ns);
	ss_row_rate(out, tally->blocks, (double)tally->blocks_ns);
	ss_row_text(out, tensor ? "yes" : "no");
	ss_row_text(out, tally->comm ? "communication" : "compute");
	add_launch(trace, out, tally->longest);
	ss_row_end(out);
}

static enum ss_status kernels_run(const struct ss_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct tally *tallies = SS_ARENA_NEW(out->arena, struct tally,
					     (size_t)trace->names.count + 1);
	int64_t all_ns = 0;
	uint32_t used = 0;

	if (!tallies)
		return ss_fail_memory(err, "the kernels");
	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (ss_kind_is_kernel(trace->slices.kind[row]))
			count_row(trace, row, &tallies[trace->slices.name[row]]);
	for (uint32_t i = 0; i < trace->names.count; i++) {
		all_ns += tallies[i].total_ns;
		if (tallies[i].calls)
			tallies[used++] = tallies[i];
	}
	qsort(tallies, used, sizeof(*tallies), compare);
	for (uint32_t i = 0; i < used; i++)
		add(trace, out, &tallies[i], all_ns);
	return SS_OK;
}

const struct ss_view ss_view_kernels = {
	.name = "kernels",
	.summary = "Kernels by name: calls, times, and how they fill the device",
	.empty = "No kernels: ProfilerActivity.CUDA records them.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run = kernels_run,
};
