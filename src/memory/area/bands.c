/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bands.c - one pass over the events up to the end of the window finds the allocations
 * that get a band; one pass over the pixels places them.
 */
#include "memory/area/bands.h"

#include "base/search.h"
#include "base/sort.h"
#include "memory/events/pools.h"

struct band_selection {
	struct ss_bands *bands;
	const struct ss_area *area;
	const struct ss_area_pixel *pixels;
	uint32_t most;
	int64_t floor_bytes; /* what is not larger cannot be among the largest */
	/* now */
	uint32_t pixel; /* the first one whose state is not passed */
	int64_t loose_bytes;
	uint32_t block_count;
};

/* --- which ------------------------------------------------------------------------ */

SS_COMPARATOR(band_compare_bytes, struct ss_band, SS_DESCENDING(bytes) SS_ASCENDING(order))

SS_COMPARATOR(band_compare_order, struct ss_band, SS_ASCENDING(order))

/* Keeps the largest. The list holds twice as many, so this is rarely needed. */
static void bands_keep_largest(struct band_selection *work)
{
	struct ss_bands *bands = work->bands;

	if (bands->count <= work->most)
		return;
	SS_SORT(bands->items, bands->count, band_compare_bytes);
	bands->count = work->most;
	work->floor_bytes = bands->items[bands->count - 1].bytes;
}

/* The first pixel whose state is this one or later. */
static uint32_t band_pixel_at(const struct band_selection *work, uint32_t event)
{
	uint32_t low = work->pixel, high = work->bands->pixel_count;

	SS_SEARCH(low, high, at, work->pixels[at].state < event);
	return low;
}

/* A block that is there from the first pixel that is not passed. */
static void bands_offer(struct band_selection *work, struct ss_band band)
{
	struct ss_bands *bands = work->bands;

	if (band.bytes <= work->floor_bytes || work->pixel == bands->pixel_count ||
	    (band.freed != SS_NO_ROW && band.freed <= work->pixels[work->pixel].state))
		return;
	band.first_pixel = work->pixel;
	band.end_pixel = band.freed == SS_NO_ROW ? bands->pixel_count
						 : band_pixel_at(work, band.freed);
	if (bands->count == bands->capacity)
		bands_keep_largest(work);
	bands->items[bands->count++] = band;
}

static uint32_t band_event_of(const struct band_selection *work, uint32_t row)
{
	return row == SS_NO_ROW ? SS_NO_ROW : row - work->area->device->first;
}

static void bands_offer_old(struct band_selection *work)
{
	const struct ss_device_memory *device = work->area->device;
	const struct ss_block *blocks = work->area->opened->snapshot.blocks;

	for (uint32_t i = 0; i < device->old_count; i++) {
		const struct ss_old_block *old = &device->old[i];

		/* of a trace: an amount, see history_pair.c */
		if (device->traced && !old->address) {
			work->loose_bytes = ss_amount_add(work->loose_bytes, old->bytes);
			continue;
		}
		work->block_count++;
		bands_offer(work,
			    (struct ss_band){
				    .order = i,
				    .address = old->address,
				    .bytes = old->bytes,
				    .made = SS_NO_ROW,
				    .freed = band_event_of(work, old->freed_row),
				    .stack = old->block == SS_NO_ID ? 0 : blocks[old->block].stack,
				    .series = ss_area_series_of_old(work->area, old),
			    });
	}
}

/* Follows one event: a new block may get a band, amounts without blocks are summed. */
static void bands_take_event(struct band_selection *work, uint32_t event)
{
	const struct ss_area *area = work->area;
	const struct ss_history *history = &area->opened->history;
	const struct ss_snapshot_events *events = &area->opened->snapshot.events;
	uint32_t row = area->device->first + event;
	int64_t change = ss_history_change(history, row);

	if (!change)
		return;
	if (ss_history_is_loose(history, row)) {
		work->loose_bytes = ss_amount_add(work->loose_bytes, change);
	} else if (events->action[row] == SS_ACTION_ALLOC) {
		work->block_count++;
		bands_offer(work, (struct ss_band){
					  .order = (uint64_t)area->device->old_count + event,
					  .address = events->address[row],
					  .bytes = change,
					  .made = event,
					  .freed = band_event_of(work, history->partner[row]),
					  .stack = events->stack[row],
					  .series = area->of[event],
				  });
	} else {
		work->block_count--;
	}
}

/* Follows the events up to the last pixel: the largest blocks get a band, the others a sum. */
static void bands_choose(struct band_selection *work)
{
	struct ss_bands *bands = work->bands;

	bands_offer_old(work);
	for (int64_t state = -1; work->pixel < bands->pixel_count; state++) {
		if (state >= 0)
			bands_take_event(work, (uint32_t)state);
		for (; work->pixel < bands->pixel_count && work->pixels[work->pixel].state == state;
		     work->pixel++) {
			bands->loose_bytes[work->pixel] = work->loose_bytes;
			bands->smaller_count[work->pixel] = work->block_count;
		}
	}
	bands_keep_largest(work);
	SS_SORT(bands->items, bands->count, band_compare_order);
}

