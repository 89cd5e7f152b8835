/*
 * store.c - from a reader's batch to the trace's columns.
 */
#include "trace/store.h"

#include <string.h>

#include "base/utf8.h"

/* Ids up to here are kept as they are, larger ones by their number in wide_ids. */
#define NARROW_MAX ((int64_t)0xefffffff)

static enum ss_status no_room(struct ss_error *err)
{
	return ss_fail_memory(err, "the events of this trace");
}

enum ss_status ss_store_init(struct ss_store *store, struct ss_trace *trace, struct ss_error *err)
{
	memset(store, 0, sizeof(*store));
	store->trace = trace;
	if (!ss_records_init(&store->track_keys, trace->memory, sizeof(struct ss_track_key)) ||
	    !ss_records_init(&store->metas, trace->memory, sizeof(struct ss_meta)) ||
	    !ss_records_init(&store->wide_ids, trace->memory, sizeof(int64_t)))
		return no_room(err);
	return SS_OK;
}

void ss_store_release(struct ss_store *store)
{
	struct ss_memory *memory = store->trace ? store->trace->memory : NULL;

	if (!memory)
		return;
	ss_records_release(&store->track_keys);
	ss_records_release(&store->metas);
	ss_records_release(&store->wide_ids);
	ss_memory_free(memory, store->flows, (size_t)store->flows_capacity * sizeof(*store->flows));
	ss_memory_free(memory, store->marks, (size_t)store->marks_capacity * sizeof(*store->marks));
	ss_memory_free(memory, store->meta_texts,
		       (size_t)store->meta_capacity * sizeof(*store->meta_texts));
	ss_memory_free(memory, store->mended, store->mended_bytes);
	memset(store, 0, sizeof(*store));
}

void ss_store_maps_init(struct ss_store_maps *maps)
{
	memset(maps, 0, sizeof(*maps));
}

static void map_release(struct ss_number_map *map, struct ss_memory *memory)
{
	ss_memory_free(memory, map->ids, (size_t)map->capacity * sizeof(*map->ids));
	*map = (struct ss_number_map){ 0 };
}

void ss_store_maps_release(struct ss_store_maps *maps, struct ss_memory *memory)
{
	map_release(&maps->names, memory);
	map_release(&maps->texts, memory);
	map_release(&maps->tracks, memory);
	map_release(&maps->op_args, memory);
	map_release(&maps->kernel_args, memory);
	map_release(&maps->copy_args, memory);
	map_release(&maps->comm_args, memory);
}

/* Makes the map as long as the reader's table. */
static bool map_reserve(struct ss_number_map *map, struct ss_memory *memory, uint32_t count)
{
	uint32_t had = map->capacity;

	if (!ss_memory_reserve(memory, (void **)&map->ids, &map->capacity, count,
			       sizeof(*map->ids)))
		return false;
	for (uint32_t i = had; i < map->capacity; i++)
		map->ids[i] = SS_NO_ID;
	return true;
}

static bool maps_reserve(struct ss_store_maps *maps, const struct ss_reader *reader)
{
	struct ss_memory *memory = reader->memory;

	return map_reserve(&maps->names, memory, reader->names.count) &&
	       map_reserve(&maps->texts, memory, reader->texts.count) &&
	       map_reserve(&maps->tracks, memory, reader->tracks.count) &&
	       map_reserve(&maps->op_args, memory, reader->op_args.count) &&
	       map_reserve(&maps->kernel_args, memory, reader->kernel_args.count) &&
	       map_reserve(&maps->copy_args, memory, reader->copy_args.count) &&
	       map_reserve(&maps->comm_args, memory, reader->comm_args.count);
}

/* Room for a text that is made from another. */
static bool reserve_mended(struct ss_store *store, size_t bytes)
{
	char *moved;

	if (bytes <= store->mended_bytes)
		return true;
	moved = ss_memory_resize(store->trace->memory, store->mended, store->mended_bytes, bytes);
	if (!moved)
		return false;
	store->mended = moved;
	store->mended_bytes = bytes;
	return true;
}

