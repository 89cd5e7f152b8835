/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.c - writes a trace as a pack.
 *
 * Parts that differ from the trace's own columns are made first; then lengths and
 * checksums of all are known, and the file is written from its beginning to its end.
 */
#include "trace/pack/pack.h"

#include <string.h>

#include "base/hash/hash.h"
#include "base/text.h"
#include "read/codec.h"
#include "trace/trace.h"

const struct ss_pack_part_info ss_pack_parts[SS_PARTS] = {
	[SS_PART_ORIGIN] = { "origin", 1 },
	[SS_PART_INFO] = { "info", sizeof(struct ss_pack_info) },
	[SS_PART_NAME_LENGTHS] = { "name-lengths", 4 },
	[SS_PART_NAME_BYTES] = { "name-bytes", 1 },
	[SS_PART_NAME_FLAGS] = { "name-flags", 4 },
	[SS_PART_TEXT_LENGTHS] = { "text-lengths", 4 },
	[SS_PART_TEXT_BYTES] = { "text-bytes", 1 },
	[SS_PART_WORD_LENGTHS] = { "word-lengths", 4 },
	[SS_PART_WORD_BYTES] = { "word-bytes", 1 },
	[SS_PART_CATEGORIES] = { "categories", sizeof(struct ss_pack_category) },
	[SS_PART_PHASES] = { "phases", 8 },
	[SS_PART_QUALITY] = { "quality", sizeof(struct ss_quality_row) },
	[SS_PART_DEVICES] = { "devices", sizeof(struct ss_pack_device) },
	[SS_PART_GROUPS] = { "groups", sizeof(struct ss_process_group) },
	[SS_PART_TRACKS] = { "tracks", sizeof(struct ss_pack_track) },
	[SS_PART_TRACK_SUMS] = { "track-sums", sizeof(struct ss_pack_track_sums) },
	[SS_PART_STEPS] = { "steps", sizeof(struct ss_pack_step) },
	[SS_PART_OP_ARGS] = { "op-args", sizeof(struct ss_op_args) },
	[SS_PART_KERNEL_ARGS] = { "kernel-args", sizeof(struct ss_kernel_args) },
	[SS_PART_COPY_ARGS] = { "copy-args", sizeof(struct ss_copy_args) },
	[SS_PART_COMM_ARGS] = { "comm-args", sizeof(struct ss_comm_args) },
	[SS_PART_COMMS] = { "comms", sizeof(struct ss_comm_row) },
	[SS_PART_SEQUENCES] = { "sequences", sizeof(struct ss_sequence_row) },
	[SS_PART_SYNCS] = { "syncs", sizeof(struct ss_pack_sync) },
	[SS_PART_OTHERS] = { "others", sizeof(struct ss_other_row) },
	[SS_PART_COUNTERS] = { "counters", sizeof(struct ss_counter) },
	[SS_PART_SLICE_START] = { "slice-start", 8 },
	[SS_PART_SLICE_DUR] = { "slice-dur", 8 },
	[SS_PART_SLICE_NAME] = { "slice-name", 4 },
	[SS_PART_SLICE_ARGS] = { "slice-args", 4 },
	[SS_PART_SLICE_ID] = { "slice-id", 4 },
	[SS_PART_SLICE_KIND] = { "slice-kind", 1 },
	[SS_PART_SLICE_CATEGORY] = { "slice-category", 1 },
	[SS_PART_SLICE_LINK] = { "slice-link", 4 },
	[SS_PART_ALLOC_START] = { "alloc-start", 8 },
	[SS_PART_ALLOC_ADDRESS] = { "alloc-address", 8 },
	[SS_PART_ALLOC_BYTES] = { "alloc-bytes", 8 },
	[SS_PART_ALLOC_ALLOCATED] = { "alloc-allocated", 8 },
	[SS_PART_ALLOC_RESERVED] = { "alloc-reserved", 8 },
	[SS_PART_ALLOC_TRACK] = { "alloc-track", 4 },
	[SS_PART_ALLOC_DEVICE_ID] = { "alloc-device-id", 2 },
	[SS_PART_ALLOC_DEVICE_TYPE] = { "alloc-device-type", 1 },
	[SS_PART_ALLOC_OUT_OF_MEMORY] = { "alloc-out-of-memory", 1 },
};

