/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate_pack.c - changes of the columns of a pack.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "base/error.h"
#include "base/text.h"
#include "check.h"
#include "mutate.h"
#include "trace/finish/finish.h"
#include "trace/pack/pack.h"
#include "trace/trace.h"

#define HEAD_BYTES (sizeof(struct ss_pack_header) + SS_PARTS * sizeof(struct ss_pack_entry))

bool is_pack(const uint8_t *data, size_t size)
{
	return size >= HEAD_BYTES && memcmp(data, SS_PACK_MAGIC, SS_PACK_MAGIC_BYTES) == 0;
}

/* The items of a part that is as long as wanted and not compressed, or NULL. */
static void *items_of(uint8_t *data, size_t size, const struct ss_pack_entry table[SS_PARTS],
		      enum ss_pack_part part, uint64_t count)
{
	const struct ss_pack_entry *entry = &table[part];

	return entry->part == part && entry->offset % SS_PACK_ALIGN == 0 &&
			       entry->bytes == count * ss_pack_parts[part].item_bytes &&
			       entry->offset <= size && entry->bytes <= size - entry->offset
		       ? data + entry->offset
		       : NULL;
}

/* Times that can be added. */
static bool is_sane(const struct ss_slices *slices)
{
	const int64_t most = (int64_t)1 << 61;

	for (uint32_t i = 0; i < slices->count; i++)
		if (slices->dur_ns[i] < 0 || slices->dur_ns[i] > most ||
		    slices->start_ns[i] < -most || slices->start_ns[i] > most)
			return false;
	return true;
}

static void fill_sums(const struct ss_trace *trace, struct ss_pack_track_sums *out)
{
	for (uint32_t i = 0; i < trace->track_count; i++) {
		struct ss_track_sums sums;

		ss_track_sum(trace, i, &sums);
		out[i].busy_ns = sums.busy_ns;
		out[i].first_ns = sums.first_ns;
		out[i].last_ns = sums.last_ns;
		out[i].unlinked = sums.unlinked;
		out[i].depth_max = trace->tracks[i].depth_max;
		memcpy(out[i].kinds, sums.kinds, sizeof(sums.kinds));
	}
}

/* Sums over tracks stop nearly every change of a column, too: those of its columns go there. */
static void mend_sums(uint8_t *data, size_t size, const struct ss_pack_entry table[SS_PARTS])
{
	uint64_t track_count = table[SS_PART_TRACKS].bytes / sizeof(struct ss_pack_track);
	uint64_t count = table[SS_PART_SLICE_KIND].bytes, rows = 0;
	const struct ss_pack_track *from = items_of(data, size, table, SS_PART_TRACKS, track_count);
	struct ss_pack_track_sums *sums = items_of(data, size, table, SS_PART_TRACK_SUMS,
						   track_count);
	struct ss_trace *trace = calloc(1, sizeof(*trace));
	struct ss_slices *slices = &trace->slices;
	uint32_t no_flags = 0;

	CHECK(trace);
	trace->name_flags = &no_flags;
	slices->kind = items_of(data, size, table, SS_PART_SLICE_KIND, count);
	slices->start_ns = items_of(data, size, table, SS_PART_SLICE_START, count);
	slices->dur_ns = items_of(data, size, table, SS_PART_SLICE_DUR, count);
	slices->link = items_of(data, size, table, SS_PART_SLICE_LINK, count);
	if (from && sums && slices->kind && slices->start_ns && slices->dur_ns && slices->link) {
		slices->count = (uint32_t)count;
		slices->parent = calloc(count + 1, sizeof(*slices->parent));
		slices->depth = calloc(count + 1, sizeof(*slices->depth));
		/* whose child a range is depends on its name, how deep it lies does not */
		slices->name = calloc(count + 1, sizeof(*slices->name));
		trace->tracks = calloc(track_count + 1, sizeof(*trace->tracks));
		CHECK(slices->parent && slices->depth && slices->name && trace->tracks);
		for (uint32_t i = 0; i < track_count && from[i].row_count <= count - rows; i++) {
			trace->tracks[trace->track_count++] =
				(struct ss_track){ .class = from[i].class,
						   .first_row = (uint32_t)rows,
						   .row_count = from[i].row_count };
			rows += from[i].row_count;
		}
		if (is_sane(slices)) {
			ss_finish_nest(trace, 1);
			fill_sums(trace, sums);
		}
		free(slices->parent);
		free(slices->depth);
		free(slices->name);
		free(trace->tracks);
	}
	free(trace);
}

