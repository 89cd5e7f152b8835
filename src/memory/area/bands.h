/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bands.h - the largest allocations of a window, one band each, stacked.
 *
 * A pixel shows one state, that of the area (area.h). Older allocations are below; when
 * one is freed, those above fall. At the bottom is memory without known blocks, at the top
 * the allocations that are too small for their own band: together with the bands they add
 * up to the area's high_bytes in every pixel.
 */
#ifndef SS_MEMORY_AREA_BANDS_H
#define SS_MEMORY_AREA_BANDS_H

#include "memory/area/area.h"

struct ss_band {
	uint64_t order;       /* those from before the events by address, then by event */
	uint64_t address;     /* 0: not recorded */
	int64_t bytes;        /* of the block */
	uint32_t made, freed; /* events; SS_NO_ROW: before the first one, and never */
	uint32_t stack;
	uint32_t series;                   /* of the area */
	uint32_t first_pixel;              /* it is in the pixels from here */
	uint32_t end_pixel;                /* to before this one */
	uint32_t first_point, point_count; /* in ss_bands.points */
};

/* From this pixel on the band begins at `bytes`. */
struct ss_band_point {
	int64_t offset_bytes;
	uint32_t band, pixel;
};

struct ss_bands {
	struct ss_memory *memory;
	struct ss_band *items; /* by order */
	uint32_t count, capacity;
	struct ss_band_point *points; /* band by band, each in order */
	uint32_t point_count, point_capacity;
	uint32_t pixel_count;
	/* per pixel: no block is known of; in blocks without a band, and how many these are */
	int64_t *loose_bytes, *smaller_bytes;
	uint32_t *smaller_count;
};

/* More cannot be told apart in any picture. */
#define SS_BANDS_MAX 4096

/*
 * At most `most` bands of the pixels, which are in order, for an area of a device. Release it
 * also when this failed.
 */
SS_MUST_USE
enum ss_status ss_bands_make(struct ss_bands *bands, const struct ss_area *area,
			     const struct ss_area_pixel *pixels, uint32_t pixel_count,
			     uint32_t most, struct ss_error *err);
void ss_bands_release(struct ss_bands *bands);

#endif
