/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - the pixels of a window, on the clock of a file.
 */
#ifndef SS_TIMELINE_DRAW_GRID_H
#define SS_TIMELINE_DRAW_GRID_H

#include "timeline/draw/draw.h"

/* The window on the file's own clock. */
struct ss_pixel_grid {
	int64_t from_ns, to_ns;
	uint32_t pixels;
};

static inline struct ss_pixel_grid ss_pixel_grid_of(const struct ss_timeline_file *file,
						    const struct ss_window *window)
{
	return (struct ss_pixel_grid){ ss_timeline_own(file, window->from_ns),
				       ss_timeline_own(file, window->to_ns), window->pixels };
}

/* Where the pixel begins. */
static inline int64_t ss_pixel_grid_edge(const struct ss_pixel_grid *grid, uint32_t pixel)
{
	if (pixel == grid->pixels)
		return grid->to_ns;
	return grid->from_ns +
	       (int64_t)((double)(grid->to_ns - grid->from_ns) * pixel / grid->pixels);
}

/* A pixel shorter than a nanosecond shows that whole nanosecond. */
static inline int64_t ss_pixel_grid_after(const struct ss_pixel_grid *grid, uint32_t pixel)
{
	int64_t from_ns = ss_pixel_grid_edge(grid, pixel),
		to_ns = ss_pixel_grid_edge(grid, pixel + 1);

	return to_ns > from_ns ? to_ns : from_ns + 1;
}

/* The fill of a pixel; any busy time gives at least 1, so that it is visible. */
static inline uint8_t ss_pixel_grid_fill(const struct ss_pixel_grid *grid, uint32_t pixel,
					 int64_t busy_ns, uint32_t devices)
{
	int64_t whole_ns = ss_pixel_grid_after(grid, pixel) - ss_pixel_grid_edge(grid, pixel);
	double part = 255.0 * (double)busy_ns / (double)whole_ns / devices;

	if (busy_ns <= 0)
		return 0;
	if (part < 1)
		return 1;
	return part > 255 ? 255 : (uint8_t)part;
}

/* digest_strip.c: the strip of a file of which only the digest is there. */
SS_MUST_USE
enum ss_status ss_draw_digest_strip(const struct ss_timeline *timeline, uint32_t number,
				    const struct ss_window *window, int64_t *sums,
				    struct ss_pen *pen, struct ss_error *err);

#endif
