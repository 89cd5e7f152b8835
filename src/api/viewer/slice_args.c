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

struct list {
	const struct ss_trace *trace;
	struct ss_text *out;
	uint32_t count;
};

static void begin(struct list *list, const char *name)
{
	ss_text_addf(list->out, "%s{\"name\":\"%s\",\"value\":", list->count++ ? "," : "", name);
}

static void add_text(struct list *list, const char *name, uint32_t text)
{
	if (!text)
		return;
	begin(list, name);
	ss_render_quoted(list->out, ss_strings_text(&list->trace->texts, text));
	ss_text_add_string(list->out, "}");
}

static void add_int(struct list *list, const char *name, int64_t value)
{
	begin(list, name);
	ss_text_addf(list->out, "\"%" PRId64 "\"}", value);
}

static void add_known(struct list *list, const char *name, int64_t value)
{
	if (value >= 0)
		add_int(list, name, value);
}

static void add_bytes(struct list *list, const char *name, int64_t bytes)
{
	if (bytes < 0)
		return;
	begin(list, name);
	ss_text_add_string(list->out, "\"");
	ss_render_bytes(bytes, list->out);
	if (bytes >= 1000) {
		ss_text_add_string(list->out, " (");
		ss_render_count(bytes, list->out);
		ss_text_add_string(list->out, ")");
	}
	ss_text_add_string(list->out, "\"}");
}

static void add_number(struct list *list, const char *name, double value, const char *unit)
{
	if (!isfinite(value))
		return;
	begin(list, name);
	ss_text_addf(list->out, "\"%.*f%s\"}", fabs(value) < 10 ? 2 : 1, value, unit);
}

static void add_three(struct list *list, const char *name, const int32_t *values)
{
	if (values[0] < 0)
		return;
	begin(list, name);
	ss_text_addf(list->out, "\"%" PRId32 ", %" PRId32 ", %" PRId32 "\"}", values[0], values[1],
		     values[2]);
}

static void add_op(struct list *list, const struct ss_op_args *args)
{
	add_text(list, "input shapes", args->input_dims);
	add_text(list, "input types", args->input_types);
	add_text(list, "input strides", args->input_strides);
	add_text(list, "concrete inputs", args->concrete_inputs);
	add_text(list, "module", args->module);
	add_text(list, "kernel file", args->kernel_file);
	add_text(list, "kernel arguments", args->kernel_kwargs);
}

static void add_kernel(struct list *list, const struct ss_kernel_args *args)
{
	add_three(list, "grid", args->grid);
	add_three(list, "block", args->block);
	add_known(list, "registers per thread", args->registers);
	add_bytes(list, "shared memory", args->shared_bytes);
	add_number(list, "blocks per SM", args->blocks_per_sm, "");
	add_number(list, "warps per SM", args->warps_per_sm, "");
	add_number(list, "estimated occupancy", ss_kernel_occupancy(args), " %");
	add_known(list, "graph id", args->graph_id);
	add_known(list, "graph node id", args->graph_node);
}

static void add_copy(struct list *list, const struct ss_copy_args *args, int64_t dur_ns)
{
	add_bytes(list, "bytes", args->bytes);
	if (args->bytes >= 0 && dur_ns > 0)
		add_number(list, "rate", (double)args->bytes / (double)dur_ns, " GB/s");
}

static void add_comm(struct list *list, const struct ss_comm_row *row)
{
	const struct ss_comm_args *args = ss_records_at(&list->trace->comm_args, row->args);

	add_text(list, "collective", args->collective);
	add_bytes(list, "message", ss_message_bytes(list->trace, args));
	add_text(list, "dtype", args->dtype);
	add_known(list, "input elements", args->in_nelems);
	add_known(list, "output elements", args->out_nelems);
	add_text(list, "input splits", args->in_split);
	add_text(list, "output splits", args->out_split);
	add_text(list, "process group", args->group_name);
	add_text(list, "group description", args->group_description);
	add_known(list, "group size", args->group_size);
	add_text(list, "group ranks", args->group_ranks);
	add_known(list, "source rank", args->src_rank);
	add_known(list, "destination rank", args->dst_rank);
	add_known(list, "collective number", row->sequence);
}

