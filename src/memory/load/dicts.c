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
enum key {
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
struct fields {
	uint64_t seen; /* bits of enum key */
	const struct ss_pickle_value *values[KEY_COUNT];
};

static bool has(const struct fields *fields, enum key key)
{
	return fields->seen & BIT(key);
}

static bool is_integer(const struct ss_pickle_value *value)
{
	return value->kind == SS_PICKLE_INT || value->kind == SS_PICKLE_UNSIGNED;
}

/* A number as it stands; `none` where there is none. */
static int64_t number(const struct fields *fields, enum key key, int64_t none)
{
	return has(fields, key) && is_integer(fields->values[key]) ? fields->values[key]->word
								   : none;
}

/* A size; -1 where there is none. */
static int64_t size(struct ss_snapshot_reader *reader, const struct fields *fields, enum key key)
{
	if (!has(fields, key) || !is_integer(fields->values[key]))
		return -1;
	if (fields->values[key]->word >= 0 && fields->values[key]->word <= SS_MEMORY_BYTES_MAX)
		return fields->values[key]->word;
	reader->out->odd_numbers++;
	return 0;
}

static int64_t size_or_zero(struct ss_snapshot_reader *reader, const struct fields *fields,
			    enum key key)
{
	int64_t bytes = size(reader, fields, key);

	return bytes < 0 ? 0 : bytes;
}

/* The id of the text; 0, the empty one, where there is none. */
static uint32_t text(const struct fields *fields, enum key key)
{
	return has(fields, key) && fields->values[key]->kind == SS_PICKLE_TEXT
		       ? (uint32_t)fields->values[key]->word
		       : 0;
}

static bool is_text(const struct fields *fields, enum key key, uint32_t wanted)
{
	return text(fields, key) == wanted + 1;
}

static uint32_t part_index(const struct fields *fields, enum key key, enum ss_part part,
			   uint32_t none)
{
	return has(fields, key) && ss_part_of(fields->values[key]) == part
		       ? ss_part_index(fields->values[key])
		       : none;
}

static uint32_t stack(const struct fields *fields, enum key key)
{
	return part_index(fields, key, SS_PART_STACK, 0);
}

/* "N/A" is how the writer says that there is none. */
static uint32_t compile_context(const struct fields *fields)
{
	uint32_t id = text(fields, KEY_COMPILE_CONTEXT);

	return id == TEXT_NOT_AVAILABLE + 1 ? 0 : id;
}

static enum ss_action action_of(uint32_t id)
{
	uint32_t action = id - (TEXT_FIRST_ACTION + 1);

