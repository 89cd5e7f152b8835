/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c - the columns of a trace as JSON, with the keys that args.c and metadata.c read.
 */
#include "trace/kineto/write.h"

#include <inttypes.h>

#include "trace/formats.h"
#include "trace/kineto/writer.h"

/* How much is made at once. */
#define WRITE_BLOCK_BYTES ((size_t)1 << 16)

/* Microseconds with their nanoseconds, which a double could not hold. */
static void write_us(struct ss_kineto_writer *writer, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	ss_text_addf(&writer->text, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000,
		     (unsigned)(size % 1000));
}

static void write_id(struct ss_kineto_writer *writer, int64_t number, uint32_t text)
{
	if (text)
		ss_writer_add_text(writer, text);
	else
		ss_text_add_int(&writer->text, number);
}

/* --- arguments ------------------------------------------------------------------------------ */

static void write_key(struct ss_kineto_writer *writer, const char *key, size_t length)
{
	ss_text_add_string(&writer->text, writer->has_args ? "," : ",\"args\":{");
	writer->has_args = true;
	ss_text_add_quoted(&writer->text, key, length);
	ss_text_add(&writer->text, ":", 1);
}

static void write_arg_key(struct ss_kineto_writer *writer, enum ss_arg arg)
{
	write_key(writer, writer->keys[arg], strlen(writer->keys[arg]));
}

static void write_arg_text(struct ss_kineto_writer *writer, enum ss_arg arg, uint32_t text)
{
	if (!text)
		return;
	write_arg_key(writer, arg);
	ss_writer_add_text(writer, text);
}

static void write_arg_int(struct ss_kineto_writer *writer, enum ss_arg arg, int64_t value)
{
	write_arg_key(writer, arg);
	ss_text_add_int(&writer->text, value);
}

static void write_arg_known(struct ss_kineto_writer *writer, enum ss_arg arg, int64_t value)
{
	if (value >= 0)
		write_arg_int(writer, arg, value);
}

static void write_arg_number(struct ss_kineto_writer *writer, enum ss_arg arg, double value)
{
	if (!isfinite(value))
		return;
	write_arg_key(writer, arg);
	ss_text_addf(&writer->text, "%.17g", value);
}

static void write_arg_three(struct ss_kineto_writer *writer, enum ss_arg arg,
			    const int32_t values[3])
{
	if (values[0] < 0)
		return;
	write_arg_key(writer, arg);
	ss_text_addf(&writer->text, "[%" PRId32 ",%" PRId32 ",%" PRId32 "]", values[0], values[1],
		     values[2]);
}

static void write_op_args(struct ss_kineto_writer *writer, const struct ss_op_args *args)
{
	write_arg_text(writer, SS_ARG_INPUT_DIMS, args->input_dims);
	write_arg_text(writer, SS_ARG_INPUT_TYPE, args->input_types);
	write_arg_text(writer, SS_ARG_INPUT_STRIDES, args->input_strides);
	write_arg_text(writer, SS_ARG_CONCRETE_INPUTS, args->concrete_inputs);
	write_arg_text(writer, SS_ARG_CALL_STACK, args->call_stack);
	write_arg_text(writer, SS_ARG_MODULE, args->module);
	write_arg_text(writer, SS_ARG_KERNEL_FILE, args->kernel_file);
	write_arg_text(writer, SS_ARG_KERNEL_KWARGS, args->kernel_kwargs);
}

static void write_kernel_args(struct ss_kineto_writer *writer, const struct ss_kernel_args *args)
{
	write_arg_three(writer, SS_ARG_GRID, args->grid);
	write_arg_three(writer, SS_ARG_BLOCK, args->block);
	write_arg_known(writer, SS_ARG_REGISTERS, args->registers);
	write_arg_known(writer, SS_ARG_SHARED_MEMORY, args->shared_bytes);
	write_arg_number(writer, SS_ARG_BLOCKS_PER_SM, args->blocks_per_sm);
	write_arg_number(writer, SS_ARG_WARPS_PER_SM, args->warps_per_sm);
	write_arg_number(writer, SS_ARG_OCCUPANCY, args->occupancy_percent);
	write_arg_known(writer, SS_ARG_GRAPH_ID, args->graph_id);
	write_arg_known(writer, SS_ARG_GRAPH_NODE, args->graph_node);
}

