/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.c - the structure of a trace file, and its metadata.
 */
#include "trace/kineto/document.h"

#include <string.h>

/* Metadata values longer than this are skipped: only arrays of events may be long. */
#define VALUE_BYTES_MAX ((ptrdiff_t)16 << 20)

static enum ss_status read_text(struct ss_store *store, const struct ss_json_span *span,
				uint32_t *out, struct ss_error *err)
{
	struct ss_memory *memory = store->trace->memory;
	char *text;
	bool stored;

	if (span->type == SS_JSON_BARE && ss_json_is(span, "null"))
		return SS_OK;
	if (!span->escaped) {
		stored = ss_store_text(store, span->text, span->length, out);
		return stored ? SS_OK : ss_fail_memory(err, "the metadata");
	}
	text = ss_memory_resize(memory, NULL, 0, span->length);
	if (!text)
		return ss_fail_memory(err, "the metadata");
	stored = ss_store_text(store, text, ss_json_text(span, text), out);
	ss_memory_free(memory, text, span->length);
	return stored ? SS_OK : ss_fail_memory(err, "the metadata");
}

static void read_number(struct ss_store *store, const struct ss_json_span *span, int64_t *out)
{
	int64_t value;

	if (ss_json_i64(span, &value))
		*out = value;
	else if (!ss_json_is(span, "null"))
		ss_quality_add(&store->trace->quality, SS_ODD_NUMBER, 1);
}

static void read_number32(struct ss_store *store, const struct ss_json_span *span, int32_t *out)
{
	int64_t value = INT64_MIN;

	read_number(store, span, &value);
	if (value >= INT32_MIN && value <= INT32_MAX)
		*out = (int32_t)value;
}

static bool is_on(const struct ss_json_span *span)
{
	int64_t value;

	return ss_json_is(span, "true") || (ss_json_i64(span, &value) && value != 0);
}

/* The text of an array or object, to be read on its own; spaces stand in for what follows. */
static struct ss_json inside(const struct ss_json_span *span)
{
	return (struct ss_json){
		.at = span->text + 1,
		.end = span->text + span->length,
		.whole = true,
		.careful = true,
	};
}

/* The next key of an object and its value; false at its end, or, counted, where it is no JSON. */
static bool next_pair(struct ss_store *store, struct ss_json *json, bool *first,
		      struct ss_json_span *key, struct ss_json_span *value)
{
	enum ss_json_result result = ss_json_key(json, *first, key);

	*first = false;
	if (result == SS_JSON_OK && key->type == SS_JSON_NONE)
		return false;
	if (result == SS_JSON_OK)
		result = ss_json_value(json, value);
	if (result != SS_JSON_OK)
		ss_quality_add(&store->trace->quality, SS_ODD_BAD_METADATA, 1);
	return result == SS_JSON_OK;
}

/* The same of an array. */
static bool next_item(struct ss_store *store, struct ss_json *json, bool *first,
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
		ss_quality_add(&store->trace->quality, SS_ODD_BAD_METADATA, 1);
	return result == SS_JSON_OK;
}

static enum ss_status read_device(struct ss_store *store, const struct ss_json_span *object,
				  struct ss_error *err)
{
	struct ss_trace_info *info = &store->trace->info;
	struct ss_json json = inside(object);
	struct ss_json_span key, value;
	bool first = true;
	struct ss_device device = { .id = -1, .memory_bytes = -1 };

	while (next_pair(store, &json, &first, &key, &value)) {
		if (ss_json_is(&key, "id"))
			read_number(store, &value, &device.id);
		else if (ss_json_is(&key, "name"))
			SS_TRY(read_text(store, &value, &device.name, err));
		else if (ss_json_is(&key, "totalGlobalMem"))
			read_number(store, &value, &device.memory_bytes);
		else if (ss_json_is(&key, "computeMajor"))
			read_number32(store, &value, &device.compute_major);
		else if (ss_json_is(&key, "computeMinor"))
			read_number32(store, &value, &device.compute_minor);
		else if (ss_json_is(&key, "numSms") || ss_json_is(&key, "maxComputeUnits"))
			read_number32(store, &value, &device.multiprocessors);
		else if (ss_json_is(&key, "warpSize"))
			read_number32(store, &value, &device.warp_size);
		else if (ss_json_is(&key, "maxThreadsPerMultiprocessor"))
			read_number32(store, &value, &device.threads_per_multiprocessor);
	}
	if (!ss_memory_reserve(store->trace->memory, (void **)&info->devices,
			       &info->device_capacity, (size_t)info->device_count + 1,
			       sizeof(*info->devices)))
		return ss_fail_memory(err, "the metadata");
	info->devices[info->device_count++] = device;
	return SS_OK;
}

