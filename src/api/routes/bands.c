/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bands.c - route: the memory of a snapshot in a window, a band for each of the largest
 * allocations.
 */
#include <math.h>

#include "api/viewer/drawn_area.h"
#include "memory/area/bands.h"

#define MAGIC 0x31425353u /* "SSB1" */

/* The default number of bands. */
#define BANDS_USUAL 4000

/* A band has at most one point per pixel; no answer has more points than this. */
#define POINTS_MAX (INT64_C(1) << 24)

static void bands_write_moment(const struct ss_drawn_area *drawn, uint32_t event,
			       struct ss_text *out)
{
	const struct ss_device_memory *device = drawn->area->device;
	int64_t at_ns = -1;

	if (event != SS_NO_ROW)
		at_ns = ss_snapshot_time_ns(&drawn->area->opened->snapshot, device,
					    device->first + event);
	ss_drawn_double(out, at_ns < 0 ? NAN : (double)at_ns);
}

/* Columns of 8 bytes come first: they are aligned in the browser. */
static void bands_write_wide(const struct ss_drawn_area *drawn, const struct ss_bands *bands,
			     struct ss_text *out)
{
	for (uint32_t i = 0; i < bands->pixel_count; i++)
		ss_drawn_double(out, (double)bands->loose_bytes[i]);
	for (uint32_t i = 0; i < bands->pixel_count; i++)
		ss_drawn_double(out, (double)bands->smaller_bytes[i]);
	for (uint32_t i = 0; i < bands->count; i++)
		ss_drawn_double(out, (double)bands->items[i].bytes);
	for (uint32_t i = 0; i < bands->count; i++)
		bands_write_moment(drawn, bands->items[i].made, out);
	for (uint32_t i = 0; i < bands->count; i++)
		bands_write_moment(drawn, bands->items[i].freed, out);
	for (uint32_t i = 0; i < bands->count; i++)
		ss_text_add(out, (const char *)&bands->items[i].address,
			    sizeof(bands->items[i].address));
	for (uint32_t i = 0; i < bands->point_count; i++)
		ss_drawn_double(out, (double)bands->points[i].offset_bytes);
}

/* The binary answer; docs/formats/viewer.md describes its columns. */
static void bands_write(const struct ss_drawn_area *drawn, const struct ss_bands *bands,
			struct ss_text *out)
{
	ss_drawn_u32(out, MAGIC);
	ss_drawn_u32(out, bands->pixel_count);
	ss_drawn_u32(out, bands->count);
	ss_drawn_u32(out, bands->point_count);
	ss_drawn_double(out, (double)drawn->window.from_ns);
	ss_drawn_double(out, (double)drawn->window.to_ns);
	bands_write_wide(drawn, bands, out);
	for (uint32_t i = 0; i < bands->pixel_count; i++)
		ss_drawn_u32(out, bands->smaller_count[i]);
	for (uint32_t i = 0; i < bands->count; i++)
		ss_drawn_u32(out, bands->items[i].made);
	for (uint32_t i = 0; i < bands->count; i++)
		ss_drawn_u32(out, bands->items[i].freed);
	for (uint32_t i = 0; i < bands->count; i++)
		ss_drawn_u32(out, bands->items[i].stack);
	for (uint32_t i = 0; i < bands->count; i++)
		ss_drawn_u32(out, bands->items[i].series);
	for (uint32_t i = 0; i < bands->count; i++)
		ss_drawn_u32(out, bands->items[i].end_pixel);
	for (uint32_t i = 0; i < bands->count; i++)
		ss_drawn_u32(out, bands->items[i].first_point);
	for (uint32_t i = 0; i < bands->point_count; i++)
		ss_drawn_u32(out, bands->points[i].pixel);
}

static enum ss_status bands_answer_area(const struct ss_viewer_request *asked,
					const struct ss_drawn_area *drawn, struct ss_answer *out,
					struct ss_error *err)
{
	struct ss_bands bands;
	enum ss_status status;
	int64_t most;

	if (!drawn->area->device)
		return ss_fail(err, SS_ERR_MISSING,
			       "no allocations: a memory timeline does not record them");
	SS_TRY(ss_viewer_int(asked, "most", 1, SS_BANDS_MAX, BANDS_USUAL, &most, err));
	if (most * drawn->window.pixels > POINTS_MAX)
		return ss_fail(err, SS_ERR_USAGE,
			       "parameter 'most' times 'pixels' is more than %lld",
			       (long long)POINTS_MAX);
	status = ss_bands_make(&bands, drawn->area, drawn->pixels, drawn->window.pixels,
			       (uint32_t)most, err);
	if (status == SS_OK) {
		out->media_type = "application/octet-stream";
		bands_write(drawn, &bands, &out->body);
	}
	ss_bands_release(&bands);
	return status;
}

static enum ss_status bands_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	struct ss_drawn_area drawn;
	enum ss_status status;

	SS_TRY(ss_drawn_area_make(&drawn, asked, err));
	status = bands_answer_area(asked, &drawn, out, err);
	ss_drawn_area_release(&drawn);
	return status;
}

const struct ss_route ss_route_bands = {
	.name = "bands",
	.summary = "The memory of a snapshot in a window, one band per allocation",
	.parameters = SS_DRAWN_PARAMETERS " most",
	.apart = true,
	.run = bands_answer,
};