/* Stores a text that may hold bytes which cannot be shown. */
static uint32_t add_mended(struct ss_store *store, struct ss_strings *strings, const char *text,
			   size_t length)
{
	struct ss_quality *quality = &store->trace->quality;
	unsigned flaws = ss_utf8_check(text, length);
	uint32_t had = strings->count, id;

	if (!flaws)
		return ss_strings_add(strings, text, length);
	if (!reserve_mended(store, 3 * length))
		return SS_NO_ID;
	length = ss_utf8_mend(text, length, store->mended);
	id = ss_strings_add(strings, store->mended, length);
	if (strings->count > had) {
		ss_quality_add(quality, SS_ODD_BAD_UTF8, (flaws & SS_UTF8_BAD_BYTES) != 0);
		ss_quality_add(quality, SS_ODD_CONTROL, (flaws & SS_UTF8_CONTROL) != 0);
	}
	return id;
}

/* The same for values: a list over several lines is put on one, so that equal lists are equal. */
static uint32_t add_value(struct ss_store *store, const char *text, size_t length)
{
	bool is_list = length && (text[0] == '[' || text[0] == '{') && memchr(text, '\n', length);
	char *line;
	uint32_t id;

	if (!is_list)
		return add_mended(store, &store->trace->texts, text, length);
	line = ss_memory_resize(store->trace->memory, NULL, 0, 2 * length);
	if (!line)
		return SS_NO_ID;
	id = add_mended(store, &store->trace->texts, line, ss_json_one_line(text, length, line));
	ss_memory_free(store->trace->memory, line, 2 * length);
	return id;
}

bool ss_store_text(struct ss_store *store, const char *text, size_t length, uint32_t *out)
{
	uint32_t id = add_value(store, text, length);

	*out = id == SS_NO_ID ? 0 : id;
	return id != SS_NO_ID;
}

static uint32_t name_add(struct ss_store *store, const struct ss_reader *reader, uint32_t local)
{
	struct ss_trace *trace = store->trace;
	const struct ss_string *name = &reader->names.items[local];
	uint32_t id = add_mended(store, &trace->names, name->text, name->length);

	if (id == SS_NO_ID || !ss_memory_reserve(trace->memory, (void **)&trace->name_flags,
						 &trace->name_flag_capacity, trace->names.count,
						 sizeof(*trace->name_flags)))
		return SS_NO_ID;
	trace->name_flags[id] = local < reader->name_flag_capacity ? reader->name_flags[local] : 0;
	return id;
}

static inline uint32_t map_name(struct ss_store *store, struct ss_store_maps *maps,
				const struct ss_reader *reader, uint32_t local)
{
	uint32_t *id = &maps->names.ids[local];

	if (*id == SS_NO_ID) {
		*id = name_add(store, reader, local);
		store->failed |= *id == SS_NO_ID;
	}
	return *id;
}

static uint32_t map_text(struct ss_store *store, struct ss_store_maps *maps,
			 const struct ss_reader *reader, uint32_t local)
{
	const struct ss_string *text = &reader->texts.items[local];
	uint32_t *id = &maps->texts.ids[local];

	if (*id == SS_NO_ID)
		*id = add_value(store, text->text, text->length);
	store->failed |= *id == SS_NO_ID;
	return *id;
}

