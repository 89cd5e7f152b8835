/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_timeline.c - memory timelines of torch.profiler: export_memory_timeline() to .json(.gz)
 * and .raw.json.gz.
 *
 *   [[time_us, ...], [[0, bytes of each category ...], ...]]         sums at each moment
 *   [[time_ns, action, change in bytes, category], ...]              every change
 *
 * Nested lists of numbers and nothing else, so they are read as a stream of numbers and
 * brackets. Which of the two it is shows at the second list: only the first form has lists
 * in it. A file that is cut gives what it has.
 */
#include <string.h>

#include "memory/load/snapshot.h"
#include "read/number.h"

#define WINDOW_BYTES ((size_t)64 * 1024)
#define NUMBER_BYTES 40
/* A moment has a 0 and the categories, a change four numbers. */
#define ROW_NUMBERS (SS_CURVE_COUNT + 1)
#define CHANGE_NUMBERS 4

struct timeline_reading {
	struct ss_snapshot *out;
	struct ss_error *err;
	uint32_t depth;   /* of brackets */
	uint32_t lists;   /* lists of the outermost one that are over */
	bool has_moments; /* the first form */
	char number[NUMBER_BYTES];
	size_t number_length;
	int64_t *first; /* numbers of the first list: times, or a change */
	uint32_t first_count, first_capacity;
	int64_t row[ROW_NUMBERS];
	uint32_t row_count;
	uint32_t moments; /* rows of the second list so far */
	int64_t now[SS_CURVE_COUNT];
};

static enum ss_status fail_no_timeline(struct timeline_reading *reading)
{
	return ss_fail(
		reading->err, SS_ERR_FORMAT,
		"JSON, but not a memory timeline: it has neither lists of times and sums nor a "
		"list of changes");
}

static enum ss_status timeline_add_point(struct timeline_reading *reading, int64_t time_ns)
{
	struct ss_snapshot_curve *curve = &reading->out->curve;

	if (!SS_GROW(reading->out->memory, curve->points, curve->capacity, curve->count))
		return ss_fail_memory(reading->err, "the timeline");
	curve->points[curve->count].time_ns = time_ns;
	memcpy(curve->points[curve->count++].bytes, reading->now, sizeof(reading->now));
	return SS_OK;
}

static int64_t clamp_bytes(int64_t bytes)
{
	if (bytes > SS_SNAPSHOT_BYTES_MAX)
		return SS_SNAPSHOT_BYTES_MAX;
	return bytes < -SS_SNAPSHOT_BYTES_MAX ? -SS_SNAPSHOT_BYTES_MAX : bytes;
}

static enum ss_status timeline_add_change(struct timeline_reading *reading,
					  const int64_t row[CHANGE_NUMBERS])
{
	int64_t category = row[3];

	if (category < 0 || category >= SS_CURVE_COUNT)
		category = SS_CURVE_UNKNOWN;
	reading->now[category] = clamp_bytes(reading->now[category] + clamp_bytes(row[2]));
	return timeline_add_point(reading, row[0] < 0 ? SS_NO_TIME : row[0]);
}

static enum ss_status timeline_add_moment(struct timeline_reading *reading)
{
	int64_t time_us = SS_NO_TIME;

	for (uint32_t i = 0; i < SS_CURVE_COUNT; i++)
		reading->now[i] = i + 1 < reading->row_count ? clamp_bytes(reading->row[i + 1]) : 0;
	if (reading->moments < reading->first_count)
		time_us = reading->first[reading->moments];
	reading->moments++;
	return timeline_add_point(reading, time_us < 0 || time_us > INT64_MAX / 1000
						   ? SS_NO_TIME
						   : time_us * 1000);
}

/* The numbers of the first list: it may be long. */
static enum ss_status timeline_keep_number(struct timeline_reading *reading, int64_t value)
{
	if (!SS_GROW(reading->out->memory, reading->first, reading->first_capacity,
		     reading->first_count))
		return ss_fail_memory(reading->err, "the timeline");
	reading->first[reading->first_count++] = value;
	return SS_OK;
}

static enum ss_status timeline_end_number(struct timeline_reading *reading)
{
	int64_t value = 0;

