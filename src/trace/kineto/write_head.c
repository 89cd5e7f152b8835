/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_head.c - texts of a trace, and what it says about itself, as JSON.
 */
#include <inttypes.h>

#include "read/json.h"
#include "trace/kineto/writer.h"

/* --- values ------------------------------------------------------------------------------- */

/* Lists were kept as they stood in the file, other texts without their quotes and escapes. */
static bool value_is_list(struct ss_kineto_writer *writer, const char *text, size_t length)
{
	static const char padding[SS_PAD_BYTES];
	struct ss_json json = { .whole = true };
	struct ss_json_span span;

	if (!length || (*text != '[' && *text != '{'))
		return false;
	writer->value.length = 0;
	ss_text_add(&writer->value, text, length);
	ss_text_add(&writer->value, padding, sizeof(padding));
	if (ss_text_failed(&writer->value))
		return false;
	json.at = writer->value.data;
	json.end = json.at + length;
	return ss_json_value(&json, &span) == SS_JSON_OK && json.at == json.end;
}

/* Up to 15 digits, which no reader rounds. */
static bool value_is_number(const char *text, size_t length)
{
	size_t digits = 0;

	while (digits < length && ss_char_is_digit(text[digits]))
		digits++;
	return length && digits == length && length < 16 && (*text != '0' || length == 1);
}

void ss_writer_add_value(struct ss_kineto_writer *writer, const char *text, size_t length)
{
	if (value_is_number(text, length) || value_is_list(writer, text, length))
		ss_text_add(&writer->text, text, length);
	else
		ss_text_add_quoted(&writer->text, text, length);
}

void ss_writer_add_text(struct ss_kineto_writer *writer, uint32_t text)
{
	const struct ss_string *value = &writer->trace.texts.items[text];

	ss_writer_add_value(writer, value->text, value->length);
}

/* --- what the file says about itself ---------------------------------------------------------- */

static void write_member(struct ss_kineto_writer *writer, const char *key, uint32_t text)
{
	if (!text)
		return;
	ss_text_addf(&writer->text, "\"%s\":", key);
	ss_writer_add_text(writer, text);
	ss_text_add(&writer->text, ",", 1);
}

static void write_member_int(struct ss_kineto_writer *writer, const char *key, int64_t value)
{
	if (value >= 0)
		ss_text_addf(&writer->text, "\"%s\":%" PRId64 ",", key, value);
}

/* Closes a list or object whose last member has a comma behind it. */
static void write_close(struct ss_kineto_writer *writer, const char *close)
{
	struct ss_text *out = &writer->text;

	if (out->length && out->data[out->length - 1] == ',')
		out->length--;
	ss_text_add_string(out, close);
}

static void write_devices(struct ss_kineto_writer *writer)
{
	const struct ss_trace_info *info = &writer->trace.info;

	if (!info->device_count)
		return;
	ss_text_add_string(&writer->text, "\"deviceProperties\":[");
	for (uint32_t i = 0; i < info->device_count; i++) {
		const struct ss_device *device = &info->devices[i];

		ss_text_add(&writer->text, "{", 1);
		write_member_int(writer, "id", device->id);
		write_member(writer, "name", device->name);
		write_member_int(writer, "totalGlobalMem", device->memory_bytes);
		write_member_int(writer, "computeMajor", device->compute_major);
		write_member_int(writer, "computeMinor", device->compute_minor);
		write_member_int(writer, "numSms", device->multiprocessors);
		write_member_int(writer, "warpSize", device->warp_size);
		write_member_int(writer, "maxThreadsPerMultiprocessor",
				 device->threads_per_multiprocessor);
		write_close(writer, "},");
	}
	write_close(writer, "],\n");
}

static void write_distributed(struct ss_kineto_writer *writer)
{
	const struct ss_trace_info *info = &writer->trace.info;

	if (info->rank < 0 && info->world_size < 0 && !info->group_rows)
		return;
	ss_text_add_string(&writer->text, "\"distributedInfo\":{");
	write_member_int(writer, "rank", info->rank);
	write_member_int(writer, "world_size", info->world_size);
	write_member_int(writer, "pg_count", info->group_count);
	write_member(writer, "backend", info->backend);
	write_member(writer, "nccl_version", info->nccl_version);
	ss_text_add_string(&writer->text, "\"pg_config\":[");
	for (uint32_t i = 0; i < info->group_rows; i++) {
		const struct ss_process_group *group = &info->groups[i];

		ss_text_add(&writer->text, "{", 1);
		write_member(writer, "pg_name", group->name);
		write_member(writer, "pg_desc", group->description);
		write_member(writer, "backend_config", group->backend);
		write_member(writer, "ranks", group->ranks);
		write_member_int(writer, "pg_size", group->size);
		write_close(writer, "},");
	}
	write_close(writer, "]},\n");
}

void ss_writer_add_head(struct ss_kineto_writer *writer)
{
	static const char *const run_keys[SS_RUN_FACTS] = { "run_id", "host_name", "command",
							    "commit" };
	const struct ss_trace_info *info = &writer->trace.info;

	ss_text_add_string(&writer->text, "{");
	write_member_int(writer, "schemaVersion", info->schema_version);
	write_devices(writer);
	write_distributed(writer);
	write_member_int(writer, "cuda_runtime_version", info->cuda_runtime);
	write_member_int(writer, "cuda_driver_version", info->cuda_driver);
	write_member_int(writer, "cupti_version", info->cupti);
	write_member_int(writer, "hip_runtime_version", info->hip_runtime);
	write_member_int(writer, "record_shapes", info->record_shapes ? 1 : -1);
	write_member_int(writer, "profile_memory", info->profile_memory ? 1 : -1);
	write_member_int(writer, "with_stack", info->with_stack ? 1 : -1);
	write_member_int(writer, "with_modules", info->with_modules ? 1 : -1);
	write_member_int(writer, "with_flops", info->with_flops ? 1 : -1);
	write_member_int(writer, "baseTimeNanoseconds", info->base_time_ns);
	write_member(writer, "trace_id", info->trace_id);
	write_member(writer, "traceName", info->trace_name);
	for (int i = 0; i < SS_RUN_FACTS; i++)
		write_member(writer, run_keys[i], info->run[i]);
	ss_text_add_string(&writer->text, "\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
}
