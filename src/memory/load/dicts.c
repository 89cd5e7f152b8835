/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dicts.c - the dictionaries of a snapshot, recognized by their keys.
 *
 * Versions differ in the keys that they write, never in what a key means. A field that is
 * missing or has the wrong type counts as not recorded.
 */
#include <string.h>

#include "memory/load/reader.h"

/* The order is that of the texts: key i is text i + 1, behind the empty one. */
enum dict_key {
	KEY_ACTION,
	KEY_ADDR,
	KEY_SIZE,
	KEY_STREAM,
	KEY_TIME_US,
	KEY_FRAMES,
	KEY_DEVICE_FREE,
	KEY_COMPILE_CONTEXT,
	KEY_USER_METADATA,
	KEY_POOL_ID,
	KEY_FORWARD_FRAMES,
	KEY_CATEGORY,
	KEY_FILENAME,
	KEY_LINE,
	KEY_NAME,
	KEY_ADDRESS,
	KEY_REQUESTED_SIZE,
	KEY_STATE,
	KEY_HISTORY,
	KEY_REAL_SIZE,
	KEY_DEVICE,
	KEY_TOTAL_SIZE,
	KEY_ALLOCATED_SIZE,
	KEY_ACTIVE_SIZE,
	KEY_SEGMENT_TYPE,
	KEY_SEGMENT_POOL_ID,
	KEY_IS_EXPANDABLE,
	KEY_BLOCKS,
	KEY_STAGE,
	KEY_SEGMENTS,
	KEY_DEVICE_TRACES,
	KEY_TRACES,
	KEY_HOST_SEGMENTS,
	KEY_HOST_TRACES,
	KEY_ALLOCATOR_SETTINGS,
	KEY_EXTERNAL_ANNOTATIONS,
	KEY_COUNT,
	/* texts that values are compared with */
	TEXT_ACTIVE_ALLOCATED = KEY_COUNT,
	TEXT_ACTIVE_PENDING_FREE,
	TEXT_ACTIVE_AWAITING_FREE,
	TEXT_SMALL,
	TEXT_LARGE,
	TEXT_START,
	TEXT_NOT_AVAILABLE,
	TEXT_FIRST_ACTION,
};

static const char *const key_names[] = {
	"action",
	"addr",
	"size",
	"stream",
	"time_us",
	"frames",
	"device_free",
	"compile_context",
	"user_metadata",
	"pool_id",
	"forward_frames",
	"category",
	"filename",
	"line",
	"name",
	"address",
	"requested_size",
	"state",
	"history",
	"real_size",
	"device",
	"total_size",
	"allocated_size",
	"active_size",
	"segment_type",
	"segment_pool_id",
	"is_expandable",
	"blocks",
	"stage",
	"segments",
	"device_traces",
	"traces",
	"host_segments",
	"host_traces",
	"allocator_settings",
	"external_annotations",
	"active_allocated",
	"active_pending_free",
	"active_awaiting_free",
	"small",
	"large",
	"START",
	"N/A",
};

static_assert(SS_COUNT(key_names) == TEXT_FIRST_ACTION, "a name for every key");
static_assert(KEY_COUNT <= 64, "keys are bits of a word");

#define BIT(key) (UINT64_C(1) << (key))
#define ROOT_KEYS                                                                                \
	(BIT(KEY_SEGMENTS) | BIT(KEY_DEVICE_TRACES) | BIT(KEY_TRACES) | BIT(KEY_HOST_SEGMENTS) | \
	 BIT(KEY_HOST_TRACES))

bool ss_snapshot_intern_keys(struct ss_strings *texts)
{
	for (uint32_t i = 0; i < SS_COUNT(key_names); i++)
		if (ss_strings_add(texts, key_names[i], strlen(key_names[i])) != i + 1)
			return false;
	for (int i = 0; i < SS_ACTION_COUNT; i++) {
		const char *name = ss_action_name((enum ss_action)i);

		if (ss_strings_add(texts, name, strlen(name)) == SS_NO_ID)
			return false;
	}
	return true;
}

/* The values of the keys that are known. */
struct dict_fields {
	uint64_t seen; /* bits of enum dict_key */
	const struct ss_pickle_value *values[KEY_COUNT];
};