static enum ss_status read_group(struct ss_store *store, const struct ss_json_span *object,
				 struct ss_error *err)
{
	struct ss_trace_info *info = &store->trace->info;
	struct ss_json json = inside(object);
	struct ss_json_span key, value;
	bool first = true;
	struct ss_process_group group = { .size = -1 };

	while (next_pair(store, &json, &first, &key, &value)) {
		if (ss_json_is(&key, "pg_name") || ss_json_is(&key, "uid"))
			SS_TRY(read_text(store, &value, &group.name, err));
		else if (ss_json_is(&key, "pg_desc"))
			SS_TRY(read_text(store, &value, &group.description, err));
		else if (ss_json_is(&key, "backend_config") || ss_json_is(&key, "backend_id"))
			SS_TRY(read_text(store, &value, &group.backend, err));
		else if (ss_json_is(&key, "ranks"))
			SS_TRY(read_text(store, &value, &group.ranks, err));
		else if (ss_json_is(&key, "pg_size"))
			read_number(store, &value, &group.size);
	}
	if (!ss_memory_reserve(store->trace->memory, (void **)&info->groups, &info->group_capacity,
			       (size_t)info->group_rows + 1, sizeof(*info->groups)))
		return ss_fail_memory(err, "the metadata");
	info->groups[info->group_rows++] = group;
	return SS_OK;
}

/* Calls `read` for every object of an array. */
static enum ss_status each_object(struct ss_store *store, const struct ss_json_span *array,
				  enum ss_status (*read)(struct ss_store *store,
							 const struct ss_json_span *object,
							 struct ss_error *err),
				  struct ss_error *err)
{
	struct ss_json json = inside(array);
	struct ss_json_span value;
	bool first = true;

	if (array->type != SS_JSON_ARRAY)
		return SS_OK;
	while (next_item(store, &json, &first, &value)) {
		if (value.type == SS_JSON_OBJECT)
			SS_TRY(read(store, &value, err));
	}
	return SS_OK;
}

static enum ss_status read_devices(struct ss_store *store, const struct ss_json_span *value,
				   struct ss_error *err)
{
	return each_object(store, value, read_device, err);
}

static enum ss_status read_distributed(struct ss_store *store, const struct ss_json_span *object,
				       struct ss_error *err)
{
	struct ss_trace_info *info = &store->trace->info;
	struct ss_json json = inside(object);
	struct ss_json_span key, value;
	bool first = true;

	if (object->type != SS_JSON_OBJECT)
		return SS_OK;
	while (next_pair(store, &json, &first, &key, &value)) {
		if (ss_json_is(&key, "rank"))
			read_number(store, &value, &info->rank);
		else if (ss_json_is(&key, "world_size"))
			read_number(store, &value, &info->world_size);
		else if (ss_json_is(&key, "pg_count"))
			read_number(store, &value, &info->group_count);
		else if (ss_json_is(&key, "backend"))
			SS_TRY(read_text(store, &value, &info->backend, err));
		else if (ss_json_is(&key, "nccl_version"))
			SS_TRY(read_text(store, &value, &info->nccl_version, err));
		else if (ss_json_is(&key, "pg_config"))
			SS_TRY(each_object(store, &value, read_group, err));
	}
	return SS_OK;
}

/* The writer's log lines; warnings and errors tell of lost events. */
static enum ss_status read_notes(struct ss_store *store, const struct ss_json_span *array,
				 bool warning, struct ss_error *err)
{
	struct ss_trace_info *info = &store->trace->info;
	struct ss_json json = inside(array);
	struct ss_json_span value;
	bool first = true;

	json.in_array = true;
	if (array->type != SS_JSON_ARRAY)
		return SS_OK;
	while (next_item(store, &json, &first, &value)) {
		info->writer_notes++;
		if (!warning)
			continue;
		ss_quality_add(&store->trace->quality, SS_ODD_WRITER_WARNING, 1);
		if (!info->first_warning)
			SS_TRY(read_text(store, &value, &info->first_warning, err));
	}
	return SS_OK;
}