/* --- where ------------------------------------------------------------------------ */

static bool band_add_point(struct ss_bands *bands, uint32_t band, uint32_t pixel, int64_t offset)
{
	if (!SS_GROW(bands->memory, bands->points, bands->point_capacity, bands->point_count))
		return false;
	bands->points[bands->point_count++] = (struct ss_band_point){ offset, band, pixel };
	bands->items[band].point_count++;
	return true;
}

struct pile {
	uint32_t *present; /* bands, the lowest first */
	int64_t *offsets;  /* per band: where it lay last */
	uint32_t count, next;
	int64_t bytes;
};

/* Takes out what has ended, puts on top what begins. */
static void band_pile_update(const struct ss_bands *bands, struct pile *pile, uint32_t pixel)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < pile->count; i++)
		if (bands->items[pile->present[i]].end_pixel > pixel)
			pile->present[kept++] = pile->present[i];
	pile->count = kept;
	for (; pile->next < bands->count && bands->items[pile->next].first_pixel == pixel;
	     pile->next++)
		pile->present[pile->count++] = pile->next;
}

static bool band_pile_place(struct ss_bands *bands, struct pile *pile, uint32_t pixel)
{
	int64_t at = bands->loose_bytes[pixel];

	for (uint32_t i = 0; i < pile->count; i++) {
		uint32_t band = pile->present[i];
		const struct ss_band *item = &bands->items[band];

		if ((item->first_pixel == pixel || pile->offsets[band] != at) &&
		    !band_add_point(bands, band, pixel, at))
			return false;
		pile->offsets[band] = at;
		at = ss_amount_add(at, item->bytes);
	}
	pile->bytes = at;
	return true;
}

SS_COMPARATOR(band_point_compare, struct ss_band_point, SS_ASCENDING(band) SS_ASCENDING(pixel))

/* Places the bands of each pixel on top of each other, then sorts their points by band. */
static bool bands_place(struct band_selection *work, struct pile *pile)
{
	struct ss_bands *bands = work->bands;
	uint32_t at = 0;

	for (uint32_t pixel = 0; pixel < bands->pixel_count; pixel++) {
		bool same = pixel && work->pixels[pixel].state == work->pixels[pixel - 1].state;

		if (!same) {
			band_pile_update(bands, pile, pixel);
			if (!band_pile_place(bands, pile, pixel))
				return false;
		}
		bands->smaller_bytes[pixel] = ss_amount_subtract(work->pixels[pixel].high_bytes,
								 pile->bytes);
		bands->smaller_count[pixel] -= pile->count;
	}
	SS_SORT(bands->points, bands->point_count, band_point_compare);
	for (uint32_t i = 0; i < bands->count; i++) {
		bands->items[i].first_point = at;
		at += bands->items[i].point_count;
	}
	return true;
}

static bool bands_allocate(struct ss_bands *bands, uint32_t most)
{
	size_t pixels = bands->pixel_count;

	bands->capacity = 2 * most;
	return SS_MEMORY_NEW(bands->memory, bands->items, bands->capacity) &&
	       SS_MEMORY_NEW(bands->memory, bands->loose_bytes, pixels) &&
	       SS_MEMORY_NEW(bands->memory, bands->smaller_bytes, pixels) &&
	       SS_MEMORY_NEW(bands->memory, bands->smaller_count, pixels);
}

enum ss_status ss_bands_make(struct ss_bands *bands, const struct ss_area *area,
			     const struct ss_area_pixel *pixels, uint32_t pixel_count,
			     uint32_t most, struct ss_error *err)
{
	struct band_selection work = {
		.bands = bands, .area = area, .pixels = pixels, .most = most
	};
	struct pile pile = { 0 };
	SS_SCRATCH(scratch, area->memory);

	*bands = (struct ss_bands){ .memory = area->memory, .pixel_count = pixel_count };
	if (!bands_allocate(bands, most))
		return ss_fail_memory(err, "the bands of allocations");
	bands_choose(&work);
	return SS_ALLOC(&scratch, pile.present, (size_t)bands->count + 1) &&
			       SS_ALLOC(&scratch, pile.offsets, (size_t)bands->count + 1) &&
			       bands_place(&work, &pile)
		       ? SS_OK
		       : ss_fail_memory(err, "the bands of allocations");
}

void ss_bands_release(struct ss_bands *bands)
{
	size_t pixels = bands->pixel_count;

	if (!bands->memory)
		return;
	SS_FREE(bands->memory, bands->items, bands->capacity);
	SS_FREE(bands->memory, bands->points, bands->point_capacity);
	SS_FREE(bands->memory, bands->loose_bytes, pixels);
	SS_FREE(bands->memory, bands->smaller_bytes, pixels);
	SS_FREE(bands->memory, bands->smaller_count, pixels);
	*bands = (struct ss_bands){ 0 };
}
