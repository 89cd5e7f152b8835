/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utilization.c - view: how well each device was used, from the first step to the last.
 *
 * Utilization says that a kernel ran, not that it filled the device: SM efficiency and
 * occupancy are Kineto's estimates of that, and tensor-core time is the share of the
 * kernel time spent in matrix units.
 */
#include <string.h>

#include "analyze/facts.h"
#include "analyze/host/op_category.h"
#include "analyze/host/ops.h"
#include "analyze/time/roles.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_FILLED },
	{ "span_ns", SS_COLUMN_NS, "from the start of the first step to the end of the last",
	  SS_COLUMN_FILLED },
	{ "gpu_percent", SS_COLUMN_PERCENT, "share of the span in which a kernel ran", 0 },
	{ "sm_percent", SS_COLUMN_PERCENT,
	  "share of the span in which SMs had a block to run (estimate); not recorded on ROCm", 0 },
	{ "occupancy_percent", SS_COLUMN_PERCENT,
	  "share of the warps that fit on an SM, mean over kernels weighted by time (estimate)",
	  0 },
	{ "tensor_percent", SS_COLUMN_PERCENT,
	  "share of the kernel time in kernels that use tensor or matrix cores", 0 },
	{ "tensor_eligible_percent", SS_COLUMN_PERCENT,
	  "share of the kernel time in kernels whose operators could use them, from their names",
	  SS_COLUMN_DETAIL },
	{ "busy_ns", SS_COLUMN_NS, "a kernel, copy or memset ran", SS_COLUMN_FILLED },
	{ "idle_ns", SS_COLUMN_NS, "nothing ran", SS_COLUMN_FILLED },
	{ "kernel_ns", SS_COLUMN_NS, "a kernel ran, including communication",
	  SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "compute_ns", SS_COLUMN_NS, "a compute kernel ran", SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "exposed_comm_ns", SS_COLUMN_NS,
	  "exposed communication: no compute kernel ran at the same time",
	  SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "exposed_copy_ns", SS_COLUMN_NS,
	  "exposed copies and memsets: no kernel ran at the same time",
	  SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
};

/* More kernels at once than any device runs. */
#define RUNNING_MAX 4096u

/* Integrates min(1, blocks per SM of the running kernels). */
struct sm_sweep {
	int64_t now_ns, from_ns, to_ns;
	struct {
		int64_t end_ns;
		double blocks;
	} running[RUNNING_MAX];
	uint32_t count;
	double filled_ns;
};

/* Integrates up to the moment, from one end of a running kernel to the next. */
static void sm_sweep_advance(struct sm_sweep *sweep, int64_t to_ns)
{
	while (sweep->count && sweep->now_ns < to_ns) {
		int64_t next_ns = to_ns;
		double blocks = 0;
		uint32_t left = 0;

		for (uint32_t i = 0; i < sweep->count; i++) {
			blocks += sweep->running[i].blocks;
			if (sweep->running[i].end_ns < next_ns)
				next_ns = sweep->running[i].end_ns;
		}
		sweep->filled_ns += (double)(next_ns - sweep->now_ns) * (blocks < 1 ? blocks : 1);
		sweep->now_ns = next_ns;
		for (uint32_t i = 0; i < sweep->count; i++)
			if (sweep->running[i].end_ns > next_ns)
				sweep->running[left++] = sweep->running[i];
		sweep->count = left;
	}
	sweep->now_ns = to_ns;
}

static void sm_sweep_start_kernel(struct sm_sweep *sweep, int64_t start_ns, int64_t end_ns,
				  double blocks)
{
	sm_sweep_advance(sweep, start_ns);
	if (sweep->count == RUNNING_MAX)
		return;
	sweep->running[sweep->count].end_ns = end_ns;
	sweep->running[sweep->count++].blocks = blocks;
}

/* Which operators can use tensor cores; looked up once per name. */
enum { NOT_ASKED, IS_ELIGIBLE, IS_NOT };

struct tensor_eligible {
	const struct ss_trace *trace;
	const struct ss_ops *ops;
	uint8_t *names;
};

