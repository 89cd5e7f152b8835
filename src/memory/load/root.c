/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.c - reads what the root of a snapshot contains: segments, events, settings.
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
	uint8_t *taken = ss_memory_resize(out->memory, NULL, 0, (size_t)out->segment_count + 1);

	if (!taken)
		return ss_fail_memory(err, "the segments");
	memset(taken, 0, (size_t)out->segment_count + 1);
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
	void *items = out->traces;

	if (!ss_memory_reserve(out->memory, &items, &out->trace_capacity,
			       (size_t)out->trace_count + 1, sizeof(*out->traces)))
		return ss_fail_memory(err, "the devices");
	out->traces = items;
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
	struct ss_text value = { 0 };
	void *items = out->settings;
	uint32_t id = SS_NO_ID;

	if (!ss_memory_reserve(out->memory, &items, &out->setting_capacity,
			       (size_t)out->setting_count + 1, sizeof(*out->settings)))
		return ss_fail_memory(err, "the settings");
	out->settings = items;
	print_pairs(reader, &pair->value, &value);
	if (!ss_text_failed(&value))
		id = ss_strings_add(&out->texts, value.data ? value.data : "", value.length);
	ss_text_release(&value);
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

enum ss_status ss_snapshot_finish(struct ss_snapshot_reader *reader,
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
