/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_trace.c - from the parts of a pack to a trace.
 */
#include <string.h>

#include "base/utf8.h"
#include "trace/pack/unpack.h"
#include "trace/trace.h"

static const void *unpacked_items(const struct ss_unpacked *parts, enum ss_pack_part part,
				  uint32_t *count)
{
	*count = parts[part].count;
	return parts[part].data;
}

static enum ss_status unpack_strings(const struct ss_unpacked *parts,
				     enum ss_pack_part lengths_part, struct ss_strings *out,
				     struct ss_error *err)
{
	uint32_t count, byte_count;
	const uint32_t *lengths = unpacked_items(parts, lengths_part, &count);
	const char *at = unpacked_items(parts, lengths_part + 1, &byte_count);
	size_t left = byte_count;

	at = at ? at : "";
	for (uint32_t i = 0; i < count; i++) {
		uint32_t id;

		if (lengths[i] > left || (lengths[i] == 0) != (i == 0) ||
		    ss_utf8_check(at, lengths[i]) != 0)
			return ss_unpack_fail(err, "a text is invalid");
		id = ss_strings_add(out, at, lengths[i]);
		if (id == SS_NO_ID)
			return ss_fail_memory(err, "the names of this trace");
		if (id != i)
			return ss_unpack_fail(err, "a text occurs twice");
		at += lengths[i];
		left -= lengths[i];
	}
	return count && !left ? SS_OK : ss_unpack_fail(err, "texts and their lengths do not match");
}

static enum ss_status unpack_records(const struct ss_unpacked *parts,
				     const struct ss_pack_records *records, struct ss_trace *trace,
				     struct ss_error *err)
{
	struct ss_records *out = (struct ss_records *)((char *)trace + records->at);
	uint32_t count;
	const char *at = unpacked_items(parts, records->part, &count);

	for (uint32_t i = 0; i < count; i++, at += out->record_bytes) {
		uint32_t id = ss_records_add(out, at);

		if (id == SS_NO_ID)
			return ss_fail_memory(err, "the arguments of this trace");
		if (id != i)
			return ss_unpack_fail(err, "an argument occurs twice");
	}
	return SS_OK;
}

static enum ss_status unpack_all_records(const struct ss_unpacked *parts, struct ss_trace *trace,
					 struct ss_error *err)
{
	for (size_t i = 0; i < SS_PACK_RECORDS; i++)
		SS_TRY(unpack_records(parts, &ss_pack_records[i], trace, err));
	return SS_OK;
}

static enum ss_status unpack_names(const struct ss_unpacked *parts, struct ss_trace *trace,
				   struct ss_error *err)
{
	SS_TRY(unpack_strings(parts, SS_PART_NAME_LENGTHS, &trace->names, err));
	return unpack_strings(parts, SS_PART_TEXT_LENGTHS, &trace->texts, err);
}

static enum ss_status unpack_name_flags(const struct ss_unpacked *parts, struct ss_trace *trace,
					struct ss_error *err)
{
	uint32_t count;
	const uint32_t *flags = unpacked_items(parts, SS_PART_NAME_FLAGS, &count);

	if (count != trace->names.count)
		return ss_unpack_fail(err, "names and their flags do not match");
	if (!ss_memory_reserve(trace->memory, (void **)&trace->name_flags,
			       &trace->name_flag_capacity, count, sizeof(*flags)))
		return ss_fail_memory(err, "the names of this trace");
	memcpy(trace->name_flags, flags, count * sizeof(*flags));
	return SS_OK;
}

static enum ss_status unpack_info(const struct ss_unpacked *parts, struct ss_trace *trace,
				  struct ss_error *err)
{
	uint32_t count;
	const struct ss_pack_info *from = unpacked_items(parts, SS_PART_INFO, &count);
	struct ss_trace_info *info = &trace->info;