#define IN_TRACE(field) offsetof(struct ss_trace, field)
#define SLICE(part, group, column)                                                 \
	{                                                                          \
		SS_PART_SLICE_##part, SS_COLUMNS_##group, IN_TRACE(slices.column), \
			IN_TRACE(slices.count), IN_TRACE(slices.capacity)          \
	}
#define ALLOC(part, column)                                                                 \
	{                                                                                   \
		SS_PART_ALLOC_##part, SS_COLUMNS_ALLOCATIONS, IN_TRACE(allocations.column), \
			IN_TRACE(allocations.count), IN_TRACE(allocations.capacity)         \
	}
#define LIST(part, group, items, rows, room)                                           \
	{                                                                              \
		SS_PART_##part, group, IN_TRACE(items), IN_TRACE(rows), IN_TRACE(room) \
	}

const struct ss_pack_column ss_pack_columns[SS_PACK_COLUMNS] = {
	SLICE(START, START, start_ns),
	SLICE(DUR, DUR, dur_ns),
	SLICE(NAME, NAME, name),
	SLICE(ARGS, ARGS, args),
	SLICE(ID, ID, id),
	SLICE(KIND, KIND, kind),
	SLICE(CATEGORY, CATEGORY, category),
	SLICE(LINK, LINK, link),
	ALLOC(START, start_ns),
	ALLOC(ADDRESS, address),
	ALLOC(BYTES, bytes),
	ALLOC(ALLOCATED, allocated_bytes),
	ALLOC(RESERVED, reserved_bytes),
	ALLOC(TRACK, track),
	ALLOC(DEVICE_ID, device_id),
	ALLOC(DEVICE_TYPE, device_type),
	ALLOC(OUT_OF_MEMORY, out_of_memory),
	LIST(COMMS, SS_COLUMNS_COMMS, comms, comm_count, comm_capacity),
	LIST(SEQUENCES, SS_COLUMNS_SEQUENCES, sequences, sequence_count, sequence_capacity),
	LIST(OTHERS, SS_COLUMNS_OTHERS, others, other_count, other_capacity),
	LIST(COUNTERS, SS_COLUMNS_COUNTERS, counters, counter_count, counter_capacity),
	LIST(GROUPS, 0, info.groups, info.group_rows, info.group_capacity),
};

const struct ss_pack_records ss_pack_records[SS_PACK_RECORDS] = {
	{ SS_PART_OP_ARGS, IN_TRACE(op_args) },
	{ SS_PART_KERNEL_ARGS, IN_TRACE(kernel_args) },
	{ SS_PART_COPY_ARGS, IN_TRACE(copy_args) },
	{ SS_PART_COMM_ARGS, IN_TRACE(comm_args) },
};

/* The same bytes from every build: no padding that a compiler chose. */
_Static_assert(sizeof(struct ss_pack_header) == 64, "header");
_Static_assert(sizeof(struct ss_pack_entry) == 32, "entry");
_Static_assert(sizeof(struct ss_pack_info) == 168, "info");
_Static_assert(sizeof(struct ss_pack_category) == 16, "category");
_Static_assert(sizeof(struct ss_pack_device) == 40, "device");
_Static_assert(sizeof(struct ss_pack_track) == 40, "track");
_Static_assert(sizeof(struct ss_pack_track_sums) == 104, "track_sums");
_Static_assert(sizeof(struct ss_pack_step) == 48, "step");
_Static_assert(sizeof(struct ss_pack_sync) == 32, "sync");
_Static_assert(sizeof(struct ss_quality_row) == 24, "quality");
_Static_assert(sizeof(struct ss_process_group) == 24, "group");
_Static_assert(sizeof(struct ss_op_args) == 32, "op_args");
_Static_assert(sizeof(struct ss_kernel_args) == 80, "kernel_args");
_Static_assert(sizeof(struct ss_copy_args) == 8, "copy_args");
_Static_assert(sizeof(struct ss_comm_args) == 64, "comm_args");
_Static_assert(sizeof(struct ss_comm_row) == 16, "comm");
_Static_assert(sizeof(struct ss_sequence_row) == 16, "sequence");
_Static_assert(sizeof(struct ss_counter) == 24, "counter");
_Static_assert(sizeof(struct ss_other_row) == 8, "other");

