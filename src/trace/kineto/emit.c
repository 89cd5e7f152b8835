/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c - the meaning of one event: from its fields to rows of the batch.
 *
 * Each phase that Kineto and its predecessors write has its function; the table at the bottom lists
 * them.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "read/number.h"
#include "trace/kineto/reader.h"

static void emit_oddity(struct ss_reader *reader, enum ss_oddity oddity, int64_t at_byte)
{
	ss_quality_add_at(&reader->batch.quality, oddity, at_byte);
}

/* The number of an argument; one that is not a number is counted as odd. */
static int64_t emit_read_number(struct ss_reader *reader, enum ss_arg arg, int64_t fallback)
{
	int64_t value;

	if (!ss_args_have(&reader->args, arg))
		return fallback;
	if (ss_json_i64(&reader->args.values[arg], &value))
		return value;
	ss_quality_add(&reader->batch.quality, SS_ODD_NUMBER, 1);
	return fallback;
}

/* The event's time; false, and counted, when it has none. */
static bool emit_read_time(struct ss_reader *reader, int64_t at_byte, int64_t *out)
{
	const struct ss_json_span ts = ss_args_span(&reader->args, SS_FIELD_TS);
	double far;

	if (ts.type != SS_JSON_STRING && ts.type != SS_JSON_BARE) {
		emit_oddity(reader, SS_ODD_NO_TIME, at_byte);
		return false;
	}
	if (ss_number_ns(ts.text, ts.length, out))
		return true;
	emit_oddity(reader,
		    ss_number_double(ts.text, ts.length, &far) ? SS_ODD_TIME_RANGE : SS_ODD_NO_TIME,
		    at_byte);
	return false;
}

/* The event's duration; false, and counted, if it is impossible. */
static bool emit_read_duration(struct ss_reader *reader, int64_t at_byte, int64_t *out)
{
	const struct ss_json_span dur = ss_args_span(&reader->args, SS_FIELD_DUR);
	double far;

	*out = 0;
	if (dur.type == SS_JSON_NONE) {
		emit_oddity(reader, SS_ODD_NO_DURATION, at_byte);
		return true;
	}
	if (!ss_number_ns(dur.text, dur.length, out)) {
		bool is_number = ss_number_double(dur.text, dur.length, &far);

		*out = 0;
		emit_oddity(reader,
			    !is_number ? SS_ODD_NUMBER
			    : far > 0  ? SS_ODD_ABSURD_DURATION
				       : SS_ODD_NEGATIVE_DURATION,
			    at_byte);
		return !is_number || far <= 0;
	}
	if (*out > SS_SLICE_NS_MAX) {
		emit_oddity(reader, SS_ODD_ABSURD_DURATION, at_byte);
		return false;
	}
	if (*out < 0) {
		emit_oddity(reader, SS_ODD_NEGATIVE_DURATION, at_byte);
		*out = 0;
	}
	return true;
}

static uint32_t emit_op_args(struct ss_reader *reader)
{
	const uint64_t texts = (uint64_t)1 << SS_ARG_INPUT_DIMS | (uint64_t)1 << SS_ARG_INPUT_TYPE |
			       (uint64_t)1 << SS_ARG_INPUT_STRIDES |
			       (uint64_t)1 << SS_ARG_CONCRETE_INPUTS |
			       (uint64_t)1 << SS_ARG_CALL_STACK | (uint64_t)1 << SS_ARG_MODULE |
			       (uint64_t)1 << SS_ARG_KERNEL_FILE |
			       (uint64_t)1 << SS_ARG_KERNEL_KWARGS;
	struct ss_op_args args;

	if (!(reader->args.seen & texts))
		return SS_NO_ARGS;
	args = (struct ss_op_args){
		.input_dims = ss_lookup_arg_text(reader, SS_ARG_INPUT_DIMS),
		.input_types = ss_lookup_arg_text(reader, SS_ARG_INPUT_TYPE),
		.input_strides = ss_lookup_arg_text(reader, SS_ARG_INPUT_STRIDES),
		.concrete_inputs = ss_lookup_arg_text(reader, SS_ARG_CONCRETE_INPUTS),
		.call_stack = ss_lookup_arg_text(reader, SS_ARG_CALL_STACK),
		.module = ss_lookup_arg_text(reader, SS_ARG_MODULE),
		.kernel_file = ss_lookup_arg_text(reader, SS_ARG_KERNEL_FILE),
		.kernel_kwargs = ss_lookup_arg_text(reader, SS_ARG_KERNEL_KWARGS),
	};
	return ss_batch_record(&reader->batch, &reader->batch.op_args, &args);
}