	return id > TEXT_FIRST_ACTION && action < SS_ACTION_OTHER ? (enum ss_action)action
								  : SS_ACTION_OTHER;
}

static uint32_t about_of(struct ss_snapshot_reader *reader, const struct fields *fields)
{
	struct ss_event_about about = {
		.stream = (uint64_t)number(fields, KEY_STREAM, 0),
		.pool = part_index(fields, KEY_POOL_ID, SS_PART_POOL, SS_NO_ID),
		.category = text(fields, KEY_CATEGORY),
		.compile_context = compile_context(fields),
		.metadata = text(fields, KEY_USER_METADATA),
		.forward = stack(fields, KEY_FORWARD_FRAMES),
	};

	if (reader->out->abouts.count && memcmp(&about, &reader->last_about, sizeof(about)) == 0)
		return reader->last_about_id;
	reader->last_about = about;
	reader->last_about_id = ss_records_add(&reader->out->abouts, &about);
	return reader->last_about_id;
}

/* Files count microseconds; what cannot be meant is not recorded. */
static int64_t moment(const struct fields *fields)
{
	int64_t time_us = number(fields, KEY_TIME_US, SS_NO_TIME), time_ns;

	return time_us == SS_NO_TIME || __builtin_mul_overflow(time_us, 1000, &time_ns) ? SS_NO_TIME
											: time_ns;
}

static enum ss_status read_event(struct ss_snapshot_reader *reader, const struct fields *fields,
				 uint64_t *content, struct ss_error *err)
{
	struct ss_snapshot *out = reader->out;
	enum ss_action action = action_of(text(fields, KEY_ACTION));
	enum key address = action == SS_ACTION_OOM ? KEY_DEVICE_FREE : KEY_ADDR;
	uint32_t row, about = about_of(reader, fields);

	row = about == SS_NO_ID ? SS_NO_ID : ss_memory_events_add(&out->events, out->memory);
	if (row == SS_NO_ID)
		return ss_fail_memory(err, "the events");
	out->events.action[row] = (uint8_t)action;
	out->events.address[row] = (uint64_t)number(fields, address, 0);
	out->events.bytes[row] = size_or_zero(reader, fields, KEY_SIZE);
	out->events.time_ns[row] = moment(fields);
	out->events.stack[row] = stack(fields, KEY_FRAMES);
	out->events.about[row] = about;
	*content = ss_part_content(SS_PART_EVENT, row);
	return SS_OK;
}

static enum ss_status read_frame(struct ss_snapshot_reader *reader, const struct fields *fields,
				 uint64_t *content, struct ss_error *err)
{
	int64_t line = number(fields, KEY_LINE, 0);
	struct ss_code_frame frame = {
		.file = text(fields, KEY_FILENAME),
		.name = text(fields, KEY_NAME),
		.line = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0,
	};
	uint32_t id = ss_records_add(&reader->out->frames, &frame);

	*content = ss_part_content(SS_PART_FRAME, id);
	return id == SS_NO_ID ? ss_fail_memory(err, "the frames") : SS_OK;
}

static enum ss_status read_history(struct ss_snapshot_reader *reader, const struct fields *fields,
				   uint64_t *content, struct ss_error *err)
{
	void *items = reader->histories;

	if (!ss_memory_reserve(reader->out->memory, &items, &reader->history_capacity,
			       (size_t)reader->history_count + 1, sizeof(*reader->histories)))
		return ss_fail_memory(err, "the blocks");
	reader->histories = items;
	reader->histories[reader->history_count] = (struct ss_old_history){
		.address = (uint64_t)number(fields, KEY_ADDR, 0),
		.bytes = size(reader, fields, KEY_REAL_SIZE),
		.stack = stack(fields, KEY_FRAMES),
		.has_address = has(fields, KEY_ADDR),
	};
	*content = ss_part_content(SS_PART_HISTORY, reader->history_count++);
	return SS_OK;
}

/* The newest of what a block was used for, or NULL. */
static const struct ss_old_history *history_of(const struct ss_snapshot_reader *reader,
					       const struct fields *fields)
{
	uint32_t range = part_index(fields, KEY_HISTORY, SS_PART_RANGE, SS_NO_ID);

	if (range == SS_NO_ID || reader->ranges[range].part != SS_PART_HISTORY)
		return NULL;
	return &reader->histories[reader->ranges[range].first];
}

static enum ss_block_state state_of(const struct fields *fields)
{
	if (is_text(fields, KEY_STATE, TEXT_ACTIVE_ALLOCATED))
		return SS_BLOCK_ALLOCATED;
	return is_text(fields, KEY_STATE, TEXT_ACTIVE_PENDING_FREE) ||
			       is_text(fields, KEY_STATE, TEXT_ACTIVE_AWAITING_FREE)
		       ? SS_BLOCK_PENDING
		       : SS_BLOCK_INACTIVE;
}

static enum ss_status read_block(struct ss_snapshot_reader *reader, const struct fields *fields,
				 uint64_t *content, struct ss_error *err)
{
	const struct ss_old_history *history = history_of(reader, fields);
	struct ss_snapshot *out = reader->out;
	void *items = out->blocks;
	struct ss_block block = {
		.address = (uint64_t)number(fields, KEY_ADDRESS, 0),
		.bytes = size_or_zero(reader, fields, KEY_SIZE),
		.requested_bytes = size(reader, fields, KEY_REQUESTED_SIZE),
		.stack = stack(fields, KEY_FRAMES),
		.state = (uint8_t)state_of(fields),
		.has_address = has(fields, KEY_ADDRESS),
	};

	/* without an address of its own a block lies behind the one before it */
	if (history && block.state != SS_BLOCK_INACTIVE && !block.stack)
		block.stack = history->stack;
	if (history && block.requested_bytes < 0)
		block.requested_bytes = history->bytes;
	if (!ss_memory_reserve(out->memory, &items, &out->block_capacity,
			       (size_t)out->block_count + 1, sizeof(*out->blocks)))
		return ss_fail_memory(err, "the blocks");
	out->blocks = items;
	out->blocks[out->block_count] = block;
	*content = ss_part_content(SS_PART_BLOCK, out->block_count++);
	return SS_OK;
}

static enum ss_status read_segment(struct ss_snapshot_reader *reader, const struct fields *fields,
				   uint64_t *content, struct ss_error *err)
{
	uint32_t blocks = part_index(fields, KEY_BLOCKS, SS_PART_RANGE, SS_NO_ID);
	int64_t device = number(fields, KEY_DEVICE, 0);
	struct ss_snapshot *out = reader->out;
	void *items = out->segments;
	struct ss_segment segment = {
		.address = (uint64_t)number(fields, KEY_ADDRESS, 0),
		.total_bytes = size_or_zero(reader, fields, KEY_TOTAL_SIZE),
		.allocated_bytes = size(reader, fields, KEY_ALLOCATED_SIZE),
		.active_bytes = size(reader, fields, KEY_ACTIVE_SIZE),
		.requested_bytes = size(reader, fields, KEY_REQUESTED_SIZE),
		.stream = (uint64_t)number(fields, KEY_STREAM, 0),
		.pool = part_index(fields, KEY_SEGMENT_POOL_ID, SS_PART_POOL, SS_NO_ID),
		.stack = stack(fields, KEY_FRAMES),
		.device = device >= 0 && device < SS_SNAPSHOT_DEVICES ? (int32_t)device : 0,
		.is_small = is_text(fields, KEY_SEGMENT_TYPE, TEXT_SMALL),
		.has_type = is_text(fields, KEY_SEGMENT_TYPE, TEXT_SMALL) ||
			    is_text(fields, KEY_SEGMENT_TYPE, TEXT_LARGE),
		.is_expandable = has(fields, KEY_IS_EXPANDABLE) &&
				 fields->values[KEY_IS_EXPANDABLE]->kind == SS_PICKLE_BOOL &&
				 fields->values[KEY_IS_EXPANDABLE]->word,
	};

	if (blocks != SS_NO_ID && reader->ranges[blocks].part == SS_PART_BLOCK) {
		segment.first_block = reader->ranges[blocks].first;
		segment.block_count = reader->ranges[blocks].count;
	}
	if (!ss_memory_reserve(out->memory, &items, &out->segment_capacity,
			       (size_t)out->segment_count + 1, sizeof(*out->segments)))
		return ss_fail_memory(err, "the segments");
	out->segments = items;
	out->segments[out->segment_count] = segment;
	*content = ss_part_content(SS_PART_SEGMENT, out->segment_count++);
	return SS_OK;
}

static enum ss_status read_annotation(struct ss_snapshot_reader *reader,
				      const struct fields *fields, uint64_t *content,
				      struct ss_error *err)
{
	struct ss_snapshot *out = reader->out;
	int64_t device = number(fields, KEY_DEVICE, 0);
	void *items = out->annotations;

