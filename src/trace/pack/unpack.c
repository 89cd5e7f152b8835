/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.c - reads a pack, from its beginning to its end, into a trace.
 *
 * Every part is read into a block of its own; columns stay compressed until they are needed
 * (later.c), and then become those of the trace. The file is read and not mapped: one way for
 * files, pipes, compressed packs and inputs. Mapping would cost half as much, but would crash the
 * program if somebody truncates the file meanwhile.
 */
#include "trace/pack/unpack.h"

#include <stdio.h>
#include <string.h>

#include "base/hash/hash.h"
#include "base/utf8.h"
#include "read/codec.h"
#include "trace/formats.h"

/* Read and summed while it is in the cache; a multiple of SS_CHECKSUM_BLOCK. */
#define CHUNK_BYTES ((size_t)256 << 10)

/* If the length of the file is not known, blocks grow with the bytes that arrive. */
#define BLOCK_BYTES_FIRST ((size_t)4 << 20)

/* 1 TB, more than rows with 32-bit numbers can need. */
#define PART_BYTES_MAX ((uint64_t)1 << 40)

struct unpacking {
	struct ss_source *source;
	const struct ss_load_options *options;
	struct ss_memory *memory;
	struct ss_pack_header header;
	struct ss_pack_entry table[SS_PARTS];
	struct ss_unpacked parts[SS_PARTS];
	uint64_t at;       /* bytes read so far */
	uint64_t unpacked; /* bytes of parts so far, as they are in memory */
};

enum ss_status ss_unpack_fail(struct ss_error *err, const char *format, ...)
{
	char what[128];
	va_list values;

	va_start(values, format);
	vsnprintf(what, sizeof(what), format, values);
	va_end(values);
	return ss_fail(err, SS_ERR_FORMAT, "the pack is damaged (%s): pack the trace again", what);
}

static enum ss_status unpack_read_exactly(struct unpacking *unpacking, void *buffer, size_t bytes,
					  struct ss_error *err)
{
	size_t got;

	SS_TRY(ss_source_fill(unpacking->source, buffer, bytes, &got, err));
	unpacking->at += got;
	return got == bytes ? SS_OK : ss_unpack_fail(err, "it is truncated");
}

/* --- header and table ---------------------------------------------------------- */

static enum ss_status unpack_check_header(const struct ss_pack_header *header, struct ss_error *err)
{
	if (memcmp(header->magic, SS_PACK_MAGIC, SS_PACK_MAGIC_BYTES) != 0)
		return ss_fail(err, SS_ERR_FORMAT, "not a pack");
	if (header->version != SS_PACK_VERSION || header->layout != ss_pack_layout() ||
	    header->part_count != SS_PARTS)
		return ss_fail(err, SS_ERR_FORMAT,
			       "packed by another version of stepscope (format %u, this one reads "
			       "format %u): pack the trace again",
			       header->version, SS_PACK_VERSION);
	return SS_OK;
}

static enum ss_status unpack_check_table(const struct unpacking *unpacking, struct ss_error *err)
{
	uint64_t at = sizeof(unpacking->header) + sizeof(unpacking->table);

	for (uint32_t i = 0; i < SS_PARTS; i++) {
		const struct ss_pack_entry *entry = &unpacking->table[i];

		at = (at + SS_PACK_ALIGN - 1) / SS_PACK_ALIGN * SS_PACK_ALIGN;
		if ((entry->part & ~SS_PACK_ZSTD) != i ||
		    entry->item_bytes != ss_pack_parts[i].item_bytes || entry->offset != at ||
		    entry->bytes > PART_BYTES_MAX || entry->bytes > SIZE_MAX / 2)
			return ss_unpack_fail(err, "its table of parts is incomplete");
		at += entry->bytes;
	}
	return at == unpacking->header.pack_bytes ? SS_OK
						  : ss_unpack_fail(err, "its length is wrong");
}

/* The sentence is for builds without libzstd. */
static enum ss_status unpack_check_form(const struct unpacking *unpacking, struct ss_error *err)
{
	for (uint32_t i = 0; !ss_zstd_is_here && i < SS_PARTS; i++)
		if (unpacking->table[i].part & SS_PACK_ZSTD)
			return ss_fail(err, SS_ERR_MISSING,
				       "this pack is compressed with zstd, which cannot be read "
				       "here: write one with 'stepscope pack --plain', or open the "
				       "original trace");
	return SS_OK;
}

static enum ss_status unpack_read_head(struct unpacking *unpacking, struct ss_error *err)
{
	struct ss_pack_header *header = &unpacking->header;
	struct ss_checksum sum;
	uint64_t wanted;