/* Reads the launch configuration from its numbers; -1 and NaN where they are not recorded. */
static uint32_t emit_kernel_record(struct ss_reader *reader)
{
	struct ss_kernel_args args;
	uint32_t odd_numbers = 0;

	ss_args_fill_kernel(&reader->args, &args, &odd_numbers);
	reader->kernel_odd = odd_numbers > 0;
	ss_quality_add(&reader->batch.quality, SS_ODD_NUMBER, odd_numbers);
	return ss_batch_record(&reader->batch, &reader->batch.kernel_args, &args);
}

/*
 * The record of a launch configuration. Its ten numbers are the same for every
 * launch of a kernel in a loop, so their text is looked up before they are read.
 */
static uint32_t emit_kernel_args(struct ss_reader *reader)
{
	char text[256];
	size_t length = 0;
	uint32_t known = reader->kernel_texts.count, id, record;

	for (int arg = SS_ARG_GRID; arg <= SS_ARG_GRAPH_NODE; arg++) {
		const struct ss_json_span span = ss_args_span(&reader->args, (enum ss_arg)arg);

		if (length + span.length + 2 > sizeof(text))
			return emit_kernel_record(reader);
		if (span.length)
			memcpy(text + length, span.text, span.length);
		length += span.length;
		text[length++] = (char)('0' + span.type);
	}
	id = ss_strings_find(&reader->kernel_texts, text, length);
	if (id != SS_NO_ID)
		return reader->kernel_records[id];
	record = emit_kernel_record(reader);
	/* values that are not numbers are counted each time, so they are read each time */
	if (reader->kernel_odd || record == SS_NO_ID)
		return record;
	id = ss_strings_add(&reader->kernel_texts, text, length);
	if (id == SS_NO_ID ||
	    !SS_GROW(reader->memory, reader->kernel_records, reader->kernel_capacity, known)) {
		reader->batch.out_of_memory = true;
		return record;
	}
	reader->kernel_records[id] = record;
	return record;
}

static uint32_t emit_copy_args(struct ss_reader *reader)
{
	struct ss_copy_args args = { emit_read_number(reader, SS_ARG_BYTES, -1) };

	return ss_batch_record(&reader->batch, &reader->batch.copy_args, &args);
}

static void emit_comm(struct ss_reader *reader, uint32_t event)
{
	struct ss_comm_args args;
	uint32_t odd_numbers = 0;

	ss_args_fill_comm(&reader->args, &args, &odd_numbers);
	ss_quality_add(&reader->batch.quality, SS_ODD_NUMBER, odd_numbers);
	args.collective = ss_lookup_arg_text(reader, SS_ARG_COLLECTIVE);
	args.dtype = ss_lookup_arg_text(reader, SS_ARG_DTYPE);
	args.group_name = ss_lookup_arg_text(reader, SS_ARG_GROUP_NAME);
	args.group_description = ss_lookup_arg_text(reader, SS_ARG_GROUP_DESCRIPTION);
	args.group_ranks = ss_lookup_arg_text(reader, SS_ARG_GROUP_RANKS);
	args.in_split = ss_lookup_arg_text(reader, SS_ARG_IN_SPLIT);
	args.out_split = ss_lookup_arg_text(reader, SS_ARG_OUT_SPLIT);
	if (!SS_BATCH_RESERVE(&reader->batch, comms))
		return;
	reader->batch.comms[reader->batch.comms_count++] = (struct ss_event_comm){
		.event = event,
		.args = ss_batch_record(&reader->batch, &reader->batch.comm_args, &args),
		.sequence = emit_read_number(reader, SS_ARG_SEQ, -1),
	};
}

static void emit_sequence(struct ss_reader *reader, uint32_t event)
{
	int64_t sequence = emit_read_number(reader, SS_ARG_SEQUENCE, -1);

	if (sequence < 0 || !SS_BATCH_RESERVE(&reader->batch, sequences))
		return;
	reader->batch.sequences[reader->batch.sequences_count++] = (struct ss_event_sequence){
		.event = event,
		.fwd_thread = (uint32_t)emit_read_number(reader, SS_ARG_FWD_THREAD, 0),
		.sequence = sequence,
	};
}

