/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimizer_on_cpu.c - the rule optimizer-not-fused in jobs without a device.
 *
 * On the CPU each operator of each tensor costs its call and a pass over memory. fused=True is
 * one operator for all tensors. foreach=True only moves the loop over tensors into the operator:
 * it takes as long as the loop in Python.
 */
#include <string.h>

#include "analyze/host/op_category.h"
#include "analyze/time/moment.h"
#include "diagnose/evidence/host_rows.h"
#include "diagnose/rules/optimizer_not_fused.h"

/* Adam runs 10 to 14 operators per tensor: with fewer than ten tensors there is no loop to see. */
#define OPERATORS_MIN 100

/*
 * Share of the loop's time that remains with fused=True, measured on one core with torch 2.14 and
 * 8 to 150 tensors of 0.2 to 5 million values: 0.15 to 0.30 for Adam and AdamW, 0.44 to 0.70 for
 * SGD with momentum. foreach=True takes 0.6 to 1.4 times as long: no fix. Adagrad was not measured
 * and has the figures of SGD; the other optimizers have no fused version.
 */
static const struct cpu_optimizer {
	const char *name, *fix;
	double left, left_most;
} optimizers[] = {
	{ "#AdamW.", "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)", 0.25,
	  0.4 },
	{ "#Adam.", "optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)", 0.25,
	  0.4 },
	{ "#SGD.", "optimizer = torch.optim.SGD(model.parameters(), lr=lr, fused=True)", 0.6, 0.8 },
	{ "#Adagrad.", "optimizer = torch.optim.Adagrad(model.parameters(), lr=lr, fused=True)",
	  0.6, 0.8 },
};

/*
 * What the profiler adds to an operator or a frame (a loop over 41 tensors with 1,271 operators
 * takes 2.1 ms without it, 3.7 ms with it). A run without the profiler does not save this part. It
 * is taken from the fastest step, since a busy host makes all of it longer; at most half.
 */
#define RECORDING_NS 1250.0

struct cpu_optimizer_ranges {
	struct ss_look *context;
	const struct cpu_optimizer *optimizer;
	uint8_t *computes; /* per name: an elementwise operator */
	uint32_t first;    /* row of the first range */
	int64_t count;     /* of operators */
	int64_t ns;
	double recording; /* the profiler's share of it */
	bool is_fused;    /* or it communicates with other ranks: more than a loop */
};

static const struct cpu_optimizer *cpu_optimizer_of_name(const char *name)
{
	for (size_t i = 0; i < SS_COUNT(optimizers); i++)
		if (strstr(name, optimizers[i].name))
			return &optimizers[i];
	return NULL;
}

static bool cpu_optimizer_is_range(const struct cpu_optimizer_ranges *ranges, uint32_t row)
{
	const struct ss_trace *trace = ranges->context->trace;

	return (ss_slice_flags(trace, row) & SS_NAME_OPTIMIZER_STEP) &&
	       trace->slices.track[row] == ranges->context->graph->main &&
	       ss_step_at(trace, trace->slices.start_ns[row]) != SS_NO_ROW;
}

static void cpu_optimizer_read_names(struct cpu_optimizer_ranges *ranges)
{
	const struct ss_strings *names = &ranges->context->trace->names;

	for (uint32_t i = 0; i < names->count; i++) {
		const char *name = ss_strings_text(names, i);

		ranges->computes[i] = strncmp(name, "aten::_f", 8) != 0 &&
				      ss_op_category(name) == SS_OP_ELEMENTWISE;
	}
}

/* Counts the operators of an optimizer step, and the profiler's share of its time. */
static void cpu_optimizer_read_range(struct cpu_optimizer_ranges *ranges, uint32_t range,
				     uint32_t end)
{
	const struct ss_trace *trace = ranges->context->trace;
	double part = RECORDING_NS * (end - range) / ((double)trace->slices.dur_ns[range] + 1);

	if (part > ranges->recording)
		ranges->recording = part < 0.5 ? part : 0.5;
	for (uint32_t row = range + 1; row < end; row++) {
		const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

		if (trace->slices.kind[row] != SS_KIND_OP)
			continue;
		ranges->count += ranges->computes[trace->slices.name[row]];
		ranges->is_fused |= strncmp(name, "aten::_fused_", 13) == 0 ||
				    (ss_slice_flags(trace, row) & SS_NAME_COMM_OP);
	}
	ranges->ns = ss_ns_sum(ranges->ns, trace->slices.dur_ns[range]);
}