	if (!reading->number_length)
		return SS_OK;
	if (!ss_number_i64(reading->number, reading->number_length, &value))
		reading->out->odd_numbers++;
	reading->number_length = 0;
	if (reading->depth < 2)
		return fail_no_timeline(reading);
	if (reading->depth == 2 && !reading->lists)
		return timeline_keep_number(reading, value);
	if (reading->row_count < ROW_NUMBERS)
		reading->row[reading->row_count++] = value;
	return SS_OK;
}

/* The first list was a change after all. */
static enum ss_status timeline_settle_first(struct timeline_reading *reading)
{
	if (reading->lists != 1 || reading->has_moments)
		return SS_OK;
	return reading->first_count == CHANGE_NUMBERS ? timeline_add_change(reading, reading->first)
						      : fail_no_timeline(reading);
}

static enum ss_status timeline_open_list(struct timeline_reading *reading)
{
	reading->depth++;
	reading->row_count = 0;
	if (reading->depth < 3)
		return SS_OK;
	if (reading->depth > 3 || reading->lists != 1)
		return fail_no_timeline(reading);
	reading->has_moments = true;
	return SS_OK;
}

static enum ss_status timeline_close_list(struct timeline_reading *reading)
{
	uint32_t depth = reading->depth--;

	if (!depth)
		return fail_no_timeline(reading);
	if (depth == 3)
		return timeline_add_moment(reading);
	if (depth == 1)
		return reading->lists == 1 ? timeline_settle_first(reading) : SS_OK;
	if (reading->lists && !reading->has_moments) {
		if (reading->row_count != CHANGE_NUMBERS)
			return fail_no_timeline(reading);
		SS_TRY(timeline_settle_first(reading));
		SS_TRY(timeline_add_change(reading, reading->row));
	}
	reading->lists++;
	return SS_OK;
}

static enum ss_status timeline_read_byte(struct timeline_reading *reading, char byte)
{
	switch (byte) {
	case '[':
		SS_TRY(timeline_end_number(reading));
		return timeline_open_list(reading);
	case ']':
		SS_TRY(timeline_end_number(reading));
		return timeline_close_list(reading);
	case ',':
	case ' ':
	case '\n':
	case '\r':
	case '\t':
		return timeline_end_number(reading);
	default:
		if (!strchr("0123456789+-.eE", byte) || reading->number_length == NUMBER_BYTES)
			return fail_no_timeline(reading);
		reading->number[reading->number_length++] = byte;
		return SS_OK;
	}
}

/* Reads up to the last bracket, then the rest of the stream for its checksum. */
static enum ss_status timeline_read_all(struct timeline_reading *reading, struct ss_source *source,
					char *window)
{
	size_t got = 1;
	bool ended = false;

	while (got && !ended) {
		SS_TRY(ss_source_fill(source, window, WINDOW_BYTES, &got, reading->err));
		for (size_t i = 0; i < got && !ended; i++) {
			if (!window[i])
				return fail_no_timeline(reading);
			SS_TRY(timeline_read_byte(reading, window[i]));
			ended = !reading->depth;
		}
		reading->out->file_bytes += got;
	}
	/* the check of a compressed stream stands at its end */
	while (got)
		SS_TRY(ss_source_fill(source, window, WINDOW_BYTES, &got, reading->err));
	reading->out->is_cut = !ended || source->flaw == SS_SOURCE_CUT ||
			       source->flaw == SS_SOURCE_CORRUPT;
	return ended ? SS_OK : timeline_settle_first(reading);
}

enum ss_status ss_snapshot_load_timeline(struct ss_source *source, struct ss_snapshot *out,
					 struct ss_error *err)
{
	struct timeline_reading reading = { .out = out, .err = err };
	char *window = ss_memory_resize(out->memory, NULL, 0, WINDOW_BYTES);
	enum ss_status status;

	if (!window)
		return ss_fail_memory(err, "the timeline");
	out->is_curve = true;
	status = timeline_read_all(&reading, source, window);
	ss_memory_free(out->memory, window, WINDOW_BYTES);
	SS_FREE(out->memory, reading.first, reading.first_capacity);
	return status;
}
