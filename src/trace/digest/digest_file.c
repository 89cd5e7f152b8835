/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_file.c - writes and reads the frame of a digest.
 */
#include "trace/digest/digest_file.h"

#include <stdio.h>
#include <string.h>

#include "base/hash/hash.h"
#include "base/text.h"
#include "read/codec.h"
#include "trace/formats.h"
#include "stepscope.h"

/* A rank of ten million events has less. */
#define PART_BYTES_MAX ((uint64_t)1 << 32)

/* Parts grow with what is really there. */
#define CHUNK_BYTES ((size_t)256 << 10)

_Static_assert(sizeof(struct ss_digest_header) == 112, "header");

static const struct ss_field origin_fields[] = {
	SS_FIELD(struct ss_digest_origin, path, SS_FIELD_TEXT),
	SS_FIELD(struct ss_digest_origin, shown, SS_FIELD_TEXT),
	SS_FIELD(struct ss_digest_origin, packed_of, SS_FIELD_TEXT),
	SS_FIELD(struct ss_digest_origin, host, SS_FIELD_TEXT),
	SS_FIELD(struct ss_digest_origin, rank, SS_FIELD_I64),
	SS_FIELD(struct ss_digest_origin, disk_bytes, SS_FIELD_U64),
	SS_FIELD(struct ss_digest_origin, stamp, SS_FIELD_U64),
	SS_FIELD(struct ss_digest_origin, problem, SS_FIELD_TEXT),
};

static const struct ss_field_layout origin_layout = {
	.fields = origin_fields,
	.field_count = SS_COUNT(origin_fields),
};

static void origin_text_free(char *text, struct ss_memory *memory)
{
	if (text)
		ss_memory_free(memory, text, strlen(text) + 1);
}

static void release_origin(struct ss_digest_origin *origin, struct ss_memory *memory)
{
	origin_text_free(origin->path, memory);
	origin_text_free(origin->shown, memory);
	origin_text_free(origin->packed_of, memory);
	origin_text_free(origin->host, memory);
	origin_text_free(origin->problem, memory);
	*origin = (struct ss_digest_origin){ 0 };
}

void ss_trace_digest_release(struct ss_digest_file *file)
{
	if (!file->memory)
		return;
	release_origin(&file->origin, file->memory);
	for (uint32_t i = 0; i < SS_DIGEST_PARTS; i++)
		ss_memory_free(file->memory, file->parts[i], file->capacity[i]);
	*file = (struct ss_digest_file){ 0 };
}

uint64_t ss_trace_digest_header_sum(const struct ss_digest_header *header)
{
	struct ss_digest_header copy = *header;

	copy.checksum = 0;
	return ss_checksum_of(&copy, sizeof(copy));
}

void ss_trace_digest_write(const struct ss_digest_origin *origin, uint64_t layout,
			   const struct ss_text parts[SS_DIGEST_PARTS], struct ss_text *out)
{
	struct ss_digest_header header = { .version = SS_DIGEST_VERSION,
					   .part_count = SS_DIGEST_PARTS,
					   .layout = layout };
	struct ss_text all = { 0 }, first = { 0 };

	memcpy(header.magic, SS_DIGEST_MAGIC, SS_DIGEST_MAGIC_BYTES);
	snprintf(header.writer, sizeof(header.writer), "%s", SS_VERSION);
	ss_fields_write(&origin_layout, origin, &first);
	for (uint32_t i = 0; i < SS_DIGEST_PARTS; i++) {
		const struct ss_text *part = i == SS_DIGEST_ORIGIN ? &first : &parts[i];

		header.bytes[i] = part->length;
		header.checksums[i] = ss_checksum_of(part->data, part->length);
	}
	header.checksum = ss_trace_digest_header_sum(&header);
	ss_text_add(&all, (const char *)&header, sizeof(header));
	ss_text_add(&all, first.data, first.length);
	for (uint32_t i = SS_DIGEST_ORIGIN + 1; i < SS_DIGEST_PARTS; i++)
		ss_text_add(&all, parts[i].data, parts[i].length);
	if (!ss_text_failed(&all) && !ss_text_failed(&first))
		ss_zstd_write(all.data, all.length, out);
	ss_text_end(&first, out);
	ss_text_end(&all, out);
}

enum ss_status ss_trace_digest_fail(struct ss_error *err, const char *format, ...)
{
	char what[128];
	va_list values;

	va_start(values, format);
	vsnprintf(what, sizeof(what), format, values);
	va_end(values);
	return ss_fail(err, SS_ERR_FORMAT,
		       "the digest is damaged (%s): make it again with 'stepscope digest'", what);
}

static bool digest_matches(const char *bytes, size_t length)
{
	return length >= SS_DIGEST_MAGIC_BYTES &&
	       memcmp(bytes, SS_DIGEST_MAGIC, SS_DIGEST_MAGIC_BYTES) == 0;
}

enum ss_status ss_trace_digest_is_next(struct ss_source *source, bool *out, struct ss_error *err)
{
	const char *next;
	size_t length;

	SS_TRY(ss_source_peek(source, &next, &length, err));
	*out = digest_matches(next, length);
	return SS_OK;
}

