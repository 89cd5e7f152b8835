/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_args.c - the arguments of a slice, by its kind.
 */
#include "api/viewer/slice_args.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/kernel/message.h"
#include "base/search.h"
#include "base/text.h"
#include "render/render.h"

struct slice_arg_list {
	const struct ss_trace *trace;
	ss_slice_arg_function add;
	void *context;
	struct ss_text text; /* of the value that is made */
};

static void slice_args_add(struct slice_arg_list *list, const char *name, const char *value,
			   size_t length)
{
	list->add(list->context, &(struct ss_slice_arg){ .name = name,
							 .name_length = strlen(name),
							 .value = value,
							 .length = length });
}

/* The value that was made in list->text; none without memory. */
static void slice_args_end(struct slice_arg_list *list, const char *name)
{
	if (list->text.data)
		slice_args_add(list, name, list->text.data, list->text.length);
	list->text.length = 0;
}

static void slice_args_add_text(struct slice_arg_list *list, const char *name, uint32_t text)
{
	const struct ss_string *value = &list->trace->texts.items[text];

	if (text)
		slice_args_add(list, name, value->text, value->length);
}

static void slice_args_add_int(struct slice_arg_list *list, const char *name, int64_t value)
{
	list->add(list->context, &(struct ss_slice_arg){ .name = name,
							 .name_length = strlen(name),
							 .number = value });
}

static void slice_args_add_known(struct slice_arg_list *list, const char *name, int64_t value)
{
	if (value >= 0)
		slice_args_add_int(list, name, value);
}

static void slice_args_add_bytes(struct slice_arg_list *list, const char *name, int64_t bytes)
{
	if (bytes < 0)
		return;
	ss_render_bytes(bytes, &list->text);
	if (bytes >= 1000) {
		ss_text_add_string(&list->text, " (");
		ss_render_count(bytes, &list->text);
		ss_text_add_string(&list->text, ")");
	}
	slice_args_end(list, name);
}

static void slice_args_add_number(struct slice_arg_list *list, const char *name, double value,
				  const char *unit)
{
	if (!isfinite(value))
		return;
	ss_text_addf(&list->text, "%.*f%s", fabs(value) < 10 ? 2 : 1, value, unit);
	slice_args_end(list, name);
}

static void slice_args_add_three(struct slice_arg_list *list, const char *name,
				 const int32_t *values)
{
	if (values[0] < 0)
		return;
	ss_text_addf(&list->text, "%" PRId32 ", %" PRId32 ", %" PRId32, values[0], values[1],
		     values[2]);
	slice_args_end(list, name);
}

static void slice_args_add_op(struct slice_arg_list *list, const struct ss_op_args *args)
{
	slice_args_add_text(list, "input shapes", args->input_dims);
	slice_args_add_text(list, "input types", args->input_types);
	slice_args_add_text(list, "input strides", args->input_strides);
	slice_args_add_text(list, "concrete inputs", args->concrete_inputs);
	slice_args_add_text(list, "module", args->module);
	slice_args_add_text(list, "kernel file", args->kernel_file);
	slice_args_add_text(list, "kernel arguments", args->kernel_kwargs);
}

static void slice_args_add_kernel(struct slice_arg_list *list, const struct ss_kernel_args *args)
{
	slice_args_add_three(list, "grid", args->grid);
	slice_args_add_three(list, "block", args->block);
	slice_args_add_known(list, "registers per thread", args->registers);
	slice_args_add_bytes(list, "shared memory", args->shared_bytes);
	slice_args_add_number(list, "blocks per SM", args->blocks_per_sm, "");
	slice_args_add_number(list, "warps per SM", args->warps_per_sm, "");
	slice_args_add_number(list, "estimated occupancy", ss_kernel_occupancy(args), " %");
	slice_args_add_known(list, "graph id", args->graph_id);
	slice_args_add_known(list, "graph node id", args->graph_node);
}

static void slice_args_add_collective(struct slice_arg_list *list, const struct ss_comm_row *row)
{
	const struct ss_comm_args *args = ss_records_at(&list->trace->comm_args, row->args);

	slice_args_add_text(list, "collective", args->collective);
	slice_args_add_bytes(list, "message", ss_message_bytes(list->trace, args));
	slice_args_add_text(list, "dtype", args->dtype);
	slice_args_add_known(list, "input elements", args->in_nelems);
	slice_args_add_known(list, "output elements", args->out_nelems);
	slice_args_add_text(list, "input splits", args->in_split);
	slice_args_add_text(list, "output splits", args->out_split);
	slice_args_add_text(list, "process group", args->group_name);
	slice_args_add_text(list, "group description", args->group_description);
	slice_args_add_known(list, "group size", args->group_size);
	slice_args_add_text(list, "group ranks", args->group_ranks);
	slice_args_add_known(list, "source rank", args->src_rank);
	slice_args_add_known(list, "destination rank", args->dst_rank);
	slice_args_add_known(list, "collective number", row->sequence);
}