static bool dict_has(const struct dict_fields *fields, enum dict_key key)
{
	return fields->seen & BIT(key);
}

static bool is_pickle_integer(const struct ss_pickle_value *value)
{
	return value->kind == SS_PICKLE_INT || value->kind == SS_PICKLE_UNSIGNED;
}

/* A number as the file has it; `none` if there is none. */
static int64_t dict_number(const struct dict_fields *fields, enum dict_key key, int64_t none)
{
	return dict_has(fields, key) && is_pickle_integer(fields->values[key])
		       ? fields->values[key]->word
		       : none;
}

/* A size; -1 where there is none. */
static int64_t dict_size(struct ss_snapshot_reader *reader, const struct dict_fields *fields,
			 enum dict_key key)
{
	if (!dict_has(fields, key) || !is_pickle_integer(fields->values[key]))
		return -1;
	if (fields->values[key]->word >= 0 && fields->values[key]->word <= SS_SNAPSHOT_BYTES_MAX)
		return fields->values[key]->word;
	reader->out->odd_numbers++;
	return 0;
}

static int64_t dict_size_or_zero(struct ss_snapshot_reader *reader,
				 const struct dict_fields *fields, enum dict_key key)
{
	int64_t bytes = dict_size(reader, fields, key);

	return bytes < 0 ? 0 : bytes;
}

/* The id of the text; 0, the empty one, where there is none. */
static uint32_t dict_text(const struct dict_fields *fields, enum dict_key key)
{
	return dict_has(fields, key) && fields->values[key]->kind == SS_PICKLE_TEXT
		       ? (uint32_t)fields->values[key]->word
		       : 0;
}

static bool dict_is_text(const struct dict_fields *fields, enum dict_key key, uint32_t wanted)
{
	return dict_text(fields, key) == wanted + 1;
}

static uint32_t dict_part_index(const struct dict_fields *fields, enum dict_key key,
				enum ss_snapshot_part part, uint32_t none)
{
	return dict_has(fields, key) && ss_part_of(fields->values[key]) == part
		       ? ss_part_index(fields->values[key])
		       : none;
}

static uint32_t dict_stack(const struct dict_fields *fields, enum dict_key key)
{
	return dict_part_index(fields, key, SS_PART_STACK, 0);
}

/* "N/A" is how the writer says that there is none. */
static uint32_t dict_compile_context(const struct dict_fields *fields)
{
	uint32_t id = dict_text(fields, KEY_COMPILE_CONTEXT);

	return id == TEXT_NOT_AVAILABLE + 1 ? 0 : id;
}

static enum ss_action action_of(uint32_t id)
{
	uint32_t action = id - (TEXT_FIRST_ACTION + 1);

	return id > TEXT_FIRST_ACTION && action < SS_ACTION_OTHER ? (enum ss_action)action
								  : SS_ACTION_OTHER;
}

static uint32_t about_of(struct ss_snapshot_reader *reader, const struct dict_fields *fields)
{
	struct ss_event_about about = {
		.stream = (uint64_t)dict_number(fields, KEY_STREAM, 0),
		.pool = dict_part_index(fields, KEY_POOL_ID, SS_PART_POOL, SS_NO_ID),
		.category = dict_text(fields, KEY_CATEGORY),
		.compile_context = dict_compile_context(fields),
		.metadata = dict_text(fields, KEY_USER_METADATA),
		.forward = dict_stack(fields, KEY_FORWARD_FRAMES),
	};

	if (reader->out->abouts.count && memcmp(&about, &reader->last_about, sizeof(about)) == 0)
		return reader->last_about_id;
	reader->last_about = about;
	reader->last_about_id = ss_records_add(&reader->out->abouts, &about);
	return reader->last_about_id;
}

/* Files count microseconds; an impossible time counts as not recorded. */
static int64_t dict_time_ns(const struct dict_fields *fields)
{
	int64_t time_us = dict_number(fields, KEY_TIME_US, SS_NO_TIME), time_ns;

	return time_us == SS_NO_TIME || __builtin_mul_overflow(time_us, 1000, &time_ns) ? SS_NO_TIME
											: time_ns;
}