/* Of two commits with one version number, the layouts can differ, too. */
static enum ss_status digest_fail_version(const struct ss_digest_header *header,
					  struct ss_error *err)
{
	int length = (int)strnlen(header->writer, sizeof(header->writer));
	bool is_same = (size_t)length == strlen(SS_VERSION) &&
		       memcmp(header->writer, SS_VERSION, (size_t)length) == 0;

	return ss_fail(err, SS_ERR_FORMAT,
		       "the digest was made by another %s of stepscope (%.*s%s%s): make it again "
		       "with 'stepscope digest'",
		       is_same ? "build" : "version", length, header->writer,
		       is_same ? "" : "; this is ", is_same ? "" : SS_VERSION);
}

static enum ss_status digest_read_header(struct ss_source *source, uint64_t layout,
					 struct ss_digest_header *out, struct ss_error *err)
{
	size_t got;

	SS_TRY(ss_source_fill(source, (char *)out, sizeof(*out), &got, err));
	if (got < sizeof(*out))
		return ss_trace_digest_fail(err, "it is truncated");
	if (memcmp(out->magic, SS_DIGEST_MAGIC, SS_DIGEST_MAGIC_BYTES) != 0)
		return ss_fail(err, SS_ERR_FORMAT, "this is not a digest");
	if (out->checksum != ss_trace_digest_header_sum(out))
		return ss_trace_digest_fail(err, "the checksum of its header is wrong");
	if (out->version != SS_DIGEST_VERSION || out->part_count != SS_DIGEST_PARTS ||
	    out->layout != layout)
		return digest_fail_version(out, err);
	for (uint32_t i = 0; i < SS_DIGEST_PARTS; i++)
		if (out->bytes[i] > PART_BYTES_MAX)
			return ss_trace_digest_fail(err, "a part of it is too long");
	return SS_OK;
}

/* Memory grows with the bytes that come, not with what the header promises. */
static enum ss_status digest_read_part(struct ss_source *source,
				       const struct ss_digest_header *header, uint32_t index,
				       struct ss_digest_file *out, struct ss_error *err)
{
	size_t bytes = (size_t)header->bytes[index], got;

	for (size_t done = 0; done < bytes; done += got) {
		size_t chunk = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
		size_t room = done + chunk > 2 * done ? done + chunk
			      : 2 * done < bytes      ? 2 * done
						      : bytes;

		if (room > out->capacity[index]) {
			char *grown = ss_memory_resize(out->memory, out->parts[index],
						       out->capacity[index], room);

			if (!grown)
				return ss_fail_memory(err, "a digest");
			out->parts[index] = grown;
			out->capacity[index] = room;
		}
		SS_TRY(ss_source_fill(source, out->parts[index] + done, chunk, &got, err));
		if (got < chunk)
			return ss_trace_digest_fail(err, "it is truncated");
	}
	out->bytes[index] = bytes;
	if (ss_checksum_of(out->parts[index], bytes) != header->checksums[index])
		return ss_trace_digest_fail(err, "a checksum is wrong");
	return SS_OK;
}

static enum ss_status digest_read_origin(struct ss_digest_file *file, struct ss_error *err)
{
	const unsigned char *bytes = (const unsigned char *)file->parts[SS_DIGEST_ORIGIN];
	struct ss_fields_reader reader = { .at = bytes, .end = bytes, .memory = file->memory };
	struct ss_error why = { 0 };
	enum ss_status status;

	if (bytes)
		reader.end += file->bytes[SS_DIGEST_ORIGIN];
	status = ss_fields_read(&reader, &origin_layout, &file->origin, &why);
	if (status == SS_ERR_FORMAT || (status == SS_OK && reader.at != reader.end))
		return ss_trace_digest_fail(err, "its origin: %s", why.text);
	if (status != SS_OK)
		return ss_fail_memory(err, "a digest");
	return file->origin.path && file->origin.shown
		       ? SS_OK
		       : ss_trace_digest_fail(err, "it does not say of what it was made");
}

enum ss_status ss_trace_digest_read(struct ss_source *source, uint64_t layout,
				    enum ss_digest_part end, struct ss_memory *memory,
				    struct ss_digest_file *out, struct ss_error *err)
{
	struct ss_digest_header header;
	char more;
	size_t got = 0;

	*out = (struct ss_digest_file){ .memory = memory };
	SS_TRY(digest_read_header(source, layout, &header, err));
	for (uint32_t i = 0; i < end; i++)
		SS_TRY(digest_read_part(source, &header, i, out, err));
	SS_TRY(digest_read_origin(out, err));
	if (end == SS_DIGEST_PARTS)
		SS_TRY(ss_source_fill(source, &more, 1, &got, err));
	return got ? ss_trace_digest_fail(err, "it continues after its end") : SS_OK;
}

/* A digest has no events: load/digest_files.c opens it, or the trace that it was made of. */
static enum ss_status digest_refuse_load(struct ss_source *source,
					 const struct ss_load_options *options,
					 struct ss_trace *out, struct ss_error *err)
{
	(void)source;
	(void)options;
	(void)out;
	return ss_fail(err, SS_ERR_USAGE, "this is a digest, which has no events");
}

const struct ss_input_format ss_input_format_digest = {
	.endings = { ".digest" },
	.matches = digest_matches,
	.is_derived = true,
	.redact_refusal =
		"this is a digest, and digests cannot be redacted: make it again from the original "
		"JSON with option 'redact'",
	.load = digest_refuse_load,
};
