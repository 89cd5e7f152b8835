/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.c - figures for each pixel of a window.
 */
#include <math.h>

#include "timeline/draw/draw.h"
#include "timeline/draw/grid.h"

#define CURVE_MAGIC 0x31435353u
#define STRIPS_MAGIC 0x53535353u

/* The largest answer; a wall of screens with a thousand ranks needs a tenth. */
#define STRIPS_BYTES_MAX (64u << 20)

/* Of a strip: compute, communication, and the part of that in which the rank waited. */
#define STRIP_COLUMNS 3

/* --- curves ------------------------------------------------------------------------ */

static const struct ss_busy_device *busy_find_device(const struct ss_busy *busy, int64_t device)
{
	for (uint32_t i = 0; i < busy->count; i++)
		if (busy->devices[i].device == device)
			return &busy->devices[i];
	return NULL;
}

static bool is_outside_file(int64_t span_ns, int64_t from_ns, int64_t to_ns)
{
	return to_ns <= 0 || from_ns >= span_ns;
}

/* Only time within the file counts, so pixels at its ends are shorter. */
static struct ss_extent pixel_busy_percent(int64_t span_ns, const struct ss_busy_device *busy,
					   int64_t from_ns, int64_t to_ns, uint32_t *near)
{
	int64_t sum_ns;
	float percent;

	from_ns = from_ns < 0 ? 0 : from_ns;
	to_ns = to_ns > span_ns ? span_ns : to_ns;
	sum_ns = -ss_busy_before(&busy->compute, from_ns, &near[0]) -
		 ss_busy_before(&busy->comm, from_ns, &near[1]);
	sum_ns += ss_busy_before(&busy->compute, to_ns, &near[0]) +
		  ss_busy_before(&busy->comm, to_ns, &near[1]);
	percent = (float)(100.0 * (double)sum_ns / (double)(to_ns - from_ns));
	return (struct ss_extent){ percent, percent };
}

static struct ss_extent pixel_series_extent(const struct ss_series *series, int64_t from_ns,
					    int64_t to_ns, uint32_t *near)
{
	uint32_t from = ss_series_find(series, from_ns, *near);

	*near = ss_series_find(series, to_ns, from);
	/* the value before the pixel does not count if another one begins exactly with it */
	from += from < *near && series->at_ns[from] == from_ns;
	return ss_series_extent(series, from, *near);
}

static void curve_draw_pixels(struct ss_extent *extents, int64_t span_ns,
			      const struct ss_curve *curve, const struct ss_busy_device *busy,
			      const struct ss_pixel_grid *grid)
{
	uint32_t near[2] = { 0, 0 };

	for (uint32_t i = 0; i < grid->pixels; i++) {
		int64_t from_ns = ss_pixel_grid_edge(grid, i), to_ns = ss_pixel_grid_after(grid, i);

		extents[i] = (struct ss_extent){ NAN, NAN };
		if (!is_outside_file(span_ns, from_ns, to_ns) && (busy || curve->is_made))
			extents[i] = busy ? pixel_busy_percent(span_ns, busy, from_ns, to_ns, near)
					  : pixel_series_extent(&curve->series, from_ns, to_ns,
								near);
	}
}

enum ss_status ss_draw_curve(struct ss_timeline *timeline, uint32_t file, struct ss_curve *curve,
			     const struct ss_window *window, struct ss_text *out,
			     struct ss_error *err)
{
	struct ss_pixel_grid grid = ss_pixel_grid_of(&timeline->files[file], window);
	const struct ss_busy *busy = NULL;
	struct ss_extent *extents;
	struct ss_index *index;
	SS_SCRATCH(scratch, timeline->memory);
	struct ss_pen pen;

	SS_TRY(ss_index_of(timeline, file, &index, err));
	if (curve->kind == SS_CURVE_UTILIZATION)
		SS_TRY(ss_index_busy(timeline, file, &busy, err));
	SS_TRY(ss_curve_make(&index->curves, curve, err));
	if (!SS_ALLOC(&scratch, extents, grid.pixels) ||
	    !ss_text_reserve(out, 24 + 8 * (size_t)grid.pixels))
		return ss_fail_memory(err, "a curve");
	curve_draw_pixels(extents, index->trace->span_ns, curve,
			  busy ? busy_find_device(busy, curve->device) : NULL, &grid);
	pen = (struct ss_pen){ out->data + out->length, 0 };
	ss_pen_u32(&pen, CURVE_MAGIC);
	ss_pen_u32(&pen, grid.pixels);
	ss_pen_f64(&pen, (double)window->from_ns);
	ss_pen_f64(&pen, (double)window->to_ns);
	for (uint32_t i = 0; i < grid.pixels; i++)
		ss_pen_f32(&pen, extents[i].low);
	for (uint32_t i = 0; i < grid.pixels; i++)
		ss_pen_f32(&pen, extents[i].high);
	out->length += pen.at;
	out->data[out->length] = '\0';
	return SS_OK;
}

/* --- strips ------------------------------------------------------------------------ */

/* Adds how long each pixel is busy. */
static void strip_add_busy(const struct ss_busy_set *set, const struct ss_pixel_grid *grid,
			   int64_t *sums)
{
	uint32_t near = 0;

	if (!set->count)
		return;
	for (uint32_t i = 0; i < grid->pixels; i++) {
		int64_t before_ns = ss_busy_before(set, ss_pixel_grid_edge(grid, i), &near);

		ss_ns_add(&sums[i],
			  ss_busy_before(set, ss_pixel_grid_after(grid, i), &near) - before_ns);
	}
}

