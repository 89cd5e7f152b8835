/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_pickle.c - reads a memory snapshot: lists and tuples of the pickle, what its root
 * contains (segments, events, settings), and the whole.
 *
 * Rows are made in the order of the file, so a list of dictionaries is a range of rows
 * that ends where the next one begins. No version of PyTorch writes a dictionary into two
 * lists; a file that does is refused.
 *
 * The root is a dictionary since 1.13 and a bare list of segments before. Blocks without
 * an address follow each other from the beginning of their segment.
 */
#include <string.h>

#include "base/text.h"
#include "memory/load/reader.h"

static const struct ss_part_range *root_range(const struct ss_snapshot_reader *reader,
					      const struct ss_pickle_value *value)
{
	return ss_part_of(value) == SS_PART_RANGE ? &reader->ranges[ss_part_index(value)] : NULL;
}

/* --- segments ---------------------------------------------------------------------- */

static void root_place_blocks(struct ss_snapshot *snapshot, const struct ss_segment *segment)
{
	uint64_t address = segment->address;

	for (uint32_t i = 0; i < segment->block_count; i++) {
		struct ss_block *block = &snapshot->blocks[segment->first_block + i];

		if (!block->has_address)
			block->address = address;
		address = block->address + (uint64_t)block->bytes;
	}
}

/* What is not in the list is no segment of the snapshot, whatever it looks like. */
static void root_take_segments(struct ss_snapshot_reader *reader,
			       const struct ss_pickle_value *value, bool is_host, uint8_t *taken)
{
	const struct ss_part_range *range = root_range(reader, value);

	if (value->kind != SS_PICKLE_LIST)
		return;
	reader->out->has_segments |= !is_host;
	if (!range || range->part != SS_PART_SEGMENT)
		return;
	for (uint32_t i = 0; i < range->count; i++) {
		struct ss_segment *segment = &reader->out->segments[range->first + i];

		segment->is_host = is_host;
		taken[range->first + i] = 1;
		root_place_blocks(reader->out, segment);
	}
}

static enum ss_status root_read_segments(struct ss_snapshot_reader *reader,
					 const struct ss_pickle_value *root, struct ss_error *err)
{
	struct ss_snapshot *out = reader->out;
	uint32_t kept = 0;
	uint8_t *taken = ss_memory_zeroed(out->memory, (size_t)out->segment_count + 1);

	if (!taken)
		return ss_fail_memory(err, "the segments");
	root_take_segments(reader, root->kind == SS_PICKLE_LIST ? root : &reader->segments, false,
			   taken);
	root_take_segments(reader, &reader->host_segments, true, taken);
	for (uint32_t i = 0; i < out->segment_count; i++)
		if (taken[i])
			out->segments[kept++] = out->segments[i];
	ss_memory_free(out->memory, taken, (size_t)out->segment_count + 1);
	out->segment_count = kept;
	return SS_OK;
}

/* --- events ------------------------------------------------------------------------ */

static enum ss_status root_add_trace(struct ss_snapshot *out, struct ss_device_trace trace,
				     struct ss_error *err)
{
	if (!SS_GROW(out->memory, out->traces, out->trace_capacity, out->trace_count))
		return ss_fail_memory(err, "the devices");
	out->traces[out->trace_count++] = trace;
	return SS_OK;
}

/* A list of events a device; one list of events alone is that of device 0. */
static enum ss_status root_read_traces(struct ss_snapshot_reader *reader,
				       const struct ss_pickle_value *value, bool is_host,
				       struct ss_error *err)
{
	const struct ss_part_range *range = root_range(reader, value), *events;

	if (value->kind != SS_PICKLE_LIST)
		return SS_OK;
	reader->out->has_traces |= !is_host;
	if (!range)
		return SS_OK;
	if (range->part == SS_PART_EVENT)
		return root_add_trace(reader->out,
				      (struct ss_device_trace){ 0, is_host, range->first,
								range->count },
				      err);
	if (range->part != SS_PART_RANGE)
		return SS_OK;
	if (!is_host)
		reader->out->listed_devices = range->count;
	for (uint32_t i = 0; i < range->count && i < SS_SNAPSHOT_DEVICES; i++) {
		uint32_t list = reader->lists[range->first + i];

		events = list == SS_NO_ID ? NULL : &reader->ranges[list];
		if (!events || events->part != SS_PART_EVENT)
			continue;
		SS_TRY(root_add_trace(reader->out,
				      (struct ss_device_trace){ (int32_t)i, is_host, events->first,
								events->count },
				      err));
	}
	return SS_OK;
}

/* --- settings ---------------------------------------------------------------------- */

