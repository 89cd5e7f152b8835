/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - JSON of rocprofv3 (rocprofv3 --output-format json): one object per process, with lists
 * of records and, beside them, the names that their numbers stand for.
 *
 * The names can stand behind the records, so the text is kept until it is read. Of the metadata
 * only the process id is taken: command, host and configuration stay in the file.
 */
#include <string.h>

#include "read/json.h"
#include "trace/rocprof/rocprof.h"

/* --- values ---------------------------------------------------------------------------------- */

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
	struct ss_json json = ss_json_inside(object, false);
	struct ss_json_span key, value;
	bool first = true;

	while (object->type == SS_JSON_OBJECT && json_next(&json, &first, &key, &value))
		if (ss_json_is(&key, name))
			return value;
	return (struct ss_json_span){ 0 };
}

/* --- rows ------------------------------------------------------------------------------------ */

struct json_row {
	struct ss_database_row row;
	const char *columns;   /* "kind correlation_id.internal": members of members */
	struct ss_arena texts; /* without their escapes */
	bool failed;           /* no memory */
};

/* Objects in one another: dispatch_info.agent_id.handle. */
#define PATH_DEPTH_MAX 3
#define PATH_BYTES_MAX 64

static void json_set_cell(struct json_row *out, struct ss_database_cell *cell,
			  const struct ss_json_span *value)
{
	char *text;

	cell->is_number = value->type == SS_JSON_BARE && ss_json_i64(value, &cell->number);
	if (value->type == SS_JSON_BARE)
		return;
	cell->text = value->text;
	cell->length = value->length;
	if (!value->escaped)
		return;
	text = ss_arena_alloc(&out->texts, value->length, 1);
	out->failed |= !text;
	cell->length = text ? ss_json_text(value, text) : 0;
	cell->text = text;
}

/* Fills the cells of an object's members, whose names begin with `path`. */
static void json_fill(struct json_row *out, const struct ss_json_span *object, char *path,
		      size_t path_length, int depth)
{
	struct ss_json json = ss_json_inside(object, false);
	struct ss_json_span key, value;
	bool first = true;

	while (json_next(&json, &first, &key, &value)) {
		size_t length = path_length + key.length, word;
		const char *at = out->columns;

		if (length + 2 > PATH_BYTES_MAX)
			continue;
		memcpy(path + path_length, key.text, key.length);
		if (value.type == SS_JSON_OBJECT && depth < PATH_DEPTH_MAX) {
			path[length] = '.';
			json_fill(out, &value, path, length + 1, depth + 1);
			continue;
		}
		for (int i = 0; *at; i++, at += word + (at[word] == ' ')) {
			word = strcspn(at, " ");
			if (word == length && memcmp(at, path, length) == 0)
				json_set_cell(out, &out->row.cells[i], &value);
		}
	}
}

/* Visits the items of the array `list`; objects are rows, others have one cell. */
static enum ss_status json_each(struct ss_import *import, const struct ss_json_span *list,
				const char *columns, ss_database_visit *visit, struct ss_error *err)
{
	struct ss_json json = ss_json_inside(list, false);
	enum ss_status status = SS_OK;
	struct ss_json_span item;
	bool more = list->type == SS_JSON_ARRAY;
	char path[PATH_BYTES_MAX];

	for (bool first = true; more && status == SS_OK; first = false) {
		struct json_row out = { .columns = columns };

		if (ss_json_item(&json, first, &more) != SS_JSON_OK ||
		    (more && ss_json_value(&json, &item) != SS_JSON_OK)) {
			ss_quality_add(&import->batch.quality, SS_ODD_BAD_EVENT, 1);
			return SS_OK;
		}
		if (!more)
			break;
		ss_arena_init(&out.texts, import->memory);
		if (item.type == SS_JSON_OBJECT)
			json_fill(&out, &item, path, 0, 0);
		else
			json_set_cell(&out, &out.row.cells[0], &item);
		status = out.failed ? ss_fail_memory(err, "the names of the events")
				    : ss_import_take(import, visit, &out.row, err);
		ss_arena_release(&out.texts);
	}
	return status;
}

/* --- names ----------------------------------------------------------------------------------- */

static enum ss_status json_add_name(struct ss_import *import, enum rocprof_names list, int64_t key,
				    const struct ss_database_row *row, int column,
				    struct ss_error *err)
{
	size_t length;
	const char *text = ss_database_text(row, column, &length);

	return ss_import_add_text(import, (int)list, key, text, length, err);
}

static enum ss_status json_take_kernel(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	return json_add_name(context, ROCPROF_KERNELS, ss_database_number(row, 0, -1), row,
			     ss_database_is_null(row, 1) ? 2 : 1, err);
}

static enum ss_status json_take_message(void *context, const struct ss_database_row *row,
					struct ss_error *err)
{
	return json_add_name(context, ROCPROF_MESSAGES, ss_database_number(row, 0, -1), row, 1,
			     err);
}

/* An operation of the API that was added last: they are numbered as they stand. */
static enum ss_status json_take_operation(void *context, const struct ss_database_row *row,
					  struct ss_error *err)
{
	struct rocprof_load *rocprof = ((struct ss_import *)context)->own;

	return json_add_name(context, ROCPROF_OPERATIONS,
			     (rocprof->apis - 1) << 32 | rocprof->operations++, row, 0, err);
}