uint64_t ss_pack_layout(void)
{
	uint64_t layout = ss_hash_mix(SS_HASH_SEED, SS_KIND_COUNT);

	layout = ss_hash_mix(layout, SS_TRACK_ASYNC);
	layout = ss_hash_mix(layout, SS_STEPS_NONE);
	layout = ss_hash_mix(layout, SS_CATEGORIES_MAX);
	for (int odd = 0; odd < SS_ODD_COUNT; odd++) {
		const char *id = ss_oddity_info((enum ss_oddity)odd)->id;

		layout = ss_hash_mix(layout, ss_hash_bytes(id, strlen(id)));
	}
	for (int part = 0; part < SS_PARTS; part++)
		layout = ss_hash_mix(layout, ss_pack_parts[part].item_bytes);
	return layout;
}

/* Compressing shorter parts saves nothing noticeable. */
#define COMPRESSED_BYTES_MIN 1024

struct trace_packing {
	const struct ss_trace *trace;
	struct ss_arena arena;
	struct ss_strings words;
	const void *data[SS_PARTS];
	uint64_t counts[SS_PARTS];
	/* as stored in the file; compressed parts are in `frames` */
	const void *stored[SS_PARTS];
	uint64_t stored_bytes[SS_PARTS];
	struct ss_text frames[SS_PARTS];
	bool failed; /* no memory */
};

static void packing_set_part(struct trace_packing *packing, enum ss_pack_part part,
			     const void *data, uint64_t count)
{
	packing->data[part] = data;
	packing->counts[part] = count;
}

/* A part that is made for the file: cleared, so that its padding is defined. */
static void *packing_new_part(struct trace_packing *packing, enum ss_pack_part part, size_t count)
{
	void *items = ss_arena_alloc(&packing->arena, count + 1, ss_pack_parts[part].item_bytes);

	packing->failed |= !items;
	packing_set_part(packing, part, items, items ? count : 0);
	return items;
}

static uint32_t packing_word(struct trace_packing *packing, const char *text)
{
	uint32_t id = ss_strings_add(&packing->words, text, strlen(text));

	packing->failed |= id == SS_NO_ID;
	return id;
}

/* --- parts that are not columns of the trace ----------------------------------- */

static void pack_strings(struct trace_packing *packing, const struct ss_strings *strings,
			 enum ss_pack_part lengths_part)
{
	uint32_t *lengths = packing_new_part(packing, lengths_part, strings->count);
	size_t bytes = 0;
	char *at;

	for (uint32_t i = 0; lengths && i < strings->count; i++) {
		lengths[i] = strings->items[i].length;
		bytes += lengths[i];
	}
	at = packing_new_part(packing, lengths_part + 1, bytes);
	for (uint32_t i = 0; at && i < strings->count; i++) {
		memcpy(at, strings->items[i].text, strings->items[i].length);
		at += strings->items[i].length;
	}
}

static void pack_info(struct trace_packing *packing)
{
	const struct ss_trace *trace = packing->trace;
	const struct ss_trace_info *info = &trace->info;
	struct ss_pack_info *out = packing_new_part(packing, SS_PART_INFO, 1);

	if (!out)
		return;
	*out = (struct ss_pack_info){
		.rank = info->rank,
		.world_size = info->world_size,
		.group_count = info->group_count,
		.schema_version = info->schema_version,
		.cuda_runtime = info->cuda_runtime,
		.cuda_driver = info->cuda_driver,
		.cupti = info->cupti,
		.hip_runtime = info->hip_runtime,
		.base_time_ns = info->base_time_ns,
		.origin_ns = trace->origin_ns,
		.span_ns = trace->span_ns,
		.writer_notes = info->writer_notes,
		.event_count = trace->event_count,
		.file_bytes = trace->file_bytes,
		.fwdbwd_links = trace->fwdbwd_links,
		.backend = info->backend,
		.nccl_version = info->nccl_version,
		.trace_id = info->trace_id,
		.trace_name = info->trace_name,
		.first_warning = info->first_warning,
		.step_anchor = trace->steps.anchor,
		.record_shapes = info->record_shapes,
		.profile_memory = info->profile_memory,
		.with_stack = info->with_stack,
		.with_modules = info->with_modules,
		.with_flops = info->with_flops,
		.is_array = info->is_array,
		.recorder = (uint8_t)info->recorder,
	};
	memcpy(out->run, info->run, sizeof(out->run));
}