	if (count != 1 || from->step_anchor > SS_STEPS_NONE)
		return ss_unpack_fail(err, "its header is inconsistent");
	info->rank = from->rank;
	info->world_size = from->world_size;
	info->group_count = from->group_count;
	info->schema_version = from->schema_version;
	info->cuda_runtime = from->cuda_runtime;
	info->cuda_driver = from->cuda_driver;
	info->cupti = from->cupti;
	info->hip_runtime = from->hip_runtime;
	info->base_time_ns = from->base_time_ns;
	info->writer_notes = from->writer_notes;
	info->backend = from->backend;
	memcpy(info->run, from->run, sizeof(info->run));
	info->nccl_version = from->nccl_version;
	info->trace_id = from->trace_id;
	info->trace_name = from->trace_name;
	info->first_warning = from->first_warning;
	info->record_shapes = from->record_shapes != 0;
	info->profile_memory = from->profile_memory != 0;
	info->with_stack = from->with_stack != 0;
	info->with_modules = from->with_modules != 0;
	info->with_flops = from->with_flops != 0;
	info->is_array = from->is_array != 0;
	info->recorder = from->recorder < SS_RECORDERS ? (enum ss_recorder)from->recorder
						       : SS_RECORDER_TORCH;
	trace->origin_ns = from->origin_ns;
	trace->span_ns = from->span_ns;
	trace->event_count = from->event_count;
	trace->file_bytes = from->file_bytes;
	trace->fwdbwd_links = from->fwdbwd_links;
	trace->steps.anchor = from->step_anchor;
	return SS_OK;
}

/* A word as a text that lives as long as the trace; NULL: no such word, or no memory. */
static const char *unpack_word(struct ss_trace *trace, const struct ss_strings *words, uint32_t id)
{
	return id < words->count ? ss_arena_copy(&trace->arena, words->items[id].text,
						 words->items[id].length)
				 : NULL;
}

static enum ss_status unpack_categories(const struct ss_unpacked *parts,
					const struct ss_strings *words, struct ss_trace *trace,
					struct ss_error *err)
{
	uint32_t count;
	const struct ss_pack_category *from = unpacked_items(parts, SS_PART_CATEGORIES, &count);

	if (!count || count > SS_CATEGORIES_MAX)
		return ss_unpack_fail(err, "it has no categories, or too many");
	trace->category_count = count - 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t to = i + 1 < count ? i : SS_CATEGORIES_MAX - 1;

		if (from[i].name >= words->count || from[i].kind >= SS_KIND_COUNT)
			return ss_unpack_fail(err, "a category is invalid");
		trace->categories[to] = (struct ss_category){
			unpack_word(trace, words, from[i].name), from[i].kind, from[i].by_name != 0
		};
		trace->category_events[to] = from[i].events;
		if (!trace->categories[to].name)
			return ss_fail_memory(err, "the categories");
	}
	return SS_OK;
}

static enum ss_status unpack_steps(const struct ss_unpacked *parts, const struct ss_strings *words,
				   struct ss_trace *trace, struct ss_error *err)
{
	uint32_t count;
	const struct ss_pack_step *from = unpacked_items(parts, SS_PART_STEPS, &count);
	struct ss_steps *steps = &trace->steps;

	if (!count)
		return SS_OK;
	if (!SS_ALLOC(&trace->arena, steps->items, count))
		return ss_fail_memory(err, "the steps");
	steps->count = count;
	for (uint32_t i = 0; i < count; i++) {
		steps->items[i] = (struct ss_step){
			.name = from[i].name,
			.start_ns = from[i].start_ns,
			.end_ns = from[i].end_ns,
			.host_start_ns = from[i].host_start_ns,
			.host_end_ns = from[i].host_end_ns,
			.device_events = from[i].device_events,
		};
		if (from[i].dropped >= words->count)
			return ss_unpack_fail(err, "a step is invalid");
		if (!from[i].dropped) {
			steps->kept_count++;
			continue;
		}
		steps->items[i].dropped = unpack_word(trace, words, from[i].dropped);
		if (!steps->items[i].dropped)
			return ss_fail_memory(err, "the steps");
	}
	return SS_OK;
}

static enum ss_status unpack_worded(const struct ss_unpacked *parts, struct ss_trace *trace,
				    struct ss_error *err)
{
	struct ss_strings words;
	enum ss_status status;

