/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - JSON of rocprofv3 (rocprofv3 --output-format json): one object per process, with lists
 * of records and, beside them, the names that their numbers stand for.
 *
 * The names can stand behind the records, so the text is kept until it is read. Of the metadata
 * only the process id is taken: command, host and configuration stay in the file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "trace/builder.h"
#include "trace/finish/finish.h"
#include "trace/formats.h"
#include "trace/rocprof/rocprof.h"

#define FIRST_BYTES ((size_t)1 << 20)

/* A name of the file by its number. */
struct json_name {
	int64_t key;
	struct ss_json_span text;
};

struct json_names {
	struct json_name *items;
	uint32_t count, capacity;
};

struct rocprof_load {
	struct ss_source *source;
	const struct ss_load_options *options;
	struct ss_memory *memory;
	struct ss_builder builder;
	struct ss_batch batch;
	char *text;
	size_t length, capacity;
	/* of one process */
	int64_t number, pid;
	struct json_names kernels;    /* by kernel_id */
	struct json_names operations; /* by kind << 32 | operation */
	struct json_names apis;       /* by kind */
	struct json_names messages;   /* of markers, by correlation */
	struct ss_records agents;     /* struct json_agent */
	char *name;                   /* without its escapes */
	size_t name_capacity;
};

struct json_agent {
	int64_t handle, index, is_gpu;
};

/* --- values ---------------------------------------------------------------------------------- */

/* What stands behind the bracket; nothing where there is no value. */
static struct ss_json json_inside_span(const struct ss_json_span *span)
{
	if (span->type != SS_JSON_ARRAY && span->type != SS_JSON_OBJECT)
		return (struct ss_json){ .at = "", .end = "", .whole = true };
	return (struct ss_json){ .at = span->text + 1,
				 .end = span->text + span->length,
				 .whole = true };
}

/* The next member of an object; false: the end, or not JSON. */
static bool json_next(struct ss_json *json, bool *first, struct ss_json_span *key,
		      struct ss_json_span *value)
{
	bool is_there = ss_json_key(json, *first, key) == SS_JSON_OK && key->type != SS_JSON_NONE &&
			ss_json_value(json, value) == SS_JSON_OK;

	*first = false;
	return is_there;
}

static struct ss_json_span json_member(const struct ss_json_span *object, const char *name)
{
	struct ss_json json = json_inside_span(object);
	struct ss_json_span key, value;
	bool first = true;

	while (object->type == SS_JSON_OBJECT && json_next(&json, &first, &key, &value))
		if (ss_json_is(&key, name))
			return value;
	return (struct ss_json_span){ 0 };
}

static int64_t json_number(const struct ss_json_span *span, int64_t fallback)
{
	int64_t value;

	return span->type != SS_JSON_NONE && ss_json_i64(span, &value) ? value : fallback;
}

typedef enum ss_status json_visit(struct rocprof_load *load, const struct ss_json_span *item,
				  int64_t index, struct ss_error *err);

static enum ss_status json_each(struct rocprof_load *load, const struct ss_json_span *array,
				json_visit *visit, struct ss_error *err)
{
	struct ss_json json = json_inside_span(array);
	struct ss_json_span item;
	bool more = array->type == SS_JSON_ARRAY;

	for (int64_t index = 0; more; index++) {
		if (ss_json_item(&json, index == 0, &more) != SS_JSON_OK ||
		    (more && ss_json_value(&json, &item) != SS_JSON_OK)) {
			ss_quality_add(&load->batch.quality, SS_ODD_BAD_EVENT, 1);
			return SS_OK;
		}
		if (more)
			SS_TRY(visit(load, &item, index, err));
	}
	return SS_OK;
}

/* --- names ----------------------------------------------------------------------------------- */

static enum ss_status json_add_name(struct rocprof_load *load, struct json_names *names,
				    int64_t key, struct ss_json_span text, struct ss_error *err)
{
	if (text.type != SS_JSON_STRING)
		return SS_OK;
	if (!ss_memory_reserve(load->memory, (void **)&names->items, &names->capacity,
			       (size_t)names->count + 1, sizeof(*names->items)))
		return ss_fail_memory(err, "the names of the events");
	names->items[names->count++] = (struct json_name){ key, text };
	return SS_OK;
}

