/*
 * operators.c - view: operators by name: calls, time on the host and on the
 * device, their own and with what they call.
 */
#include <stdlib.h>

#include "analyze/ops.h"
#include "analyze/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "the operator", 0 },
	{ "calls", SS_COLUMN_COUNT, "how often it was called", 0 },
	{ "host_self_ns", SS_COLUMN_NS, "time on the CPU without operators and calls inside", 0 },
	{ "host_total_ns", SS_COLUMN_NS, "time on the CPU, sum over calls", SS_COLUMN_DETAIL },
	{ "device_self_ns", SS_COLUMN_NS, "kernels, copies and memsets that it launched itself",
	  0 },
	{ "device_total_ns", SS_COLUMN_NS, "and those that operators inside of it launched",
	  SS_COLUMN_DETAIL },
	{ "device_percent", SS_COLUMN_PERCENT, "its device_self_ns, of that of all operators", 0 },
	{ "tensor_percent", SS_COLUMN_PERCENT,
	  "of its device_self_ns, in kernels that use tensor or matrix cores", 0 },
};

struct tally {
	uint32_t name;
	int64_t calls, host_self_ns, host_total_ns, device_self_ns, device_total_ns, tensor_ns;
};

static void count(const struct ss_ops *ops, struct tally *tallies)
{
	const struct ss_slices *slices = &ops->trace->slices;

	for (uint32_t row = 0; row < ops->row_count; row++) {
		struct tally *tally = &tallies[slices->name[row]];

		if (!ss_ops_counts(ops, row))
			continue;
		tally->name = slices->name[row];
		tally->calls++;
		tally->host_self_ns += ops->self_ns[row];
		tally->host_total_ns += slices->dur_ns[row];
		tally->device_self_ns += ops->device_ns[row];
		tally->device_total_ns += ops->total_ns[row];
		tally->tensor_ns += ops->tensor_ns[row];
	}
}

/* By device time, then by host time; equal ones in the order of their first appearance. */
static int compare(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->device_self_ns != y->device_self_ns)
		return x->device_self_ns > y->device_self_ns ? -1 : 1;
	if (x->host_self_ns != y->host_self_ns)
		return x->host_self_ns > y->host_self_ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void add(const struct ss_trace *trace, struct ss_table *out, const struct tally *tally,
		int64_t device_ns)
{
	ss_row_begin(out);
	ss_row_text(out, ss_strings_text(&trace->names, tally->name));
	ss_row_int(out, tally->calls);
	ss_row_int(out, tally->host_self_ns);
	ss_row_int(out, tally->host_total_ns);
	ss_row_int(out, tally->device_self_ns);
	ss_row_int(out, tally->device_total_ns);
	ss_row_share(out, (double)tally->device_self_ns, (double)device_ns);
	ss_row_share(out, (double)tally->tensor_ns, (double)tally->device_self_ns);
	ss_row_end(out);
}

static enum ss_status operators_run(const struct ss_subject *subject, struct ss_table *out,
				    struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct tally *tallies = SS_ARENA_NEW(out->arena, struct tally,
					     (size_t)trace->names.count + 1);
	int64_t device_ns = 0;
	uint32_t used = 0;
	struct ss_ops ops;

	if (!tallies)
		return ss_fail_memory(err, "the operators");
	SS_TRY(ss_ops_init(&ops, trace, out->arena->memory, err));
	count(&ops, tallies);
	ss_ops_release(&ops);
	for (uint32_t i = 0; i < trace->names.count; i++) {
		device_ns += tallies[i].device_self_ns;
		if (tallies[i].calls)
			tallies[used++] = tallies[i];
	}
	qsort(tallies, used, sizeof(*tallies), compare);
	for (uint32_t i = 0; i < used; i++)
		add(trace, out, &tallies[i], device_ns);
	return SS_OK;
}

const struct ss_view ss_view_operators = {
	.name = "operators",
	.summary = "Operators by name: calls, time on the host and on the device",
	.empty = "No operators: the file holds no CPU ops (ProfilerActivity.CPU records them).",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run = operators_run,
};
