/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.c - what the file says about itself, beside its events.
 */
#include "trace/kineto/document.h"

#include <string.h>

#include "trace/select.h"

static enum ss_status metadata_read_text(struct ss_builder *builder,
					 const struct ss_json_span *span, uint32_t *out,
					 struct ss_error *err)
{
	struct ss_memory *memory = builder->trace->memory;
	char *text;
	bool stored;

	if (span->type == SS_JSON_BARE && ss_json_is(span, "null"))
		return SS_OK;
	if (!span->escaped) {
		stored = ss_builder_text(builder, span->text, span->length, out);
		return stored ? SS_OK : ss_fail_memory(err, "the metadata");
	}
	text = ss_memory_resize(memory, NULL, 0, span->length);
	if (!text)
		return ss_fail_memory(err, "the metadata");
	stored = ss_builder_text(builder, text, ss_json_text(span, text), out);
	ss_memory_free(memory, text, span->length);
	return stored ? SS_OK : ss_fail_memory(err, "the metadata");
}

static void metadata_read_number(struct ss_builder *builder, const struct ss_json_span *span,
				 int64_t *out)
{
	int64_t value;

	if (ss_json_i64(span, &value))
		*out = value;
	else if (!ss_json_is(span, "null"))
		ss_quality_add(&builder->trace->quality, SS_ODD_NUMBER, 1);
}

static void metadata_read_number32(struct ss_builder *builder, const struct ss_json_span *span,
				   int32_t *out)
{
	int64_t value = INT64_MIN;

	metadata_read_number(builder, span, &value);
	if (value >= INT32_MIN && value <= INT32_MAX)
		*out = (int32_t)value;
}

static bool metadata_is_on(const struct ss_json_span *span)
{
	int64_t value;

	return ss_json_is(span, "true") || (ss_json_i64(span, &value) && value != 0);
}

/* The next key and value of an object; false at its end, or (counted) where it is not JSON. */
static bool metadata_next_pair(struct ss_builder *builder, struct ss_json *json, bool *first,
			       struct ss_json_span *key, struct ss_json_span *value)
{
	enum ss_json_result result = ss_json_key(json, *first, key);

	*first = false;
	if (result == SS_JSON_OK && key->type == SS_JSON_NONE)
		return false;
	if (result == SS_JSON_OK)
		result = ss_json_value(json, value);
	if (result != SS_JSON_OK)
		ss_quality_add(&builder->trace->quality, SS_ODD_BAD_METADATA, 1);
	return result == SS_JSON_OK;
}

/* The same of an array. */
static bool metadata_next_item(struct ss_builder *builder, struct ss_json *json, bool *first,
			       struct ss_json_span *value)
{
	bool more = false;
	enum ss_json_result result = ss_json_item(json, *first, &more);

	*first = false;
	if (result == SS_JSON_OK && !more)
		return false;
	if (result == SS_JSON_OK)
		result = ss_json_value(json, value);
	if (result != SS_JSON_OK)
		ss_quality_add(&builder->trace->quality, SS_ODD_BAD_METADATA, 1);
	return result == SS_JSON_OK;
}

static enum ss_status metadata_read_device(struct ss_builder *builder,
					   const struct ss_json_span *object, struct ss_error *err)
{
	struct ss_json json = ss_json_inside(object, true);
	struct ss_json_span key, value;
	bool first = true;
	struct ss_device device = { .id = -1, .memory_bytes = -1 };

	while (metadata_next_pair(builder, &json, &first, &key, &value)) {
		if (ss_json_is(&key, "id"))
			metadata_read_number(builder, &value, &device.id);
		else if (ss_json_is(&key, "name"))
			SS_TRY(metadata_read_text(builder, &value, &device.name, err));
		else if (ss_json_is(&key, "totalGlobalMem"))
			metadata_read_number(builder, &value, &device.memory_bytes);
		else if (ss_json_is(&key, "computeMajor"))
			metadata_read_number32(builder, &value, &device.compute_major);
		else if (ss_json_is(&key, "computeMinor"))
			metadata_read_number32(builder, &value, &device.compute_minor);
		else if (ss_json_is(&key, "numSms") || ss_json_is(&key, "maxComputeUnits"))
			metadata_read_number32(builder, &value, &device.multiprocessors);
		else if (ss_json_is(&key, "warpSize"))
			metadata_read_number32(builder, &value, &device.warp_size);
		else if (ss_json_is(&key, "maxThreadsPerMultiprocessor"))
			metadata_read_number32(builder, &value, &device.threads_per_multiprocessor);
	}
	return ss_builder_add_device(builder, &device) ? SS_OK
						       : ss_fail_memory(err, "the metadata");
}