/* What the program recorded itself, under its own keys. */
static void slice_args_add_own(struct slice_arg_list *list, uint32_t text)
{
	const char *at = ss_strings_text(&list->trace->texts, text), *is, *end;

	for (; (is = strstr(at, SS_OTHER_IS)); at = end + strlen(SS_OTHER_END)) {
		const char *value = is + strlen(SS_OTHER_IS);

		end = strstr(is, SS_OTHER_END);
		if (!end)
			return;
		list->add(list->context, &(struct ss_slice_arg){ .name = at,
								 .name_length = (size_t)(is - at),
								 .value = value,
								 .length = (size_t)(end - value),
								 .is_own = true });
	}
}

/*
 * Finds the record of a row among `count` sorted records of `bytes`, each beginning with its row.
 */
static const void *slice_args_find_row(const void *items, uint32_t count, size_t bytes,
				       uint32_t row)
{
	const char *base = items;
	uint32_t low = 0, high = count;

	SS_SEARCH(low, high, at, *(const uint32_t *)(const void *)(base + at * bytes) < row);
	if (low == count || *(const uint32_t *)(const void *)(base + low * bytes) != row)
		return NULL;
	return base + low * bytes;
}

/* Numbers by which profilers link events: sequence, streams, correlation or external id. */
static void slice_args_add_ids(struct slice_arg_list *list, uint32_t row)
{
	const struct ss_trace *trace = list->trace;
	const struct ss_sequence_row *sequence = slice_args_find_row(trace->sequences,
								     trace->sequence_count,
								     sizeof(*trace->sequences),
								     row);
	const struct ss_sync_row *sync = slice_args_find_row(trace->syncs, trace->sync_count,
							     sizeof(*trace->syncs), row);
	enum ss_kind kind = (enum ss_kind)trace->slices.kind[row];
	uint32_t id = trace->slices.id[row];

	if (sequence) {
		slice_args_add_known(list, "sequence number", sequence->sequence);
		if (sequence->fwd_thread)
			slice_args_add_int(list, "forward thread", sequence->fwd_thread);
	}
	if (sync) {
		slice_args_add_known(list, "stream", sync->stream);
		slice_args_add_known(list, "waits for stream", sync->wait_stream);
		slice_args_add_known(list, "waits for correlation", sync->wait_correlation);
	}
	if (id)
		slice_args_add_int(list,
				   ss_kind_is_call(kind) || row >= trace->device_from
					   ? "correlation"
					   : "external id",
				   id);
}

uint32_t ss_viewer_args_record(const struct ss_trace *trace, uint32_t row)
{
	uint32_t args = trace->slices.args[row];

	if (args == SS_NO_ARGS)
		return SS_NO_ARGS;
	switch (trace->slices.kind[row]) {
	case SS_KIND_OP:
	case SS_KIND_ANNOTATION:
		return args;
	case SS_KIND_KERNEL:
	case SS_KIND_COMM_KERNEL:
	case SS_KIND_RUNTIME:
	case SS_KIND_DRIVER:
		return trace->op_args.count + args;
	case SS_KIND_MEMCPY:
	case SS_KIND_MEMSET:
		return trace->op_args.count + trace->kernel_args.count + args;
	default:
		return SS_NO_ARGS;
	}
}

void ss_viewer_args_visit(const struct ss_trace *trace, uint32_t row, enum ss_slice_args which,
			  ss_slice_arg_function add, void *context)
{
	struct slice_arg_list list = { .trace = trace, .add = add, .context = context };
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[slices->track[row]];
	uint32_t record = ss_viewer_args_record(trace, row), args = slices->args[row];
	uint32_t kernels = trace->op_args.count, copies = kernels + trace->kernel_args.count;

	if (which & SS_ARGS_TRACK && track->class == SS_TRACK_DEVICE) {
		slice_args_add_known(&list, "device", track->pid);
		slice_args_add_known(&list, "stream", track->tid);
	}
	if (record != SS_NO_ARGS && record >= copies) {
		const struct ss_copy_args *copy = ss_records_at(&trace->copy_args, args);

		if (which & SS_ARGS_RECORD)
			slice_args_add_bytes(&list, "bytes", copy->bytes);
		if (which & SS_ARGS_TRACK && copy->bytes >= 0 && slices->dur_ns[row] > 0)
			slice_args_add_number(&list, "rate",
					      (double)copy->bytes / (double)slices->dur_ns[row],
					      " GB/s");
	} else if (which & SS_ARGS_RECORD && record < kernels) {
		slice_args_add_op(&list, ss_records_at(&trace->op_args, args));
	} else if (which & SS_ARGS_RECORD && record != SS_NO_ARGS) {
		slice_args_add_kernel(&list, ss_records_at(&trace->kernel_args, args));
	}
	if (which & SS_ARGS_ROW) {
		const struct ss_comm_row *comm = ss_trace_comm(trace, row);
		const struct ss_other_row *others = slice_args_find_row(trace->others,
									trace->other_count,
									sizeof(*trace->others),
									row);

		if (comm)
			slice_args_add_collective(&list, comm);
		slice_args_add_ids(&list, row);
		if (others)
			slice_args_add_own(&list, others->text);
	}
	ss_text_release(&list.text);
}