SS_COMPARATOR(name_compare_key, struct json_name, SS_ASCENDING(key) SS_ASCENDING(text.text))

static void json_sort_names(struct json_names *names)
{
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items), name_compare_key);
}

static struct ss_json_span json_find_name(const struct json_names *names, int64_t key)
{
	uint32_t low = 0, high = names->count;

	SS_SEARCH(low, high, at, names->items[at].key < key);
	return low < names->count && names->items[low].key == key ? names->items[low].text
								  : (struct ss_json_span){ 0 };
}

static enum ss_status json_take_kernel(struct rocprof_load *load, const struct ss_json_span *item,
				       int64_t index, struct ss_error *err)
{
	struct ss_json_span id = json_member(item, "kernel_id");
	struct ss_json_span name = json_member(item, "formatted_kernel_name");

	(void)index;
	if (!name.length)
		name = json_member(item, "kernel_name");
	return json_add_name(load, &load->kernels, json_number(&id, -1), name, err);
}

static enum ss_status json_take_message(struct rocprof_load *load, const struct ss_json_span *item,
					int64_t index, struct ss_error *err)
{
	struct ss_json_span key = json_member(item, "key");

	(void)index;
	return json_add_name(load, &load->messages, json_number(&key, -1),
			     json_member(item, "value"), err);
}

static enum ss_status json_take_operation(struct rocprof_load *load,
					  const struct ss_json_span *item, int64_t index,
					  struct ss_error *err)
{
	/* the kind whose list this is was added last */
	int64_t kind = load->apis.items[load->apis.count - 1].key;

	return json_add_name(load, &load->operations, kind << 32 | index, *item, err);
}

static enum ss_status json_take_api(struct rocprof_load *load, const struct ss_json_span *item,
				    int64_t index, struct ss_error *err)
{
	struct ss_json_span list = json_member(item, "operations"),
			    name = json_member(item, "kind");

	/* more kinds than any version has would not fit into the keys */
	if (name.type != SS_JSON_STRING || index >= INT16_MAX)
		return SS_OK;
	SS_TRY(json_add_name(load, &load->apis, index, name, err));
	return json_each(load, &list, json_take_operation, err);
}

static enum ss_status json_take_agent(struct rocprof_load *load, const struct ss_json_span *item,
				      int64_t index, struct ss_error *err)
{
	struct ss_json_span id = json_member(item, "id"), handle = json_member(&id, "handle");
	struct ss_json_span type = json_member(item, "type"),
			    name = json_member(item, "product_name");
	struct ss_json_span place = json_member(item, "logical_node_type_id");
	struct ss_json_span units = json_member(item, "cu_count");
	struct json_agent agent = { json_number(&handle, -1), json_number(&place, index),
				    json_number(&type, 0) == 2 };
	struct ss_device device = { .id = agent.index, .memory_bytes = -1 };
	int64_t count = json_number(&units, 0);

	if (ss_records_add(&load->agents, &agent) == SS_NO_ID)
		return ss_fail_memory(err, "the devices");
	if (!agent.is_gpu)
		return SS_OK;
	device.multiprocessors = count > 0 && count <= INT32_MAX ? (int32_t)count : 0;
	return ss_builder_text(&load->builder, name.length ? name.text : "", name.length,
			       &device.name) &&
			       ss_builder_add_device(&load->builder, &device)
		       ? SS_OK
		       : ss_fail_memory(err, "the devices");
}

static const struct json_agent *json_find_agent(const struct rocprof_load *load, int64_t handle)
{
	static const struct json_agent none = { -1, 0, 0 };

	for (uint32_t i = 0; i < load->agents.count; i++) {
		const struct json_agent *agent = ss_records_at(&load->agents, i);

		if (agent->handle == handle)
			return agent;
	}
	return &none;
}

/* --- records --------------------------------------------------------------------------------- */

/* Numbers of a record, by the object that holds them and by name. */
enum json_field {
	AT_START,
	AT_END,
	AT_KIND,
	AT_OPERATION,
	AT_THREAD,
	AT_CORRELATION,
	AT_AGENT,
	AT_QUEUE,
	AT_STREAM,
	AT_KERNEL,
	AT_LDS,
	AT_GROUP_X,
	AT_GROUP_Y,
	AT_GROUP_Z,
	AT_GRID_X,
	AT_GRID_Y,
	AT_GRID_Z,
	AT_TO,
	AT_FROM,
	AT_BYTES,
	AT_FIELDS,
};