/* Used for one device after the other: the sweep is large, and files can have many devices. */
struct device_figures {
	struct sm_sweep sweep;
	struct tensor_eligible *eligible;
	int64_t eligible_ns;
	bool has_ops;    /* the operators of some kernels are known */
	double occupied; /* sum of occupancy * time */
	int64_t kernel_sum_ns, tensor_sum_ns, occupied_ns;
	int64_t unknown_ns; /* part of occupied_ns with a recorded 0, which cannot be right */
	bool has_blocks;
};

/* Kernels have to request more shared memory per block; Kineto's formula ignores that. */
#define SHARED_BYTES 49152

/* Worth a note from here on: in real files it is nothing, or a quarter and more. */
#define UNKNOWN_PERCENT 5

static void utilization_note_occupancy(const struct device_figures *figures, struct ss_table *out)
{
	double percent = 100.0 * (double)figures->unknown_ns / (double)figures->occupied_ns;

	/* the same words for all devices and ranks, so that the note appears once */
	if (figures->unknown_ns && percent >= UNKNOWN_PERCENT)
		ss_table_note(out, "Occupancy is higher than shown: kernels with more than 48 KiB "
				   "of shared memory are recorded with 0 (see the kernels view).");
}

static bool is_tensor_eligible(struct tensor_eligible *eligible, uint32_t op)
{
	uint32_t name = eligible->trace->slices.name[op];
	uint8_t *known = &eligible->names[name];

	if (*known == NOT_ASKED) {
		const char *text = ss_strings_text(&eligible->trace->names, name);

		*known = strcmp(ss_op_tensor_eligible(text, ss_op_category(text)), "yes") == 0
				 ? IS_ELIGIBLE
				 : IS_NOT;
	}
	return *known == IS_ELIGIBLE;
}

/* A kernel that uses tensor cores is eligible, whatever its operator. */
static void figures_add_tensor(struct device_figures *figures, const struct ss_trace *trace,
			       uint32_t row, int64_t dur_ns)
{
	bool uses = ss_slice_flags(trace, row) & SS_NAME_TENSOR_CORE;
	uint32_t op = ss_ops_launcher(figures->eligible->ops, row);

	figures->has_ops |= op != SS_NO_ROW;
	if (uses)
		ss_ns_add(&figures->tensor_sum_ns, dur_ns);
	if (uses || (op != SS_NO_ROW && is_tensor_eligible(figures->eligible, op)))
		ss_ns_add(&figures->eligible_ns, dur_ns);
}

static void figures_reset(struct device_figures *figures, int64_t from_ns, int64_t to_ns)
{
	struct sm_sweep *sweep = &figures->sweep;

	sweep->now_ns = sweep->from_ns = from_ns;
	sweep->to_ns = to_ns;
	sweep->count = 0;
	sweep->filled_ns = figures->occupied = 0;
	figures->kernel_sum_ns = figures->tensor_sum_ns = figures->eligible_ns = 0;
	figures->occupied_ns = figures->unknown_ns = 0;
	figures->has_blocks = figures->has_ops = false;
}

/* Only the part of a kernel that lies in the span of the steps counts. */
static void figures_add_kernel(struct device_figures *figures, const struct ss_trace *trace,
			       uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	struct sm_sweep *sweep = &figures->sweep;
	int64_t start_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row);
	const struct ss_kernel_args *args;

	if (start_ns < sweep->from_ns)
		start_ns = sweep->from_ns;
	if (end_ns > sweep->to_ns)
		end_ns = sweep->to_ns;
	if (end_ns <= start_ns)
		return;
	ss_ns_add(&figures->kernel_sum_ns, end_ns - start_ns);
	figures_add_tensor(figures, trace, row, end_ns - start_ns);
	if (slices->args[row] == SS_NO_ARGS)
		return;
	args = ss_records_at(&trace->kernel_args, slices->args[row]);
	if (args->blocks_per_sm >= 0) {
		figures->has_blocks = true;
		sm_sweep_start_kernel(sweep, start_ns, end_ns, args->blocks_per_sm);
	}
	if (args->occupancy_percent >= 0) {
		ss_ns_add(&figures->occupied_ns, end_ns - start_ns);
		figures->occupied += args->occupancy_percent * (double)(end_ns - start_ns);
		if (args->occupancy_percent == 0 && args->shared_bytes > SHARED_BYTES)
			ss_ns_add(&figures->unknown_ns, end_ns - start_ns);
	}
}