static void emit_sync(struct ss_reader *reader, uint32_t event)
{
	if (!SS_BATCH_RESERVE(&reader->batch, syncs))
		return;
	reader->batch.syncs[reader->batch.syncs_count++] = (struct ss_event_sync){
		.event = event,
		.stream = emit_read_number(reader, SS_ARG_STREAM, -1),
		.wait_stream = emit_read_number(reader, SS_ARG_WAIT_STREAM, -1),
		.wait_correlation = emit_read_number(reader, SS_ARG_WAIT_CORRELATION, -1),
	};
}

/* --- custom arguments: no view uses them, they are shown with their event --------------- */

/* Puts text into the batch; false: no memory. */
static bool others_add_text(struct ss_reader *reader, const char *text, size_t length)
{
	struct ss_batch *batch = &reader->batch;

	if (!ss_memory_reserve(reader->memory, (void **)&batch->other_text,
			       &batch->other_text_capacity,
			       (size_t)batch->other_text_count + length, 1)) {
		reader->batch.out_of_memory = true;
		return false;
	}
	memcpy(batch->other_text + batch->other_text_count, text, length);
	batch->other_text_count += (uint32_t)length;
	return true;
}

/* The same with escapes resolved, as people read it. */
static bool others_add_span(struct ss_reader *reader, const struct ss_json_span *span)
{
	struct ss_batch *batch = &reader->batch;
	uint32_t at = batch->other_text_count;

	if (!others_add_text(reader, span->text, span->length))
		return false;
	if (span->escaped)
		batch->other_text_count = at + (uint32_t)ss_json_text(span, batch->other_text + at);
	return true;
}

/* Moves to the object of the arguments; false: there is none. */
static bool others_find_args(const struct ss_event_fields *fields, struct ss_json *json)
{
	struct ss_json_span key, value;

	if (fields->args) {
		json->at = fields->args;
		return *json->at == '{';
	}
	json->at = fields->start + 1;
	for (bool first = true;; first = false) {
		if (ss_json_key(json, first, &key) != SS_JSON_OK || key.type == SS_JSON_NONE)
			return false;
		if (ss_json_is(&key, "args"))
			return *json->at == '{';
		if (ss_json_value(json, &value) != SS_JSON_OK)
			return false;
	}
}

/* Keeps arguments that no view uses as text, to be shown with their event. */
static void emit_others(struct ss_reader *reader, const struct ss_event_fields *fields,
			uint32_t index)
{
	struct ss_json json = { .end = fields->end, .whole = true, .careful = true };
	struct ss_event_other other = { index, reader->batch.other_text_count, 0 };
	struct ss_json_span key, value;

	if (!others_find_args(fields, &json))
		return;
	json.at++;
	for (bool first = true;; first = false) {
		if (ss_json_key(&json, first, &key) != SS_JSON_OK || key.type == SS_JSON_NONE ||
		    ss_json_value(&json, &value) != SS_JSON_OK)
			break;
		if (ss_arg_find(&reader->index, &key) != SS_ARG_OTHER)
			continue;
		if (!others_add_span(reader, &key) ||
		    !others_add_text(reader, SS_OTHER_IS, strlen(SS_OTHER_IS)) ||
		    !others_add_span(reader, &value) ||
		    !others_add_text(reader, SS_OTHER_END, strlen(SS_OTHER_END)))
			return;
	}
	other.length = reader->batch.other_text_count - other.from;
	if (other.length && SS_BATCH_RESERVE(&reader->batch, others))
		reader->batch.others[reader->batch.others_count++] = other;
}

/* --- events --------------------------------------------------------------------------- */

/* What calls and device work have in common; some writers have it as External id on both. */
static int64_t emit_correlation(struct ss_reader *reader)
{
	return emit_read_number(reader,
				ss_args_have(&reader->args, SS_ARG_CORRELATION)
					? SS_ARG_CORRELATION
					: SS_ARG_EXTERNAL_ID,
				0);
}

/* The arguments of a complete event, by its kind. */
static void emit_args(struct ss_reader *reader, const struct ss_event_fields *fields,
		      struct ss_event *event, uint32_t index)
{
	const struct ss_arg_values *args = &reader->args;

