/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_bands.c - is an answer of the route "bands" what docs/formats/viewer.md says it is?
 */
#include <math.h>
#include <string.h>

#include "check.h"

#define NO_EVENT UINT32_MAX

/* Where its columns begin. */
struct bands {
	const char *data;
	uint32_t pixels, count, points;
	size_t loose, smaller, bytes, made_ns, freed_ns, address, offset; /* of 8 bytes each */
	size_t smaller_count, made, freed, stack, series, end, first, pixel, whole; /* of 4 */
};

static uint32_t u32_at(const struct bands *bands, size_t column, uint32_t index)
{
	uint32_t value;

	memcpy(&value, bands->data + column + (size_t)4 * index, sizeof(value));
	return value;
}

static double f64_at(const struct bands *bands, size_t column, uint32_t index)
{
	double value;

	memcpy(&value, bands->data + column + (size_t)8 * index, sizeof(value));
	return value;
}

static void find_columns(struct bands *bands)
{
	size_t pixels = bands->pixels, count = bands->count, points = bands->points;

	bands->loose = 32;
	bands->smaller = bands->loose + 8 * pixels;
	bands->bytes = bands->smaller + 8 * pixels;
	bands->made_ns = bands->bytes + 8 * count;
	bands->freed_ns = bands->made_ns + 8 * count;
	bands->address = bands->freed_ns + 8 * count;
	bands->offset = bands->address + 8 * count;
	bands->smaller_count = bands->offset + 8 * points;
	bands->made = bands->smaller_count + 4 * pixels;
	bands->freed = bands->made + 4 * count;
	bands->stack = bands->freed + 4 * count;
	bands->series = bands->stack + 4 * count;
	bands->end = bands->series + 4 * count;
	bands->first = bands->end + 4 * count;
	bands->pixel = bands->first + 4 * count;
	bands->whole = bands->pixel + 4 * points;
}

/* A band lies where its points say, from the first of them to its end. */
static void check_band(const struct bands *bands, uint32_t index)
{
	uint32_t first = u32_at(bands, bands->first, index), made, freed;
	uint32_t last = index + 1 < bands->count ? u32_at(bands, bands->first, index + 1)
						 : bands->points;

	CHECK(f64_at(bands, bands->bytes, index) >= 0);
	CHECK(first < last && last <= bands->points);
	for (uint32_t i = first; i < last; i++) {
		CHECK(f64_at(bands, bands->offset, i) >= 0);
		CHECK(i == first ||
		      u32_at(bands, bands->pixel, i - 1) < u32_at(bands, bands->pixel, i));
	}
	CHECK(u32_at(bands, bands->pixel, last - 1) < u32_at(bands, bands->end, index));
	CHECK(u32_at(bands, bands->end, index) <= bands->pixels);
	made = u32_at(bands, bands->made, index);
	freed = u32_at(bands, bands->freed, index);
	CHECK(made == NO_EVENT || freed == NO_EVENT || made < freed);
}

void check_bands(const char *data, size_t length)
{
	struct bands bands = { .data = data };

	CHECK(length >= 32);
	bands.pixels = u32_at(&bands, 4, 0);
	bands.count = u32_at(&bands, 8, 0);
	bands.points = u32_at(&bands, 12, 0);
	find_columns(&bands);
	CHECK(bands.whole == length);
	CHECK(f64_at(&bands, 16, 0) < f64_at(&bands, 16, 1));
	for (uint32_t i = 0; i < bands.pixels; i++) {
		CHECK(f64_at(&bands, bands.loose, i) >= 0);
		CHECK(f64_at(&bands, bands.smaller, i) >= 0);
	}
	for (uint32_t i = 0; i < bands.count; i++)
		check_band(&bands, i);
}