/* Kineto has lists in quotes here. */
static void write_comm_text(struct ss_kineto_writer *writer, enum ss_arg arg, uint32_t text)
{
	const struct ss_string *value = &writer->trace.texts.items[text];

	/* the collective's key is what tells it, also without a value */
	if (!text && arg != SS_ARG_COLLECTIVE)
		return;
	write_arg_key(writer, arg);
	ss_text_add_quoted(&writer->text, value->text, value->length);
}

static void write_comm(struct ss_kineto_writer *writer, const struct ss_comm_row *row)
{
	const struct ss_comm_args *args = ss_records_at(&writer->trace.comm_args, row->args);

	write_comm_text(writer, SS_ARG_COLLECTIVE, args->collective);
	write_comm_text(writer, SS_ARG_DTYPE, args->dtype);
	write_arg_known(writer, SS_ARG_IN_NELEMS, args->in_nelems);
	write_arg_known(writer, SS_ARG_OUT_NELEMS, args->out_nelems);
	write_comm_text(writer, SS_ARG_IN_SPLIT, args->in_split);
	write_comm_text(writer, SS_ARG_OUT_SPLIT, args->out_split);
	write_arg_known(writer, SS_ARG_GROUP_SIZE, args->group_size);
	write_comm_text(writer, SS_ARG_GROUP_NAME, args->group_name);
	write_comm_text(writer, SS_ARG_GROUP_DESCRIPTION, args->group_description);
	write_comm_text(writer, SS_ARG_GROUP_RANKS, args->group_ranks);
	write_arg_known(writer, SS_ARG_SRC_RANK, args->src_rank);
	write_arg_known(writer, SS_ARG_DST_RANK, args->dst_rank);
	write_arg_known(writer, SS_ARG_SEQ, row->sequence);
}

/* What the program itself recorded, under its own keys. */
static void write_others(struct ss_kineto_writer *writer, uint32_t text)
{
	const char *at = ss_strings_text(&writer->trace.texts, text), *is, *end;

	for (; (is = strstr(at, SS_OTHER_IS)); at = end + strlen(SS_OTHER_END)) {
		const char *value = is + strlen(SS_OTHER_IS);

		end = strstr(is, SS_OTHER_END);
		if (!end)
			return;
		write_key(writer, at, (size_t)(is - at));
		ss_writer_add_value(writer, value, (size_t)(end - value));
	}
}

/* What lies beside the columns, sorted by row. */
static void write_args_of_row(struct ss_kineto_writer *writer, uint32_t row)
{
	const struct ss_trace *trace = &writer->trace;

	if (writer->comm < trace->comm_count && trace->comms[writer->comm].row == row)
		write_comm(writer, &trace->comms[writer->comm++]);
	if (writer->sequence < trace->sequence_count &&
	    trace->sequences[writer->sequence].row == row) {
		const struct ss_sequence_row *sequence = &trace->sequences[writer->sequence++];

		write_arg_int(writer, SS_ARG_SEQUENCE, sequence->sequence);
		write_arg_int(writer, SS_ARG_FWD_THREAD, sequence->fwd_thread);
	}
	/* waits that edges of graphs gave come after the one of the event */
	for (bool first = true;
	     writer->sync < trace->sync_count && trace->syncs[writer->sync].row == row;
	     first = false) {
		const struct ss_sync_row *sync = &trace->syncs[writer->sync++];

		if (!first || trace->slices.kind[row] != SS_KIND_SYNC)
			continue;
		write_arg_known(writer, SS_ARG_STREAM, sync->stream);
		write_arg_known(writer, SS_ARG_WAIT_STREAM, sync->wait_stream);
		write_arg_known(writer, SS_ARG_WAIT_CORRELATION, sync->wait_correlation);
	}
	if (writer->other < trace->other_count && trace->others[writer->other].row == row)
		write_others(writer, trace->others[writer->other++].text);
}

