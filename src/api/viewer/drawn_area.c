/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawn_area.c - reads which window is requested, and draws its pixels.
 */
#include "api/viewer/drawn_area.h"

#include <math.h>
#include <string.h>

static enum ss_status drawn_area_read_group(const struct ss_viewer_request *asked,
					    enum ss_area_group *out, struct ss_error *err)
{
	const char *name = ss_viewer_text(asked, "group");

	for (int i = 0; i < SS_AREA_GROUPS; i++) {
		*out = (enum ss_area_group)i;
		if (!name || strcmp(name, ss_area_group_name(*out)) == 0)
			return SS_OK;
	}
	return ss_fail(err, SS_ERR_USAGE, "parameter 'group' takes category, line or stack");
}

static enum ss_status drawn_area_read_axis(const struct ss_viewer_request *asked,
					   const struct ss_area *area, bool *by_time,
					   struct ss_error *err)
{
	const char *axis = ss_viewer_text(asked, "axis");

	*by_time = axis && strcmp(axis, "time") == 0;
	if (axis && !*by_time && strcmp(axis, "event") != 0)
		return ss_fail(err, SS_ERR_USAGE, "parameter 'axis' takes event or time");
	if (*by_time && area->span_ns < 0)
		return ss_fail(err, SS_ERR_MISSING, "the times of the events were not recorded");
	return SS_OK;
}

/* The last state at a place of the axis; those of a pixel end before the next one begins. */
static int64_t drawn_area_state_at(const struct ss_drawn_area *drawn, int64_t place)
{
	const struct ss_area *area = drawn->area;
	int64_t least = area->device ? -1 : 0, state = place;

	if (drawn->by_time)
		state = ss_area_state_at(area, place);
	if (state < least)
		return least;
	return state < area->state_count ? state : (int64_t)area->state_count - 1;
}

/* Where a pixel begins. */
static int64_t drawn_area_pixel_start(const struct ss_drawn_area *drawn, uint32_t pixel)
{
	const struct ss_window *window = &drawn->window;
	double wide = (double)(window->to_ns - window->from_ns);

	return window->from_ns + (int64_t)floor(wide * pixel / window->pixels);
}

/* Draws each pixel from the states that lie in it, at least one. */
static void drawn_area_draw(struct ss_drawn_area *drawn)
{
	struct ss_area_cursor cursor;
	int64_t first = drawn_area_state_at(drawn, drawn_area_pixel_start(drawn, 0));

	ss_area_begin(&cursor);
	for (uint32_t i = 0; i < drawn->window.pixels; i++) {
		int64_t next = drawn_area_pixel_start(drawn, i + 1),
			last = drawn_area_state_at(drawn, next - 1);

		last = last < first ? first : last;
		ss_area_draw(drawn->area, &cursor, first, last, &drawn->pixels[i]);
		first = drawn_area_state_at(drawn, next);
		first = first < last ? last : first;
	}
}

enum ss_status ss_drawn_area_make(struct ss_drawn_area *drawn,
				  const struct ss_viewer_request *asked, struct ss_error *err)
{
	const struct ss_opened *opened;
	const struct ss_device_memory *device;
	enum ss_area_group group;

	*drawn = (struct ss_drawn_area){ .memory = &asked->session->memory };
	SS_TRY(ss_viewer_snapshot(asked, &opened, err));
	SS_TRY(ss_viewer_device(asked, opened, &device, err));
	SS_TRY(drawn_area_read_group(asked, &group, err));
	SS_TRY(ss_viewer_window(asked, &drawn->window, err));
	SS_TRY(ss_areas_find(&asked->session->areas, opened, device, group, &drawn->area, err));
	SS_TRY(drawn_area_read_axis(asked, drawn->area, &drawn->by_time, err));
	if (!SS_MEMORY_NEW(drawn->memory, drawn->pixels, drawn->window.pixels))
		return ss_fail_memory(err, "the pixels");
	drawn_area_draw(drawn);
	return SS_OK;
}

void ss_drawn_area_release(struct ss_drawn_area *drawn)
{
	SS_FREE(drawn->memory, drawn->pixels, drawn->window.pixels);
	drawn->pixels = NULL;
}

void ss_drawn_double(struct ss_text *out, double value)
{
	ss_text_add(out, (const char *)&value, sizeof(value));
}

void ss_drawn_u32(struct ss_text *out, uint32_t value)
{
	ss_text_add(out, (const char *)&value, sizeof(value));
}