static const struct {
	const char *object, *name;
} fields[AT_FIELDS] = {
	[AT_START] = { "", "start_timestamp" },
	[AT_END] = { "", "end_timestamp" },
	[AT_KIND] = { "", "kind" },
	[AT_OPERATION] = { "", "operation" },
	[AT_THREAD] = { "", "thread_id" },
	[AT_CORRELATION] = { "correlation_id", "internal" },
	[AT_AGENT] = { "agent_id", "handle" },
	[AT_QUEUE] = { "queue_id", "handle" },
	[AT_STREAM] = { "stream_id", "handle" },
	[AT_KERNEL] = { "dispatch_info", "kernel_id" },
	[AT_LDS] = { "dispatch_info", "group_segment_size" },
	[AT_GROUP_X] = { "workgroup_size", "x" },
	[AT_GROUP_Y] = { "workgroup_size", "y" },
	[AT_GROUP_Z] = { "workgroup_size", "z" },
	[AT_GRID_X] = { "grid_size", "x" },
	[AT_GRID_Y] = { "grid_size", "y" },
	[AT_GRID_Z] = { "grid_size", "z" },
	[AT_TO] = { "dst_agent_id", "handle" },
	[AT_FROM] = { "src_agent_id", "handle" },
	[AT_BYTES] = { "", "bytes" },
};

/* Objects in one another: dispatch_info.agent_id.handle. */
#define RECORD_DEPTH_MAX 3

static void json_read_fields(const struct ss_json_span *object, const struct ss_json_span *within,
			     int depth, int64_t out[AT_FIELDS])
{
	struct ss_json json = json_inside_span(object);
	struct ss_json_span key, value;
	bool first = true;

	while (json_next(&json, &first, &key, &value)) {
		if (value.type == SS_JSON_OBJECT && depth < RECORD_DEPTH_MAX)
			json_read_fields(&value, &key, depth + 1, out);
		for (int i = 0; i < AT_FIELDS; i++)
			if (ss_json_is(&key, fields[i].name) &&
			    ss_json_is(within, fields[i].object))
				out[i] = json_number(&value, out[i]);
	}
}

static void json_set_name(struct rocprof_load *load, const struct ss_json_span *text,
			  struct ss_named_slice *slice)
{
	char *moved;

	slice->name = text->length ? text->text : "";
	slice->name_length = text->length;
	if (!text->escaped)
		return;
	if (text->length > load->name_capacity) {
		moved = ss_memory_resize(load->memory, load->name, load->name_capacity,
					 text->length);
		if (!moved) {
			load->batch.out_of_memory = true;
			return;
		}
		load->name = moved;
		load->name_capacity = text->length;
	}
	slice->name_length = ss_json_text(text, load->name);
	slice->name = load->name;
}

/* A dispatch, a copy or a call: the list that it stands in says which. */
enum json_list { LIST_DISPATCHES, LIST_COPIES, LIST_CALLS };

static void json_describe(struct rocprof_load *load, enum json_list list,
			  const int64_t at[AT_FIELDS], struct ss_named_slice *slice)
{
	const struct json_agent *to = json_find_agent(load, at[AT_TO]);
	struct ss_copy_args copy = { at[AT_BYTES] };
	struct ss_json_span text = json_find_name(&load->operations,
						  at[AT_KIND] << 32 | at[AT_OPERATION]);
	struct ss_json_span api = json_find_name(&load->apis, at[AT_KIND]);
	struct ss_json_span message = json_find_name(&load->messages, at[AT_CORRELATION]);

	slice->tid = at[AT_STREAM] >= 0 ? at[AT_STREAM] : at[AT_QUEUE];
	if (list == LIST_DISPATCHES) {
		text = json_find_name(&load->kernels, at[AT_KERNEL]);
		slice->category = "kernel";
		slice->pid = json_find_agent(load, at[AT_AGENT])->index;
		slice->args = rocprof_kernel_args(&load->batch, &at[AT_GRID_X], &at[AT_GROUP_X],
						  at[AT_LDS]);
		json_set_name(load, &text, slice);
	} else if (list == LIST_COPIES) {
		slice->category = "gpu_memcpy";
		slice->pid = (to->is_gpu ? to : json_find_agent(load, at[AT_FROM]))->index;
		slice->name = rocprof_copy_name(text.length ? text.text : "", text.length);
		slice->name_length = strlen(slice->name);
		slice->args = ss_batch_record(&load->batch, &load->batch.copy_args, &copy);
	} else {
		slice->category = rocprof_category(api.length ? api.text : "", api.length);
		slice->pid = load->pid;
		slice->tid = at[AT_THREAD];
		json_set_name(load, message.length ? &message : &text, slice);
		if (slice->category[0] != 'c')
			slice->id = 0;
	}
}

