/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.c - from batches to the trace's columns.
 */
#include "trace/builder.h"

#include <string.h>

#include "base/utf8.h"

/* Ids up to here are kept as they are, larger ones by their number in wide_ids. */
#define NARROW_MAX ((int64_t)0xefffffff)

static enum ss_status builder_fail_memory(struct ss_error *err)
{
	return ss_fail_memory(err, "the events of this trace");
}

enum ss_status ss_builder_init(struct ss_builder *builder, struct ss_trace *trace,
			       struct ss_error *err)
{
	memset(builder, 0, sizeof(*builder));
	builder->trace = trace;
	if (!ss_records_init(&builder->track_keys, trace->memory, sizeof(struct ss_track_key)) ||
	    !ss_records_init(&builder->metas, trace->memory, sizeof(struct ss_meta)) ||
	    !ss_records_init(&builder->wide_ids, trace->memory, sizeof(int64_t)))
		return builder_fail_memory(err);
	return SS_OK;
}

void ss_builder_release(struct ss_builder *builder)
{
	struct ss_memory *memory = builder->trace ? builder->trace->memory : NULL;

	if (!memory)
		return;
	ss_records_release(&builder->track_keys);
	ss_records_release(&builder->metas);
	ss_records_release(&builder->wide_ids);
	SS_FREE(memory, builder->flows, builder->flows_capacity);
	SS_FREE(memory, builder->marks, builder->marks_capacity);
	SS_FREE(memory, builder->meta_texts, builder->meta_capacity);
	ss_memory_free(memory, builder->repaired, builder->repaired_bytes);
	memset(builder, 0, sizeof(*builder));
}

/* Makes the map as long as the batch's table. */
static bool number_map_reserve(struct ss_number_map *map, struct ss_memory *memory, uint32_t count)
{
	uint32_t had = map->capacity;

	if (!SS_RESERVE(memory, map->ids, map->capacity, count))
		return false;
	for (uint32_t i = had; i < map->capacity; i++)
		map->ids[i] = SS_NO_ID;
	return true;
}

static bool builder_reserve_maps(struct ss_batch *batch)
{
	struct ss_memory *memory = batch->memory;

	return number_map_reserve(&batch->maps.names, memory, batch->names.count) &&
	       number_map_reserve(&batch->maps.texts, memory, batch->texts.count) &&
	       number_map_reserve(&batch->maps.tracks, memory, batch->tracks.count) &&
	       number_map_reserve(&batch->maps.categories, memory, batch->category_count) &&
	       number_map_reserve(&batch->maps.op_args, memory, batch->op_args.count) &&
	       number_map_reserve(&batch->maps.kernel_args, memory, batch->kernel_args.count) &&
	       number_map_reserve(&batch->maps.copy_args, memory, batch->copy_args.count) &&
	       number_map_reserve(&batch->maps.comm_args, memory, batch->comm_args.count);
}

/* Makes the buffer for repaired texts hold `bytes`. */
static bool builder_reserve_repaired(struct ss_builder *builder, size_t bytes)
{
	char *moved;

	if (bytes <= builder->repaired_bytes)
		return true;
	moved = ss_memory_resize(builder->trace->memory, builder->repaired, builder->repaired_bytes,
				 bytes);
	if (!moved)
		return false;
	builder->repaired = moved;
	builder->repaired_bytes = bytes;
	return true;
}

/* Stores a text that may contain bytes which cannot be shown. */
static uint32_t builder_add_repaired(struct ss_builder *builder, struct ss_strings *strings,
				     const char *text, size_t length)
{
	struct ss_quality *quality = &builder->trace->quality;
	unsigned flaws = ss_utf8_check(text, length);
	uint32_t had = strings->count, id;

	if (!flaws)
		return ss_strings_add(strings, text, length);
	if (!builder_reserve_repaired(builder, 3 * length))
		return SS_NO_ID;
	length = ss_utf8_repair(text, length, builder->repaired);
	id = ss_strings_add(strings, builder->repaired, length);
	if (strings->count > had) {
		ss_quality_add(quality, SS_ODD_BAD_UTF8, (flaws & SS_UTF8_BAD_BYTES) != 0);
		ss_quality_add(quality, SS_ODD_CONTROL, (flaws & SS_UTF8_CONTROL) != 0);
	}
	return id;
}

