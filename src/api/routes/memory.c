/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - route: the memory of a snapshot in a window, stacked by who holds it.
 */
#include <math.h>
#include <string.h>

#include "api/viewer/drawn_area.h"

#define MAGIC 0x314d5353u /* "SSM1" */

static void memory_write_columns(const struct ss_drawn_area *drawn, struct ss_text *out)
{
	uint32_t pixels = drawn->window.pixels;

	for (uint32_t i = 0; i < pixels; i++)
		ss_drawn_double(out, (double)drawn->pixels[i].high_bytes);
	for (uint32_t i = 0; i < pixels; i++)
		ss_drawn_double(out, (double)drawn->pixels[i].low_bytes);
	for (uint32_t i = 0; i < pixels; i++)
		ss_drawn_double(out, drawn->pixels[i].reserved_bytes < 0
					     ? NAN
					     : (double)drawn->pixels[i].reserved_bytes);
	for (uint32_t k = 0; k < drawn->area->series_count; k++)
		for (uint32_t i = 0; i < pixels; i++)
			ss_drawn_double(out, (double)drawn->pixels[i].parts[k]);
}

/* What each series is: its largest size, its stack and its name; names follow all offsets. */
static void memory_write_series(const struct ss_drawn_area *drawn, struct ss_text *out)
{
	const struct ss_area *area = drawn->area;
	uint32_t at = 0;

	for (uint32_t i = 0; i < area->series_count; i++)
		ss_drawn_double(out, area->series[i].id == SS_NO_ID
					     ? NAN
					     : (double)area->series[i].most_bytes);
	for (uint32_t i = 0; i < drawn->window.pixels; i++)
		ss_drawn_u32(out, drawn->pixels[i].state < 0 ? UINT32_MAX
							     : (uint32_t)drawn->pixels[i].state);
	for (uint32_t i = 0; i < area->series_count; i++)
		ss_drawn_u32(out, area->series[i].stack);
	for (uint32_t i = 0; i <= area->series_count; i++) {
		ss_drawn_u32(out, at);
		at += i < area->series_count ? (uint32_t)strlen(ss_area_name(area, i)) : 0;
	}
	for (uint32_t i = 0; i < area->series_count; i++)
		ss_text_add_string(out, ss_area_name(area, i));
}

static void memory_write_area(const struct ss_drawn_area *drawn, struct ss_text *out)
{
	ss_drawn_u32(out, MAGIC);
	ss_drawn_u32(out, drawn->window.pixels);
	ss_drawn_u32(out, drawn->area->series_count);
	ss_drawn_u32(out, drawn->by_time);
	ss_drawn_double(out, (double)drawn->window.from_ns);
	ss_drawn_double(out, (double)drawn->window.to_ns);
	memory_write_columns(drawn, out);
	memory_write_series(drawn, out);
}

static enum ss_status memory_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				    struct ss_error *err)
{
	struct ss_drawn_area drawn;

	SS_TRY(ss_drawn_area_make(&drawn, asked, err));
	out->media_type = "application/octet-stream";
	memory_write_area(&drawn, &out->body);
	ss_drawn_area_release(&drawn);
	return SS_OK;
}

const struct ss_route ss_route_memory = {
	.name = "memory",
	.summary = "The memory of a snapshot in a window, stacked by who holds it",
	.parameters = SS_DRAWN_PARAMETERS,
	.apart = true,
	.run = memory_answer,
};