static void print_value(const struct ss_snapshot *snapshot, const struct ss_pickle_value *value,
			struct ss_text *out)
{
	switch (value->kind) {
	case SS_PICKLE_BOOL:
		ss_text_add_string(out, value->word ? "True" : "False");
		break;
	case SS_PICKLE_INT:
		ss_text_add_int(out, value->word);
		break;
	case SS_PICKLE_UNSIGNED:
		ss_text_addf(out, "%llu", (unsigned long long)value->word);
		break;
	case SS_PICKLE_REAL:
		ss_text_addf(out, "%g", value->real);
		break;
	case SS_PICKLE_TEXT:
		ss_text_add_string(out, ss_strings_text(&snapshot->texts, (uint32_t)value->word));
		break;
	default:
		break;
	}
}

/* "1:0 2:0 4:0": a dictionary inside of the settings, one level deep. */
static void print_pairs(const struct ss_snapshot_reader *reader,
			const struct ss_pickle_value *value, struct ss_text *out)
{
	const struct ss_part_range *range;

	if (ss_part_of(value) != SS_PART_PAIRS) {
		print_value(reader->out, value, out);
		return;
	}
	range = &reader->ranges[ss_part_index(value)];
	for (uint32_t i = 0; i < range->count; i++) {
		const struct ss_pair *pair = &reader->pairs[range->first + i];

		ss_text_addf(out, "%s%s:", i ? " " : "",
			     pair->key == SS_NO_ID
				     ? "?"
				     : ss_strings_text(&reader->out->texts, pair->key));
		print_value(reader->out, &pair->value, out);
	}
}

static enum ss_status root_add_setting(struct ss_snapshot_reader *reader,
				       const struct ss_pair *pair, struct ss_error *err)
{
	struct ss_snapshot *out = reader->out;
	SS_TEXT(value);
	uint32_t id = SS_NO_ID;

	if (!SS_GROW(out->memory, out->settings, out->setting_capacity, out->setting_count))
		return ss_fail_memory(err, "the settings");
	print_pairs(reader, &pair->value, &value);
	if (!ss_text_failed(&value))
		id = ss_strings_add(&out->texts, value.data ? value.data : "", value.length);
	if (id == SS_NO_ID)
		return ss_fail_memory(err, "the settings");
	out->settings[out->setting_count++] = (struct ss_setting){ pair->key, id };
	return SS_OK;
}

static enum ss_status root_read_settings(struct ss_snapshot_reader *reader, struct ss_error *err)
{
	const struct ss_part_range *range;

	if (ss_part_of(&reader->settings) != SS_PART_PAIRS)
		return SS_OK;
	range = &reader->ranges[ss_part_index(&reader->settings)];
	for (uint32_t i = 0; i < range->count; i++)
		if (reader->pairs[range->first + i].key != SS_NO_ID)
			SS_TRY(root_add_setting(reader, &reader->pairs[range->first + i], err));
	return SS_OK;
}

/* Puts together what the root leads to. */
static enum ss_status reader_finish(struct ss_snapshot_reader *reader,
				    const struct ss_pickle_value *root, struct ss_error *err)
{
	struct ss_snapshot *out = reader->out;

	SS_TRY(root_read_segments(reader, root, err));
	SS_TRY(root_read_traces(reader, &reader->traces, false, err));
	SS_TRY(root_read_traces(reader, &reader->host_traces, true, err));
	SS_TRY(root_read_settings(reader, err));
	if (!out->has_segments && !out->has_traces && !out->segment_count && !out->trace_count)
		return ss_fail(err, SS_ERR_FORMAT,
			       out->is_cut ? "the file ends before any snapshot data"
					   : "a pickle, but not a memory snapshot (no segments, no "
					     "device_traces): write one with "
					     "torch.cuda.memory._dump_snapshot()");
	return SS_OK;
}

/* Picklers write lists in pieces of a thousand; a stack of more pieces than this is none. */
#define PIECE_ITEMS 1000
#define STACK_FRAMES_MAX (16 * PIECE_ITEMS)

static bool reader_add_range(struct ss_snapshot_reader *reader, struct ss_part_range range,
			     uint32_t *out)
{
	if (!SS_GROW(reader->out->memory, reader->ranges, reader->range_capacity,
		     reader->range_count))
		return false;
	reader->ranges[reader->range_count] = range;
	*out = reader->range_count++;
	return true;
}

/* The range that the list is already, or a new one. */
static enum ss_status reader_open_range(struct ss_snapshot_reader *reader, uint64_t *content,
					enum ss_snapshot_part part, uint32_t first,
					struct ss_part_range **out, struct ss_error *err)
{
	uint32_t index = (uint32_t)*content;