/* The same for values: a list over several lines is put on one, so that equal lists are equal. */
static uint32_t builder_add_value(struct ss_builder *builder, const char *text, size_t length)
{
	bool is_list = length && (text[0] == '[' || text[0] == '{') && memchr(text, '\n', length);
	char *line;
	uint32_t id;

	if (!is_list)
		return builder_add_repaired(builder, &builder->trace->texts, text, length);
	line = ss_memory_resize(builder->trace->memory, NULL, 0, 2 * length);
	if (!line)
		return SS_NO_ID;
	id = builder_add_repaired(builder, &builder->trace->texts, line,
				  ss_json_one_line(text, length, line));
	ss_memory_free(builder->trace->memory, line, 2 * length);
	return id;
}

bool ss_builder_text(struct ss_builder *builder, const char *text, size_t length, uint32_t *out)
{
	uint32_t id = builder_add_value(builder, text, length);

	*out = id == SS_NO_ID ? 0 : id;
	return id != SS_NO_ID;
}

bool ss_builder_add_device(struct ss_builder *builder, const struct ss_device *device)
{
	struct ss_trace_info *info = &builder->trace->info;

	if (!SS_GROW(builder->trace->memory, info->devices, info->device_capacity,
		     info->device_count))
		return false;
	info->devices[info->device_count++] = *device;
	return true;
}

/* Adds a name of the batch to the trace's. */
static uint32_t builder_add_name(struct ss_builder *builder, const struct ss_batch *batch,
				 uint32_t local)
{
	struct ss_trace *trace = builder->trace;
	const struct ss_string *name = &batch->names.items[local];
	uint32_t id = builder_add_repaired(builder, &trace->names, name->text, name->length);
	const struct ss_string *added;
	bool is_same;

	if (id == SS_NO_ID || !SS_RESERVE(trace->memory, trace->name_flags,
					  trace->name_flag_capacity, trace->names.count))
		return SS_NO_ID;
	/* the batch has looked at the name already, unless it had to be repaired */
	added = &trace->names.items[id];
	is_same = local < batch->name_flag_capacity && added->length == name->length &&
		  memcmp(added->text, name->text, name->length) == 0;
	trace->name_flags[id] = is_same ? batch->name_flags[local]
					: ss_name_flags(added->text, added->length);
	return id;
}

static inline uint32_t builder_map_name(struct ss_builder *builder, struct ss_batch *batch,
					uint32_t local)
{
	uint32_t *id = &batch->maps.names.ids[local];

	if (*id == SS_NO_ID) {
		*id = builder_add_name(builder, batch, local);
		builder->failed |= *id == SS_NO_ID;
	}
	return *id;
}

static uint32_t builder_map_text(struct ss_builder *builder, struct ss_batch *batch, uint32_t local)
{
	const struct ss_string *text = &batch->texts.items[local];
	uint32_t *id = &batch->maps.texts.ids[local];

	if (*id == SS_NO_ID)
		*id = builder_add_value(builder, text->text, text->length);
	builder->failed |= *id == SS_NO_ID;
	return *id;
}

/* Tracks of several batches with the same ids are one. */
static uint32_t builder_add_track(struct ss_builder *builder, struct ss_batch *batch,
				  uint32_t local)
{
	struct ss_trace *trace = builder->trace;
	struct ss_track_key key = *(const struct ss_track_key *)ss_records_at(&batch->tracks,
									      local);
	uint32_t had = builder->track_keys.count, id;

	key.pid_text = builder_map_text(builder, batch, key.pid_text);
	key.tid_text = builder_map_text(builder, batch, key.tid_text);
	id = ss_records_add(&builder->track_keys, &key);
	if (id == SS_NO_ID || builder->track_keys.count == had)
		return id;
	if (!SS_GROW(trace->memory, trace->tracks, trace->track_capacity, id))
		return SS_NO_ID;
	trace->tracks[id] = (struct ss_track){
		.class = key.class,
		.pid = key.pid,
		.tid = key.tid,
		.pid_text = key.pid_text,
		.tid_text = key.tid_text,
	};
	trace->track_count = id + 1;
	return id;
}

static inline uint32_t builder_map_track(struct ss_builder *builder, struct ss_batch *batch,
					 uint32_t local)
{
	uint32_t *id = &batch->maps.tracks.ids[local];

	if (*id == SS_NO_ID) {
		*id = builder_add_track(builder, batch, local);
		builder->failed |= *id == SS_NO_ID;
	}
	return *id;
}

/* Records that begin with `texts` ids of texts: those are mapped, the rest is copied. */
static uint32_t builder_map_record(struct ss_builder *builder, struct ss_batch *batch,
				   const struct ss_records *from, struct ss_records *to,
				   struct ss_number_map *map, uint32_t local, uint32_t texts)
{
	uint32_t record[32];