static void write_args(struct ss_kineto_writer *writer, uint32_t row)
{
	const struct ss_trace *trace = &writer->trace;
	const struct ss_track *track = &trace->tracks[trace->slices.track[row]];
	enum ss_kind kind = (enum ss_kind)trace->slices.kind[row];
	uint32_t args = trace->slices.args[row], id = trace->slices.id[row];
	bool has_args = args != SS_NO_ARGS;

	if (track->class == SS_TRACK_DEVICE) {
		if (!track->pid_text)
			write_arg_int(writer, SS_ARG_DEVICE, track->pid);
		if (!track->tid_text)
			write_arg_int(writer, SS_ARG_STREAM, track->tid);
	}
	if (id)
		write_arg_int(writer,
			      kind == SS_KIND_OP || kind == SS_KIND_ANNOTATION ? SS_ARG_EXTERNAL_ID
									       : SS_ARG_CORRELATION,
			      id);
	if (has_args && (kind == SS_KIND_OP || kind == SS_KIND_ANNOTATION))
		write_op_args(writer, ss_records_at(&trace->op_args, args));
	else if (has_args && (ss_kind_is_kernel(kind) || ss_kind_is_call(kind)))
		write_kernel_args(writer, ss_records_at(&trace->kernel_args, args));
	else if (has_args && (kind == SS_KIND_MEMCPY || kind == SS_KIND_MEMSET))
		write_arg_known(writer, SS_ARG_BYTES,
				((const struct ss_copy_args *)ss_records_at(&trace->copy_args,
									    args))
					->bytes);
	write_args_of_row(writer, row);
}

/* --- events --------------------------------------------------------------------------------- */