/* All of them: the last is where categories beyond the limit go. */
static void pack_categories(struct trace_packing *packing)
{
	const struct ss_trace *trace = packing->trace;
	struct ss_pack_category *out = packing_new_part(packing, SS_PART_CATEGORIES,
							trace->category_count + 1);

	for (uint32_t i = 0; out && i <= trace->category_count; i++) {
		uint32_t from = i < trace->category_count ? i : SS_CATEGORIES_MAX - 1;

		out[i].events = trace->category_events[from];
		out[i].name = packing_word(packing, trace->categories[from].name);
		out[i].kind = (uint8_t)trace->categories[from].kind;
		out[i].by_name = trace->categories[from].by_name;
	}
}

static void pack_devices(struct trace_packing *packing)
{
	const struct ss_trace_info *info = &packing->trace->info;
	struct ss_pack_device *out = packing_new_part(packing, SS_PART_DEVICES, info->device_count);

	for (uint32_t i = 0; out && i < info->device_count; i++) {
		const struct ss_device *from = &info->devices[i];

		out[i] = (struct ss_pack_device){ from->id,
						  from->memory_bytes,
						  from->name,
						  from->compute_major,
						  from->compute_minor,
						  from->multiprocessors,
						  from->warp_size,
						  from->threads_per_multiprocessor };
	}
}

static void pack_tracks(struct trace_packing *packing)
{
	const struct ss_trace *trace = packing->trace;
	struct ss_pack_track *out = packing_new_part(packing, SS_PART_TRACKS, trace->track_count);

	for (uint32_t i = 0; out && i < trace->track_count; i++) {
		const struct ss_track *from = &trace->tracks[i];

		out[i] = (struct ss_pack_track){ from->pid,      from->tid,      from->class,
						 from->pid_text, from->tid_text, from->name,
						 from->process,  from->row_count };
	}
}

static void pack_track_sums(struct trace_packing *packing)
{
	const struct ss_trace *trace = packing->trace;
	struct ss_pack_track_sums *out = packing_new_part(packing, SS_PART_TRACK_SUMS,
							  trace->track_count);

	for (uint32_t i = 0; out && i < trace->track_count; i++) {
		struct ss_track_sums from;

		ss_track_sum(trace, i, &from);
		out[i] = (struct ss_pack_track_sums){ .busy_ns = from.busy_ns,
						      .first_ns = from.first_ns,
						      .last_ns = from.last_ns,
						      .unlinked = from.unlinked,
						      .depth_max = trace->tracks[i].depth_max };
		memcpy(out[i].kinds, from.kinds, sizeof(from.kinds));
	}
}

static void pack_steps(struct trace_packing *packing)
{
	const struct ss_steps *steps = &packing->trace->steps;
	struct ss_pack_step *out = packing_new_part(packing, SS_PART_STEPS, steps->count);

	for (uint32_t i = 0; out && i < steps->count; i++) {
		const struct ss_step *from = &steps->items[i];

		out[i] = (struct ss_pack_step){
			.start_ns = from->start_ns,
			.end_ns = from->end_ns,
			.host_start_ns = from->host_start_ns,
			.host_end_ns = from->host_end_ns,
			.device_events = from->device_events,
			.name = from->name,
			.dropped = from->dropped ? packing_word(packing, from->dropped) : 0,
		};
	}
}

static void pack_syncs(struct trace_packing *packing)
{
	const struct ss_trace *trace = packing->trace;
	struct ss_pack_sync *out = packing_new_part(packing, SS_PART_SYNCS, trace->sync_count);

	for (uint32_t i = 0; out && i < trace->sync_count; i++) {
		const struct ss_sync_row *from = &trace->syncs[i];

		out[i] = (struct ss_pack_sync){ from->stream, from->wait_stream,
						from->wait_correlation, from->row, 0 };
	}
}

/* --- columns ------------------------------------------------------------------- */