static enum ss_status metadata_read_group(struct ss_builder *builder,
					  const struct ss_json_span *object, struct ss_error *err)
{
	struct ss_trace_info *info = &builder->trace->info;
	struct ss_json json = ss_json_inside(object, true);
	struct ss_json_span key, value;
	bool first = true;
	struct ss_process_group group = { .size = -1 };

	while (metadata_next_pair(builder, &json, &first, &key, &value)) {
		if (ss_json_is(&key, "pg_name") || ss_json_is(&key, "uid"))
			SS_TRY(metadata_read_text(builder, &value, &group.name, err));
		else if (ss_json_is(&key, "pg_desc"))
			SS_TRY(metadata_read_text(builder, &value, &group.description, err));
		else if (ss_json_is(&key, "backend_config") || ss_json_is(&key, "backend_id"))
			SS_TRY(metadata_read_text(builder, &value, &group.backend, err));
		else if (ss_json_is(&key, "ranks"))
			SS_TRY(metadata_read_text(builder, &value, &group.ranks, err));
		else if (ss_json_is(&key, "pg_size"))
			metadata_read_number(builder, &value, &group.size);
	}
	if (!SS_GROW(builder->trace->memory, info->groups, info->group_capacity, info->group_rows))
		return ss_fail_memory(err, "the metadata");
	info->groups[info->group_rows++] = group;
	return SS_OK;
}

/* Calls `read` for every object of an array. */
static enum ss_status metadata_each_object(struct ss_builder *builder,
					   const struct ss_json_span *array,
					   enum ss_status (*read)(struct ss_builder *builder,
								  const struct ss_json_span *object,
								  struct ss_error *err),
					   struct ss_error *err)
{
	struct ss_json json = ss_json_inside(array, true);
	struct ss_json_span value;
	bool first = true;

	if (array->type != SS_JSON_ARRAY)
		return SS_OK;
	while (metadata_next_item(builder, &json, &first, &value)) {
		if (value.type == SS_JSON_OBJECT)
			SS_TRY(read(builder, &value, err));
	}
	return SS_OK;
}

static enum ss_status metadata_read_devices(struct ss_builder *builder,
					    const struct ss_json_span *value, struct ss_error *err)
{
	return metadata_each_object(builder, value, metadata_read_device, err);
}

static enum ss_status metadata_read_distributed(struct ss_builder *builder,
						const struct ss_json_span *object,
						struct ss_error *err)
{
	struct ss_trace_info *info = &builder->trace->info;
	struct ss_json json = ss_json_inside(object, true);
	struct ss_json_span key, value;
	bool first = true;

	if (object->type != SS_JSON_OBJECT)
		return SS_OK;
	while (metadata_next_pair(builder, &json, &first, &key, &value)) {
		if (ss_json_is(&key, "rank"))
			metadata_read_number(builder, &value, &info->rank);
		else if (ss_json_is(&key, "world_size"))
			metadata_read_number(builder, &value, &info->world_size);
		else if (ss_json_is(&key, "pg_count"))
			metadata_read_number(builder, &value, &info->group_count);
		else if (ss_json_is(&key, "backend"))
			SS_TRY(metadata_read_text(builder, &value, &info->backend, err));
		else if (ss_json_is(&key, "nccl_version"))
			SS_TRY(metadata_read_text(builder, &value, &info->nccl_version, err));
		else if (ss_json_is(&key, "pg_config"))
			SS_TRY(metadata_each_object(builder, &value, metadata_read_group, err));
	}
	return SS_OK;
}