	if (!ss_strings_init(&words, trace->memory)) {
		ss_strings_release(&words);
		return ss_fail_memory(err, "a trace");
	}
	status = unpack_strings(parts, SS_PART_WORD_LENGTHS, &words, err);
	if (status == SS_OK)
		status = unpack_categories(parts, &words, trace, err);
	if (status == SS_OK)
		status = unpack_steps(parts, &words, trace, err);
	ss_strings_release(&words);
	return status;
}

static enum ss_status unpack_devices(const struct ss_unpacked *parts, struct ss_trace *trace,
				     struct ss_error *err)
{
	uint32_t count;
	const struct ss_pack_device *from = unpacked_items(parts, SS_PART_DEVICES, &count);
	struct ss_trace_info *info = &trace->info;

	if (!SS_RESERVE(trace->memory, info->devices, info->device_capacity, count))
		return ss_fail_memory(err, "the devices");
	for (uint32_t i = 0; i < count; i++)
		info->devices[i] = (struct ss_device){
			.id = from[i].id,
			.name = from[i].name,
			.memory_bytes = from[i].memory_bytes,
			.compute_major = from[i].compute_major,
			.compute_minor = from[i].compute_minor,
			.multiprocessors = from[i].multiprocessors,
			.warp_size = from[i].warp_size,
			.threads_per_multiprocessor = from[i].threads_per_multiprocessor,
		};
	info->device_count = count;
	return SS_OK;
}

static enum ss_status unpack_tracks(const struct ss_unpacked *parts, struct ss_trace *trace,
				    struct ss_error *err)
{
	uint32_t count;
	const struct ss_pack_track *from = unpacked_items(parts, SS_PART_TRACKS, &count);
	uint32_t next = 0;

	if (!SS_RESERVE(trace->memory, trace->tracks, trace->track_capacity, count))
		return ss_fail_memory(err, "the tracks");
	for (uint32_t i = 0; i < count; i++) {
		if (from[i].class > SS_TRACK_ASYNC || (i && from[i].class < from[i - 1].class) ||
		    from[i].row_count > trace->slices.count - next)
			return ss_unpack_fail(err, "a track is invalid");
		trace->tracks[i] = (struct ss_track){ .class = from[i].class,
						      .pid = from[i].pid,
						      .tid = from[i].tid,
						      .pid_text = from[i].pid_text,
						      .tid_text = from[i].tid_text,
						      .name = from[i].name,
						      .process = from[i].process,
						      .first_row = next,
						      .row_count = from[i].row_count };
		next += from[i].row_count;
		if (from[i].class < SS_TRACK_DEVICE)
			trace->device_from = next;
		if (from[i].class <= SS_TRACK_DEVICE)
			trace->device_to = next;
	}
	trace->track_count = count;
	return next == trace->slices.count ? SS_OK
					   : ss_unpack_fail(err, "some events are on no track");
}

/* Columns of one table must be equally long. */
static enum ss_status unpack_check_lengths(const struct ss_unpacked *parts, struct ss_error *err)
{
	for (size_t i = 1; i < SS_PACK_COLUMNS; i++) {
		const struct ss_pack_column *column = &ss_pack_columns[i], *before = column - 1;

		if (column->count == before->count &&
		    parts[column->part].count != parts[before->part].count)
			return ss_unpack_fail(err, "its columns differ in length");
	}
	return SS_OK;
}

/* Columns that are always there become those of the trace; the others are for later. */
static enum ss_status unpack_columns(struct ss_unpacked *parts, struct ss_trace *trace,
				     struct ss_error *err)
{
	char *at = (char *)trace;

	trace->later = ss_memory_zeroed(trace->memory, sizeof(*trace->later));
	if (!trace->later)
		return ss_fail_memory(err, "a trace");
	for (size_t i = 0; i < SS_PACK_COLUMNS; i++) {
		const struct ss_pack_column *column = &ss_pack_columns[i];
		struct ss_unpacked *part = &parts[column->part];

		memcpy(at + column->count, &part->count, sizeof(part->count));
		memcpy(at + column->capacity, &part->count, sizeof(part->count));
		if (column->group)
			trace->later->parts[column->part] = *part;
		else
			memcpy(at + column->data, &part->data, sizeof(part->data));
		part->data = NULL;
	}
	trace->sync_count = parts[SS_PART_SYNCS].count;
	trace->later->parts[SS_PART_SYNCS] = parts[SS_PART_SYNCS];
	parts[SS_PART_SYNCS].data = NULL;
	return SS_OK;
}