/* Columns are packed as they lie in memory: nothing is copied. */
static void packing_set_columns(struct trace_packing *packing)
{
	const struct ss_trace *trace = packing->trace;
	const char *at = (const char *)trace;

	for (size_t i = 0; i < SS_PACK_COLUMNS; i++) {
		const struct ss_pack_column *column = &ss_pack_columns[i];
		const void *data;
		uint32_t count;

		memcpy(&data, at + column->data, sizeof(data));
		memcpy(&count, at + column->count, sizeof(count));
		packing_set_part(packing, column->part, data, count);
	}
	for (size_t i = 0; i < SS_PACK_RECORDS; i++) {
		const struct ss_records *records =
			(const struct ss_records *)(at + ss_pack_records[i].at);

		packing_set_part(packing, ss_pack_records[i].part, records->items, records->count);
	}
	packing_set_part(packing, SS_PART_NAME_FLAGS, trace->name_flags, trace->names.count);
	packing_set_part(packing, SS_PART_PHASES, trace->phase_events,
			 SS_COUNT(trace->phase_events));
	packing_set_part(packing, SS_PART_QUALITY, trace->quality.rows, SS_ODD_COUNT);
}

static void packing_set_origin(struct trace_packing *packing, const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t length;

	name = packing->trace->packed_of ? packing->trace->packed_of : slash ? slash + 1 : name;
	length = strlen(name);
	packing_set_part(packing, SS_PART_ORIGIN, name,
			 length < SS_PACK_NAME_BYTES ? length : SS_PACK_NAME_BYTES - 1);
}

static void packing_make_parts(struct trace_packing *packing, const char *name)
{
	packing_set_origin(packing, name);
	pack_info(packing);
	pack_strings(packing, &packing->trace->names, SS_PART_NAME_LENGTHS);
	pack_strings(packing, &packing->trace->texts, SS_PART_TEXT_LENGTHS);
	pack_categories(packing);
	pack_devices(packing);
	pack_tracks(packing);
	pack_track_sums(packing);
	pack_steps(packing);
	pack_syncs(packing);
	pack_strings(packing, &packing->words, SS_PART_WORD_LENGTHS);
	packing_set_columns(packing);
}

/* --- the file ------------------------------------------------------------------ */

static uint64_t pack_align(uint64_t at)
{
	return (at + SS_PACK_ALIGN - 1) / SS_PACK_ALIGN * SS_PACK_ALIGN;
}

static void packing_fill_table(const struct trace_packing *packing, struct ss_pack_header *header,
			       struct ss_pack_entry table[SS_PARTS])
{
	uint64_t at = sizeof(*header) + SS_PARTS * sizeof(*table);
	struct ss_checksum sum;

	for (uint32_t i = 0; i < SS_PARTS; i++) {
		uint64_t bytes = packing->stored_bytes[i];

		at = pack_align(at);
		table[i] = (struct ss_pack_entry){ packing->frames[i].length ? i | SS_PACK_ZSTD : i,
						   ss_pack_parts[i].item_bytes, at, bytes,
						   ss_checksum_of(packing->stored[i],
								  (size_t)bytes) };
		at += bytes;
	}
	*header = (struct ss_pack_header){ .version = SS_PACK_VERSION,
					   .part_count = SS_PARTS,
					   .layout = ss_pack_layout(),
					   .pack_bytes = at,
					   .disk_bytes = packing->trace->disk_bytes };
	memcpy(header->magic, SS_PACK_MAGIC, SS_PACK_MAGIC_BYTES);
	strncpy(header->writer, SS_VERSION, sizeof(header->writer) - 1);
	ss_checksum_init(&sum);
	ss_checksum_add(&sum, header, sizeof(*header));
	ss_checksum_add(&sum, table, SS_PARTS * sizeof(*table));
	header->checksum = ss_checksum_end(&sum);
}

static enum ss_status packing_write_parts(const struct trace_packing *packing,
					  ss_pack_output output, void *context,
					  struct ss_error *err)
{
	static const char zeros[SS_PACK_ALIGN] = { 0 };
	struct ss_pack_header header;
	struct ss_pack_entry table[SS_PARTS];
	uint64_t at = sizeof(header) + sizeof(table);

	packing_fill_table(packing, &header, table);
	SS_TRY(output(context, (const char *)&header, sizeof(header), err));
	SS_TRY(output(context, (const char *)table, sizeof(table), err));
	for (uint32_t i = 0; i < SS_PARTS; i++) {
		size_t gap = (size_t)(table[i].offset - at);

		if (gap)
			SS_TRY(output(context, zeros, gap, err));
		if (table[i].bytes)
			SS_TRY(output(context, packing->stored[i], (size_t)table[i].bytes, err));
		at = table[i].offset + table[i].bytes;
	}
	return SS_OK;
}