static enum ss_status json_take_record(struct rocprof_load *load, const struct ss_json_span *item,
				       enum json_list list, struct ss_error *err)
{
	static const struct ss_json_span top = { "", 0, SS_JSON_STRING, 0 };
	int64_t at[AT_FIELDS];
	struct ss_named_slice slice = { .args = SS_NO_ARGS };

	for (int i = 0; i < AT_FIELDS; i++)
		at[i] = -1;
	at[AT_START] = at[AT_END] = INT64_MIN;
	if (item->type == SS_JSON_OBJECT)
		json_read_fields(item, &top, 0, at);
	if (at[AT_KIND] < 0 || at[AT_KIND] > INT16_MAX || at[AT_OPERATION] > INT32_MAX)
		at[AT_KIND] = 0;
	slice.start_ns = at[AT_START];
	slice.end_ns = at[AT_END];
	if (at[AT_CORRELATION] > 0 && at[AT_CORRELATION] <= UINT32_MAX)
		slice.id = load->number << 32 | at[AT_CORRELATION];
	json_describe(load, list, at, &slice);
	ss_batch_add_named(&load->batch, &slice);
	if (load->batch.events_count < 65536 && !load->batch.out_of_memory)
		return SS_OK;
	SS_TRY(ss_builder_add(&load->builder, &load->batch, err));
	return ss_trace_report_load(load->options, load->source, load->builder.trace->event_count,
				    err);
}

static enum ss_status json_take_dispatch(struct rocprof_load *load, const struct ss_json_span *item,
					 int64_t index, struct ss_error *err)
{
	(void)index;
	return json_take_record(load, item, LIST_DISPATCHES, err);
}

static enum ss_status json_take_copy(struct rocprof_load *load, const struct ss_json_span *item,
				     int64_t index, struct ss_error *err)
{
	(void)index;
	return json_take_record(load, item, LIST_COPIES, err);
}

static enum ss_status json_take_call(struct rocprof_load *load, const struct ss_json_span *item,
				     int64_t index, struct ss_error *err)
{
	(void)index;
	return json_take_record(load, item, LIST_CALLS, err);
}

/* --- a file ---------------------------------------------------------------------------------- */

static enum ss_status json_take_process(struct rocprof_load *load, const struct ss_json_span *item,
					int64_t index, struct ss_error *err)
{
	struct ss_json_span metadata = json_member(item, "metadata");
	struct ss_json_span pid = json_member(&metadata, "pid"),
			    strings = json_member(item, "strings");
	struct ss_json_span records = json_member(item, "buffer_records");
	struct ss_json_span apis = json_member(&strings, "buffer_records");
	struct ss_json_span messages = json_member(&strings, "marker_api");
	struct ss_json_span kernels = json_member(item, "kernel_symbols");
	struct ss_json_span agents = json_member(item, "agents");
	const struct {
		const char *name;
		json_visit *take;
	} lists[] = {
		{ "kernel_dispatch", json_take_dispatch },
		{ "memory_copy", json_take_copy },
		{ "hip_api", json_take_call },
		{ "hsa_api", json_take_call },
		{ "marker_api", json_take_call },
		{ "rccl_api", json_take_call },
	};

	load->number = index < INT16_MAX ? index : INT16_MAX;
	load->pid = json_number(&pid, 0);
	load->kernels.count = load->operations.count = load->apis.count = load->messages.count = 0;
	SS_TRY(json_each(load, &agents, json_take_agent, err));
	SS_TRY(json_each(load, &kernels, json_take_kernel, err));
	SS_TRY(json_each(load, &apis, json_take_api, err));
	SS_TRY(json_each(load, &messages, json_take_message, err));
	json_sort_names(&load->kernels);
	json_sort_names(&load->operations);
	json_sort_names(&load->apis);
	json_sort_names(&load->messages);
	for (size_t i = 0; i < SS_COUNT(lists); i++) {
		struct ss_json_span list = json_member(&records, lists[i].name);

		SS_TRY(json_each(load, &list, lists[i].take, err));
	}
	return SS_OK;
}

