/*
 * memory.c - route: the memory of a snapshot in a window, stacked by who holds it.
 */
#include <math.h>
#include <string.h>

#include "api/asked_snapshot.h"

#define MAGIC 0x314d5353u /* "SSM1" */

struct drawing {
	const struct ss_area *area;
	struct ss_window window;
	bool by_time;
	struct ss_area_pixel *pixels;
};

static enum ss_status find_group(const struct ss_asked *asked, enum ss_area_group *out,
				 struct ss_error *err)
{
	const char *name = ss_asked_text(asked, "group");

	for (int i = 0; i < SS_AREA_GROUPS; i++) {
		*out = (enum ss_area_group)i;
		if (!name || strcmp(name, ss_area_group_name(*out)) == 0)
			return SS_OK;
	}
	return ss_fail(err, SS_ERR_USAGE, "parameter 'group' is category, line or stack");
}

static enum ss_status find_axis(const struct ss_asked *asked, const struct ss_area *area,
				bool *by_time, struct ss_error *err)
{
	const char *axis = ss_asked_text(asked, "axis");

	*by_time = axis && strcmp(axis, "time") == 0;
	if (axis && !*by_time && strcmp(axis, "event") != 0)
		return ss_fail(err, SS_ERR_USAGE, "parameter 'axis' is event or time");
	if (*by_time && area->span_ns < 0)
		return ss_fail(err, SS_ERR_MISSING, "times of events were not recorded");
	return SS_OK;
}

/* The last state at a place of the axis; those of a pixel end before the next one begins. */
static int64_t state_at(const struct drawing *drawing, int64_t place)
{
	const struct ss_area *area = drawing->area;
	int64_t least = area->device ? -1 : 0, state = place;

	if (drawing->by_time)
		state = ss_area_state_at(area, place);
	if (state < least)
		return least;
	return state < area->state_count ? state : (int64_t)area->state_count - 1;
}

/* Where a pixel begins. */
static int64_t place_of(const struct drawing *drawing, uint32_t pixel)
{
	const struct ss_window *window = &drawing->window;
	double wide = (double)(window->to_ns - window->from_ns);

	return window->from_ns + (int64_t)floor(wide * pixel / window->pixels);
}

static void draw(struct drawing *drawing)
{
	struct ss_area_cursor cursor;
	int64_t first = state_at(drawing, place_of(drawing, 0));

	ss_area_begin(&cursor);
	for (uint32_t i = 0; i < drawing->window.pixels; i++) {
		int64_t next = place_of(drawing, i + 1), last = state_at(drawing, next - 1);

		last = last < first ? first : last;
		ss_area_draw(drawing->area, &cursor, first, last, &drawing->pixels[i]);
		first = state_at(drawing, next);
		first = first < last ? last : first;
	}
}

static void add_double(struct ss_text *out, double value)
{
	ss_text_add(out, (const char *)&value, sizeof(value));
}

static void add_u32(struct ss_text *out, uint32_t value)
{
	ss_text_add(out, (const char *)&value, sizeof(value));
}

static void add_columns(const struct drawing *drawing, struct ss_text *out)
{
	uint32_t pixels = drawing->window.pixels;

	for (uint32_t i = 0; i < pixels; i++)
		add_double(out, (double)drawing->pixels[i].high_bytes);
	for (uint32_t i = 0; i < pixels; i++)
		add_double(out, (double)drawing->pixels[i].low_bytes);
	for (uint32_t i = 0; i < pixels; i++)
		add_double(out, drawing->pixels[i].reserved_bytes < 0
					? NAN
					: (double)drawing->pixels[i].reserved_bytes);
	for (uint32_t k = 0; k < drawing->area->series_count; k++)
		for (uint32_t i = 0; i < pixels; i++)
			add_double(out, (double)drawing->pixels[i].parts[k]);
}

static void add_series(const struct drawing *drawing, struct ss_text *out)
{
	const struct ss_area *area = drawing->area;
	uint32_t at = 0;

	for (uint32_t i = 0; i < area->series_count; i++)
		add_double(out, area->series[i].id == SS_NO_ID
					? NAN
					: (double)area->series[i].most_bytes);
	for (uint32_t i = 0; i < drawing->window.pixels; i++)
		add_u32(out, drawing->pixels[i].state < 0 ? UINT32_MAX
							  : (uint32_t)drawing->pixels[i].state);
	for (uint32_t i = 0; i < area->series_count; i++)
		add_u32(out, area->series[i].stack);
	for (uint32_t i = 0; i <= area->series_count; i++) {
		add_u32(out, at);
		at += i < area->series_count ? (uint32_t)strlen(ss_area_name(area, i)) : 0;
	}
	for (uint32_t i = 0; i < area->series_count; i++)
		ss_text_add_string(out, ss_area_name(area, i));
}

static void write_answer(const struct drawing *drawing, struct ss_text *out)
{
	add_u32(out, MAGIC);
	add_u32(out, drawing->window.pixels);
	add_u32(out, drawing->area->series_count);
	add_u32(out, drawing->by_time);
	add_double(out, (double)drawing->window.from_ns);
	add_double(out, (double)drawing->window.to_ns);
	add_columns(drawing, out);
	add_series(drawing, out);
}

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	struct drawing drawing = { 0 };
	const struct ss_opened *opened;
	const struct ss_device_memory *device;
	enum ss_area_group group;
	struct ss_memory *memory = &asked->session->memory;
	size_t bytes;

	SS_TRY(ss_asked_snapshot(asked, &opened, err));
	SS_TRY(ss_asked_device(asked, opened, &device, err));
	SS_TRY(find_group(asked, &group, err));
	SS_TRY(ss_asked_window(asked, &drawing.window, err));
	SS_TRY(ss_areas_find(&asked->session->areas, opened, device, group, &drawing.area, err));
	SS_TRY(find_axis(asked, drawing.area, &drawing.by_time, err));
	bytes = drawing.window.pixels * sizeof(*drawing.pixels);
	drawing.pixels = ss_memory_resize(memory, NULL, 0, bytes);
	if (!drawing.pixels)
		return ss_fail_memory(err, "the pixels");
	draw(&drawing);
	out->media_type = "application/octet-stream";
	write_answer(&drawing, &out->body);
	ss_memory_free(memory, drawing.pixels, bytes);
	return SS_OK;
}

const struct ss_route ss_route_memory = {
	.name = "memory",
	.summary = "The memory of a snapshot in a window, stacked by who holds it",
	.parameters = "snapshot device group axis from to pixels",
	.apart = true,
	.run = run,
};
