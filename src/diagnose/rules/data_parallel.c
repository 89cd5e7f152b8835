/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_parallel.c - rule: nn.DataParallel drives several devices from one process.
 *
 * In every step it copies the model to all devices, splits the batch and gathers the results on
 * one of them, from threads that share one interpreter. The file does not show what one process
 * per device would take, so the rule claims no time.
 */
#include <string.h>

#include "analyze/time/roles.h"
#include "diagnose/rule.h"

/* Events of torch.nn.parallel: a range since PyTorch 1.13, autograd functions before. */
struct data_parallel_marks {
	uint32_t row; /* the first; SS_NO_ROW: none */
	bool has_range, scatters, gathers, broadcasts;
	int64_t count, ns;
};

static bool is_autograd_function(const char *name, const char *function)
{
	size_t length = strlen(function);

	return strncmp(name, function, length) == 0 &&
	       (!name[length] || strcmp(name + length, "Backward") == 0);
}

static bool is_data_parallel_forward(const char *name)
{
	return strcmp(name, "DataParallel.forward") == 0;
}

/* Most files have none of the names: then the rows need not be searched. */
static bool data_parallel_has_marks(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->names.count; i++) {
		const char *name = ss_strings_text(&trace->names, i);

		if (is_data_parallel_forward(name) || is_autograd_function(name, "Scatter"))
			return true;
	}
	return false;
}

/* Counts a row if its name is one of nn.DataParallel's. */
static void data_parallel_count_mark(struct data_parallel_marks *marks,
				     const struct ss_trace *trace, uint32_t row)
{
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);
	bool is_range = is_data_parallel_forward(name);
	bool scatters = is_autograd_function(name, "Scatter"),
	     gathers = is_autograd_function(name, "Gather");
	bool broadcasts = is_autograd_function(name, "Broadcast");

	if (!is_range && !scatters && !gathers && !broadcasts)
		return;
	marks->has_range |= is_range;
	marks->scatters |= scatters;
	marks->gathers |= gathers;
	marks->broadcasts |= broadcasts;
	if (marks->row == SS_NO_ROW)
		marks->row = row;
	if (!is_range) {
		marks->count++;
		marks->ns = ss_ns_sum(marks->ns, trace->slices.dur_ns[row]);
	}
}

static uint32_t data_parallel_count_devices(const struct ss_trace *trace)
{
	int64_t device = INT64_MIN;
	uint32_t devices = 0;

	while (ss_device_next(trace, device, &device))
		devices++;
	return devices;
}

static enum ss_status data_parallel_look(struct ss_rule_context *context, struct ss_error *err)
{
	const struct ss_trace *trace = context->trace;
	struct data_parallel_marks marks = { .row = SS_NO_ROW };
	struct ss_fact fact;
	uint32_t devices;

	(void)err;
	devices = data_parallel_count_devices(trace);
	if (devices < 2 || !data_parallel_has_marks(trace))
		return SS_OK;
	for (uint32_t row = 0; row < trace->device_from; row++)
		if (trace->slices.kind[row] == SS_KIND_OP ||
		    trace->slices.kind[row] == SS_KIND_ANNOTATION)
			data_parallel_count_mark(&marks, trace, row);
	devices = data_parallel_count_devices(trace);
	if (devices < 2 ||
	    (!marks.has_range && !(marks.scatters && marks.gathers && marks.broadcasts)))
		return SS_OK;
	fact = (struct ss_fact){ marks.ns, (double)marks.count, marks.row };
	ss_rule_add_evidence(
		context, fact,
		"nn.DataParallel runs %u GPUs from one process; splitting, copying and "
		"gathering take {time} of host time per step",
		devices);
	ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
			       "the trace contains the events of DataParallel");
	ss_rule_add_figure(context, 0, 1);
	return SS_OK;
}

const struct ss_rule ss_rule_data_parallel = {
	.name = "data-parallel",
	.title = "nn.DataParallel drives several GPUs from one process",
	.summary = "nn.DataParallel instead of DistributedDataParallel",
	.fix = "# torchrun --nproc_per_node=gpu train.py\n"
	       "torch.distributed.init_process_group(\"nccl\")\n"
	       "model = DistributedDataParallel(model.to(rank), device_ids=[rank])",
	.to_record = NULL,
	.views = "devices gaps",
	.warn_share = 0,
	.silent_share = 0,
	.why = "the PyTorch documentation advises against it whatever it costs",
	.is_timeless = true,
	.needs_no_steps = true,
	.look = data_parallel_look,
};