/* A failed allocation has no address: its row has the free bytes of the device there. */
static enum ss_status dict_read_event(struct ss_snapshot_reader *reader,
				      const struct dict_fields *fields, uint64_t *content,
				      struct ss_error *err)
{
	struct ss_snapshot *out = reader->out;
	enum ss_action action = action_of(dict_text(fields, KEY_ACTION));
	enum dict_key address = action == SS_ACTION_OOM ? KEY_DEVICE_FREE : KEY_ADDR;
	uint32_t row, about = about_of(reader, fields);

	row = about == SS_NO_ID ? SS_NO_ID : ss_snapshot_events_add(&out->events, out->memory);
	if (row == SS_NO_ID)
		return ss_fail_memory(err, "the events");
	out->events.action[row] = (uint8_t)action;
	out->events.address[row] = (uint64_t)dict_number(fields, address, 0);
	out->events.bytes[row] = dict_size_or_zero(reader, fields, KEY_SIZE);
	out->events.time_ns[row] = dict_time_ns(fields);
	out->events.stack[row] = dict_stack(fields, KEY_FRAMES);
	out->events.about[row] = about;
	*content = ss_part_content(SS_PART_EVENT, row);
	return SS_OK;
}

static enum ss_status dict_read_frame(struct ss_snapshot_reader *reader,
				      const struct dict_fields *fields, uint64_t *content,
				      struct ss_error *err)
{
	int64_t line = dict_number(fields, KEY_LINE, 0);
	struct ss_code_frame frame = {
		.file = dict_text(fields, KEY_FILENAME),
		.name = dict_text(fields, KEY_NAME),
		.line = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0,
	};
	uint32_t id = ss_records_add(&reader->out->frames, &frame);

	*content = ss_part_content(SS_PART_FRAME, id);
	return id == SS_NO_ID ? ss_fail_memory(err, "the frames") : SS_OK;
}

static enum ss_status dict_read_history(struct ss_snapshot_reader *reader,
					const struct dict_fields *fields, uint64_t *content,
					struct ss_error *err)
{
	if (!SS_GROW(reader->out->memory, reader->histories, reader->history_capacity,
		     reader->history_count))
		return ss_fail_memory(err, "the blocks");
	reader->histories[reader->history_count] = (struct ss_old_history){
		.address = (uint64_t)dict_number(fields, KEY_ADDR, 0),
		.bytes = dict_size(reader, fields, KEY_REAL_SIZE),
		.stack = dict_stack(fields, KEY_FRAMES),
		.has_address = dict_has(fields, KEY_ADDR),
	};
	*content = ss_part_content(SS_PART_HISTORY, reader->history_count++);
	return SS_OK;
}

/* The newest of what a block was used for, or NULL. */
static const struct ss_old_history *dict_newest_history(const struct ss_snapshot_reader *reader,
							const struct dict_fields *fields)
{
	uint32_t range = dict_part_index(fields, KEY_HISTORY, SS_PART_RANGE, SS_NO_ID);

	if (range == SS_NO_ID || reader->ranges[range].part != SS_PART_HISTORY)
		return NULL;
	return &reader->histories[reader->ranges[range].first];
}

static enum ss_block_state dict_block_state(const struct dict_fields *fields)
{
	if (dict_is_text(fields, KEY_STATE, TEXT_ACTIVE_ALLOCATED))
		return SS_BLOCK_ALLOCATED;
	return dict_is_text(fields, KEY_STATE, TEXT_ACTIVE_PENDING_FREE) ||
			       dict_is_text(fields, KEY_STATE, TEXT_ACTIVE_AWAITING_FREE)
		       ? SS_BLOCK_PENDING
		       : SS_BLOCK_INACTIVE;
}

static enum ss_status dict_read_block(struct ss_snapshot_reader *reader,
				      const struct dict_fields *fields, uint64_t *content,
				      struct ss_error *err)
{
	const struct ss_old_history *history = dict_newest_history(reader, fields);
	struct ss_snapshot *out = reader->out;
	struct ss_block block = {
		.address = (uint64_t)dict_number(fields, KEY_ADDRESS, 0),
		.bytes = dict_size_or_zero(reader, fields, KEY_SIZE),
		.requested_bytes = dict_size(reader, fields, KEY_REQUESTED_SIZE),
		.stack = dict_stack(fields, KEY_FRAMES),
		.state = (uint8_t)dict_block_state(fields),
		.has_address = dict_has(fields, KEY_ADDRESS),
	};