	assert(from->record_bytes <= sizeof(record));
	if (map->ids[local] != SS_NO_ID)
		return map->ids[local];
	memcpy(record, ss_records_at(from, local), from->record_bytes);
	for (uint32_t i = 0; i < texts; i++)
		record[i] = builder_map_text(builder, batch, record[i]);
	map->ids[local] = ss_records_add(to, record);
	builder->failed |= map->ids[local] == SS_NO_ID;
	return map->ids[local];
}

static uint32_t builder_map_args(struct ss_builder *builder, struct ss_batch *batch,
				 const struct ss_event *event)
{
	struct ss_trace *trace = builder->trace;

	switch ((enum ss_kind)event->kind) {
	case SS_KIND_OP:
	case SS_KIND_ANNOTATION:
		return builder_map_record(builder, batch, &batch->op_args, &trace->op_args,
					  &batch->maps.op_args, event->args, SS_OP_ARGS_TEXTS);
	case SS_KIND_MEMCPY:
	case SS_KIND_MEMSET:
		return builder_map_record(builder, batch, &batch->copy_args, &trace->copy_args,
					  &batch->maps.copy_args, event->args, 0);
	default:
		return builder_map_record(builder, batch, &batch->kernel_args, &trace->kernel_args,
					  &batch->maps.kernel_args, event->args, 0);
	}
}

static uint32_t builder_map_id(struct ss_builder *builder, int64_t id)
{
	uint32_t wide;

	if (id >= 0 && id <= NARROW_MAX)
		return (uint32_t)id;
	wide = ss_records_add(&builder->wide_ids, &id);
	builder->failed |= wide == SS_NO_ID;
	return wide == SS_NO_ID ? 0 : (uint32_t)(NARROW_MAX + 1) + wide;
}

/*
 * The trace's number of a category: equal names share one. Unknown categories beyond the limit
 * share the last number; known ones always have their own.
 */
static uint8_t builder_add_category(struct ss_builder *builder, struct ss_batch *batch,
				    uint32_t local)
{
	struct ss_trace *trace = builder->trace;
	struct ss_category meaning = batch->categories[local].meaning;
	uint32_t limit = SS_CATEGORIES_MAX - 1, i = 0;

	if (!meaning.name) {
		uint32_t text = builder_map_text(builder, batch, batch->categories[local].text);

		meaning.name = text == SS_NO_ID ? "" : ss_strings_text(&trace->texts, text);
		limit = SS_CATEGORIES_MAX - 1 - SS_CATEGORIES_KNOWN;
	}
	while (i < trace->category_count && strcmp(trace->categories[i].name, meaning.name) != 0)
		i++;
	if (i < trace->category_count)
		return (uint8_t)i;
	if (i >= limit)
		return SS_CATEGORIES_MAX - 1;
	trace->categories[trace->category_count++] = meaning;
	return (uint8_t)i;
}

static uint8_t builder_map_category(struct ss_builder *builder, struct ss_batch *batch,
				    uint32_t local)
{
	uint32_t *id = &batch->maps.categories.ids[local];

	if (*id == SS_NO_ID)
		*id = builder_add_category(builder, batch, local);
	return (uint8_t)*id;
}

static void builder_add_event(struct ss_builder *builder, struct ss_batch *batch, uint32_t index)
{
	const struct ss_event *event = &batch->events[index];
	struct ss_slices *slices = &builder->trace->slices;
	uint32_t row = slices->count + index;

	slices->start_ns[row] = event->start_ns;
	slices->dur_ns[row] = event->dur_ns;
	slices->name[row] = builder_map_name(builder, batch, event->name);
	slices->track[row] = builder_map_track(builder, batch, event->track);
	slices->args[row] = event->args == SS_NO_ARGS ? SS_NO_ARGS
						      : builder_map_args(builder, batch, event);
	slices->id[row] = builder_map_id(builder, event->id);
	slices->kind[row] = event->kind;
	slices->category[row] = builder_map_category(builder, batch, event->category);
}

static void builder_add_comm(struct ss_builder *builder, struct ss_batch *batch,
			     const struct ss_event_comm *comm)
{
	struct ss_trace *trace = builder->trace;

	trace->comms[trace->comm_count++] = (struct ss_comm_row){
		trace->slices.count + comm->event,
		builder_map_record(builder, batch, &batch->comm_args, &trace->comm_args,
				   &batch->maps.comm_args, comm->args, SS_COMM_ARGS_TEXTS),
		comm->sequence
	};
}

