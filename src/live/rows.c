/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - reads live numbers: a header of 136 bytes, then rows of 52 bytes in a ring.
 *
 * The file may be written while it is read. Rows are written first, then how many there have been,
 * so a row that is not in the order of time is one that was being overwritten.
 */
#include <string.h>

#include "live/live.h"

#define MAGIC "STEPLIVE"
#define VERSION 1
#define HEADER_BYTES 136
#define ROW_BYTES 52

/* Offsets in the header. */
enum {
	AT_VERSION = 8,
	AT_HEADER = 12,
	AT_ROW = 16,
	AT_ROOM = 20,
	AT_RANK = 24,
	AT_RANKS = 28,
	AT_END = 36,
	AT_BEGIN = 40,
	AT_HOST = 48,
	AT_JOB = 88,
	AT_COUNT = 128
};

static uint32_t bytes_uint32(const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;

	return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
	       (uint32_t)byte[3] << 24;
}

static uint64_t bytes_uint64(const char *at)
{
	return bytes_uint32(at) | (uint64_t)bytes_uint32(at + 4) << 32;
}

bool ss_live_is_file(const char *bytes, size_t length)
{
	return length >= sizeof(MAGIC) - 1 && memcmp(bytes, MAGIC, sizeof(MAGIC) - 1) == 0;
}

/* False: no row of a step that took time. */
static bool live_parse_row(const char *at, struct ss_live_row *out)
{
	uint64_t end_us = bytes_uint64(at);

	/* nanoseconds must fit */
	if (!end_us || end_us > INT64_MAX / 1000)
		return false;
	out->end_us = (int64_t)end_us;
	out->step = bytes_uint32(at + 8);
	for (int part = 0; part < SS_LIVE_PARTS; part++)
		out->us[part] = bytes_uint32(at + 12 + 4 * part);
	out->flags = bytes_uint32(at + 32);
	out->peak_mb = bytes_uint32(at + 36);
	out->retries = bytes_uint32(at + 40);
	out->collectives = bytes_uint32(at + 44);
	out->collective_mb = bytes_uint32(at + 48);
	return out->us[SS_LIVE_STEP] && out->us[SS_LIVE_STEP] != SS_LIVE_UNKNOWN;
}

static enum ss_status live_parse_header(struct ss_live_file *out, const struct ss_whole_file *file,
					struct ss_error *err)
{
	const char *text = file->text;

	if (file->length < HEADER_BYTES || !ss_live_is_file(text, file->length))
		return ss_fail(err, SS_ERR_FORMAT, "these live numbers have no header");
	if (bytes_uint32(text + AT_VERSION) != VERSION ||
	    bytes_uint32(text + AT_HEADER) != HEADER_BYTES ||
	    bytes_uint32(text + AT_ROW) != ROW_BYTES || !bytes_uint32(text + AT_ROOM))
		return ss_fail(err, SS_ERR_FORMAT,
			       "these live numbers are damaged or of another version");
	out->rank = (int32_t)bytes_uint32(text + AT_RANK);
	out->ranks = (int32_t)bytes_uint32(text + AT_RANKS);
	out->has_ended = bytes_uint32(text + AT_END) != 0;
	out->begin_ns = (int64_t)(bytes_uint64(text + AT_BEGIN) & INT64_MAX);
	/* the last byte stays 0 */
	memcpy(out->host, text + AT_HOST, SS_LIVE_NAME_BYTES - 1);
	memcpy(out->job, text + AT_JOB, SS_LIVE_NAME_BYTES - 1);
	return SS_OK;
}

/* Takes the rows of places; one that does not follow the last is being overwritten. */
static enum ss_status live_take_places(struct ss_live_file *out, const struct ss_whole_file *file,
				       uint64_t from, uint64_t to, struct ss_error *err)
{
	for (uint64_t place = from; place < to; place++) {
		const struct ss_live_row *last = out->row_count ? &out->rows[out->row_count - 1]
								: NULL;
		struct ss_live_row row;

		if (!live_parse_row(file->text + HEADER_BYTES + place * ROW_BYTES, &row) ||
		    (last && (row.end_us <= last->end_us || row.step <= last->step)))
			continue;
		if (!SS_GROW(out->memory, out->rows, out->row_capacity, out->row_count))
			return ss_fail_memory(err, "live numbers");
		out->rows[out->row_count++] = row;
	}
	return SS_OK;
}

/* In the order of time: a full ring begins behind the newest row. */
static enum ss_status live_parse_rows(struct ss_live_file *out, const struct ss_whole_file *file,
				      struct ss_error *err)
{
	uint64_t room = bytes_uint32(file->text + AT_ROOM);
	uint64_t count = bytes_uint64(file->text + AT_COUNT);
	uint64_t there = (file->length - HEADER_BYTES) / ROW_BYTES;
	uint64_t end = count < room ? count : room, start = count > room ? count % room : 0;

	end = end < there ? end : there;
	SS_TRY(live_take_places(out, file, start, end, err));
	return live_take_places(out, file, 0, start < end ? start : end, err);
}

enum ss_status ss_live_load(struct ss_source *source, struct ss_memory *memory,
			    struct ss_live_file *out, struct ss_error *err)
{
	struct ss_whole_file file = { .memory = memory };
	enum ss_status status = ss_source_read_whole(source, &file, err);

	*out = (struct ss_live_file){ .memory = memory };
	if (status == SS_OK)
		status = live_parse_header(out, &file, err);
	if (status == SS_OK)
		status = live_parse_rows(out, &file, err);
	ss_whole_file_release(&file);
	if (status != SS_OK)
		ss_live_file_release(out);
	return status;
}

void ss_live_file_release(struct ss_live_file *file)
{
	SS_FREE(file->memory, file->rows, file->row_capacity);
	file->rows = NULL;
}