	/* without an address of its own a block lies behind the one before it */
	if (history && block.state != SS_BLOCK_INACTIVE && !block.stack)
		block.stack = history->stack;
	if (history && block.requested_bytes < 0)
		block.requested_bytes = history->bytes;
	if (!SS_GROW(out->memory, out->blocks, out->block_capacity, out->block_count))
		return ss_fail_memory(err, "the blocks");
	out->blocks[out->block_count] = block;
	*content = ss_part_content(SS_PART_BLOCK, out->block_count++);
	return SS_OK;
}

static enum ss_status dict_read_segment(struct ss_snapshot_reader *reader,
					const struct dict_fields *fields, uint64_t *content,
					struct ss_error *err)
{
	uint32_t blocks = dict_part_index(fields, KEY_BLOCKS, SS_PART_RANGE, SS_NO_ID);
	int64_t device = dict_number(fields, KEY_DEVICE, 0);
	struct ss_snapshot *out = reader->out;
	struct ss_segment segment = {
		.address = (uint64_t)dict_number(fields, KEY_ADDRESS, 0),
		.total_bytes = dict_size_or_zero(reader, fields, KEY_TOTAL_SIZE),
		.allocated_bytes = dict_size(reader, fields, KEY_ALLOCATED_SIZE),
		.active_bytes = dict_size(reader, fields, KEY_ACTIVE_SIZE),
		.requested_bytes = dict_size(reader, fields, KEY_REQUESTED_SIZE),
		.stream = (uint64_t)dict_number(fields, KEY_STREAM, 0),
		.pool = dict_part_index(fields, KEY_SEGMENT_POOL_ID, SS_PART_POOL, SS_NO_ID),
		.stack = dict_stack(fields, KEY_FRAMES),
		.device = device >= 0 && device < SS_SNAPSHOT_DEVICES ? (int32_t)device : 0,
		.is_small = dict_is_text(fields, KEY_SEGMENT_TYPE, TEXT_SMALL),
		.has_type = dict_is_text(fields, KEY_SEGMENT_TYPE, TEXT_SMALL) ||
			    dict_is_text(fields, KEY_SEGMENT_TYPE, TEXT_LARGE),
		.is_expandable = dict_has(fields, KEY_IS_EXPANDABLE) &&
				 fields->values[KEY_IS_EXPANDABLE]->kind == SS_PICKLE_BOOL &&
				 fields->values[KEY_IS_EXPANDABLE]->word,
	};

	if (blocks != SS_NO_ID && reader->ranges[blocks].part == SS_PART_BLOCK) {
		segment.first_block = reader->ranges[blocks].first;
		segment.block_count = reader->ranges[blocks].count;
	}
	if (!SS_GROW(out->memory, out->segments, out->segment_capacity, out->segment_count))
		return ss_fail_memory(err, "the segments");
	out->segments[out->segment_count] = segment;
	*content = ss_part_content(SS_PART_SEGMENT, out->segment_count++);
	return SS_OK;
}

static enum ss_status dict_read_annotation(struct ss_snapshot_reader *reader,
					   const struct dict_fields *fields, uint64_t *content,
					   struct ss_error *err)
{
	struct ss_snapshot *out = reader->out;
	int64_t device = dict_number(fields, KEY_DEVICE, 0);

	if (!SS_GROW(out->memory, out->annotations, out->annotation_capacity,
		     out->annotation_count))
		return ss_fail_memory(err, "the annotations");
	out->annotations[out->annotation_count] = (struct ss_annotation){
		.name = dict_text(fields, KEY_NAME),
		.device = device >= 0 && device < SS_SNAPSHOT_DEVICES ? (int32_t)device : 0,
		.time_us = dict_number(fields, KEY_TIME_US, SS_NO_TIME),
		.is_start = dict_is_text(fields, KEY_STAGE, TEXT_START),
	};
	*content = ss_part_content(SS_PART_ANNOTATION, out->annotation_count++);
	return SS_OK;
}