	switch ((enum ss_kind)event->kind) {
	case SS_KIND_OP:
	case SS_KIND_ANNOTATION:
		event->id = emit_read_number(reader, SS_ARG_EXTERNAL_ID, 0);
		event->args = emit_op_args(reader);
		if (ss_args_have(args, SS_ARG_SEQUENCE))
			emit_sequence(reader, index);
		break;
	case SS_KIND_RUNTIME:
	case SS_KIND_DRIVER:
		event->id = emit_correlation(reader);
		if (ss_args_have(args, SS_ARG_GRID))
			event->args = emit_kernel_args(reader);
		break;
	case SS_KIND_KERNEL:
		event->id = emit_correlation(reader);
		event->args = emit_kernel_args(reader);
		break;
	case SS_KIND_MEMCPY:
	case SS_KIND_MEMSET:
		event->id = emit_correlation(reader);
		event->args = emit_copy_args(reader);
		break;
	case SS_KIND_SYNC:
		event->id = emit_correlation(reader);
		emit_sync(reader, index);
		break;
	default:
		break;
	}
	if (ss_args_have(args, SS_ARG_COLLECTIVE))
		emit_comm(reader, index);
	if (ss_args_have(args, SS_ARG_OTHER))
		emit_others(reader, fields, index);
}

/*
 * The autograd profiler without Kineto writes no categories: there the process says where an event
 * ran (torch/autograd/profiler_util.py, export_chrome_trace).
 */
static uint8_t emit_kind_by_process(struct ss_reader *reader)
{
	static const char host[] = "CPU functions", device[] = "CUDA functions";
	const struct ss_json_span pid = ss_args_span(&reader->args, SS_FIELD_PID);

	if (pid.length == strlen(host) && memcmp(pid.text, host, pid.length) == 0)
		return SS_KIND_OP;
	if (pid.length == strlen(device) && memcmp(pid.text, device, pid.length) == 0)
		return SS_KIND_KERNEL;
	return SS_KIND_OTHER;
}

/* Name, category and kind; every event has them. */
static void emit_id(struct ss_reader *reader, const struct ss_event_fields *fields,
		    uint32_t *category, uint8_t *kind, uint32_t *name)
{
	*category = fields->category;
	*name = ss_lookup_name(reader);
	*kind = (uint8_t)ss_batch_kind(&reader->batch, *category, *name);
	if (!reader->batch.category_names.items[*category].length)
		*kind = emit_kind_by_process(reader);
	if (*name == 0 && fields->phase != 'E')
		ss_quality_add(&reader->batch.quality, SS_ODD_NO_NAME, 1);
}

/* An event with a start and a duration: a slice. */
static void emit_complete(struct ss_reader *reader, const struct ss_event_fields *fields,
			  int64_t at_byte)
{
	struct ss_event event = { .args = SS_NO_ARGS };
	uint32_t index = reader->batch.events_count;

	emit_id(reader, fields, &event.category, &event.kind, &event.name);
	reader->batch.categories[event.category].events++;
	if (event.kind == SS_KIND_OTHER && !reader->batch.categories[event.category].meaning.name)
		emit_oddity(reader, SS_ODD_UNKNOWN_CATEGORY, at_byte);
	if (!ss_args_have(&reader->args, SS_FIELD_PID) ||
	    !ss_args_have(&reader->args, SS_FIELD_TID))
		emit_oddity(reader, SS_ODD_NO_TRACK, at_byte);
	if (!emit_read_time(reader, at_byte, &event.start_ns) ||
	    !emit_read_duration(reader, at_byte, &event.dur_ns)) {
		ss_batch_note_category(&reader->batch, event.category);
		return;
	}
	if (event.start_ns == 0 && event.dur_ns == 0 && ss_kind_on_device(event.kind)) {
		emit_oddity(reader, SS_ODD_UNTIMED_DEVICE_EVENT, at_byte);
		ss_batch_note_category(&reader->batch, event.category);
		return;
	}
	if (!SS_BATCH_RESERVE(&reader->batch, events))
		return;
	event.track = ss_lookup_track(reader, ss_kind_track(event.kind));
	if (fields->has_args)
		emit_args(reader, fields, &event, index);
	reader->batch.events[index] = event;
	reader->batch.events_count++;
}