/* A stretch of text in quotes. */
static void add_stretch(struct list *list, const char *from, const char *to)
{
	struct ss_text text = { 0 };

	ss_text_add(&text, from, (size_t)(to - from));
	ss_render_quoted(list->out, text.data ? text.data : "");
	ss_text_end(&text, list->out);
}

/* What the program recorded itself, under its own keys. */
static void add_others(struct list *list, uint32_t text)
{
	const char *at = ss_strings_text(&list->trace->texts, text), *is, *end;

	for (; (is = strstr(at, SS_OTHER_IS)); at = end + strlen(SS_OTHER_END)) {
		end = strstr(is, SS_OTHER_END);
		if (!end)
			return;
		ss_text_add_string(list->out, list->count++ ? ",{\"name\":" : "{\"name\":");
		add_stretch(list, at, is);
		ss_text_add_string(list->out, ",\"value\":");
		add_stretch(list, is + strlen(SS_OTHER_IS), end);
		ss_text_add_string(list->out, ",\"own\":true}");
	}
}

/* The first of `count` records of `bytes`, each beginning with its row, that is not before. */
static const void *find_row(const void *items, uint32_t count, size_t bytes, uint32_t row)
{
	const char *base = items;
	uint32_t low = 0, high = count;

	SS_SEARCH(low, high, at, *(const uint32_t *)(const void *)(base + at * bytes) < row);
	if (low == count || *(const uint32_t *)(const void *)(base + low * bytes) != row)
		return NULL;
	return base + low * bytes;
}

static void add_numbers(struct list *list, uint32_t row)
{
	const struct ss_trace *trace = list->trace;
	const struct ss_sequence_row *sequence = find_row(trace->sequences, trace->sequence_count,
							  sizeof(*trace->sequences), row);
	const struct ss_sync_row *sync = find_row(trace->syncs, trace->sync_count,
						  sizeof(*trace->syncs), row);
	enum ss_kind kind = (enum ss_kind)trace->slices.kind[row];
	uint32_t id = trace->slices.id[row];

	if (sequence) {
		add_known(list, "sequence number", sequence->sequence);
		if (sequence->fwd_thread)
			add_int(list, "forward thread", sequence->fwd_thread);
	}
	if (sync) {
		add_known(list, "stream", sync->stream);
		add_known(list, "waits for stream", sync->wait_stream);
		add_known(list, "waits for correlation", sync->wait_correlation);
	}
	if (id)
		add_int(list,
			ss_kind_is_call(kind) || row >= trace->device_from ? "correlation"
									   : "external id",
			id);
}

void ss_slice_args(const struct ss_trace *trace, uint32_t row, struct ss_text *out)
{
	struct list list = { .trace = trace, .out = out };
	const struct ss_slices *slices = &trace->slices;
	const struct ss_comm_row *comm = ss_trace_comm(trace, row);
	const struct ss_track *track = &trace->tracks[slices->track[row]];
	const struct ss_other_row *others = find_row(trace->others, trace->other_count,
						     sizeof(*trace->others), row);
	uint32_t args = slices->args[row];

	ss_text_add_string(out, "[");
	if (track->class == SS_TRACK_DEVICE) {
		add_known(&list, "device", track->pid);
		add_known(&list, "stream", track->tid);
	}
	if (args != SS_NO_ARGS)
		switch (slices->kind[row]) {
		case SS_KIND_OP:
		case SS_KIND_ANNOTATION:
			add_op(&list, ss_records_at(&trace->op_args, args));
			break;
		case SS_KIND_KERNEL:
		case SS_KIND_COMM_KERNEL:
		case SS_KIND_RUNTIME:
		case SS_KIND_DRIVER:
			add_kernel(&list, ss_records_at(&trace->kernel_args, args));
			break;
		case SS_KIND_MEMCPY:
		case SS_KIND_MEMSET:
			add_copy(&list, ss_records_at(&trace->copy_args, args),
				 slices->dur_ns[row]);
			break;
		default:
			break;
		}
	if (comm)
		add_comm(&list, comm);
	add_numbers(&list, row);
	if (others)
		add_others(&list, others->text);
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
