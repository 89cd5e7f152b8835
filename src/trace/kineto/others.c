/* SPDX-License-Identifier: Apache-2.0 */
/*
 * others.c - custom arguments, which no view uses: kept as text, to be shown with their
 * event.
 */
#include "trace/kineto/reader.h"

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

/* Goes to the object of the arguments; false: there is none. */
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

void ss_reader_keep_others(struct ss_reader *reader, const struct ss_event_fields *fields,
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