/* Reads all of it, with the zeros that the cursor needs behind it. */
static enum ss_status rocprof_fill(struct rocprof_load *load, struct ss_error *err)
{
	size_t got = 1;

	while (got) {
		size_t more = load->capacity ? load->capacity : FIRST_BYTES;
		char *moved = ss_memory_resize(load->memory, load->text, load->capacity,
					       load->capacity + more);

		if (!moved)
			return ss_fail_memory(err, "the text of the file");
		load->text = moved;
		load->capacity += more;
		SS_TRY(ss_source_fill(load->source, load->text + load->length,
				      load->capacity - SS_PAD_BYTES - load->length, &got, err));
		load->length += got;
		got = load->length == load->capacity - SS_PAD_BYTES;
	}
	if (load->length > UINT32_MAX)
		return ss_fail(err, SS_ERR_LIMIT,
			       "JSON of rocprofv3 is read up to 4 GiB: record with 'rocprofv3 "
			       "--output-format rocpd' and pass that file");
	memset(load->text + load->length, 0, SS_PAD_BYTES);
	load->builder.trace->file_bytes = load->length;
	return SS_OK;
}

static enum ss_status rocprof_read(struct rocprof_load *load, struct ss_error *err)
{
	struct ss_json json;
	struct ss_json_span key, value;

	SS_TRY(rocprof_fill(load, err));
	json = (struct ss_json){ .at = load->text,
				 .end = load->text + load->length,
				 .whole = true };
	if (ss_json_expect(&json, '{') != SS_JSON_OK ||
	    ss_json_key(&json, true, &key) != SS_JSON_OK ||
	    ss_json_value(&json, &value) != SS_JSON_OK)
		return ss_fail(err, SS_ERR_FORMAT,
			       "it is JSON of rocprofv3 that is cut or damaged: copy it again");
	SS_TRY(json_each(load, &value, json_take_process, err));
	SS_TRY(ss_builder_add(&load->builder, &load->batch, err));
	ss_builder_end_source(&load->builder, load->source);
	return ss_finish(&load->builder, load->options->threads, err);
}

static void rocprof_close(struct rocprof_load *load)
{
	struct json_names *const lists[] = { &load->kernels, &load->operations, &load->apis,
					     &load->messages };

	for (size_t i = 0; i < SS_COUNT(lists); i++)
		ss_memory_free(load->memory, lists[i]->items,
			       (size_t)lists[i]->capacity * sizeof(*lists[i]->items));
	ss_records_release(&load->agents);
	ss_memory_free(load->memory, load->name, load->name_capacity);
	ss_memory_free(load->memory, load->text, load->capacity);
	ss_batch_release(&load->batch);
	ss_builder_release(&load->builder);
}

static enum ss_status rocprof_load(struct ss_source *source, const struct ss_load_options *options,
				   struct ss_trace *out, struct ss_error *err)
{
	struct rocprof_load load = { .source = source, .options = options, .memory = out->memory };
	enum ss_status status = ss_builder_init(&load.builder, out, err);

	if (status == SS_OK &&
	    (!ss_batch_init(&load.batch, out->memory) ||
	     !ss_records_init(&load.agents, out->memory, sizeof(struct json_agent))))
		status = ss_fail_memory(err, "the events");
	if (status == SS_OK)
		status = rocprof_read(&load, err);
	rocprof_close(&load);
	return status;
}

static bool rocprof_matches(const char *bytes, size_t length)
{
	static const char key[] = "\"rocprofiler-sdk-tool\"";
	size_t at = 0;

	while (at < length && bytes[at] && strchr(" \t\r\n{", bytes[at]))
		at++;
	return length - at >= sizeof(key) - 1 && memcmp(bytes + at, key, sizeof(key) - 1) == 0;
}

const struct ss_input_format ss_input_format_rocprof = {
	.matches = rocprof_matches,
	.load = rocprof_load,
};