static enum ss_status json_take_api(void *context, const struct ss_database_row *row,
				    struct ss_error *err)
{
	struct rocprof_load *rocprof = ((struct ss_import *)context)->own;
	struct ss_json_span list = { .text = row->cells[1].text,
				     .length = (uint32_t)row->cells[1].length,
				     .type = SS_JSON_ARRAY };

	/* more kinds than any version has would not fit into the keys */
	if (rocprof->apis == INT16_MAX)
		return SS_OK;
	rocprof->operations = 0;
	SS_TRY(json_add_name(context, ROCPROF_APIS, rocprof->apis++, row, 0, err));
	return list.length && list.text[0] == '['
		       ? json_each(context, &list, "", json_take_operation, err)
		       : SS_OK;
}

/* --- a file ---------------------------------------------------------------------------------- */

#define TIMES "start_timestamp end_timestamp "
#define DEVICE "stream_id.handle dispatch_info.queue_id.handle correlation_id.internal "
#define CALL TIMES "thread_id operation correlation_id.internal kind"

/* What is read of a process, in this order. */
static const struct {
	const char *object, *list; /* "": of the process itself */
	const char *columns;
	ss_database_visit *take;
} lists[] = {
	{ "", "agents", "id.handle type logical_node_type_id node_id product_name name cu_count",
	  rocprof_take_agent },
	{ "", "kernel_symbols", "kernel_id formatted_kernel_name kernel_name", json_take_kernel },
	{ "strings", "buffer_records", "kind operations", json_take_api },
	{ "strings", "marker_api", "key value", json_take_message },
	{ "buffer_records", "kernel_dispatch",
	  TIMES "dispatch_info.agent_id.handle " DEVICE
		"dispatch_info.kernel_id dispatch_info.group_segment_size "
		"dispatch_info.grid_size.x dispatch_info.grid_size.y dispatch_info.grid_size.z "
		"dispatch_info.workgroup_size.x dispatch_info.workgroup_size.y "
		"dispatch_info.workgroup_size.z",
	  rocprof_take_dispatch },
	{ "buffer_records", "memory_copy",
	  TIMES "dst_agent_id.handle " DEVICE "operation bytes src_agent_id.handle kind",
	  rocprof_take_copy },
	{ "buffer_records", "hip_api", CALL, rocprof_take_region },
	{ "buffer_records", "hsa_api", CALL, rocprof_take_region },
	{ "buffer_records", "marker_api", CALL, rocprof_take_region },
	{ "buffer_records", "rccl_api", CALL, rocprof_take_region },
};

static enum ss_status json_read_process(struct rocprof_load *rocprof,
					const struct ss_json_span *process, struct ss_error *err)
{
	struct ss_json_span object = *process, found = json_member(process, "metadata");
	const char *within = "";

	found = json_member(&found, "pid");
	rocprof->pid = 0;
	if (found.type == SS_JSON_BARE && !ss_json_i64(&found, &rocprof->pid))
		rocprof->pid = 0;
	rocprof->apis = 0;
	for (size_t i = 0; i < SS_COUNT(lists); i++) {
		if (strcmp(within, lists[i].object) != 0)
			object = json_member(process, lists[i].object);
		within = lists[i].object;
		found = json_member(&object, lists[i].list);
		SS_TRY(json_each(rocprof->import, &found, lists[i].columns, lists[i].take, err));
	}
	return SS_OK;
}

/* The file: an object with one member, the list of processes. */
static enum ss_status json_read_text(struct rocprof_load *rocprof, const struct ss_whole_file *file,
				     struct ss_error *err)
{
	struct ss_json json = { .at = file->text, .end = file->text + file->length, .whole = true };
	struct ss_json_span key, value;
	bool more = true;

	if (file->length > UINT32_MAX)
		return ss_fail(err, SS_ERR_LIMIT,
			       "JSON of rocprofv3 is read up to 4 GiB: record with 'rocprofv3 "
			       "--output-format rocpd' and pass that file");
	if (ss_json_expect(&json, '{') != SS_JSON_OK ||
	    ss_json_key(&json, true, &key) != SS_JSON_OK ||
	    ss_json_value(&json, &value) != SS_JSON_OK)
		return ss_fail(err, SS_ERR_FORMAT,
			       "it is JSON of rocprofv3 that is cut or damaged: copy it again");
	rocprof->import->builder.trace->file_bytes = file->length;
	json = ss_json_inside(&value, false);
	/* more processes than a machine runs would not fit into the ids */
	for (; rocprof->part < INT16_MAX; rocprof->part++) {
		if (ss_json_item(&json, !rocprof->part, &more) != SS_JSON_OK || !more ||
		    ss_json_value(&json, &value) != SS_JSON_OK)
			break;
		SS_TRY(json_read_process(rocprof, &value, err));
		rocprof_clear(rocprof);
	}
	return SS_OK;
}

static enum ss_status json_read(struct ss_import *import, struct ss_error *err)
{
	struct rocprof_load rocprof = { .import = import };
	struct ss_whole_file file = { .memory = import->memory };
	enum ss_status status = ss_source_read_whole(import->source, &file, err);

	import->own = &rocprof;
	if (status == SS_OK)
		status = json_read_text(&rocprof, &file, err);
	rocprof_clear(&rocprof);
	import->own = NULL;
	ss_whole_file_release(&file);
	return status;
}

static enum ss_status rocprof_load_json(struct ss_source *source,
					const struct ss_load_options *options, struct ss_trace *out,
					struct ss_error *err)
{
	return ss_import_load(source, options, json_read, out, err);
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
	.load = rocprof_load_json,
};