static void emit_allocation(struct ss_reader *reader, int64_t start_ns, bool out_of_memory)
{
	struct ss_allocation allocation = {
		.start_ns = start_ns,
		.address = emit_read_number(reader, SS_ARG_MEMORY_ADDRESS, 0),
		.bytes = emit_read_number(reader, SS_ARG_MEMORY_BYTES, 0),
		.allocated_bytes = emit_read_number(reader, SS_ARG_MEMORY_ALLOCATED, -1),
		.reserved_bytes = emit_read_number(reader, SS_ARG_MEMORY_RESERVED, -1),
		.track = ss_lookup_track(reader, SS_TRACK_HOST),
		.device_id = (int16_t)emit_read_number(reader, SS_ARG_MEMORY_DEVICE_ID, -1),
		.device_type = (uint8_t)emit_read_number(reader, SS_ARG_MEMORY_DEVICE_TYPE, 0),
		.out_of_memory = out_of_memory,
	};

	ss_batch_add_allocation(&reader->batch, &allocation);
}

/* A moment, or a memory event, which has the same phase. */
static void emit_instant(struct ss_reader *reader, const struct ss_event_fields *fields,
			 int64_t at_byte)
{
	struct ss_event event = { .args = SS_NO_ARGS };
	uint32_t flags;

	emit_id(reader, fields, &event.category, &event.kind, &event.name);
	if (reader->batch.out_of_memory || !emit_read_time(reader, at_byte, &event.start_ns))
		return;
	flags = reader->batch.name_flags[event.name];
	if (fields->has_args && (flags & (SS_NAME_MEMORY | SS_NAME_OUT_OF_MEMORY))) {
		emit_allocation(reader, event.start_ns, flags & SS_NAME_OUT_OF_MEMORY);
		return;
	}
	event.kind = SS_KIND_INSTANT;
	event.track = ss_lookup_track(reader,
				      flags & SS_NAME_WINDOW ? SS_TRACK_PROFILER : SS_TRACK_HOST);
	if (SS_BATCH_RESERVE(&reader->batch, events))
		reader->batch.events[reader->batch.events_count++] = event;
}

static void emit_flow(struct ss_reader *reader, const struct ss_event_fields *fields,
		      int64_t at_byte)
{
	bool is_arrow = reader->batch.categories[fields->category].is_arrow;
	struct ss_flow_end flow = { .arrives = fields->phase == 'f', .is_edge = !is_arrow };

	/* launches are known by their correlation, so their arrows are not kept */
	if (!ss_args_have(&reader->args, SS_FIELD_ID) ||
	    !ss_json_i64(&reader->args.values[SS_FIELD_ID], &flow.id) ||
	    (!is_arrow && flow.id < SS_GRAPH_EDGE_ID_MIN) ||
	    !emit_read_time(reader, at_byte, &flow.start_ns))
		return;
	flow.track = ss_lookup_track(reader, is_arrow ? SS_TRACK_HOST : SS_TRACK_DEVICE);
	ss_batch_add_flow(&reader->batch, &flow);
}

/* A begin or an end; async ones belong together by category and id. */
static void emit_mark(struct ss_reader *reader, const struct ss_event_fields *fields,
		      int64_t at_byte)
{
	bool async = fields->phase != 'B' && fields->phase != 'E';
	struct ss_mark mark = {
		.ends = fields->phase == 'E' || fields->phase == 'e' || fields->phase == 'F',
	};

	emit_id(reader, fields, &mark.category, &mark.kind, &mark.name);
	if (async) {
		const struct ss_string *category =
			&reader->batch.category_names.items[fields->category];
		const struct ss_json_span id = ss_args_span(&reader->args, SS_FIELD_ID);

		mark.key = ss_hash_bytes(category->text, category->length);
		mark.key = ss_hash_mix(mark.key, ss_hash_bytes(id.text, id.length));
		mark.key |= 1; /* 0 means: those of one track */
		mark.kind = SS_KIND_ASYNC;
	}
	if (!emit_read_time(reader, at_byte, &mark.start_ns))
		return;
	mark.track = ss_lookup_track(reader, ss_kind_track(mark.kind));
	ss_batch_add_mark(&reader->batch, &mark);
}