static uint32_t track_add(struct ss_store *store, struct ss_store_maps *maps,
			  const struct ss_reader *reader, uint32_t local)
{
	struct ss_trace *trace = store->trace;
	struct ss_track_key key = *(const struct ss_track_key *)ss_records_at(&reader->tracks,
									      local);
	uint32_t had = store->track_keys.count, id;

	key.pid_text = map_text(store, maps, reader, key.pid_text);
	key.tid_text = map_text(store, maps, reader, key.tid_text);
	id = ss_records_add(&store->track_keys, &key);
	if (id == SS_NO_ID || store->track_keys.count == had)
		return id;
	if (!ss_memory_reserve(trace->memory, (void **)&trace->tracks, &trace->track_capacity,
			       (size_t)id + 1, sizeof(*trace->tracks)))
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

static inline uint32_t map_track(struct ss_store *store, struct ss_store_maps *maps,
				 const struct ss_reader *reader, uint32_t local)
{
	uint32_t *id = &maps->tracks.ids[local];

	if (*id == SS_NO_ID) {
		*id = track_add(store, maps, reader, local);
		store->failed |= *id == SS_NO_ID;
	}
	return *id;
}

/* Records that begin with `texts` ids of texts: those are mapped, the rest is copied. */
static uint32_t map_record(struct ss_store *store, struct ss_store_maps *maps,
			   const struct ss_reader *reader, const struct ss_records *from,
			   struct ss_records *to, struct ss_number_map *map, uint32_t local,
			   uint32_t texts)
{
	uint32_t record[32];

	assert(from->record_bytes <= sizeof(record));
	if (map->ids[local] != SS_NO_ID)
		return map->ids[local];
	memcpy(record, ss_records_at(from, local), from->record_bytes);
	for (uint32_t i = 0; i < texts; i++)
		record[i] = map_text(store, maps, reader, record[i]);
	map->ids[local] = ss_records_add(to, record);
	store->failed |= map->ids[local] == SS_NO_ID;
	return map->ids[local];
}

static uint32_t map_args(struct ss_store *store, struct ss_store_maps *maps,
			 const struct ss_reader *reader, const struct ss_event *event)
{
	struct ss_trace *trace = store->trace;

	switch ((enum ss_kind)event->kind) {
	case SS_KIND_OP:
	case SS_KIND_ANNOTATION:
		return map_record(store, maps, reader, &reader->op_args, &trace->op_args,
				  &maps->op_args, event->args, SS_OP_ARGS_TEXTS);
	case SS_KIND_MEMCPY:
	case SS_KIND_MEMSET:
		return map_record(store, maps, reader, &reader->copy_args, &trace->copy_args,
				  &maps->copy_args, event->args, 0);
	default:
		return map_record(store, maps, reader, &reader->kernel_args, &trace->kernel_args,
				  &maps->kernel_args, event->args, 0);
	}
}

static uint32_t map_id(struct ss_store *store, int64_t id)
{
	uint32_t wide;

	if (id >= 0 && id <= NARROW_MAX)
		return (uint32_t)id;
	wide = ss_records_add(&store->wide_ids, &id);
	store->failed |= wide == SS_NO_ID;
	return wide == SS_NO_ID ? 0 : (uint32_t)(NARROW_MAX + 1) + wide;
}

/* The trace's number of a category: equal names share one. */
static uint8_t category_add(struct ss_store *store, struct ss_store_maps *maps,
			    const struct ss_reader *reader, uint32_t local)
{
	struct ss_trace *trace = store->trace;
	struct ss_category meaning = reader->categories[local].meaning;
	uint32_t i = 0;

	if (!meaning.name) {
		uint32_t text = map_text(store, maps, reader, reader->categories[local].text);

		meaning.name = text == SS_NO_ID ? "" : ss_strings_text(&trace->texts, text);
	}
	while (i < trace->category_count && strcmp(trace->categories[i].name, meaning.name) != 0)
		i++;
	if (i == trace->category_count && i < SS_CATEGORIES_MAX - 1)
		trace->category_count++;
	if (i + 1 == trace->category_count)
		trace->categories[i] = meaning;
	return (uint8_t)i;
}

static uint8_t map_category(struct ss_store *store, struct ss_store_maps *maps,
			    const struct ss_reader *reader, uint32_t local)
{
	if (!maps->categories[local])
		maps->categories[local] = 1u + category_add(store, maps, reader, local);
	return (uint8_t)(maps->categories[local] - 1);
}

static enum ss_status add_events(struct ss_store *store, struct ss_store_maps *maps,
				 const struct ss_reader *reader, struct ss_error *err)
{
	const struct ss_batch *batch = &reader->batch;
	struct ss_slices *slices = &store->trace->slices;

	SS_TRY(ss_slices_reserve(store->trace, (size_t)slices->count + batch->events_count, err));
	for (uint32_t i = 0; i < batch->events_count; i++) {
		const struct ss_event *event = &batch->events[i];
		uint32_t row = slices->count + i;

		slices->start_ns[row] = event->start_ns;
		slices->dur_ns[row] = event->dur_ns;
		slices->name[row] = map_name(store, maps, reader, event->name);
		slices->track[row] = map_track(store, maps, reader, event->track);
		slices->args[row] = event->args == SS_NO_ARGS
					    ? SS_NO_ARGS
					    : map_args(store, maps, reader, event);
		slices->id[row] = map_id(store, event->id);
		slices->kind[row] = event->kind;
		slices->category[row] = map_category(store, maps, reader, event->category);
	}
	return SS_OK;
}

static enum ss_status add_companions(struct ss_store *store, struct ss_store_maps *maps,
				     const struct ss_reader *reader, struct ss_error *err)
{
	const struct ss_batch *batch = &reader->batch;
	struct ss_trace *trace = store->trace;
	uint32_t first = trace->slices.count;

	if (!ss_memory_reserve(trace->memory, (void **)&trace->comms, &trace->comm_capacity,
			       (size_t)trace->comm_count + batch->comms_count,
			       sizeof(*trace->comms)) ||
	    !ss_memory_reserve(trace->memory, (void **)&trace->sequences, &trace->sequence_capacity,
			       (size_t)trace->sequence_count + batch->sequences_count,
			       sizeof(*trace->sequences)) ||
	    !ss_memory_reserve(trace->memory, (void **)&trace->syncs, &trace->sync_capacity,
			       (size_t)trace->sync_count + batch->syncs_count,
			       sizeof(*trace->syncs)))
		return no_room(err);
	for (uint32_t i = 0; i < batch->comms_count; i++)
		trace->comms[trace->comm_count++] = (struct ss_comm_row){
			first + batch->comms[i].event,
			map_record(store, maps, reader, &reader->comm_args, &trace->comm_args,
				   &maps->comm_args, batch->comms[i].args, SS_COMM_ARGS_TEXTS),
			batch->comms[i].sequence
		};
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
	return SS_OK;
}

static enum ss_status add_allocations(struct ss_store *store, struct ss_store_maps *maps,
				      const struct ss_reader *reader, struct ss_error *err)
{
	const struct ss_batch *batch = &reader->batch;
	struct ss_allocations *rows = &store->trace->allocations;

	SS_TRY(ss_allocations_reserve(store->trace, (size_t)rows->count + batch->allocations_count,
				      err));
	for (uint32_t i = 0; i < batch->allocations_count; i++) {
		const struct ss_allocation *from = &batch->allocations[i];
		uint32_t row = rows->count++;

		rows->start_ns[row] = from->start_ns;
		rows->address[row] = from->address;
		rows->bytes[row] = from->bytes;
		rows->allocated_bytes[row] = from->allocated_bytes;
		rows->reserved_bytes[row] = from->reserved_bytes;
		rows->track[row] = map_track(store, maps, reader, from->track);
		rows->device_id[row] = from->device_id;
		rows->device_type[row] = from->device_type;
		rows->out_of_memory[row] = from->out_of_memory;
		ss_quality_add(&store->trace->quality, SS_ODD_OUT_OF_MEMORY, from->out_of_memory);
	}
	return SS_OK;
}

static enum ss_status add_meta(struct ss_store *store, struct ss_meta meta, uint32_t text,
			       struct ss_error *err)
{
	uint32_t id;

	meta.text = 0;
	id = ss_records_add(&store->metas, &meta);
	if (id == SS_NO_ID || !ss_memory_reserve(store->trace->memory, (void **)&store->meta_texts,
						 &store->meta_capacity, store->metas.count,
						 sizeof(*store->meta_texts)))
		return no_room(err);
	store->meta_texts[id] = text;
	return SS_OK;
}

/* What the store keeps until the file is read: arrows, halves of events, names of tracks. */
static enum ss_status add_loose(struct ss_store *store, struct ss_store_maps *maps,
				const struct ss_reader *reader, struct ss_error *err)
{
	const struct ss_batch *batch = &reader->batch;
	struct ss_memory *memory = store->trace->memory;

	if (!ss_memory_reserve(memory, (void **)&store->flows, &store->flows_capacity,
			       (size_t)store->flows_count + batch->flows_count,
			       sizeof(*store->flows)) ||
	    !ss_memory_reserve(memory, (void **)&store->marks, &store->marks_capacity,
			       (size_t)store->marks_count + batch->marks_count,
			       sizeof(*store->marks)))
		return no_room(err);
	for (uint32_t i = 0; i < batch->flows_count; i++) {
		struct ss_flow flow = batch->flows[i];

		flow.track = map_track(store, maps, reader, flow.track);
		store->flows[store->flows_count++] = flow;
	}
	for (uint32_t i = 0; i < batch->marks_count; i++) {
		struct ss_mark mark = batch->marks[i];

		mark.track = map_track(store, maps, reader, mark.track);
		mark.name = map_name(store, maps, reader, mark.name);
		mark.category = map_category(store, maps, reader, mark.category);
		if (!mark.key)
			mark.key = (uint64_t)mark.track << 1; /* even: never an async key */
		mark.order = store->marks_count;
		store->marks[store->marks_count++] = mark;
	}
	for (uint32_t i = 0; i < batch->metas_count; i++) {
		struct ss_meta meta = *(const struct ss_meta *)ss_records_at(&reader->metas,
									     batch->metas[i]);

		meta.pid_text = map_text(store, maps, reader, meta.pid_text);
		meta.tid_text = map_text(store, maps, reader, meta.tid_text);
		SS_TRY(add_meta(store, meta, map_text(store, maps, reader, meta.text), err));
	}
	return SS_OK;
}

static enum ss_status add_counters(struct ss_store *store, struct ss_store_maps *maps,
				   const struct ss_reader *reader, struct ss_error *err)
{
	const struct ss_batch *batch = &reader->batch;
	struct ss_trace *trace = store->trace;

	if (!ss_memory_reserve(trace->memory, (void **)&trace->counters, &trace->counter_capacity,
			       (size_t)trace->counter_count + batch->counters_count,
			       sizeof(*trace->counters)))
		return no_room(err);
	for (uint32_t i = 0; i < batch->counters_count; i++) {
		struct ss_counter counter = batch->counters[i];

		counter.name = map_name(store, maps, reader, counter.name);
		counter.series = map_text(store, maps, reader, counter.series);
		trace->counters[trace->counter_count++] = counter;
	}
	return SS_OK;
}

enum ss_status ss_store_add(struct ss_store *store, struct ss_store_maps *maps,
			    struct ss_reader *reader, struct ss_error *err)
{
	struct ss_batch *batch = &reader->batch;
	struct ss_trace *trace = store->trace;

	if (!maps_reserve(maps, reader))
		return no_room(err);
	SS_TRY(add_companions(store, maps, reader, err));
	SS_TRY(add_events(store, maps, reader, err));
	trace->slices.count += batch->events_count;
	SS_TRY(add_allocations(store, maps, reader, err));
	SS_TRY(add_loose(store, maps, reader, err));
	SS_TRY(add_counters(store, maps, reader, err));
	trace->event_count += batch->entries;
	for (int i = 0; i < 128; i++)
		trace->phase_events[i] += batch->phase_events[i];
	for (uint32_t i = 0; i < SS_CATEGORIES_MAX; i++)
		if (batch->category_events[i])
			trace->category_events[map_category(store, maps, reader, i)] +=
				batch->category_events[i];
	ss_quality_merge(&trace->quality, &batch->quality);
	ss_reader_clear(reader);
	return store->failed ? no_room(err) : SS_OK;
}
