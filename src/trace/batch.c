/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - fills batches: the tables that rows refer to, and the rows.
 */
#include "trace/batch.h"

#include <string.h>

#include "base/text.h"
#include "read/number.h"

bool ss_batch_init(struct ss_batch *batch, struct ss_memory *memory)
{
	memset(batch, 0, sizeof(*batch));
	batch->memory = memory;
	ss_quality_init(&batch->quality);
	return ss_strings_init(&batch->names, memory) && ss_strings_init(&batch->texts, memory) &&
	       ss_strings_init(&batch->category_names, memory) &&
	       ss_records_init(&batch->tracks, memory, sizeof(struct ss_track_key)) &&
	       ss_records_init(&batch->meta_records, memory, sizeof(struct ss_meta)) &&
	       ss_records_init(&batch->op_args, memory, sizeof(struct ss_op_args)) &&
	       ss_records_init(&batch->kernel_args, memory, sizeof(struct ss_kernel_args)) &&
	       ss_records_init(&batch->copy_args, memory, sizeof(struct ss_copy_args)) &&
	       ss_records_init(&batch->comm_args, memory, sizeof(struct ss_comm_args));
}

#define BATCH_FREE(batch, array)                        \
	ss_memory_free((batch)->memory, (batch)->array, \
		       (size_t)(batch)->array##_capacity * sizeof(*(batch)->array))

static void batch_release_map(struct ss_batch *batch, struct ss_number_map *map)
{
	SS_FREE(batch->memory, map->ids, map->capacity);
}

static void batch_release_rows(struct ss_batch *batch)
{
	BATCH_FREE(batch, events);
	BATCH_FREE(batch, comms);
	BATCH_FREE(batch, sequences);
	BATCH_FREE(batch, syncs);
	BATCH_FREE(batch, others);
	BATCH_FREE(batch, other_text);
	BATCH_FREE(batch, flows);
	BATCH_FREE(batch, marks);
	BATCH_FREE(batch, allocations);
	BATCH_FREE(batch, counters);
	BATCH_FREE(batch, metas);
	BATCH_FREE(batch, loose);
}

void ss_batch_release(struct ss_batch *batch)
{
	if (!batch->memory)
		return;
	batch_release_rows(batch);
	batch_release_map(batch, &batch->maps.names);
	batch_release_map(batch, &batch->maps.texts);
	batch_release_map(batch, &batch->maps.tracks);
	batch_release_map(batch, &batch->maps.categories);
	batch_release_map(batch, &batch->maps.op_args);
	batch_release_map(batch, &batch->maps.kernel_args);
	batch_release_map(batch, &batch->maps.copy_args);
	batch_release_map(batch, &batch->maps.comm_args);
	SS_FREE(batch->memory, batch->name_flags, batch->name_flag_capacity);
	SS_FREE(batch->memory, batch->categories, batch->category_capacity);
	ss_strings_release(&batch->names);
	ss_strings_release(&batch->texts);
	ss_strings_release(&batch->category_names);
	ss_records_release(&batch->tracks);
	ss_records_release(&batch->meta_records);
	ss_records_release(&batch->op_args);
	ss_records_release(&batch->kernel_args);
	ss_records_release(&batch->copy_args);
	ss_records_release(&batch->comm_args);
	memset(batch, 0, sizeof(*batch));
}

void ss_batch_clear(struct ss_batch *batch)
{
	batch->events_count = batch->comms_count = batch->sequences_count = 0;
	batch->syncs_count = batch->flows_count = batch->marks_count = 0;
	batch->allocations_count = batch->counters_count = batch->metas_count = 0;
	batch->loose_count = batch->others_count = batch->other_text_count = 0;
	batch->entries = 0;
	memset(batch->phase_events, 0, sizeof(batch->phase_events));
	for (uint32_t i = 0; i < batch->category_count; i++)
		batch->categories[i].events = 0;
	ss_quality_init(&batch->quality);
}

bool ss_batch_reserve(struct ss_batch *batch, void **items, uint32_t *capacity, uint32_t count,
		      size_t item_bytes)
{
	if (count < *capacity)
		return true;
	if (ss_memory_reserve(batch->memory, items, capacity, (size_t)count + 1, item_bytes))
		return true;
	batch->out_of_memory = true;
	return false;
}

/* --- what rows refer to ------------------------------------------------------------------ */

uint32_t ss_batch_text(struct ss_batch *batch, struct ss_strings *strings, const char *text,
		       size_t length)
{
	uint32_t id = ss_strings_add(strings, text, length);

	batch->out_of_memory |= id == SS_NO_ID;
	return id == SS_NO_ID ? 0 : id;
}

uint32_t ss_batch_name(struct ss_batch *batch, const char *text, size_t length)
{
	uint32_t known = batch->names.count;
	uint32_t id = ss_batch_text(batch, &batch->names, text, length);

	if (batch->names.count == known && id < batch->name_flag_capacity)
		return id;
	if (!SS_RESERVE(batch->memory, batch->name_flags, batch->name_flag_capacity,
			batch->names.count)) {
		batch->out_of_memory = true;
		return 0;
	}
	if (known == 1)
		batch->name_flags[0] = 0;
	batch->name_flags[id] = ss_name_flags(ss_strings_text(&batch->names, id),
					      batch->names.items[id].length);
	return id;
}

static bool text_is(const char *text, size_t length, const char *wanted)
{
	return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* Fills the entry of a category that was met for the first time. */
static void batch_fill_category(struct ss_batch *batch, const char *text, size_t length)
{
	struct ss_batch_category *category = &batch->categories[batch->category_count++];
	char *lower = ss_memory_resize(batch->memory, NULL, 0, length + 1);

	*category = (struct ss_batch_category){ .meaning = { "", SS_KIND_OTHER, false } };
	if (!lower) {
		batch->out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < length; i++)
		lower[i] = ss_char_lower(text[i]);
	category->meaning = ss_kind_of_category(lower, length);
	category->is_arrow = text_is(lower, length, "fwdbwd") ||
			     text_is(lower, length, "forward-backward");
	category->text = ss_batch_text(batch, &batch->texts, lower, length);
	ss_memory_free(batch->memory, lower, length + 1);
}

uint32_t ss_batch_category(struct ss_batch *batch, const char *text, size_t length)
{
	uint32_t id = ss_strings_add(&batch->category_names, text, length);

	if (id == SS_NO_ID || !SS_RESERVE(batch->memory, batch->categories,
					  batch->category_capacity, batch->category_names.count)) {
		batch->out_of_memory = true;
		return 0;
	}
	/* number 0 stands for "no category"; it always exists */
	if (!batch->category_count)
		batch_fill_category(batch, "", 0);
	if (id == batch->category_count)
		batch_fill_category(batch, text, length);
	return id;
}

uint32_t ss_batch_record(struct ss_batch *batch, struct ss_records *records, const void *record)
{
	uint32_t id = ss_records_add(records, record);

	batch->out_of_memory |= id == SS_NO_ID;
	return id;
}

/* --- rows -------------------------------------------------------------------------------- */

/* Notes where a thing stands among the slices. */
static void batch_note_position(struct ss_batch *batch, enum ss_batch_position_kind kind,
				uint32_t index)
{
	if (SS_BATCH_RESERVE(batch, loose))
		batch->loose[batch->loose_count++] =
			(struct ss_batch_position){ batch->events_count, kind, index };
}

void ss_batch_note_category(struct ss_batch *batch, uint32_t category)
{
	batch_note_position(batch, SS_LOOSE_CATEGORY, category);
}

void ss_batch_add_slice(struct ss_batch *batch, const struct ss_event *event)
{
	struct ss_batch_category *category;

	if (batch->out_of_memory)
		return;
	category = &batch->categories[event->category];
	category->events++;
	if (event->kind == SS_KIND_OTHER && !category->meaning.name)
		ss_quality_add(&batch->quality, SS_ODD_UNKNOWN_CATEGORY, 1);
	if (event->dur_ns > SS_SLICE_NS_MAX) {
		ss_quality_add(&batch->quality, SS_ODD_ABSURD_DURATION, 1);
		ss_batch_note_category(batch, event->category);
		return;
	}
	if (!SS_BATCH_RESERVE(batch, events))
		return;
	batch->events[batch->events_count] = *event;
	if (event->dur_ns < 0) {
		ss_quality_add(&batch->quality, SS_ODD_NEGATIVE_DURATION, 1);
		batch->events[batch->events_count].dur_ns = 0;
	}
	batch->events_count++;
}

uint32_t ss_batch_add_named(struct ss_batch *batch, const struct ss_named_slice *slice)
{
	struct ss_event event = { .start_ns = slice->start_ns,
				  .id = slice->id,
				  .args = slice->args };
	struct ss_track_key track = { .pid = slice->pid, .tid = slice->tid };
	uint32_t had = batch->events_count;

	ss_batch_count_entry(batch, 'X');
	event.name = ss_batch_name(batch, slice->name, slice->name_length);
	event.category = ss_batch_category(batch, slice->category, strlen(slice->category));
	if (batch->out_of_memory)
		return SS_NO_ROW;
	ss_quality_add(&batch->quality, SS_ODD_NO_NAME, !slice->name_length);
	if (slice->start_ns < -SS_TIME_NS_MAX || slice->start_ns > SS_TIME_NS_MAX ||
	    slice->end_ns < -SS_TIME_NS_MAX || slice->end_ns > SS_TIME_NS_MAX) {
		ss_quality_add(&batch->quality, SS_ODD_TIME_RANGE, 1);
		ss_batch_note_category(batch, event.category);
		return SS_NO_ROW;
	}
	event.dur_ns = slice->end_ns - slice->start_ns;
	event.kind = (uint8_t)ss_batch_kind(batch, event.category, event.name);
	track.class = ss_kind_track(event.kind);
	event.track = ss_batch_record(batch, &batch->tracks, &track);
	ss_batch_add_slice(batch, &event);
	return batch->events_count > had ? had : SS_NO_ROW;
}

void ss_batch_add_allocation(struct ss_batch *batch, const struct ss_allocation *allocation)
{
	if (!SS_BATCH_RESERVE(batch, allocations))
		return;
	batch_note_position(batch, SS_LOOSE_ALLOCATION, batch->allocations_count);
	batch->allocations[batch->allocations_count++] = *allocation;
}

void ss_batch_add_flow(struct ss_batch *batch, const struct ss_flow_end *flow)
{
	if (!SS_BATCH_RESERVE(batch, flows))
		return;
	batch_note_position(batch, SS_LOOSE_FLOW, batch->flows_count);
	batch->flows[batch->flows_count++] = *flow;
}

void ss_batch_add_mark(struct ss_batch *batch, const struct ss_mark *mark)
{
	if (!SS_BATCH_RESERVE(batch, marks))
		return;
	batch_note_position(batch, SS_LOOSE_MARK, batch->marks_count);
	batch->marks[batch->marks_count++] = *mark;
}

void ss_batch_add_counter(struct ss_batch *batch, const struct ss_counter *counter)
{
	if (!SS_BATCH_RESERVE(batch, counters))
		return;
	batch_note_position(batch, SS_LOOSE_COUNTER, batch->counters_count);
	batch->counters[batch->counters_count++] = *counter;
}

void ss_batch_add_meta(struct ss_batch *batch, const struct ss_meta *meta)
{
	if (!SS_BATCH_RESERVE(batch, metas))
		return;
	batch_note_position(batch, SS_LOOSE_META, batch->metas_count);
	batch->metas[batch->metas_count++] = ss_batch_record(batch, &batch->meta_records, meta);
}