	if (!SS_PACK_FITS)
		return ss_fail(
			err, SS_ERR_MISSING,
			"cannot read packs on this machine: they need little-endian byte order");
	SS_TRY(unpack_read_exactly(unpacking, header, sizeof(*header), err));
	SS_TRY(unpack_check_header(header, err));
	SS_TRY(unpack_read_exactly(unpacking, unpacking->table, sizeof(unpacking->table), err));
	wanted = header->checksum;
	header->checksum = 0;
	ss_checksum_init(&sum);
	ss_checksum_add(&sum, header, sizeof(*header));
	ss_checksum_add(&sum, unpacking->table, sizeof(unpacking->table));
	if (ss_checksum_end(&sum) != wanted)
		return ss_unpack_fail(err, "the checksum of its table is wrong");
	SS_TRY(unpack_check_table(unpacking, err));
	return unpack_check_form(unpacking, err);
}

/* --- parts ----------------------------------------------------------------------- */

/* Makes the part hold `bytes`, of which `known` are certain to come. */
static enum ss_status unpack_grow_part(struct unpacking *unpacking, struct ss_unpacked *part,
				       size_t bytes, size_t known, struct ss_error *err)
{
	size_t wanted = part->capacity * 2;
	void *moved;

	if (bytes <= part->capacity)
		return SS_OK;
	if (wanted < bytes)
		wanted = bytes;
	if (wanted < known)
		wanted = known;
	moved = ss_memory_resize(unpacking->memory, part->data, part->capacity, wanted);
	if (!moved)
		return ss_fail_memory(err, "the events of this trace");
	part->data = moved;
	part->capacity = wanted;
	return SS_OK;
}

static enum ss_status unpack_report_progress(const struct unpacking *unpacking,
					     struct ss_error *err)
{
	return unpacking->options
		       ? ss_trace_report_load(unpacking->options, unpacking->source, 0, err)
		       : SS_OK;
}

/* Reads the part as stored and checks its checksum. */
static enum ss_status unpack_read_stored(struct unpacking *unpacking, uint32_t index,
					 struct ss_unpacked *part, struct ss_error *err)
{
	const struct ss_pack_entry *entry = &unpacking->table[index];
	uint64_t total = unpacking->source->total_bytes;
	/* where the length of the file is not known, blocks grow with what is really there */
	size_t known = entry->bytes <= (total ? total : BLOCK_BYTES_FIRST) ? (size_t)entry->bytes
									   : 0;
	size_t gap_bytes = (size_t)(entry->offset - unpacking->at);
	char gap[SS_PACK_ALIGN];
	struct ss_checksum sum;

	SS_TRY(unpack_read_exactly(unpacking, gap, gap_bytes, err));
	for (size_t i = 0; i < gap_bytes; i++)
		if (gap[i])
			return ss_unpack_fail(err, "the bytes before '%s' are not 0",
					      ss_pack_parts[index].name);
	ss_checksum_init(&sum);
	for (size_t done = 0; done < entry->bytes;) {
		size_t left = (size_t)entry->bytes - done;
		size_t chunk = left < CHUNK_BYTES ? left : CHUNK_BYTES;

		SS_TRY(unpack_grow_part(unpacking, part, done + chunk, known, err));
		SS_TRY(unpack_read_exactly(unpacking, (char *)part->data + done, chunk, err));
		ss_checksum_add(&sum, (char *)part->data + done, chunk);
		SS_TRY(unpack_report_progress(unpacking, err));
		done += chunk;
	}
	part->bytes = entry->bytes;
	if (ss_checksum_end(&sum) != entry->checksum)
		return ss_unpack_fail(err, "the checksum of '%s' is wrong",
				      ss_pack_parts[index].name);
	return SS_OK;
}

/* The number of items according to the frame; its contents are checked when it is unpacked. */
static enum ss_status unpack_count_items(struct unpacking *unpacking, uint32_t index,
					 struct ss_error *err)
{
	struct ss_unpacked *part = &unpacking->parts[index];
	uint32_t item_bytes = ss_pack_parts[index].item_bytes;
	const uint64_t most = SS_PACK_UNPACKED_MAX(unpacking->header.pack_bytes);

	if (unpacking->table[index].part & SS_PACK_ZSTD) {
		part->frame_bytes = (size_t)part->bytes;
		if (!part->frame_bytes ||
		    !ss_zstd_length(part->data, part->frame_bytes, &part->bytes))
			return ss_unpack_fail(err, "'%s' cannot be unpacked",
					      ss_pack_parts[index].name);
	}
	if (part->bytes > most - unpacking->unpacked)
		return ss_unpack_fail(err, "it is too large");
	unpacking->unpacked += part->bytes;
	if (part->bytes % item_bytes != 0 || part->bytes / item_bytes >= SS_NO_ROW - 1 ||
	    part->bytes > SIZE_MAX / 2)
		return ss_unpack_fail(err, "the length of '%s' is wrong",
				      ss_pack_parts[index].name);
	part->count = (uint32_t)(part->bytes / item_bytes);
	return SS_OK;
}