/* {"ph":"X","name":"...","pid":0,"tid":7,"ts":1.000 */
static void write_begin(struct ss_kineto_writer *writer, const char *phase,
			const struct ss_string *name, const struct ss_track *track,
			int64_t start_ns)
{
	ss_text_add_string(&writer->text, writer->has_events ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	writer->has_events = true;
	writer->has_args = false;
	ss_text_add_string(&writer->text, phase);
	ss_text_add_string(&writer->text, "\",\"name\":");
	ss_text_add_quoted(&writer->text, name->text, name->length);
	ss_text_add_string(&writer->text, ",\"pid\":");
	write_id(writer, track ? track->pid : 0, track ? track->pid_text : 0);
	ss_text_add_string(&writer->text, ",\"tid\":");
	write_id(writer, track ? track->tid : 0, track ? track->tid_text : 0);
	ss_text_add_string(&writer->text, ",\"ts\":");
	write_us(writer, start_ns + writer->trace.origin_ns);
}

static void write_end(struct ss_kineto_writer *writer)
{
	ss_text_add_string(&writer->text, writer->has_args ? "}}" : "}");
}

static void write_arrow(struct ss_kineto_writer *writer, const char *category, uint32_t id,
			uint32_t from, uint32_t to)
{
	const struct ss_slices *slices = &writer->trace.slices;

	for (int i = 0; i < 2; i++) {
		uint32_t row = i ? to : from;
		const struct ss_string name = { .text = category,
						.length = (uint32_t)strlen(category) };

		write_begin(writer, i ? "f" : "s", &name, &writer->trace.tracks[slices->track[row]],
			    slices->start_ns[row]);
		ss_text_addf(&writer->text, ",\"cat\":\"%s\",\"id\":%" PRIu32 "%s}", category, id,
			     i ? ",\"bp\":\"e\"" : "");
	}
}

/* A moment, a begin and an end with an id of their own, or a slice. */
static void write_row(struct ss_kineto_writer *writer, uint32_t row)
{
	const struct ss_trace *trace = &writer->trace;
	const struct ss_slices *slices = &trace->slices;
	enum ss_kind kind = (enum ss_kind)slices->kind[row];
	const struct ss_track *track = &trace->tracks[slices->track[row]];
	const struct ss_string *name = &trace->names.items[slices->name[row]];
	const char *category = trace->categories[slices->category[row]].name;
	bool is_async = kind == SS_KIND_ASYNC, is_moment = kind == SS_KIND_INSTANT;

	for (int i = 0; i < (is_async ? 2 : 1); i++) {
		write_begin(writer,
			    is_moment   ? "i"
			    : !is_async ? "X"
			    : i         ? "e"
					: "b",
			    name, track, i ? ss_slice_end(slices, row) : slices->start_ns[row]);
		if (category && *category) {
			ss_text_add_string(&writer->text, ",\"cat\":");
			ss_text_add_quoted(&writer->text, category, strlen(category));
		}
		if (is_async) {
			ss_text_addf(&writer->text, ",\"id\":%" PRIu32, row);
		} else if (is_moment) {
			ss_text_add_string(&writer->text, ",\"s\":\"t\"");
		} else {
			ss_text_add_string(&writer->text, ",\"dur\":");
			write_us(writer, slices->dur_ns[row]);
			write_args(writer, row);
		}
		write_end(writer);
	}
	if (slices->link[row] == SS_NO_ROW)
		return;
	if (kind == SS_KIND_OP && writer->has_arrows)
		write_arrow(writer, "fwdbwd", row, slices->link[row], row);
	if (row >= trace->device_from && slices->id[row] &&
	    slices->id[row] == slices->id[slices->link[row]])
		write_arrow(writer, "ac2g", slices->id[row], slices->link[row], row);
}

static void write_allocation(struct ss_kineto_writer *writer, uint32_t index)
{
	static const struct ss_string names[] = { { .text = "[memory]", .length = 8 },
						  { .text = "[OutOfMemory]", .length = 13 } };
	const struct ss_allocations *all = &writer->trace.allocations;

	write_begin(writer, "i", &names[all->out_of_memory[index] != 0],
		    &writer->trace.tracks[all->track[index]], all->start_ns[index]);
	ss_text_add_string(&writer->text, ",\"s\":\"t\",\"cat\":\"cpu_instant_event\"");
	write_arg_int(writer, SS_ARG_MEMORY_ADDRESS, all->address[index]);
	write_arg_int(writer, SS_ARG_MEMORY_BYTES, all->bytes[index]);
	write_arg_int(writer, SS_ARG_MEMORY_DEVICE_TYPE, all->device_type[index]);
	write_arg_int(writer, SS_ARG_MEMORY_DEVICE_ID, all->device_id[index]);
	write_arg_known(writer, SS_ARG_MEMORY_ALLOCATED, all->allocated_bytes[index]);
	write_arg_known(writer, SS_ARG_MEMORY_RESERVED, all->reserved_bytes[index]);
	write_end(writer);
}

static void write_counter(struct ss_kineto_writer *writer, const struct ss_counter *counter)
{
	const struct ss_string *series = &writer->trace.texts.items[counter->series];

	if (!isfinite(counter->value))
		return;
	write_begin(writer, "C", &writer->trace.names.items[counter->name], NULL,
		    counter->start_ns);
	write_key(writer, series->text, series->length);
	ss_text_addf(&writer->text, "%.17g", counter->value);
	write_end(writer);
}

/* --- names of tracks -------------------------------------------------------------------------- */

static void write_name(struct ss_kineto_writer *writer, const struct ss_track *track,
		       const char *what, uint32_t text)
{
	const struct ss_string name = { .text = what, .length = (uint32_t)strlen(what) };

	if (!text)
		return;
	write_begin(writer, "M", &name, track, 0);
	write_arg_text(writer, SS_ARG_META_NAME, text);
	write_end(writer);
}

static void write_names(struct ss_kineto_writer *writer)
{
	const struct ss_trace *trace = &writer->trace;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (!i || track->pid != track[-1].pid || track->pid_text != track[-1].pid_text)
			write_name(writer, track, "process_name", track->process);
		write_name(writer, track, "thread_name", track->name);
	}
}

/* --- the source ------------------------------------------------------------------------------- */