/* Keeps custom arguments up to the limit of a file, and counts the rest. */
static void builder_add_other(struct ss_builder *builder, const struct ss_batch *batch,
			      const struct ss_event_other *other)
{
	struct ss_trace *trace = builder->trace;
	uint32_t known = trace->texts.count, text;

	if (trace->other_bytes + other->length > SS_OTHER_BYTES_MAX) {
		trace->other_dropped++;
		return;
	}
	text = builder_add_value(builder, batch->other_text + other->from, other->length);
	if (text == SS_NO_ID) {
		builder->failed = true;
		return;
	}
	trace->other_bytes += trace->texts.count > known ? other->length : 0;
	trace->others[trace->other_count++] =
		(struct ss_other_row){ trace->slices.count + other->event, text };
}

static void builder_add_companions(struct ss_trace *trace, const struct ss_batch *batch)
{
	uint32_t first = trace->slices.count;

	for (uint32_t i = 0; i < batch->sequences_count; i++)
		trace->sequences[trace->sequence_count++] = (struct ss_sequence_row){
			first + batch->sequences[i].event, batch->sequences[i].fwd_thread,
			batch->sequences[i].sequence
		};
	for (uint32_t i = 0; i < batch->syncs_count; i++)
		trace->syncs[trace->sync_count++] = (struct ss_sync_row){
			first + batch->syncs[i].event, batch->syncs[i].stream,
			batch->syncs[i].wait_stream, batch->syncs[i].wait_correlation
		};
}

static void builder_add_allocation(struct ss_builder *builder, struct ss_batch *batch,
				   const struct ss_allocation *from)
{
	struct ss_allocations *rows = &builder->trace->allocations;
	uint32_t row = rows->count++;

	rows->start_ns[row] = from->start_ns;
	rows->address[row] = from->address;
	rows->bytes[row] = from->bytes;
	rows->allocated_bytes[row] = from->allocated_bytes;
	rows->reserved_bytes[row] = from->reserved_bytes;
	rows->track[row] = builder_map_track(builder, batch, from->track);
	rows->device_id[row] = from->device_id;
	rows->device_type[row] = from->device_type;
	rows->out_of_memory[row] = from->out_of_memory;
	ss_quality_add(&builder->trace->quality, SS_ODD_OUT_OF_MEMORY, from->out_of_memory);
}

static void builder_add_mark(struct ss_builder *builder, struct ss_batch *batch,
			     struct ss_mark mark)
{
	mark.track = builder_map_track(builder, batch, mark.track);
	mark.name = builder_map_name(builder, batch, mark.name);
	mark.category = builder_map_category(builder, batch, mark.category);
	if (!mark.key)
		mark.key = (uint64_t)mark.track << 1; /* even: never an async key */
	mark.order = builder->marks_count;
	builder->marks[builder->marks_count++] = mark;
}

static void builder_add_meta(struct ss_builder *builder, struct ss_batch *batch,
			     struct ss_meta meta)
{
	uint32_t text = builder_map_text(builder, batch, meta.text), id;

	meta.pid_text = builder_map_text(builder, batch, meta.pid_text);
	meta.tid_text = builder_map_text(builder, batch, meta.tid_text);
	meta.text = 0;
	id = ss_records_add(&builder->metas, &meta);
	if (id == SS_NO_ID || !SS_RESERVE(builder->trace->memory, builder->meta_texts,
					  builder->meta_capacity, builder->metas.count))
		builder->failed = true;
	else
		builder->meta_texts[id] = text;
}

/* Adds everything but slices, in the order of the file. */
static void builder_add_loose(struct ss_builder *builder, struct ss_batch *batch,
			      const struct ss_batch_position *loose)
{
	struct ss_trace *trace = builder->trace;
	struct ss_flow_end flow;
	struct ss_counter counter;

	switch ((enum ss_batch_position_kind)loose->kind) {
	case SS_LOOSE_ALLOCATION:
		builder_add_allocation(builder, batch, &batch->allocations[loose->index]);
		break;
	case SS_LOOSE_FLOW:
		flow = batch->flows[loose->index];
		flow.track = builder_map_track(builder, batch, flow.track);
		builder->flows[builder->flows_count++] = flow;
		break;
	case SS_LOOSE_MARK:
		builder_add_mark(builder, batch, batch->marks[loose->index]);
		break;
	case SS_LOOSE_COUNTER:
		counter = batch->counters[loose->index];
		counter.name = builder_map_name(builder, batch, counter.name);
		counter.series = builder_map_text(builder, batch, counter.series);
		trace->counters[trace->counter_count++] = counter;
		break;
	case SS_LOOSE_META:
		builder_add_meta(builder, batch,
				 *(const struct ss_meta *)ss_records_at(
					 &batch->meta_records, batch->metas[loose->index]));
		break;
	case SS_LOOSE_CATEGORY:
		builder_map_category(builder, batch, loose->index);
		break;
	}
}