/* No room beyond its items: the trace takes the block as it is. */
static void unpack_shrink_part(struct unpacking *unpacking, struct ss_unpacked *part)
{
	size_t bytes = part->frame_bytes ? part->frame_bytes : (size_t)part->bytes;

	if (part->capacity == bytes)
		return;
	part->data = ss_memory_resize(unpacking->memory, part->data, part->capacity, bytes);
	part->capacity = bytes;
}

static enum ss_status unpack_read_part(struct unpacking *unpacking, uint32_t index,
				       struct ss_error *err)
{
	struct ss_unpacked *part = &unpacking->parts[index];

	SS_TRY(unpack_read_stored(unpacking, index, part, err));
	unpack_shrink_part(unpacking, part);
	SS_TRY(unpack_count_items(unpacking, index, err));
	return ss_pack_group(index) ? SS_OK : ss_unpack_part(unpacking->memory, index, part, err);
}

static enum ss_status unpack_read_parts(struct unpacking *unpacking, struct ss_error *err)
{
	char more;
	size_t got;

	for (uint32_t i = 0; i < SS_PARTS; i++)
		SS_TRY(unpack_read_part(unpacking, i, err));
	SS_TRY(ss_source_fill(unpacking->source, &more, 1, &got, err));
	return got ? ss_unpack_fail(err, "it continues after its end") : SS_OK;
}

static void unpack_release_parts(struct unpacking *unpacking)
{
	for (uint32_t i = 0; i < SS_PARTS; i++)
		ss_memory_free(unpacking->memory, unpacking->parts[i].data,
			       unpacking->parts[i].capacity);
}

/* --- the whole ------------------------------------------------------------------- */

static bool pack_matches(const char *bytes, size_t length)
{
	return length >= SS_PACK_MAGIC_BYTES &&
	       memcmp(bytes, SS_PACK_MAGIC, SS_PACK_MAGIC_BYTES) == 0;
}

/* The name of the origin as it can be shown. */
static enum ss_status unpack_set_origin(const struct unpacking *unpacking, struct ss_trace *trace,
					struct ss_error *err)
{
	const struct ss_unpacked *part = &unpacking->parts[SS_PART_ORIGIN];
	char *shown;

	if (part->bytes >= SS_PACK_NAME_BYTES ||
	    (part->bytes && memchr(part->data, 0, part->count)))
		return ss_unpack_fail(err, "the name of its original file is invalid");
	shown = ss_arena_alloc(&trace->arena, 3 * (size_t)part->bytes + 1, 1);
	if (!shown)
		return ss_fail_memory(err, "a trace");
	ss_utf8_repair(part->data ? part->data : "", (size_t)part->bytes, shown);
	trace->packed_of = shown;
	trace->disk_bytes = unpacking->header.disk_bytes;
	return SS_OK;
}

static enum ss_status pack_load(struct ss_source *source, const struct ss_load_options *options,
				struct ss_trace *out, struct ss_error *err)
{
	struct unpacking unpacking = { .source = source,
				       .options = options,
				       .memory = out->memory };
	enum ss_status status = unpack_read_head(&unpacking, err);

	if (status == SS_OK)
		status = unpack_read_parts(&unpacking, err);
	if (status == SS_OK)
		status = unpack_set_origin(&unpacking, out, err);
	if (status == SS_OK)
		status = ss_unpack_trace(unpacking.parts, out, err);
	unpack_release_parts(&unpacking);
	return status;
}

enum ss_status ss_unpack_origin(const char *path, struct ss_memory *memory,
				struct ss_pack_origin *out, struct ss_error *err)
{
	struct unpacking unpacking = { .memory = memory };
	const struct ss_unpacked *part = &unpacking.parts[SS_PART_ORIGIN];
	enum ss_status status = ss_source_open(path, memory, &unpacking.source, err);

	*out = (struct ss_pack_origin){ 0 };
	if (status == SS_OK)
		status = unpack_read_head(&unpacking, err);
	if (status == SS_OK)
		status = unpack_read_part(&unpacking, SS_PART_ORIGIN, err);
	if (status == SS_OK && part->bytes >= sizeof(out->name))
		status = ss_unpack_fail(err, "the name of its original file is invalid");
	if (status == SS_OK && part->bytes)
		memcpy(out->name, part->data, part->count);
	out->disk_bytes = unpacking.header.disk_bytes;
	unpack_release_parts(&unpacking);
	ss_source_close(unpacking.source);
	return status;
}

const struct ss_input_format ss_input_format_pack = {
	.endings = { ".stepscope" },
	.matches = pack_matches,
	.is_derived = true,
	.redact_refusal = "this is a pack, and packs cannot be redacted: pack the original JSON "
			  "again with option 'redact'",
	.load = pack_load,
};
