/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_drawn.c - is an answer for the canvas what docs/formats/viewer.md says it is?
 */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "check.h"
#include "timeline/rows/paints.h"

#define TILES_MAGIC 0x31545353u
#define PAINTED_MAGIC 0x32545353u
#define STRIPS_MAGIC 0x53535353u
#define CURVE_MAGIC 0x31435353u
#define MEMORY_MAGIC 0x314d5353u
#define BANDS_MAGIC 0x31425353u

#define NO_EVENT UINT32_MAX

#define NO_LABEL UINT32_MAX

/* Bytes of a tile's entry: two times, three numbers, the lane and four small columns. */
#define ENTRY_BYTES (2 * 8 + 3 * 4 + 2 + 4)

static uint32_t u32_at(const char *data, size_t at)
{
	uint32_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

static double f64_at(const char *data, size_t at)
{
	double value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

static void check_entries(const char *data, size_t at, uint32_t count, uint32_t labels,
			  uint64_t *slices)
{
	size_t times = at, rows = times + (size_t)16 * count, lanes = rows + (size_t)12 * count;
	size_t bytes = lanes + (size_t)2 * count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t merged = u32_at(data, rows + 4 * ((size_t)count + i));
		uint32_t label = u32_at(data, rows + 4 * (2 * (size_t)count + i));

		CHECK(isfinite(f64_at(data, times + 8 * (size_t)i)));
		CHECK(f64_at(data, times + 8 * ((size_t)count + i)) >= 0);
		CHECK(merged > 0);
		CHECK(label == NO_LABEL || (label < labels && merged == 1));
		CHECK((uint8_t)data[bytes + i] < SS_COLOR_COUNT);
		CHECK(data[bytes + count + i] != 0);
		*slices += merged;
	}
}

static void check_tiles(const char *data, size_t length, uint64_t *slices)
{
	uint32_t tracks = u32_at(data, 4), entries = u32_at(data, 8), labels = u32_at(data, 12);
	size_t at = 32 + (size_t)8 * tracks, texts;
	bool is_painted = u32_at(data, 0) == PAINTED_MAGIC;
	uint64_t sum = 0;

	CHECK(at <= length && f64_at(data, 16) < f64_at(data, 24));
	for (uint32_t i = 0; i < tracks; i++)
		sum += u32_at(data, 32 + 8 * (size_t)i + 4);
	CHECK(sum == entries);
	texts = (at + ((size_t)ENTRY_BYTES + is_painted) * entries + 3) / 4 * 4;
	CHECK(texts <= length && ((size_t)labels + 1) * 4 <= length - texts);
	check_entries(data, at, entries, labels, slices);
	for (uint32_t i = 0; is_painted && i < entries; i++)
		CHECK((uint8_t)data[at + (size_t)ENTRY_BYTES * entries + i] <= SS_PAINT_REST);
	at = texts + ((size_t)labels + 1) * 4;
	CHECK(u32_at(data, texts) == 0);
	for (uint32_t i = 0; i < labels; i++) {
		uint32_t from = u32_at(data, texts + 4 * (size_t)i);
		uint32_t to = u32_at(data, texts + 4 * ((size_t)i + 1));

		CHECK(from <= to && to <= length - at);
		CHECK(!(ss_utf8_check(data + at + from, to - from) & SS_UTF8_BAD_BYTES));
	}
	CHECK(at + u32_at(data, at - 4) == length);
}

static void check_curve(const char *data, size_t length)
{
	uint32_t points = u32_at(data, 4);

	CHECK(length == 24 + (size_t)8 * points);
	for (uint32_t i = 0; i < points; i++) {
		float low, high;

		memcpy(&low, data + 24 + 4 * (size_t)i, sizeof(low));
		memcpy(&high, data + 24 + 4 * ((size_t)points + i), sizeof(high));
		CHECK(isnan(low) == isnan(high) && !(low > high));
	}
}

/* Parts sum to their whole in every pixel, and what is shown goes on from event to event. */
static void check_pixels(const char *data, uint32_t pixels, uint32_t series, size_t events)
{
	const size_t column = (size_t)8 * pixels;
	uint32_t before = NO_EVENT;

	for (uint32_t i = 0; i < pixels; i++) {
		size_t at = 32 + (size_t)8 * i;
		uint32_t event = u32_at(data, events + (size_t)4 * i);
		double high = f64_at(data, at), sum = 0;

		for (uint32_t k = 0; k < series; k++) {
			double part = f64_at(data, at + (3 + (size_t)k) * column);

			CHECK(part >= 0);
			sum += part;
		}
		CHECK(sum == high && f64_at(data, at + column) >= 0);
		CHECK(f64_at(data, at + column) <= high);
		CHECK(!(f64_at(data, at + 2 * column) < 0));
		CHECK(before == NO_EVENT || (event != NO_EVENT && event >= before));
		before = event;
	}
}

static void check_memory(const char *data, size_t length)
{
	uint32_t pixels = u32_at(data, 4), series = u32_at(data, 8);
	size_t most = 32 + (size_t)8 * pixels * (3 + (size_t)series), events, stacks, names, texts;

	events = most + (size_t)8 * series;
	stacks = events + (size_t)4 * pixels;
	names = stacks + (size_t)4 * series;
	texts = names + 4 * ((size_t)series + 1);
	CHECK(texts <= length && u32_at(data, 12) <= 1 && u32_at(data, names) == 0);
	CHECK(f64_at(data, 16) < f64_at(data, 24));
	check_pixels(data, pixels, series, events);
	for (uint32_t i = 0; i < series; i++) {
		uint32_t from = u32_at(data, names + 4 * (size_t)i);
		uint32_t to = u32_at(data, names + 4 * ((size_t)i + 1));

		CHECK(!(f64_at(data, most + 8 * (size_t)i) < 0));
		CHECK(from < to && to <= length - texts);
		CHECK(!(ss_utf8_check(data + texts + from, to - from) & SS_UTF8_BAD_BYTES));
	}
	CHECK(texts + u32_at(data, texts - 4) == length);
}

void check_drawn(const char *data, size_t length, uint64_t *slices)
{
	CHECK(length >= 16);
	switch (u32_at(data, 0)) {
	case TILES_MAGIC:
	case PAINTED_MAGIC:
		CHECK(length >= 32);
		*slices = 0;
		check_tiles(data, length, slices);
		return;
	case CURVE_MAGIC:
		CHECK(length >= 24);
		check_curve(data, length);
		return;
	case MEMORY_MAGIC:
		CHECK(length >= 32);
		check_memory(data, length);
		return;
	case BANDS_MAGIC:
		check_bands(data, length);
		return;
	default:
		CHECK(u32_at(data, 0) == STRIPS_MAGIC);
		CHECK(length ==
		      16 + (uint64_t)u32_at(data, 12) * u32_at(data, 4) * u32_at(data, 8));
	}
}