/* The mean of the devices. */
static void strip_draw(const struct ss_busy *busy, bool comm, const struct ss_pixel_grid *grid,
		       int64_t *sums, struct ss_pen *pen)
{
	memset(sums, 0, grid->pixels * sizeof(*sums));
	for (uint32_t i = 0; i < busy->count; i++)
		strip_add_busy(comm ? &busy->devices[i].comm : &busy->devices[i].compute, grid,
			       sums);
	for (uint32_t i = 0; i < grid->pixels; i++)
		ss_pen_u8(pen, ss_pixel_grid_fill(grid, i, sums[i], busy->count));
}

/* Marks [start, end) on the pixels. */
static void strip_add_stretch(const struct ss_pixel_grid *grid, int64_t start_ns, int64_t end_ns,
			      int64_t *sums)
{
	double pixel_ns = (double)(grid->to_ns - grid->from_ns) / grid->pixels;
	uint32_t i = 0;

	if (end_ns <= grid->from_ns || start_ns >= grid->to_ns)
		return;
	/* one to the left: edges are rounded */
	if (start_ns > grid->from_ns)
		i = (uint32_t)((double)(start_ns - grid->from_ns) / pixel_ns);
	for (i -= i > 0; i < grid->pixels && ss_pixel_grid_edge(grid, i) < end_ns; i++) {
		int64_t a_ns = ss_pixel_grid_edge(grid, i), b_ns = ss_pixel_grid_after(grid, i);

		a_ns = a_ns > start_ns ? a_ns : start_ns;
		b_ns = b_ns < end_ns ? b_ns : end_ns;
		if (b_ns > a_ns)
			ss_ns_add(&sums[i], b_ns - a_ns);
	}
}

/*
 * The part of the communication before it in which the rank waited for others. A collective waits
 * first and transfers then; of several at once no more than the communication counts.
 */
static void strip_draw_waits(const struct ss_timeline *timeline, uint32_t number,
			     const struct ss_pixel_grid *grid, int64_t *sums, struct ss_pen *pen)
{
	const struct ss_joined *joined = &timeline->job->joined;
	uint32_t rank = timeline->files[number].rank_index;
	const struct ss_digest *digest = rank < joined->rank_count ? &joined->ranks[rank] : NULL;
	int64_t drawn_ns = INT64_MIN; /* arrivals are in the order of time, and may overlap */

	memset(sums, 0, grid->pixels * sizeof(*sums));
	for (uint32_t i = 0; digest && i < digest->arrival_count; i++) {
		const struct ss_arrival *arrival = &digest->arrivals[i];
		uint32_t found = joined->collective_of[rank][i];
		int64_t start_ns = arrival->start_ns - digest->start_ns, end_ns = start_ns;

		if (found != SS_NO_COLLECTIVE)
			end_ns += ss_slice_collective_wait(&joined->collectives[found], arrival);
		start_ns = start_ns > drawn_ns ? start_ns : drawn_ns;
		if (end_ns <= start_ns)
			continue;
		strip_add_stretch(grid, start_ns, end_ns, sums);
		drawn_ns = end_ns;
	}
	for (uint32_t i = 0; i < grid->pixels; i++) {
		uint8_t comm = (uint8_t)pen->base[pen->at - grid->pixels];
		uint8_t waits = ss_pixel_grid_fill(grid, i, sums[i], 1);

		ss_pen_u8(pen, waits < comm ? waits : comm);
	}
}

static enum ss_status strips_draw_file(struct ss_timeline *timeline, uint32_t number,
				       const struct ss_window *window, int64_t *sums,
				       struct ss_pen *pen, struct ss_error *err)
{
	const struct ss_timeline_file *file = &timeline->files[number];
	const struct ss_busy *busy;
	struct ss_pixel_grid grid;

	grid = ss_pixel_grid_of(file, window);
	if (!file->trace && file->is_placed && timeline->job->files[number].tables.length) {
		SS_TRY(ss_draw_digest_strip(timeline, number, window, sums, pen, err));
		strip_draw_waits(timeline, number, &grid, sums, pen);
		return SS_OK;
	}
	if (!file->trace) {
		memset(pen->base + pen->at, 0, STRIP_COLUMNS * (size_t)window->pixels);
		pen->at += STRIP_COLUMNS * (size_t)window->pixels;
		return SS_OK;
	}
	SS_TRY(ss_index_busy(timeline, number, &busy, err));
	strip_draw(busy, false, &grid, sums, pen);
	strip_draw(busy, true, &grid, sums, pen);
	strip_draw_waits(timeline, number, &grid, sums, pen);
	return SS_OK;
}

enum ss_status ss_draw_strips(struct ss_timeline *timeline, const uint32_t *files, uint32_t count,
			      const struct ss_window *window, struct ss_text *out,
			      struct ss_error *err)
{
	size_t room = 16 + STRIP_COLUMNS * (size_t)window->pixels * count;
	enum ss_status status = SS_OK;
	SS_SCRATCH(scratch, timeline->memory);
	struct ss_pen pen;
	int64_t *sums;

	if (room > STRIPS_BYTES_MAX)
		return ss_fail(err, SS_ERR_LIMIT, "too many files for this number of pixels");
	if (!SS_ALLOC(&scratch, sums, window->pixels) || !ss_text_reserve(out, room))
		return ss_fail_memory(err, "strips");
	pen = (struct ss_pen){ out->data + out->length, 0 };
	ss_pen_u32(&pen, STRIPS_MAGIC);
	ss_pen_u32(&pen, count);
	ss_pen_u32(&pen, window->pixels);
	ss_pen_u32(&pen, STRIP_COLUMNS);
	for (uint32_t i = 0; i < count && status == SS_OK; i++)
		status = strips_draw_file(timeline, files[i], window, sums, &pen, err);
	if (status == SS_OK)
		out->length += pen.at;
	out->data[out->length] = '\0';
	return status;
}