	if (!*content) {
		if (!reader_add_range(reader, (struct ss_part_range){ part, first, 0 }, &index))
			return ss_fail_memory(err, "a list");
		*content = ss_part_content(SS_PART_RANGE, index);
	}
	if (*content >> 32 == SS_PART_RANGE) {
		*out = &reader->ranges[index];
		if ((*out)->part == part && (uint64_t)(*out)->first + (*out)->count == first)
			return SS_OK;
	}
	return ss_fail(err, SS_ERR_FORMAT,
		       "not a readable snapshot: list entries where a list is expected");
}

/* A list of rows that were just made, one after the other. */
static enum ss_status reader_read_rows(struct ss_snapshot_reader *reader, uint64_t *content,
				       const struct ss_pickle_value *items, uint32_t count,
				       struct ss_error *err)
{
	enum ss_snapshot_part part = ss_part_of(&items[0]);
	uint32_t first = ss_part_index(&items[0]);
	struct ss_part_range *range;

	SS_TRY(reader_open_range(reader, content, part, first, &range, err));
	for (uint32_t i = 0; i < count; i++)
		if (items[i].content != ss_part_content(part, first + i))
			return ss_fail(err, SS_ERR_FORMAT,
				       "not a readable snapshot: a list that mixes several kinds "
				       "of entries");
	range->count += count;
	return SS_OK;
}

/* A list of lists: the events of all devices. */
static enum ss_status reader_read_lists(struct ss_snapshot_reader *reader, uint64_t *content,
					const struct ss_pickle_value *items, uint32_t count,
					struct ss_error *err)
{
	struct ss_part_range *range;

	if (!SS_RESERVE(reader->out->memory, reader->lists, reader->list_capacity,
			(size_t)reader->list_count + count))
		return ss_fail_memory(err, "a list");
	SS_TRY(reader_open_range(reader, content, SS_PART_RANGE, reader->list_count, &range, err));
	for (uint32_t i = 0; i < count; i++)
		reader->lists[reader->list_count++] = ss_part_of(&items[i]) == SS_PART_RANGE
							      ? ss_part_index(&items[i])
							      : SS_NO_ID;
	range->count += count;
	return SS_OK;
}

/* Where a frame is no dictionary but a text, that is its name. */
static enum ss_status frame_of(struct ss_snapshot_reader *reader,
			       const struct ss_pickle_value *value, uint32_t *out,
			       struct ss_error *err)
{
	struct ss_code_frame frame = { 0 };

	if (value->kind == SS_PICKLE_TEXT)
		frame.name = (uint32_t)value->word;
	*out = ss_records_add(&reader->out->frames, &frame);
	return *out == SS_NO_ID ? ss_fail_memory(err, "the frames") : SS_OK;
}

/* A list of frames becomes a stack; a long list comes in pieces. */
static enum ss_status read_stack(struct ss_snapshot_reader *reader, uint64_t *content,
				 const struct ss_pickle_value *items, uint32_t count,
				 struct ss_error *err)
{
	struct ss_stacks *stacks = &reader->out->stacks;
	struct ss_frame_list before = { 0 };
	void *frames = reader->frames;
	uint32_t id;

	if (*content >> 32 == SS_PART_STACK)
		before = stacks->items[(uint32_t)*content];
	else if (*content)
		return SS_OK; /* not a stack so far */
	if (before.count % PIECE_ITEMS || before.count + (uint64_t)count > STACK_FRAMES_MAX)
		return ss_fail(err, SS_ERR_LIMIT,
			       "not a readable snapshot: a stack of more than %d frames",
			       STACK_FRAMES_MAX);
	if (!ss_memory_reserve(reader->out->memory, &frames, &reader->frame_capacity,
			       (size_t)before.count + count, sizeof(*reader->frames)))
		return ss_fail_memory(err, "a stack");
	reader->frames = frames;
	if (before.count)
		memcpy(reader->frames, stacks->frames + before.first,
		       before.count * sizeof(*reader->frames));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t *frame = &reader->frames[before.count + i];

		if (items[i].kind == SS_PICKLE_DICT && items[i].content >> 32 == SS_PART_FRAME)
			*frame = ss_part_index(&items[i]);
		else
			SS_TRY(frame_of(reader, &items[i], frame, err));
	}
	id = ss_stacks_add(stacks, reader->frames, before.count + count);
	if (id == SS_NO_ID)
		return ss_fail_memory(err, "the stacks");
	reader->out->has_frames = true;
	*content = ss_part_content(SS_PART_STACK, id);
	return SS_OK;
}

static uint64_t whole_number(const struct ss_pickle_value *value)
{
	return value->kind == SS_PICKLE_INT || value->kind == SS_PICKLE_UNSIGNED
		       ? (uint64_t)value->word
		       : 0;
}