/* Each key of the arguments is a series. */
static void emit_counter(struct ss_reader *reader, const struct ss_event_fields *fields,
			 int64_t at_byte)
{
	struct ss_json json = { .at = fields->args, .whole = true, .careful = true };
	struct ss_json_span key, value;
	struct ss_counter counter = { 0 };

	if (!fields->args || *fields->args != '{' ||
	    !emit_read_time(reader, at_byte, &counter.start_ns))
		return;
	counter.name = ss_lookup_name(reader);
	json.end = fields->end;
	json.at++;
	for (bool first = true;; first = false) {
		if (ss_json_key(&json, first, &key) != SS_JSON_OK || key.type == SS_JSON_NONE ||
		    ss_json_value(&json, &value) != SS_JSON_OK)
			return;
		if (!ss_number_double(value.text, value.length, &counter.value)) {
			emit_oddity(reader, SS_ODD_NUMBER, at_byte);
			continue;
		}
		counter.series = ss_lookup_series(reader, &key);
		ss_batch_add_counter(&reader->batch, &counter);
	}
}

static void emit_meta(struct ss_reader *reader, const struct ss_event_fields *fields,
		      int64_t at_byte)
{
	const struct ss_json_span name = ss_args_span(&reader->args, SS_FIELD_NAME);
	struct ss_meta meta = { 0 };

	(void)at_byte;
	if (ss_json_is(&name, "process_name"))
		meta.what = SS_META_PROCESS_NAME;
	else if (ss_json_is(&name, "thread_name"))
		meta.what = SS_META_THREAD_NAME;
	else
		return;
	if (!fields->has_args || !ss_args_have(&reader->args, SS_ARG_META_NAME))
		return;
	ss_lookup_id(reader, SS_FIELD_PID, &meta.pid, &meta.pid_text);
	if (meta.what == SS_META_THREAD_NAME)
		ss_lookup_id(reader, SS_FIELD_TID, &meta.tid, &meta.tid_text);
	meta.text = ss_lookup_arg_text(reader, SS_ARG_META_NAME);
	ss_batch_add_meta(&reader->batch, &meta);
}

/*
 * Phases that are known but contain nothing to keep. An event with a duration, or with a category
 * of the profiler, has a damaged phase.
 */
static void emit_ignored(struct ss_reader *reader, const struct ss_event_fields *fields,
			 int64_t at_byte)
{
	if (ss_args_have(&reader->args, SS_FIELD_DUR) ||
	    reader->batch.categories[fields->category].meaning.kind != SS_KIND_OTHER)
		emit_oddity(reader, SS_ODD_UNKNOWN_PHASE, at_byte);
}

typedef void emit_function(struct ss_reader *reader, const struct ss_event_fields *fields,
			   int64_t at_byte);

static emit_function *const phases[128] = {
	['X'] = emit_complete,
	['s'] = emit_flow,
	['f'] = emit_flow,
	['i'] = emit_instant,
	['I'] = emit_instant,
	['R'] = emit_instant,
	['B'] = emit_mark,
	['E'] = emit_mark,
	['b'] = emit_mark,
	['e'] = emit_mark,
	['S'] = emit_mark,
	['F'] = emit_mark,
	['C'] = emit_counter,
	['M'] = emit_meta,
	/* flow steps, async instants, objects, memory dumps, samples */
	['t'] = emit_ignored,
	['n'] = emit_ignored,
	['T'] = emit_ignored,
	['p'] = emit_ignored,
	['N'] = emit_ignored,
	['O'] = emit_ignored,
	['D'] = emit_ignored,
	['v'] = emit_ignored,
	['V'] = emit_ignored,
	['c'] = emit_ignored,
	['('] = emit_ignored,
	[')'] = emit_ignored,
	['P'] = emit_ignored,
};

void ss_reader_emit(struct ss_reader *reader, const struct ss_event_fields *fields, int64_t at_byte)
{
	unsigned char phase = (unsigned char)fields->phase;

	if (reader->batch.out_of_memory)
		return;
	if (!phase) {
		emit_oddity(reader, SS_ODD_NO_PHASE, at_byte);
		return;
	}
	reader->batch.phase_events[phase & 127]++;
	if (phase < 128 && phases[phase])
		phases[phase](reader, fields, at_byte);
	else
		emit_oddity(reader, SS_ODD_UNKNOWN_PHASE, at_byte);
}