/* Makes room in an array of the trace or the builder for the batch's items. */
#define RESERVE(memory, items, count, capacity, more)                                         \
	ss_memory_reserve((memory), (void **)&(items), &(capacity), (size_t)(count) + (more), \
			  sizeof(*(items)))

static enum ss_status builder_reserve(struct ss_builder *builder, const struct ss_batch *batch,
				      struct ss_error *err)
{
	struct ss_trace *trace = builder->trace;
	struct ss_memory *memory = trace->memory;

	if (!RESERVE(memory, trace->comms, trace->comm_count, trace->comm_capacity,
		     batch->comms_count) ||
	    !RESERVE(memory, trace->sequences, trace->sequence_count, trace->sequence_capacity,
		     batch->sequences_count) ||
	    !RESERVE(memory, trace->syncs, trace->sync_count, trace->sync_capacity,
		     batch->syncs_count) ||
	    !RESERVE(memory, trace->others, trace->other_count, trace->other_capacity,
		     batch->others_count) ||
	    !RESERVE(memory, builder->flows, builder->flows_count, builder->flows_capacity,
		     batch->flows_count) ||
	    !RESERVE(memory, builder->marks, builder->marks_count, builder->marks_capacity,
		     batch->marks_count) ||
	    !RESERVE(memory, trace->counters, trace->counter_count, trace->counter_capacity,
		     batch->counters_count))
		return builder_fail_memory(err);
	SS_TRY(ss_slices_reserve(trace, (size_t)trace->slices.count + batch->events_count, err));
	return ss_allocations_reserve(trace,
				      (size_t)trace->allocations.count + batch->allocations_count,
				      err);
}

/* Goes through the file in order, all kinds together: numbers count first appearances. */
static void builder_add_rows(struct ss_builder *builder, struct ss_batch *batch)
{
	uint32_t event = 0, comm = 0, other = 0;

	for (uint32_t i = 0; i <= batch->loose_count; i++) {
		bool last = i == batch->loose_count;
		uint32_t until = last ? batch->events_count : batch->loose[i].events;

		for (; event < until; event++) {
			builder_add_event(builder, batch, event);
			if (comm < batch->comms_count && batch->comms[comm].event == event)
				builder_add_comm(builder, batch, &batch->comms[comm++]);
			if (other < batch->others_count && batch->others[other].event == event)
				builder_add_other(builder, batch, &batch->others[other++]);
		}
		if (!last)
			builder_add_loose(builder, batch, &batch->loose[i]);
	}
}

enum ss_status ss_builder_add(struct ss_builder *builder, struct ss_batch *batch,
			      struct ss_error *err)
{
	struct ss_trace *trace = builder->trace;

	if (batch->out_of_memory || !builder_reserve_maps(batch))
		return builder_fail_memory(err);
	SS_TRY(builder_reserve(builder, batch, err));
	builder_add_companions(trace, batch);
	builder_add_rows(builder, batch);
	trace->slices.count += batch->events_count;
	trace->event_count += batch->entries;
	for (int i = 0; i < 128; i++)
		trace->phase_events[i] += batch->phase_events[i];
	for (uint32_t i = 0; i < batch->category_count; i++)
		if (batch->categories[i].events)
			trace->category_events[builder_map_category(builder, batch, i)] +=
				batch->categories[i].events;
	ss_quality_merge(&trace->quality, &batch->quality);
	ss_batch_clear(batch);
	return builder->failed ? builder_fail_memory(err) : SS_OK;
}

void ss_builder_end_source(struct ss_builder *builder, const struct ss_source *source)
{
	static const enum ss_oddity flaws[] = {
		[SS_SOURCE_CUT] = SS_ODD_COMPRESSED_CUT,
		[SS_SOURCE_CORRUPT] = SS_ODD_COMPRESSED_CORRUPT,
		[SS_SOURCE_TRAILING] = SS_ODD_COMPRESSED_TRAILING,
	};
	struct ss_trace *trace = builder->trace;

	if (source->flaw != SS_SOURCE_WHOLE)
		ss_quality_add_at(&trace->quality, flaws[source->flaw], (int64_t)trace->file_bytes);
	trace->disk_bytes = source->total_bytes ? source->total_bytes : source->done_bytes;
}