static void dict_copy_value(const struct dict_fields *fields, enum dict_key key,
			    struct ss_pickle_value *out)
{
	if (dict_has(fields, key))
		*out = *fields->values[key];
}

static void dict_read_root(struct ss_snapshot_reader *reader, const struct dict_fields *fields,
			   uint64_t *content)
{
	dict_copy_value(fields, KEY_SEGMENTS, &reader->segments);
	dict_copy_value(fields, KEY_TRACES, &reader->traces);
	dict_copy_value(fields, KEY_DEVICE_TRACES, &reader->traces);
	dict_copy_value(fields, KEY_HOST_SEGMENTS, &reader->host_segments);
	dict_copy_value(fields, KEY_HOST_TRACES, &reader->host_traces);
	dict_copy_value(fields, KEY_ALLOCATOR_SETTINGS, &reader->settings);
	dict_copy_value(fields, KEY_EXTERNAL_ANNOTATIONS, &reader->annotations);
	*content = ss_part_content(SS_PART_ROOT, 0);
}

static enum ss_status dict_read_pairs(struct ss_snapshot_reader *reader,
				      const struct ss_pickle_value *items, uint32_t count,
				      uint64_t *content, struct ss_error *err)
{
	void *pairs = reader->pairs, *ranges = reader->ranges;

	if (!ss_memory_reserve(reader->out->memory, &pairs, &reader->pair_capacity,
			       (size_t)reader->pair_count + count / 2, sizeof(*reader->pairs)))
		return ss_fail_memory(err, "the settings");
	reader->pairs = pairs;
	if (!ss_memory_reserve(reader->out->memory, &ranges, &reader->range_capacity,
			       (size_t)reader->range_count + 1, sizeof(*reader->ranges)))
		return ss_fail_memory(err, "the settings");
	reader->ranges = ranges;
	reader->ranges[reader->range_count] =
		(struct ss_part_range){ SS_PART_PAIRS, reader->pair_count, count / 2 };
	for (uint32_t i = 0; i < count; i += 2)
		reader->pairs[reader->pair_count++] = (struct ss_pair){
			items[i].kind == SS_PICKLE_TEXT ? (uint32_t)items[i].word : SS_NO_ID,
			items[i + 1]
		};
	*content = ss_part_content(SS_PART_PAIRS, reader->range_count++);
	return SS_OK;
}

enum ss_status ss_snapshot_read_dict(struct ss_snapshot_reader *reader, uint64_t *content,
				     const struct ss_pickle_value *items, uint32_t count,
				     struct ss_error *err)
{
	struct dict_fields fields;
	bool is_root = *content == ss_part_content(SS_PART_ROOT, 0);

	fields.seen = 0;
	for (uint32_t i = 0; i < count; i += 2) {
		uint64_t key = (uint64_t)items[i].word - 1;

		if (items[i].kind != SS_PICKLE_TEXT || key >= KEY_COUNT)
			continue;
		fields.seen |= BIT(key);
		fields.values[key] = &items[i + 1];
	}
	if (*content && !is_root) /* a thousand keys: not a dictionary of a snapshot */
		return SS_OK;
	if (dict_has(&fields, KEY_ACTION))
		return dict_read_event(reader, &fields, content, err);
	if (dict_has(&fields, KEY_FILENAME))
		return dict_read_frame(reader, &fields, content, err);
	if (dict_has(&fields, KEY_TOTAL_SIZE) || dict_has(&fields, KEY_BLOCKS))
		return dict_read_segment(reader, &fields, content, err);
	if (dict_has(&fields, KEY_STATE))
		return dict_read_block(reader, &fields, content, err);
	if (dict_has(&fields, KEY_STAGE))
		return dict_read_annotation(reader, &fields, content, err);
	if (dict_has(&fields, KEY_REAL_SIZE))
		return dict_read_history(reader, &fields, content, err);
	if (is_root || fields.seen & ROOT_KEYS) {
		dict_read_root(reader, &fields, content);
		return SS_OK;
	}
	return dict_read_pairs(reader, items, count, content, err);
}