/* Nested ranges count as one. */
static void cpu_optimizer_read_ranges(struct cpu_optimizer_ranges *ranges)
{
	const struct ss_trace *trace = ranges->context->trace;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t end;

		if (!cpu_optimizer_is_range(ranges, row))
			continue;
		end = ss_cpu_row_end(trace, row);
		if (ranges->first == SS_NO_ROW) {
			ranges->first = row;
			ranges->optimizer = cpu_optimizer_of_name(
				ss_strings_text(&trace->names, trace->slices.name[row]));
		}
		cpu_optimizer_read_range(ranges, row, end);
		row = end > row ? end - 1 : row;
	}
}

static int64_t cpu_optimizer_claim_range(struct cpu_optimizer_ranges *ranges, uint32_t row)
{
	const struct ss_slices *slices = &ranges->context->trace->slices;
	double ns = (double)slices->dur_ns[row], loop_ns = ns * (1 - ranges->recording);
	struct ss_stretch stretch = { .track = slices->track[row],
				      .from_ns = slices->start_ns[row],
				      .to_ns = ss_slice_end(slices, row) };

	stretch.keep_ns = (int64_t)(ns - loop_ns * (1 - ranges->optimizer->left));
	stretch.low_keep_ns = (int64_t)(ns - loop_ns * (1 - ranges->optimizer->left_most));
	return ss_look_claim_time(ranges->context, stretch);
}

static int64_t cpu_optimizer_claim(struct cpu_optimizer_ranges *ranges)
{
	int64_t gone_ns = 0;

	for (uint32_t row = ranges->first; row < ranges->context->trace->device_from; row++) {
		uint32_t end;

		if (!cpu_optimizer_is_range(ranges, row))
			continue;
		gone_ns = ss_ns_sum(gone_ns, cpu_optimizer_claim_range(ranges, row));
		end = ss_cpu_row_end(ranges->context->trace, row);
		row = end > row ? end - 1 : row;
	}
	return gone_ns;
}

static void cpu_optimizer_report(struct cpu_optimizer_ranges *ranges)
{
	struct ss_look *context = ranges->context;
	struct ss_fact all = { ranges->ns, (double)ranges->count, ranges->first };

	ss_look_evidence(
		context, all,
		"%s runs {count} elementwise operator{?|s} per step, one per tensor: {time}",
		ss_strings_text(&context->trace->names,
				context->trace->slices.name[ranges->first]));
	ss_look_fix(context, ranges->optimizer->fix);
	ss_look_figure(context, SS_OPTIMIZER_ON_CPU, 1);
	ss_look_confidence(context, SS_CONFIDENCE_MEDIUM,
			   "the fused speed was measured on other models");
}

enum ss_status ss_rule_optimizer_on_cpu(struct ss_look *context, struct ss_error *err)
{
	struct cpu_optimizer_ranges ranges = { .context = context, .first = SS_NO_ROW };
	enum ss_status status = SS_OK;
	struct ss_arena scratch;

	if (context->graph->main == SS_NO_ROW)
		return SS_OK;
	ss_arena_init(&scratch, context->memory);
	ranges.computes = SS_ARENA_NEW(&scratch, uint8_t, (size_t)context->trace->names.count + 1);
	if (ranges.computes) {
		cpu_optimizer_read_names(&ranges);
		cpu_optimizer_read_ranges(&ranges);
		if (ranges.optimizer && !ranges.is_fused &&
		    ranges.count >= (int64_t)OPERATORS_MIN * context->steps->count &&
		    cpu_optimizer_claim(&ranges))
			cpu_optimizer_report(&ranges);
	} else {
		status = ss_fail_memory(err, "the optimizer's operators");
	}
	ss_arena_release(&scratch);
	return status;
}
