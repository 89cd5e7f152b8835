/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.c - recognizes a dump by its first bytes, reads it, and finds the line of a call.
 */
#include "hang/load/flight.h"

#include <string.h>

#include "analyze/host/places.h"
#include "base/text.h"
#include "hang/load/reader.h"
#include "read/bytes.h"

/* --- what it is -------------------------------------------------------------------------- */

static bool bytes_have(const char *bytes, size_t length, const char *part)
{
	return ss_text_has(bytes, length, part, strlen(part));
}

static bool bytes_have_any(const char *bytes, size_t length, const char *const *parts)
{
	for (; *parts; parts++)
		if (bytes_have(bytes, length, *parts))
			return true;
	return false;
}

/* Traces have the groups of the job among their metadata, and memory snapshots have frames. */
static bool has_other_keys(const char *bytes, size_t length)
{
	static const char *const others[] = { "traceEvents",      "schemaVersion",
					      "deviceProperties", "distributedInfo",
					      "segments",         "device_traces",
					      "displayTimeUnit",  NULL };

	return bytes_have_any(bytes, length, others);
}

bool ss_flight_is_dump(const char *bytes, size_t length)
{
	static const char *const own[] = { "pg_config",    "pg_status",       "comm_lib_version",
					   "nccl_version", "nccl_comm_state", NULL };
	static const char *const of_entries[] = { "record_id", "frames", "collective_seq_id",
						  "profiling_name", NULL };
	size_t at = 0;

	while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	if (at == length || (bytes[at] != '{' && !ss_pickle_is_start(bytes, length)) ||
	    has_other_keys(bytes, length))
		return false;
	return bytes_have_any(bytes, length, own) ||
	       (bytes_have(bytes, length, "entries") && bytes_have_any(bytes, length, of_entries));
}

/* --- reading ----------------------------------------------------------------------------- */

void ss_flight_release(struct ss_flight *flight)
{
	struct ss_memory *memory = flight->memory;

	if (!memory)
		return;
	SS_FREE(memory, flight->entries, flight->entry_capacity);
	SS_FREE(memory, flight->groups, flight->group_capacity);
	SS_FREE(memory, flight->statuses, flight->status_capacity);
	ss_stacks_release(&flight->stacks);
	ss_records_release(&flight->frames);
	ss_strings_release(&flight->texts);
	*flight = (struct ss_flight){ 0 };
}

/* Stack 0 is the empty one: no stack was recorded. */
static bool flight_init(struct ss_flight *flight, struct ss_memory *memory)
{
	*flight = (struct ss_flight){ .memory = memory, .stacks = { .memory = memory } };
	return ss_strings_init(&flight->texts, memory) &&
	       ss_records_init(&flight->frames, memory, sizeof(struct ss_code_frame)) &&
	       ss_stacks_add(&flight->stacks, NULL, 0) != SS_NO_ID &&
	       ss_flight_intern_keys(&flight->texts);
}

static enum ss_status flight_read_pickle(struct ss_source *source, struct ss_flight_reader *reader,
					 struct ss_error *err)
{
	struct ss_flight *out = reader->out;
	struct ss_pickle_reader machine = {
		.memory = out->memory,
		.texts = &out->texts,
		.context = reader,
		.fill = ss_flight_fill,
	};
	struct ss_pickle_result result;

	SS_TRY(ss_pickle_read(source, &machine, &result, err));
	out->is_cut = result.is_cut;
	out->file_bytes = result.bytes;
	return SS_OK;
}

static enum ss_status flight_read(struct ss_source *source, struct ss_flight_reader *reader,
				  struct ss_error *err)
{
	struct ss_flight *out = reader->out;
	const char *next = NULL;
	size_t length = 0;

	if (!ss_records_init(&reader->shapes, out->memory, sizeof(struct ss_flight_shape)) ||
	    !ss_records_init(&reader->words, out->memory, sizeof(struct ss_flight_words)))
		return ss_fail_memory(err, "the dump");
	SS_TRY(ss_source_peek(source, &next, &length, err));
	out->is_json = length && (*next == '{' || strchr(" \t\r\n", *next));
	SS_TRY(out->is_json ? ss_flight_read_json(source, reader, err)
			    : flight_read_pickle(source, reader, err));
	out->is_cut |= source->flaw == SS_SOURCE_CUT || source->flaw == SS_SOURCE_CORRUPT;
	if (!reader->has_root && !out->entry_count && !out->group_count)
		return ss_fail(err, SS_ERR_FORMAT,
			       "not a dump of the flight recorder: it has no entries");
	return SS_OK;
}

enum ss_status ss_flight_load(struct ss_source *source, struct ss_memory *memory,
			      struct ss_flight *out, struct ss_error *err)
{
	struct ss_flight_reader reader = { .out = out };
	enum ss_status status = flight_init(out, memory) ? SS_OK : ss_fail_memory(err, "the dump");

	if (status == SS_OK)
		status = flight_read(source, &reader, err);
	ss_records_release(&reader.shapes);
	ss_records_release(&reader.words);
	SS_FREE(memory, reader.frames, reader.frame_capacity);
	if (status != SS_OK)
		ss_flight_release(out);
	return status;
}

const struct ss_code_frame *ss_flight_line(const struct ss_flight *flight, uint32_t stack)
{
	const struct ss_frame_list *list = &flight->stacks.items[stack];

	for (uint32_t i = 0; i < list->count; i++) {
		const struct ss_code_frame *frame =
			ss_records_at(&flight->frames, flight->stacks.frames[list->first + i]);
		const struct ss_string *file = &flight->texts.items[frame->file];

		if (!ss_places_is_library(file->text, file->length))
			return frame;
	}
	return list->count ? ss_records_at(&flight->frames, flight->stacks.frames[list->first])
			   : NULL;
}