	if (!ss_memory_reserve(out->memory, &items, &out->annotation_capacity,
			       (size_t)out->annotation_count + 1, sizeof(*out->annotations)))
		return ss_fail_memory(err, "the annotations");
	out->annotations = items;
	out->annotations[out->annotation_count] = (struct ss_annotation){
		.name = text(fields, KEY_NAME),
		.device = device >= 0 && device < SS_SNAPSHOT_DEVICES ? (int32_t)device : 0,
		.time_us = number(fields, KEY_TIME_US, SS_NO_TIME),
		.is_start = is_text(fields, KEY_STAGE, TEXT_START),
	};
	*content = ss_part_content(SS_PART_ANNOTATION, out->annotation_count++);
	return SS_OK;
}

static void take(const struct fields *fields, enum key key, struct ss_pickle_value *out)
{
	if (has(fields, key))
		*out = *fields->values[key];
}

static void read_root(struct ss_snapshot_reader *reader, const struct fields *fields,
		      uint64_t *content)
{
	take(fields, KEY_SEGMENTS, &reader->segments);
	take(fields, KEY_TRACES, &reader->traces);
	take(fields, KEY_DEVICE_TRACES, &reader->traces);
	take(fields, KEY_HOST_SEGMENTS, &reader->host_segments);
	take(fields, KEY_HOST_TRACES, &reader->host_traces);
	take(fields, KEY_ALLOCATOR_SETTINGS, &reader->settings);
	take(fields, KEY_EXTERNAL_ANNOTATIONS, &reader->annotations);
	*content = ss_part_content(SS_PART_ROOT, 0);
}

static enum ss_status read_pairs(struct ss_snapshot_reader *reader,
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
	struct fields fields;
	bool is_root = *content == ss_part_content(SS_PART_ROOT, 0);

	fields.seen = 0;
	for (uint32_t i = 0; i < count; i += 2) {
		uint64_t key = (uint64_t)items[i].word - 1;

		if (items[i].kind != SS_PICKLE_TEXT || key >= KEY_COUNT)
			continue;
		fields.seen |= BIT(key);
		fields.values[key] = &items[i + 1];
	}
	if (*content && !is_root) /* a thousand keys: no dictionary of a snapshot */
		return SS_OK;
	if (has(&fields, KEY_ACTION))
		return read_event(reader, &fields, content, err);
	if (has(&fields, KEY_FILENAME))
		return read_frame(reader, &fields, content, err);
	if (has(&fields, KEY_TOTAL_SIZE) || has(&fields, KEY_BLOCKS))
		return read_segment(reader, &fields, content, err);
	if (has(&fields, KEY_STATE))
		return read_block(reader, &fields, content, err);
	if (has(&fields, KEY_STAGE))
		return read_annotation(reader, &fields, content, err);
	if (has(&fields, KEY_REAL_SIZE))
		return read_history(reader, &fields, content, err);
	if (is_root || fields.seen & ROOT_KEYS) {
		read_root(reader, &fields, content);
		return SS_OK;
	}
	return read_pairs(reader, items, count, content, err);
}