/* Two integers name a pool, in whatever they stand; other plain values are of no use. */
static enum ss_status read_plain(struct ss_snapshot_reader *reader, uint64_t *content,
				 const struct ss_pickle_value *items, uint32_t count,
				 struct ss_error *err)
{
	struct ss_pool_id pool = { 0 };
	uint32_t id;

	if (*content || count != 2) {
		*content = ss_part_content(SS_PART_OTHER, 0);
		return SS_OK;
	}
	pool = (struct ss_pool_id){ whole_number(&items[0]), whole_number(&items[1]) };
	id = ss_records_add(&reader->out->pools, &pool);
	*content = ss_part_content(SS_PART_POOL, id);
	return id == SS_NO_ID ? ss_fail_memory(err, "the pools") : SS_OK;
}

/* Called by the pickle reader for each container, or each piece of a long one. */
static enum ss_status reader_fill(void *context, enum ss_pickle_kind kind, uint64_t *content,
				  const struct ss_pickle_value *items, uint32_t count,
				  struct ss_error *err)
{
	struct ss_snapshot_reader *reader = context;

	if (kind == SS_PICKLE_DICT)
		return ss_snapshot_read_dict(reader, content, items, count, err);
	switch (ss_part_of(&items[0])) {
	case SS_PART_EVENT:
	case SS_PART_BLOCK:
	case SS_PART_SEGMENT:
	case SS_PART_ANNOTATION:
	case SS_PART_HISTORY:
		return reader_read_rows(reader, content, items, count, err);
	case SS_PART_FRAME:
		return read_stack(reader, content, items, count, err);
	case SS_PART_RANGE:
		return reader_read_lists(reader, content, items, count, err);
	case SS_PART_NONE:
		if (items[0].kind == SS_PICKLE_LIST)
			return reader_read_lists(reader, content, items, count, err);
		if (items[0].kind == SS_PICKLE_TEXT)
			return read_stack(reader, content, items, count, err);
		return read_plain(reader, content, items, count, err);
	default:
		*content = *content ? *content : ss_part_content(SS_PART_OTHER, 0);
		return SS_OK;
	}
}

static bool reader_report_progress(void *context, const struct ss_source *source)
{
	const struct ss_snapshot_reader *reader = context;
	const struct ss_snapshot_options *options = reader->options;

	return !options || !options->progress ||
	       options->progress(options->progress_context, source, reader->out->events.count);
}

static void release_reader(struct ss_snapshot_reader *reader)
{
	struct ss_memory *memory = reader->out->memory;

	SS_FREE(memory, reader->ranges, reader->range_capacity);
	SS_FREE(memory, reader->lists, reader->list_capacity);
	SS_FREE(memory, reader->histories, reader->history_capacity);
	SS_FREE(memory, reader->pairs, reader->pair_capacity);
	SS_FREE(memory, reader->frames, reader->frame_capacity);
}

static enum ss_status read_pickle(struct ss_source *source,
				  const struct ss_snapshot_options *options,
				  struct ss_snapshot *out, struct ss_error *err)
{
	struct ss_snapshot_reader reader = { .out = out, .options = options };
	struct ss_pickle_reader machine = { .memory = out->memory,
					    .texts = &out->texts,
					    .context = &reader,
					    .fill = reader_fill,
					    .progress = reader_report_progress };
	struct ss_pickle_result result;
	enum ss_status status = ss_pickle_read(source, &machine, &result, err);

	if (status == SS_OK) {
		out->is_cut = result.is_cut || source->flaw == SS_SOURCE_CUT ||
			      source->flaw == SS_SOURCE_CORRUPT;
		out->file_bytes = result.bytes;
		status = reader_finish(&reader, &result.root, err);
	}
	release_reader(&reader);
	return status;
}

enum ss_status ss_snapshot_load(struct ss_source *source, const struct ss_snapshot_options *options,
				struct ss_memory *memory, struct ss_snapshot *out,
				struct ss_error *err)
{
	enum ss_status status = SS_OK;
	const char *next = NULL;
	size_t length = 0;

	if (!ss_snapshot_init(out, memory) || !ss_snapshot_intern_keys(&out->texts))
		status = ss_fail_memory(err, "the snapshot");
	if (status == SS_OK)
		status = ss_source_peek(source, &next, &length, err);
	/* no operation of a pickle is a bracket like that */
	if (status == SS_OK)
		status = length && *next == '[' ? ss_snapshot_load_timeline(source, out, err)
						: read_pickle(source, options, out, err);
	if (status != SS_OK)
		ss_snapshot_release(out);
	return status;
}
