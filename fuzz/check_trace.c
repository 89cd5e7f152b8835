/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_trace.c - what a view may rely on, checked row by row.
 */
#include <string.h>

#include "base/utf8.h"
#include "check.h"

/* As in src/trace/finish/nest.c: kernels beyond share the last lane and may overlap there. */
#define LANES_MAX 64

enum ss_status load_bytes(const uint8_t *data, size_t size, const struct ss_load_options *options,
			  struct ss_memory *memory, struct ss_trace *out, struct ss_error *err)
{
	struct ss_source *source = NULL;
	enum ss_status status = ss_source_open_memory(data, size, memory, &source, err);

	if (status != SS_OK)
		return status;
	status = ss_trace_load(source, options, memory, out, err);
	ss_source_close(source);
	return status;
}

static void check_strings(const struct ss_strings *strings)
{
	CHECK(strings->count > 0 && strings->items[0].length == 0);
	for (uint32_t i = 0; i < strings->count; i++) {
		const struct ss_string *item = &strings->items[i];

		CHECK(item->text[item->length] == '\0');
		CHECK(ss_utf8_check(item->text, item->length) == 0);
		CHECK(ss_strings_find(strings, item->text, item->length) == i);
	}
}

static uint32_t args_count(const struct ss_trace *trace, enum ss_kind kind)
{
	if (kind == SS_KIND_OP || kind == SS_KIND_ANNOTATION)
		return trace->op_args.count;
	if (ss_kind_is_kernel(kind) || ss_kind_is_call(kind))
		return trace->kernel_args.count;
	if (kind == SS_KIND_MEMCPY || kind == SS_KIND_MEMSET)
		return trace->copy_args.count;
	return 0;
}

static void check_row(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	enum ss_kind kind = slices->kind[row];

	CHECK(kind < SS_KIND_COUNT);
	CHECK(slices->category[row] < SS_CATEGORIES_MAX);
	CHECK(slices->name[row] < trace->names.count);
	CHECK(slices->dur_ns[row] >= 0 && slices->dur_ns[row] <= SS_SLICE_NS_MAX);
	CHECK(slices->args[row] == SS_NO_ARGS || slices->args[row] < args_count(trace, kind));
	CHECK(slices->link[row] == SS_NO_ROW || slices->link[row] < slices->count);
	CHECK(kind == SS_KIND_INSTANT || slices->start_ns[row] >= 0);
	CHECK(kind == SS_KIND_INSTANT || ss_slice_end(slices, row) <= trace->span_ns);
}

static void check_order(const struct ss_slices *slices, uint32_t row)
{
	CHECK(slices->start_ns[row - 1] <= slices->start_ns[row]);
	if (slices->start_ns[row - 1] == slices->start_ns[row])
		CHECK(slices->dur_ns[row - 1] >= slices->dur_ns[row]);
}

static void check_parent(const struct ss_slices *slices, const struct ss_track *track, uint32_t row)
{
	uint32_t parent = slices->parent[row];

	CHECK(slices->depth[row] <= track->depth_max);
	if (parent == SS_NO_ROW)
		return;
	CHECK(parent >= track->first_row && parent < row);
	CHECK(slices->start_ns[parent] <= slices->start_ns[row]);
	CHECK(ss_slice_end(slices, parent) > slices->start_ns[row]);
	CHECK(slices->depth[parent] <= slices->depth[row]);
}

static void check_lanes(const struct ss_slices *slices, const struct ss_track *track)
{
	int64_t lane_end[LANES_MAX];

	CHECK(track->depth_max < LANES_MAX);
	for (int i = 0; i < LANES_MAX; i++)
		lane_end[i] = INT64_MIN;
	for (uint32_t i = 0; i < track->row_count; i++) {
		uint32_t row = track->first_row + i;
		uint16_t lane = slices->depth[row];

		CHECK(lane <= track->depth_max);
		CHECK(slices->parent[row] == SS_NO_ROW);
		if (track->depth_max < LANES_MAX - 1)
			CHECK(lane_end[lane] <= slices->start_ns[row]);
		lane_end[lane] = ss_slice_end(slices, row);
	}
}

static void check_track(const struct ss_trace *trace, const struct ss_track *track, uint32_t index)
{
	const struct ss_slices *slices = &trace->slices;

	CHECK(track->pid_text < trace->texts.count && track->tid_text < trace->texts.count);
	CHECK(track->name < trace->texts.count && track->process < trace->texts.count);
	for (uint32_t i = 0; i < track->row_count; i++) {
		uint32_t row = track->first_row + i;

		CHECK(slices->track[row] == index);
		check_row(trace, row);
		if (i)
			check_order(slices, row);
		if (track->class != SS_TRACK_DEVICE && track->class != SS_TRACK_ASYNC)
			check_parent(slices, track, row);
	}
	if (track->class == SS_TRACK_DEVICE || track->class == SS_TRACK_ASYNC)
		check_lanes(slices, track);
}