/* The writer's log lines; warnings and errors tell of lost events. */
static enum ss_status metadata_read_notes(struct ss_builder *builder,
					  const struct ss_json_span *array, bool warning,
					  struct ss_error *err)
{
	struct ss_trace_info *info = &builder->trace->info;
	struct ss_json json = ss_json_inside(array, true);
	struct ss_json_span value;
	bool first = true;

	json.in_array = true;
	if (array->type != SS_JSON_ARRAY)
		return SS_OK;
	while (metadata_next_item(builder, &json, &first, &value)) {
		info->writer_notes++;
		if (!warning)
			continue;
		ss_quality_add(&builder->trace->quality, SS_ODD_WRITER_WARNING, 1);
		if (!info->first_warning)
			SS_TRY(metadata_read_text(builder, &value, &info->first_warning, err));
	}
	return SS_OK;
}

static enum ss_status metadata_read_info(struct ss_builder *builder,
					 const struct ss_json_span *value, struct ss_error *err)
{
	return metadata_read_notes(builder, value, false, err);
}

static enum ss_status metadata_read_warnings(struct ss_builder *builder,
					     const struct ss_json_span *value, struct ss_error *err)
{
	return metadata_read_notes(builder, value, true, err);
}

/* No slice has more steps: each takes four times. */
#define STEPS_MAX 100000u

/* Steps that were found in the file that this one is a slice of; ignored if they make no sense. */
static enum ss_status metadata_read_steps(struct ss_builder *builder,
					  const struct ss_json_span *array, struct ss_error *err)
{
	struct ss_steps *steps = &builder->trace->steps;
	uint32_t room = array->length / 8 < STEPS_MAX ? array->length / 8 + 1 : STEPS_MAX;
	struct ss_json json = ss_json_inside(array, true);
	int64_t anchor = -1, before_ns = INT64_MIN, times_ns[4];
	struct ss_json_span value;
	bool first = true;

	json.in_array = true;
	if (array->type != SS_JSON_ARRAY || steps->count)
		return SS_OK;
	if (!SS_ALLOC(&builder->trace->arena, steps->items, room))
		return ss_fail_memory(err, "the steps");
	if (metadata_next_item(builder, &json, &first, &value))
		metadata_read_number(builder, &value, &anchor);
	for (uint32_t i = 0; steps->count < room && anchor >= 0 && anchor < SS_STEPS_NONE; i++) {
		if (!metadata_next_item(builder, &json, &first, &value))
			return SS_OK;
		times_ns[i % 4] = INT64_MIN;
		metadata_read_number(builder, &value, &times_ns[i % 4]);
		if (i % 4 < 3)
			continue;
		if (times_ns[0] < before_ns || times_ns[1] < times_ns[0] ||
		    times_ns[3] < times_ns[2] || times_ns[2] == INT64_MIN)
			break;
		before_ns = times_ns[1];
		steps->anchor = (enum ss_step_anchor)anchor;
		steps->items[steps->count++] = (struct ss_step){ .host_start_ns = times_ns[0],
								 .host_end_ns = times_ns[1],
								 .start_ns = times_ns[2],
								 .end_ns = times_ns[3] };
	}
	steps->count = 0;
	ss_quality_add(&builder->trace->quality, SS_ODD_BAD_METADATA, 1);
	return SS_OK;
}

/* A key of the outer object; one of the three says where its value goes. */
static const struct {
	const char *key;
	size_t number; /* offset of an int64_t in struct ss_trace_info, or NONE */
	size_t text;   /* of a text's id */
	size_t flag;   /* of a bool */
	enum ss_status (*read)(struct ss_builder *builder, const struct ss_json_span *value,
			       struct ss_error *err);
} keys[] = {
#define NONE SIZE_MAX
#define NUMBER(key, field)                                                   \
	{                                                                    \
		key, offsetof(struct ss_trace_info, field), NONE, NONE, NULL \
	}
#define TEXT(key, field)                                                     \
	{                                                                    \
		key, NONE, offsetof(struct ss_trace_info, field), NONE, NULL \
	}
#define FLAG(key, field)                                                     \
	{                                                                    \
		key, NONE, NONE, offsetof(struct ss_trace_info, field), NULL \
	}
#define READ(key, read)                     \
	{                                   \
		key, NONE, NONE, NONE, read \
	}
	NUMBER("schemaVersion", schema_version),
	NUMBER("cuda_runtime_version", cuda_runtime),
	NUMBER("cuda_driver_version", cuda_driver),
	NUMBER("cupti_version", cupti),
	NUMBER("hip_runtime_version", hip_runtime),
	NUMBER("baseTimeNanoseconds", base_time_ns),
	TEXT("trace_id", trace_id),
	TEXT("traceName", trace_name),
	FLAG("record_shapes", record_shapes),
	FLAG("profile_memory", profile_memory),
	FLAG("with_stack", with_stack),
	FLAG("with_modules", with_modules),
	FLAG("with_flops", with_flops),
	READ("deviceProperties", metadata_read_devices),
	READ("distributedInfo", metadata_read_distributed),
	READ("INFO", metadata_read_info),
	READ("WARNING", metadata_read_warnings),
	READ("ERROR", metadata_read_warnings),
	READ(SS_STEPS_KEY, metadata_read_steps),
};