/* Makes the next event, or what stands before and behind all of them. */
static void write_next(struct ss_kineto_writer *writer)
{
	const struct ss_trace *trace = &writer->trace;
	const uint32_t counts[] = { [SS_WRITER_ROWS] = trace->slices.count,
				    [SS_WRITER_ALLOCATIONS] = trace->allocations.count,
				    [SS_WRITER_COUNTERS] = trace->counter_count };

	if (writer->stage == SS_WRITER_HEAD) {
		ss_writer_add_head(writer);
		write_names(writer);
		writer->stage = SS_WRITER_ROWS;
	} else if (writer->at == counts[writer->stage]) {
		writer->at = 0;
		if (++writer->stage == SS_WRITER_DONE)
			ss_text_add_string(&writer->text, "\n]}\n");
	} else if (writer->stage == SS_WRITER_ROWS) {
		write_row(writer, writer->at++);
	} else if (writer->stage == SS_WRITER_ALLOCATIONS) {
		write_allocation(writer, writer->at++);
	} else {
		write_counter(writer, &trace->counters[writer->at++]);
	}
}

static enum ss_status writer_read(struct ss_source *source, char *buffer, size_t room, size_t *got,
				  struct ss_error *err)
{
	struct ss_kineto_writer *writer = (struct ss_kineto_writer *)source;
	struct ss_text *text = &writer->text;

	if (writer->given == text->length) {
		writer->given = text->length = 0;
		while (text->length < WRITE_BLOCK_BYTES && writer->stage != SS_WRITER_DONE &&
		       !ss_text_failed(text))
			write_next(writer);
		if (ss_text_failed(text) || ss_text_failed(&writer->value))
			return ss_fail_memory(err, "the text of a trace");
	}
	*got = text->length - writer->given < room ? text->length - writer->given : room;
	if (*got)
		memcpy(buffer, text->data + writer->given, *got);
	writer->given += *got;
	source->done_bytes += *got;
	return SS_OK;
}

static void writer_close(struct ss_source *source)
{
	struct ss_kineto_writer *writer = (struct ss_kineto_writer *)source;

	ss_text_release(&writer->text);
	ss_text_release(&writer->value);
	ss_trace_release(&writer->trace);
	ss_memory_free(source->memory, writer, sizeof(*writer));
}

/* Whether an arrow leads to the row: to the innermost operator that begins then. */
static bool row_can_have_arrow(const struct ss_slices *slices, uint32_t row)
{
	for (uint32_t next = row + 1; next < slices->count; next++) {
		if (slices->track[next] != slices->track[row] ||
		    slices->start_ns[next] != slices->start_ns[row])
			break;
		if (slices->kind[next] == SS_KIND_OP)
			return false;
	}
	return true;
}

static bool trace_has_arrows(const struct ss_trace *trace)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < slices->count; row++)
		if (slices->kind[row] == SS_KIND_OP && slices->link[row] != SS_NO_ROW &&
		    !(row_can_have_arrow(slices, row) &&
		      row_can_have_arrow(slices, slices->link[row])))
			return false;
	return true;
}

enum ss_status ss_kineto_write(struct ss_source *read, struct ss_memory *memory,
			       struct ss_source **out, struct ss_error *err)
{
	const struct ss_load_options options = { .threads = 1 };
	struct ss_kineto_writer *writer = ss_memory_zeroed(memory, sizeof(*writer));
	enum ss_status status;

	if (!writer)
		return ss_fail_memory(err, "the text of a trace");
	status = ss_trace_load(read, &options, memory, &writer->trace, err);
	if (status != SS_OK) {
		ss_memory_free(memory, writer, sizeof(*writer));
		return status;
	}
	writer->source =
		(struct ss_source){ .memory = memory, .read = writer_read, .close = writer_close };
	writer->has_arrows = trace_has_arrows(&writer->trace);
	for (int arg = 0; arg < SS_ARG_COUNT; arg++)
		writer->keys[arg] = ss_arg_key((enum ss_arg)arg);
	*out = &writer->source;
	return SS_OK;
}