static void check_tracks(const struct ss_trace *trace)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		/* a track without rows begins nowhere */
		CHECK(!track->row_count || track->first_row == next);
		next += track->row_count;
		CHECK(next <= trace->slices.count);
		check_track(trace, track, i);
	}
	CHECK(next == trace->slices.count);
}

static void check_records(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->op_args.count; i++) {
		uint32_t texts[SS_OP_ARGS_TEXTS];

		memcpy(texts, ss_records_at(&trace->op_args, i), sizeof(texts));
		for (int k = 0; k < SS_OP_ARGS_TEXTS; k++)
			CHECK(texts[k] < trace->texts.count);
	}
	for (uint32_t i = 0; i < trace->comm_args.count; i++) {
		uint32_t texts[SS_COMM_ARGS_TEXTS];

		memcpy(texts, ss_records_at(&trace->comm_args, i), sizeof(texts));
		for (int k = 0; k < SS_COMM_ARGS_TEXTS; k++)
			CHECK(texts[k] < trace->texts.count);
	}
}

static void check_companions(const struct ss_trace *trace)
{
	const struct ss_allocations *rows = &trace->allocations;

	for (uint32_t i = 0; i < trace->comm_count; i++) {
		CHECK(trace->comms[i].row < trace->slices.count);
		CHECK(trace->comms[i].args < trace->comm_args.count);
		CHECK(!i || trace->comms[i - 1].row < trace->comms[i].row);
	}
	for (uint32_t i = 0; i < trace->sequence_count; i++) {
		CHECK(trace->sequences[i].row < trace->slices.count);
		CHECK(!i || trace->sequences[i - 1].row < trace->sequences[i].row);
	}
	for (uint32_t i = 0; i < trace->sync_count; i++) {
		CHECK(trace->syncs[i].row < trace->slices.count);
		CHECK(!i || trace->syncs[i - 1].row < trace->syncs[i].row);
	}
	for (uint32_t i = 0; i < rows->count; i++) {
		CHECK(rows->track[i] < trace->track_count);
		CHECK(!i || rows->start_ns[i - 1] <= rows->start_ns[i]);
	}
	for (uint32_t i = 0; i < trace->counter_count; i++) {
		CHECK(trace->counters[i].name < trace->names.count);
		CHECK(trace->counters[i].series < trace->texts.count);
	}
}

static void check_steps(const struct ss_trace *trace)
{
	const struct ss_steps *steps = &trace->steps;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < steps->count; i++) {
		const struct ss_step *step = &steps->items[i];

		CHECK(step->name < trace->names.count);
		CHECK(step->start_ns <= step->end_ns);
		CHECK(step->host_start_ns <= step->host_end_ns);
		kept += !step->dropped;
		CHECK(!i || steps->items[i - 1].end_ns <= step->start_ns);
		CHECK(!i || steps->items[i - 1].host_start_ns <= step->host_start_ns);
	}
	CHECK(kept == steps->kept_count);
}

static void check_info(const struct ss_trace *trace)
{
	const struct ss_trace_info *info = &trace->info;
	const uint32_t texts[] = { info->backend,  info->run[SS_RUN_HOST], info->nccl_version,
				   info->trace_id, info->trace_name,       info->first_warning };

	for (size_t i = 0; i < SS_COUNT(texts); i++)
		CHECK(texts[i] < trace->texts.count);
	for (uint32_t i = 0; i < info->device_count; i++)
		CHECK(info->devices[i].name < trace->texts.count);
	for (uint32_t i = 0; i < info->group_rows; i++) {
		CHECK(info->groups[i].name < trace->texts.count);
		CHECK(info->groups[i].description < trace->texts.count);
		CHECK(info->groups[i].backend < trace->texts.count);
		CHECK(info->groups[i].ranks < trace->texts.count);
	}
}

void check_trace(const struct ss_trace *trace)
{
	uint64_t phases = 0;

	for (size_t i = 0; i < SS_COUNT(trace->phase_events); i++)
		phases += trace->phase_events[i];
	CHECK(phases <= trace->event_count);
	CHECK(trace->slices.count <= trace->event_count);
	CHECK(trace->category_count <= SS_CATEGORIES_MAX);
	CHECK(trace->span_ns >= 0);
	check_strings(&trace->names);
	check_strings(&trace->texts);
	check_tracks(trace);
	check_records(trace);
	check_companions(trace);
	check_steps(trace);
	check_info(trace);
}