/* As links.c counts them: before it knows which kernels communicate. */
static void unpack_count_kinds(struct ss_trace *trace)
{
	uint64_t counts[SS_KIND_COUNT] = { 0 };

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		const struct ss_track_sums *sums = &trace->track_sums[i];

		if (track->class != SS_TRACK_DEVICE)
			continue;
		trace->has_launches |= sums->unlinked < track->row_count;
		for (int kind = 0; kind < SS_KIND_COUNT; kind++)
			counts[kind] += sums->kinds[kind];
	}
	trace->comm_kernel_count = counts[SS_KIND_COMM_KERNEL];
	counts[SS_KIND_KERNEL] += counts[SS_KIND_COMM_KERNEL];
	counts[SS_KIND_COMM_KERNEL] = 0;
	for (int kind = 0; kind < SS_KIND_COUNT; kind++) {
		if (!ss_kind_on_device((enum ss_kind)kind))
			continue;
		trace->device_kind_count[kind] = counts[kind];
		trace->device_event_count += counts[kind];
	}
}

static enum ss_status unpack_track_sums(const struct ss_unpacked *parts, struct ss_trace *trace,
					struct ss_error *err)
{
	uint32_t count;
	const struct ss_pack_track_sums *from = unpacked_items(parts, SS_PART_TRACK_SUMS, &count);
	struct ss_track_sums *sums;

	if (!SS_ALLOC(&trace->arena, sums, (size_t)count + 1))
		return ss_fail_memory(err, "the tracks");
	if (count != trace->track_count)
		return ss_unpack_fail(err, "tracks and their sums do not match");
	for (uint32_t i = 0; i < count; i++) {
		sums[i] = (struct ss_track_sums){ .busy_ns = from[i].busy_ns,
						  .first_ns = from[i].first_ns,
						  .last_ns = from[i].last_ns,
						  .unlinked = from[i].unlinked };
		memcpy(sums[i].kinds, from[i].kinds, sizeof(sums[i].kinds));
		if (from[i].depth_max > UINT16_MAX)
			return ss_unpack_fail(err, "a track is invalid");
		trace->tracks[i].depth_max = (uint16_t)from[i].depth_max;
		trace->tracks[i].has_ops = sums[i].kinds[SS_KIND_OP] > 0;
	}
	trace->track_sums = sums;
	return SS_OK;
}

static enum ss_status unpack_counts(const struct ss_unpacked *parts, struct ss_trace *trace,
				    struct ss_error *err)
{
	uint32_t quality_count, phase_count;
	const void *quality = unpacked_items(parts, SS_PART_QUALITY, &quality_count);
	const void *phases = unpacked_items(parts, SS_PART_PHASES, &phase_count);

	if (quality_count != SS_ODD_COUNT || phase_count != SS_COUNT(trace->phase_events))
		return ss_unpack_fail(err, "a list of counts has the wrong length");
	memcpy(trace->quality.rows, quality, sizeof(trace->quality.rows));
	memcpy(trace->phase_events, phases, sizeof(trace->phase_events));
	return SS_OK;
}

/* In this order: names come before their flags, slices before the tracks that they are on. */
static enum ss_status (*const readers[])(const struct ss_unpacked *parts, struct ss_trace *trace,
					 struct ss_error *err) = {
	unpack_info,    unpack_names,  unpack_name_flags, unpack_all_records, unpack_worded,
	unpack_devices, unpack_tracks, unpack_track_sums, unpack_counts,
};

enum ss_status ss_unpack_trace(struct ss_unpacked parts[SS_PARTS], struct ss_trace *out,
			       struct ss_error *err)
{
	SS_TRY(unpack_check_lengths(parts, err));
	SS_TRY(unpack_columns(parts, out, err));
	for (size_t i = 0; i < SS_COUNT(readers); i++)
		SS_TRY(readers[i](parts, out, err));
	SS_TRY(ss_unpack_check(out, err));
	unpack_count_kinds(out);
	return SS_OK;
}