void mend_pack(uint8_t *data, size_t size)
{
	struct ss_pack_header header;
	struct ss_pack_entry table[SS_PARTS];
	struct ss_checksum sum;
	uint8_t *aligned;

	memcpy(&header, data, sizeof(header));
	memcpy(table, data + sizeof(header), sizeof(table));
	/* a job has its packs anywhere: numbers are read where they may stand */
	aligned = malloc(size);
	CHECK(aligned);
	memcpy(aligned, data, size);
	mend_sums(aligned, size, table);
	memcpy(data, aligned, size);
	free(aligned);
	for (int i = 0; i < SS_PARTS; i++)
		if (table[i].offset <= size && table[i].bytes <= size - table[i].offset)
			table[i].checksum = ss_checksum_of(data + table[i].offset,
							   (size_t)table[i].bytes);
	/* what was found once stays an input when the program changes */
	header.version = SS_PACK_VERSION;
	header.layout = ss_pack_layout();
	header.checksum = 0;
	ss_checksum_init(&sum);
	ss_checksum_add(&sum, &header, sizeof(header));
	ss_checksum_add(&sum, table, sizeof(table));
	header.checksum = ss_checksum_end(&sum);
	memcpy(data, &header, sizeof(header));
	memcpy(data + sizeof(header), table, sizeof(table));
}

static enum ss_status append(void *context, const char *bytes, size_t length, struct ss_error *err)
{
	struct ss_text *out = context;

	ss_text_add(out, bytes, length);
	return ss_text_failed(out) ? ss_fail_memory(err, "a pack") : SS_OK;
}

bool pack_trace(struct mutation *mutation)
{
	const struct ss_load_options options = { .threads = 1 };
	struct ss_text pack = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;
	/* changes of compressed parts are changes of their frames */
	enum ss_pack_form form = draw(mutation, 4) ? SS_PACK_PLAIN : SS_PACK_COMPRESSED;
	bool done;

	ss_memory_init(&memory, 0);
	if (load_bytes(mutation->data, mutation->size, &options, &memory, &trace, NULL) != SS_OK)
		return false;
	done = ss_pack_write(&trace, "rank3.json", form, append, &pack, NULL) == SS_OK &&
	       replace(mutation, 0, mutation->size, pack.data, pack.length);
	ss_trace_release(&trace);
	ss_text_release(&pack);
	return done;
}

/* Numbers that break what was not thought of. */
static void set_item(struct mutation *mutation, uint8_t *at, size_t bytes)
{
	static const uint64_t values[] = {
		0,
		1,
		2,
		7,
		255,
		UINT32_MAX,
		UINT32_MAX - 1,
		INT32_MAX,
		UINT64_MAX,
		INT64_MAX,
		(uint64_t)1 << 63,
		(uint64_t)1 << 62,
		INT64_MAX / 3,
		1000000000,
		1000000000000000,
	};
	static const int64_t steps[] = { 1, -1, 2, -2, 256 };
	uint64_t value = 0;

	memcpy(&value, at, bytes);
	if (draw(mutation, 3) == 0)
		value += (uint64_t)steps[draw(mutation, SS_COUNT(steps))];
	else
		value = values[draw(mutation, SS_COUNT(values))];
	memcpy(at, &value, bytes);
}

/* Where one of the items of a part lies that are so wide. */
static uint8_t *some_item(struct mutation *mutation, const struct ss_pack_entry *entry,
			  size_t width)
{
	size_t items = (size_t)entry->bytes / width;

	return mutation->data + entry->offset + draw(mutation, items) * width;
}

bool mutate_pack(struct mutation *mutation)
{
	size_t part = draw(mutation, SS_PARTS), width;
	struct ss_pack_entry entry;

	memcpy(&entry, mutation->data + sizeof(struct ss_pack_header) + part * sizeof(entry),
	       sizeof(entry));
	if (!entry.bytes || entry.offset > mutation->size ||
	    entry.bytes > mutation->size - entry.offset || !entry.item_bytes)
		return false;
	/* items are made of fields of 4 and 8 bytes */
	width = entry.item_bytes <= 8 ? entry.item_bytes : draw(mutation, 2) ? 4 : 8;
	if (entry.bytes < width)
		return false;
	switch (draw(mutation, 4)) {
	case 0:
		LLVMFuzzerMutate(mutation->data + entry.offset, (size_t)entry.bytes,
				 (size_t)entry.bytes);
		return true;
	case 1:
		memmove(some_item(mutation, &entry, width), some_item(mutation, &entry, width),
			width);
		return true;
	default:
		set_item(mutation, some_item(mutation, &entry, width), width);
		return true;
	}
}