bool ss_metadata_find(const struct ss_json_span *key, struct ss_metadata_key *out)
{
	out->which = 0;
	while (out->which < SS_COUNT(keys) && !ss_json_is(key, keys[out->which].key))
		out->which++;
	return out->which < SS_COUNT(keys) ||
	       ss_redact_run_key_find(key->text, key->length, &out->run);
}

static enum ss_status metadata_take_value(struct ss_builder *builder, size_t which,
					  const struct ss_json_span *value, struct ss_error *err)
{
	char *info = (char *)&builder->trace->info;

	if (keys[which].number != NONE)
		metadata_read_number(builder, value,
				     (int64_t *)(void *)(info + keys[which].number));
	if (keys[which].text != NONE)
		SS_TRY(metadata_read_text(builder, value,
					  (uint32_t *)(void *)(info + keys[which].text), err));
	if (keys[which].flag != NONE)
		*(bool *)(info + keys[which].flag) = metadata_is_on(value);
	if (keys[which].read)
		SS_TRY(keys[which].read(builder, value, err));
	return SS_OK;
}

/* A list of words, such as sys.argv, as one line. */
static enum ss_status metadata_read_words(struct ss_builder *builder,
					  const struct ss_json_span *array, uint32_t *out,
					  struct ss_error *err)
{
	struct ss_json json = ss_json_inside(array, true);
	struct ss_memory *memory = builder->trace->memory;
	char *line = ss_memory_resize(memory, NULL, 0, (size_t)array->length + 1);
	struct ss_json_span value;
	bool first = true, stored;
	size_t length = 0;

	if (!line)
		return ss_fail_memory(err, "the metadata");
	json.in_array = true;
	while (metadata_next_item(builder, &json, &first, &value)) {
		if (length)
			line[length++] = ' ';
		length += ss_json_text(&value, line + length);
	}
	stored = ss_builder_text(builder, line, length, out);
	ss_memory_free(memory, line, (size_t)array->length + 1);
	return stored ? SS_OK : ss_fail_memory(err, "the metadata");
}

/* If several keys state the same fact, the most specific one counts, wherever it is. */
static enum ss_status metadata_take_run_fact(struct ss_builder *builder,
					     const struct ss_redact_run_key *key,
					     const struct ss_json_span *value, uint32_t *places,
					     struct ss_error *err)
{
	uint32_t *had = &places[key->fact], text = 0;

	if (*had && *had <= key->place)
		return SS_OK;
	if (value->type == SS_JSON_OBJECT)
		return SS_OK;
	if (value->type == SS_JSON_ARRAY)
		SS_TRY(metadata_read_words(builder, value, &text, err));
	else
		SS_TRY(metadata_read_text(builder, value, &text, err));
	if (!*ss_strings_text(&builder->trace->texts, text))
		return SS_OK;
	builder->trace->info.run[key->fact] = text;
	*had = key->place;
	return SS_OK;
}

enum ss_status ss_metadata_take(struct ss_builder *builder, const struct ss_metadata_key *key,
				const struct ss_json_span *value, uint32_t *places,
				struct ss_error *err)
{
	return key->which < SS_COUNT(keys)
		       ? metadata_take_value(builder, key->which, value, err)
		       : metadata_take_run_fact(builder, &key->run, value, places, err);
}