static void utilization_add_percent(struct ss_table *out, bool known, double part, int64_t whole)
{
	if (known && whole > 0)
		ss_row_number(out, 100.0 * part / (double)whole);
	else
		ss_row_null(out);
}

static enum ss_status utilization_add_device(const struct ss_trace *trace, int64_t device,
					     struct device_figures *figures, struct ss_table *out,
					     struct ss_error *err)
{
	int64_t from_ns = figures->sweep.from_ns, to_ns = figures->sweep.to_ns;
	int64_t span_ns = to_ns - from_ns, compute_ns, comm_ns, copy_ns;
	SS_DEVICE_COVER own = { 0 };
	struct ss_merge merge;

	if (!ss_device_cover_init(&own, trace, device, out->arena->memory) ||
	    !ss_merge_init(&merge, trace, device, out->arena))
		return ss_fail_memory(err, "the utilization of devices");
	for (uint32_t row = ss_merge_next(&merge); row != SS_NO_ROW; row = ss_merge_next(&merge))
		if (ss_kind_is_kernel(trace->slices.kind[row]))
			figures_add_kernel(figures, trace, row);
	sm_sweep_advance(&figures->sweep, to_ns);
	compute_ns = ss_cover_length_in(&own.compute, from_ns, to_ns);
	ss_device_cover_expose(&own);
	comm_ns = ss_cover_length_in(&own.comm, from_ns, to_ns);
	copy_ns = ss_cover_length_in(&own.copies, from_ns, to_ns);
	ss_row_begin(out);
	ss_row_int(out, device);
	ss_row_int(out, span_ns);
	utilization_add_percent(out, true, (double)(compute_ns + comm_ns), span_ns);
	utilization_add_percent(out, figures->has_blocks, figures->sweep.filled_ns, span_ns);
	utilization_add_percent(out, figures->occupied_ns > 0, figures->occupied / 100,
				figures->occupied_ns);
	utilization_add_percent(out, true, (double)figures->tensor_sum_ns, figures->kernel_sum_ns);
	utilization_add_percent(out, figures->has_ops, (double)figures->eligible_ns,
				figures->kernel_sum_ns);
	ss_row_int(out, compute_ns + comm_ns + copy_ns);
	ss_row_int(out, span_ns - compute_ns - comm_ns - copy_ns);
	ss_row_int(out, compute_ns + comm_ns);
	ss_row_int(out, compute_ns);
	ss_row_int(out, comm_ns);
	ss_row_int(out, copy_ns);
	ss_row_end(out);
	utilization_note_occupancy(figures, out);
	return own.comm.failed || own.copies.failed
		       ? ss_fail_memory(err, "the utilization of devices")
		       : SS_OK;
}

static enum ss_status utilization_run(const struct ss_subject *subject, struct ss_table *out,
				      struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct device_figures *figures = SS_ARENA_NEW(out->arena, struct device_figures, 1);
	int64_t from_ns = 0, to_ns = 0, device = INT64_MIN;
	struct tensor_eligible eligible = { .trace = trace };
	bool any = false;

	SS_TRY(ss_facts_ops(subject->facts, &eligible.ops, err));
	eligible.names = SS_ARENA_NEW(out->arena, uint8_t, (size_t)trace->names.count + 1);
	if (!figures || !eligible.names)
		return ss_fail_memory(err, "the utilization of devices");
	for (uint32_t i = 0; i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		if (step->dropped)
			continue;
		if (!any)
			from_ns = step->start_ns;
		to_ns = step->end_ns;
		any = true;
	}
	figures->eligible = &eligible;
	while (any && ss_device_next(trace, device, &device)) {
		figures_reset(figures, from_ns, to_ns);
		SS_TRY(utilization_add_device(trace, device, figures, out, err));
	}
	return SS_OK;
}

const struct ss_view ss_view_utilization = {
	.name = "utilization",
	.summary = "How well kernels fill each GPU: SM efficiency, occupancy",
	.empty = "No GPU work: the files have no kernels, copies or memsets (record them with "
		 "ProfilerActivity.CUDA or XPU).",
	SS_TABLE_COLUMNS(columns),
	.basis = SS_BASIS_STEPS,
	.by_moment = true,
	.of_device = true,
	.kept = { 32 },
	.run = utilization_run,
};