/* Compresses one part, unless that does not make it shorter. */
static void packing_compress_part(struct trace_packing *packing, uint32_t part)
{
	struct ss_text *frame = &packing->frames[part];

	ss_zstd_write_fast(packing->data[part], (size_t)packing->stored_bytes[part], frame);
	packing->failed |= ss_text_failed(frame);
	if (ss_text_failed(frame) || frame->length >= packing->stored_bytes[part]) {
		ss_text_release(frame);
		return;
	}
	packing->stored[part] = frame->data;
	packing->stored_bytes[part] = frame->length;
}

/* Decides how each part is stored: as it is or compressed; false: no memory. */
static bool packing_store_parts(struct trace_packing *packing, enum ss_pack_form form)
{
	for (uint32_t i = 0; i < SS_PARTS; i++) {
		packing->stored[i] = packing->data[i];
		packing->stored_bytes[i] = packing->counts[i] * ss_pack_parts[i].item_bytes;
		if (form == SS_PACK_COMPRESSED && packing->stored_bytes[i] >= COMPRESSED_BYTES_MIN)
			packing_compress_part(packing, i);
	}
	return !packing->failed;
}

static bool packing_begin(struct trace_packing *packing, const struct ss_trace *trace,
			  const char *name)
{
	*packing = (struct trace_packing){ .trace = trace };
	ss_arena_init(&packing->arena, trace->memory);
	packing->failed = !ss_strings_init(&packing->words, trace->memory);
	if (!packing->failed)
		packing_make_parts(packing, name);
	return !packing->failed;
}

static void packing_end(struct trace_packing *packing)
{
	for (uint32_t i = 0; i < SS_PARTS; i++)
		ss_text_release(&packing->frames[i]);
	ss_strings_release(&packing->words);
	ss_arena_release(&packing->arena);
}

enum ss_status ss_pack_write(const struct ss_trace *trace, const char *name, enum ss_pack_form form,
			     ss_pack_output output, void *context, struct ss_error *err)
{
	struct trace_packing packing;
	enum ss_status status;

	if (!SS_PACK_FITS)
		return ss_fail(
			err, SS_ERR_MISSING,
			"cannot write packs on this machine: they need little-endian byte order");
	status = packing_begin(&packing, trace, name) && packing_store_parts(&packing, form)
			 ? packing_write_parts(&packing, output, context, err)
			 : ss_fail_memory(err, "packing the trace");
	packing_end(&packing);
	return status;
}

/* --- two traces ------------------------------------------------------------------ */

static bool bytes_are_same(const void *a, const void *b, size_t bytes)
{
	return !bytes || memcmp(a, b, bytes) == 0;
}

/* The first part that differs, or NULL. */
static const char *pack_find_difference(const struct trace_packing *a,
					const struct trace_packing *b)
{
	const struct ss_slices *x = &a->trace->slices, *y = &b->trace->slices;

	for (uint32_t i = SS_PART_ORIGIN + 1; i < SS_PARTS; i++)
		if (a->counts[i] != b->counts[i] ||
		    !bytes_are_same(a->data[i], b->data[i],
				    (size_t)(a->counts[i] * ss_pack_parts[i].item_bytes)))
			return ss_pack_parts[i].name;
	return !bytes_are_same(x->track, y->track, x->count * sizeof(*x->track))
		       ? "tracks of events"
	       : !bytes_are_same(x->parent, y->parent, x->count * sizeof(*x->parent)) ? "nesting"
	       : !bytes_are_same(x->depth, y->depth, x->count * sizeof(*x->depth))    ? "depths"
										      : NULL;
}

enum ss_status ss_pack_compare(const struct ss_trace *a, const struct ss_trace *b,
			       struct ss_error *err)
{
	struct trace_packing one, two;
	bool has_one = packing_begin(&one, a, ""), has_two = packing_begin(&two, b, "");
	const char *part = has_one && has_two ? pack_find_difference(&one, &two) : NULL;

	packing_end(&one);
	packing_end(&two);
	if (!has_one || !has_two)
		return ss_fail_memory(err, "comparing traces");
	return part ? ss_fail(err, SS_ERR_FORMAT, "the traces differ in '%s'", part) : SS_OK;
}