static enum ss_status read_info(struct ss_store *store, const struct ss_json_span *value,
				struct ss_error *err)
{
	return read_notes(store, value, false, err);
}

static enum ss_status read_warnings(struct ss_store *store, const struct ss_json_span *value,
				    struct ss_error *err)
{
	return read_notes(store, value, true, err);
}

/* A key of the outer object; one of the three says where its value goes. */
static const struct {
	const char *key;
	size_t number; /* offset of an int64_t in struct ss_trace_info, or NONE */
	size_t text;   /* of a text's id */
	size_t flag;   /* of a bool */
	enum ss_status (*read)(struct ss_store *store, const struct ss_json_span *value,
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
	READ("deviceProperties", read_devices),
	READ("distributedInfo", read_distributed),
	READ("INFO", read_info),
	READ("WARNING", read_warnings),
	READ("ERROR", read_warnings),
};

static size_t find_key(const struct ss_json_span *key)
{
	size_t i = 0;

	while (i < SS_COUNT(keys) && !ss_json_is(key, keys[i].key))
		i++;
	return i;
}

static enum ss_status take_value(struct ss_store *store, size_t which,
				 const struct ss_json_span *value, struct ss_error *err)
{
	char *info = (char *)&store->trace->info;

	if (keys[which].number != NONE)
		read_number(store, value, (int64_t *)(void *)(info + keys[which].number));
	if (keys[which].text != NONE)
		SS_TRY(read_text(store, value, (uint32_t *)(void *)(info + keys[which].text), err));
	if (keys[which].flag != NONE)
		*(bool *)(info + keys[which].flag) = is_on(value);
	if (keys[which].read)
		SS_TRY(keys[which].read(store, value, err));
	return SS_OK;
}

/* A list of words, such as sys.argv, as one line. */
static enum ss_status read_words(struct ss_store *store, const struct ss_json_span *array,
				 uint32_t *out, struct ss_error *err)
{
	struct ss_json json = inside(array);
	struct ss_memory *memory = store->trace->memory;
	char *line = ss_memory_resize(memory, NULL, 0, (size_t)array->length + 1);
	struct ss_json_span value;
	bool first = true, stored;
	size_t length = 0;

	if (!line)
		return ss_fail_memory(err, "the metadata");
	json.in_array = true;
	while (next_item(store, &json, &first, &value)) {
		if (length)
			line[length++] = ' ';
		length += ss_json_text(&value, line + length);
	}
	stored = ss_store_text(store, line, length, out);
	ss_memory_free(memory, line, (size_t)array->length + 1);
	return stored ? SS_OK : ss_fail_memory(err, "the metadata");
}

/* Of several keys that say the same the most telling one counts, wherever it stands. */
static enum ss_status take_run_fact(struct ss_document *document, const struct ss_run_key *key,
				    const struct ss_json_span *value, struct ss_error *err)
{
	struct ss_store *store = document->store;
	uint32_t *had = &document->run_places[key->fact], text = 0;

	if (*had && *had <= key->place)
		return SS_OK;
	if (value->type == SS_JSON_OBJECT)
		return SS_OK;
	if (value->type == SS_JSON_ARRAY)
		SS_TRY(read_words(store, value, &text, err));
	else
		SS_TRY(read_text(store, value, &text, err));
	if (!*ss_strings_text(&store->trace->texts, text))
		return SS_OK;
	store->trace->info.run[key->fact] = text;
	*had = key->place;
	return SS_OK;
}

static void begin_skip(struct ss_document *document)
{
	document->mode = SS_DOCUMENT_SKIP;
	document->skip_depth = 0;
	document->skip_string = document->skip_escape = document->skip_begun = false;
}

/* Does the quote close its string? MORE: what follows it is not there yet. */
static enum ss_json_result closes_string(const struct ss_json *json, const char *quote)
{
	const char *next = ss_bytes_skip_space(quote + 1);

	if (next >= json->end)
		return json->whole ? SS_JSON_OK : SS_JSON_MORE;
	return strchr(",:}]", *next) && *next ? SS_JSON_OK : SS_JSON_BAD;
}

/* Goes on skipping; leaves the mode when the value ends. MORE: stands before a quote. */
static enum ss_json_result skip_on(struct ss_document *document, struct ss_json *json)
{
	for (; json->at < json->end; json->at++) {
		char byte = *json->at;

		if (document->skip_string) {
			enum ss_json_result closes = SS_JSON_BAD;

			if (byte == '"' && !document->skip_escape)
				closes = closes_string(json, json->at);
			if (closes == SS_JSON_MORE)
				return SS_JSON_MORE;
			document->skip_string = closes != SS_JSON_OK;
			document->skip_escape = byte == '\\' && !document->skip_escape;
			continue;
		}
		if (document->skip_begun && document->skip_depth == 0 &&
		    (byte == ',' || byte == '}' || byte == ']')) {
			document->mode = SS_DOCUMENT_TOP;
			return SS_JSON_OK;
		}
		if (byte == '"')
			document->skip_string = true;
		else if (byte == '{' || byte == '[')
			document->skip_depth++;
		else if ((byte == '}' || byte == ']') && document->skip_depth)
			document->skip_depth--;
		document->skip_begun |= (unsigned char)byte > ' ';
	}
	return SS_JSON_OK;
}

/* Reads one key of the outer object with its value, or the end of the object. */
static enum ss_json_result read_top(struct ss_document *document, struct ss_json *json,
				    enum ss_status *status, struct ss_error *err)
{
	struct ss_json_span key, value;
	enum ss_json_result result;
	const char *start, *value_start;
	struct ss_run_key run_key;
	size_t which;

	/* white space is used up before anything can ask for more text */
	ss_json_space(json);
	start = json->at;
	if (start >= json->end)
		return SS_JSON_OK;
	json->odd_quotes = 0;
	result = ss_json_key(json, false, &key);
	/* a key with quotes in it is two keys with something missing between them */
	if (result == SS_JSON_OK && json->odd_quotes)
		result = SS_JSON_BAD;
	if (result == SS_JSON_OK && key.type == SS_JSON_NONE) {
		document->mode = SS_DOCUMENT_DONE;
		return SS_JSON_OK;
	}
	if (result == SS_JSON_OK && json->at >= json->end)
		result = SS_JSON_MORE;
	if (result != SS_JSON_OK) {
		json->at = start;
		return result;
	}
	if (ss_json_is(&key, "traceEvents") && *json->at == '[') {
		json->at++;
		document->mode = SS_DOCUMENT_EVENTS;
		document->saw_events = true;
		return SS_JSON_OK;
	}
	which = find_key(&key);
	if (which == SS_COUNT(keys) && !ss_run_key_find(key.text, key.length, &run_key)) {
		begin_skip(document);
		return SS_JSON_OK;
	}
	value_start = json->at;
	result = ss_json_value(json, &value);
	if (result == SS_JSON_MORE && json->end - start > VALUE_BYTES_MAX) {
		ss_quality_add(&document->store->trace->quality, SS_ODD_BAD_METADATA, 1);
		begin_skip(document);
		json->at = value_start;
		return SS_JSON_OK;
	}
	if (result == SS_JSON_OK)
		*status = which < SS_COUNT(keys) ? take_value(document->store, which, &value, err)
						 : take_run_fact(document, &run_key, &value, err);
	if (result == SS_JSON_MORE)
		json->at = start;
	return result;
}

static enum ss_status read_start(struct ss_document *document, struct ss_json *json,
				 int64_t at_byte, struct ss_error *err)
{
	static const char mark[] = "\xef\xbb\xbf"; /* Windows begins UTF-8 files with it */

	if (at_byte == 0 && *json->at == mark[0] && json->end - json->at < 3 && !json->whole)
		return SS_OK;
	if (at_byte == 0 && json->end - json->at >= 3 && memcmp(json->at, mark, 3) == 0)
		json->at += 3;
	ss_json_space(json);
	if (json->at >= json->end)
		return SS_OK;
	if (*json->at != '{' && *json->at != '[')
		return ss_fail(
			err, SS_ERR_FORMAT,
			"not a profiler trace: JSON begins with { or [, this with byte 0x%02x",
			(unsigned)(unsigned char)*json->at);
	document->mode = *json->at == '{' ? SS_DOCUMENT_TOP : SS_DOCUMENT_EVENTS;
	document->saw_events |= *json->at == '[';
	document->store->trace->info.is_array = *json->at == '[';
	json->at++;
	return SS_OK;
}

/* Text in the outer object that is no key: the events may still come. */
static void give_up(struct ss_document *document, struct ss_json *json, int64_t at_byte)
{
	ss_quality_add_at(&document->store->trace->quality, SS_ODD_BAD_METADATA, at_byte);
	document->mode = document->saw_events ? SS_DOCUMENT_DONE : SS_DOCUMENT_SEEK;
	json->at++;
}

static enum ss_json_result seek_events(struct ss_document *document, struct ss_json *json)
{
	static const char key[] = "\"traceEvents\"";
	const char *at = json->at;

	while ((at = memchr(at, '"', (size_t)(json->end - at))) != NULL) {
		if (json->end - at < (ptrdiff_t)strlen(key)) {
			json->at = json->whole ? json->end : at;
			return SS_JSON_MORE;
		}
		if (memcmp(at, key, strlen(key)) == 0) {
			json->at = at;
			document->mode = SS_DOCUMENT_TOP;
			return SS_JSON_OK;
		}
		at++;
	}
	json->at = json->end;
	return SS_JSON_OK;
}

/*
 * Text behind the end. A byte of damage can close the array too early: when
 * events follow they are read. When another document begins it is not: its
 * events are those of another trace.
 */
static enum ss_json_result read_after_end(struct ss_document *document, struct ss_json *json,
					  int64_t at_byte)
{
	struct ss_quality *quality = &document->store->trace->quality;
	const char *start = json->at, *event = NULL, *undecided = json->end;

	ss_json_space(json);
	if (json->at >= json->end)
		return SS_JSON_OK;
	if (!document->ignores) {
		/* decided by the first brace, wherever the text was cut before it */
		const char *brace = memchr(json->at, '{', (size_t)(json->end - json->at));

		event = ss_reader_find_event(json->at, json->end, false, &undecided);
		document->ignores = brace && event != brace && (undecided != brace || json->whole);
		if (document->ignores)
			event = NULL;
	}
	if (!quality->rows[SS_ODD_AFTER_END].count && !quality->rows[SS_ODD_BAD_METADATA].count)
		ss_quality_add_at(quality, SS_ODD_AFTER_END, at_byte + (json->at - start));
	if (document->ignores) {
		json->at = json->end;
		return SS_JSON_OK;
	}
	json->at = event ? event : json->whole ? json->end : undecided;
	if (event)
		document->mode = SS_DOCUMENT_EVENTS;
	return event || json->at == json->end ? SS_JSON_OK : SS_JSON_MORE;
}

enum ss_status ss_document_read(struct ss_document *document, struct ss_reader *reader,
				struct ss_json *json, int64_t offset, struct ss_error *err)
{
	const char *text = json->at;

	document->paused = false;
	while (json->at < json->end) {
		const char *start = json->at;
		enum ss_json_result result = SS_JSON_OK;
		enum ss_status status = SS_OK;
		enum ss_read_end end;

		switch (document->mode) {
		case SS_DOCUMENT_START:
			status = read_start(document, json, offset + (json->at - text), err);
			if (json->at == start)
				return status;
			break;
		case SS_DOCUMENT_TOP:
			json->careful = true; /* metadata is rare, and users write some of it */
			result = read_top(document, json, &status, err);
			json->careful = false;
			start = result == SS_JSON_OK ? start : json->at;
			break;
		case SS_DOCUMENT_SKIP:
			result = skip_on(document, json);
			start = json->at;
			break;
		case SS_DOCUMENT_SEEK:
			result = seek_events(document, json);
			start = json->at;
			break;
		case SS_DOCUMENT_EVENTS:
			end = ss_reader_events(reader, json, json->end, text, offset);
			if (end == SS_READ_FAILED)
				return ss_fail_memory(err, "the events of this trace");
			if (end == SS_READ_MORE)
				return SS_OK;
			document->mode = document->store->trace->info.is_array ? SS_DOCUMENT_DONE
									       : SS_DOCUMENT_TOP;
			/* texts are numbered as they come: those of the events go first */
			document->paused = true;
			return SS_OK;
		case SS_DOCUMENT_DONE:
			result = read_after_end(document, json, offset + (json->at - text));
			start = json->at;
			break;
		}
		if (status != SS_OK)
			return status;
		if (result == SS_JSON_MORE) {
			json->at = start;
			return SS_OK;
		}
		if (result == SS_JSON_BAD)
			give_up(document, json, offset + (start - text));
	}
	return SS_OK;
}
