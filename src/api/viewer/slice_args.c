/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_args.c - arguments by the kind of the slice.
 */
#include "api/viewer/slice_args.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/kernel/message.h"
#include "base/search.h"
#include "render/render.h"

struct slice_args {
	const struct ss_trace *trace;
	struct ss_text *out;
	uint32_t count;
};

static void slice_args_begin(struct slice_args *list, const char *name)
{
	ss_text_addf(list->out, "%s{\"name\":\"%s\",\"value\":", list->count++ ? "," : "", name);
}

static void slice_args_add_text(struct slice_args *list, const char *name, uint32_t text)
{
	if (!text)
		return;
	slice_args_begin(list, name);
	ss_render_quoted(list->out, ss_strings_text(&list->trace->texts, text));
	ss_text_add_string(list->out, "}");
}

static void slice_args_add_int(struct slice_args *list, const char *name, int64_t value)
{
	slice_args_begin(list, name);
	ss_text_addf(list->out, "\"%" PRId64 "\"}", value);
}

static void slice_args_add_known(struct slice_args *list, const char *name, int64_t value)
{
	if (value >= 0)
		slice_args_add_int(list, name, value);
}

static void slice_args_add_bytes(struct slice_args *list, const char *name, int64_t bytes)
{
	if (bytes < 0)
		return;
	slice_args_begin(list, name);
	ss_text_add_string(list->out, "\"");
	ss_render_bytes(bytes, list->out);
	if (bytes >= 1000) {
		ss_text_add_string(list->out, " (");
		ss_render_count(bytes, list->out);
		ss_text_add_string(list->out, ")");
	}
	ss_text_add_string(list->out, "\"}");
}

static void slice_args_add_number(struct slice_args *list, const char *name, double value,
				  const char *unit)
{
	if (!isfinite(value))
		return;
	slice_args_begin(list, name);
	ss_text_addf(list->out, "\"%.*f%s\"}", fabs(value) < 10 ? 2 : 1, value, unit);
}

static void slice_args_add_three(struct slice_args *list, const char *name, const int32_t *values)
{
	if (values[0] < 0)
		return;
	slice_args_begin(list, name);
	ss_text_addf(list->out, "\"%" PRId32 ", %" PRId32 ", %" PRId32 "\"}", values[0], values[1],
		     values[2]);
}

static void slice_args_add_op(struct slice_args *list, const struct ss_op_args *args)
{
	slice_args_add_text(list, "input shapes", args->input_dims);
	slice_args_add_text(list, "input types", args->input_types);
	slice_args_add_text(list, "input strides", args->input_strides);
	slice_args_add_text(list, "concrete inputs", args->concrete_inputs);
	slice_args_add_text(list, "module", args->module);
	slice_args_add_text(list, "kernel file", args->kernel_file);
	slice_args_add_text(list, "kernel arguments", args->kernel_kwargs);
}

static void slice_args_add_kernel(struct slice_args *list, const struct ss_kernel_args *args)
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

static void slice_args_add_copy(struct slice_args *list, const struct ss_copy_args *args,
				int64_t dur_ns)
{
	slice_args_add_bytes(list, "bytes", args->bytes);
	if (args->bytes >= 0 && dur_ns > 0)
		slice_args_add_number(list, "rate", (double)args->bytes / (double)dur_ns, " GB/s");
}

static void slice_args_add_collective(struct slice_args *list, const struct ss_comm_row *row)
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

/* Part of a text, in quotes. */
static void slice_args_add_quoted(struct slice_args *list, const char *from, const char *to)
{
	struct ss_text text = { 0 };

	ss_text_add(&text, from, (size_t)(to - from));
	ss_render_quoted(list->out, text.data ? text.data : "");
	ss_text_end(&text, list->out);
}

/* What the program recorded itself, under its own keys. */
static void slice_args_add_custom(struct slice_args *list, uint32_t text)
{
	const char *at = ss_strings_text(&list->trace->texts, text), *is, *end;

	for (; (is = strstr(at, SS_OTHER_IS)); at = end + strlen(SS_OTHER_END)) {
		end = strstr(is, SS_OTHER_END);
		if (!end)
			return;
		ss_text_add_string(list->out, list->count++ ? ",{\"name\":" : "{\"name\":");
		slice_args_add_quoted(list, at, is);
		ss_text_add_string(list->out, ",\"value\":");
		slice_args_add_quoted(list, is + strlen(SS_OTHER_IS), end);
		ss_text_add_string(list->out, ",\"own\":true}");
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
static void slice_args_add_ids(struct slice_args *list, uint32_t row)
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

void ss_slice_args(const struct ss_trace *trace, uint32_t row, struct ss_text *out)
{
	struct slice_args list = { .trace = trace, .out = out };
	const struct ss_slices *slices = &trace->slices;
	const struct ss_comm_row *comm = ss_trace_comm(trace, row);
	const struct ss_track *track = &trace->tracks[slices->track[row]];
	const struct ss_other_row *others = slice_args_find_row(trace->others, trace->other_count,
								sizeof(*trace->others), row);
	uint32_t args = slices->args[row];

	ss_text_add_string(out, "[");
	if (track->class == SS_TRACK_DEVICE) {
		slice_args_add_known(&list, "device", track->pid);
		slice_args_add_known(&list, "stream", track->tid);
	}
	if (args != SS_NO_ARGS)
		switch (slices->kind[row]) {
		case SS_KIND_OP:
		case SS_KIND_ANNOTATION:
			slice_args_add_op(&list, ss_records_at(&trace->op_args, args));
			break;
		case SS_KIND_KERNEL:
		case SS_KIND_COMM_KERNEL:
		case SS_KIND_RUNTIME:
		case SS_KIND_DRIVER:
			slice_args_add_kernel(&list, ss_records_at(&trace->kernel_args, args));
			break;
		case SS_KIND_MEMCPY:
		case SS_KIND_MEMSET:
			slice_args_add_copy(&list, ss_records_at(&trace->copy_args, args),
					    slices->dur_ns[row]);
			break;
		default:
			break;
		}
	if (comm)
		slice_args_add_collective(&list, comm);
	slice_args_add_ids(&list, row);
	if (others)
		slice_args_add_custom(&list, others->text);
	ss_text_add_string(out, "]");
}

bool ss_slice_has_shapes(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->op_args.count; i++)
		if (((const struct ss_op_args *)ss_records_at(&trace->op_args, i))->input_dims)
			return true;
	return false;
}

bool ss_slice_has_stacks(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->category_count; i++)
		if (trace->categories[i].kind == SS_KIND_PYTHON && trace->category_events[i])
			return true;
	for (uint32_t i = 0; i < trace->op_args.count; i++)
		if (((const struct ss_op_args *)ss_records_at(&trace->op_args, i))->call_stack)
			return true;
	return false;
}
