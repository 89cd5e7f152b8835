/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - what can be seen of a file in a window, as the viewer takes it: slices of some tracks,
 * curves and strips (docs/formats/viewer.md, "tiles", "curve" and "strips").
 */
#ifndef SS_TIMELINE_DRAW_DRAW_H
#define SS_TIMELINE_DRAW_DRAW_H

#include <string.h>

#include "timeline/index.h"
#include "base/error.h"

struct ss_window {
	int64_t from_ns, to_ns; /* times of the timeline */
	uint32_t pixels;
};

/*
 * The numbers of the tracks are below track_count of the trace + devices of ss_idle. `paints` is
 * a further column of colours, one byte per row of the trace; NULL: there is none.
 */
SS_MUST_USE
enum ss_status ss_tiles_write(const struct ss_timeline_file *file, struct ss_index *index,
			      const uint32_t *tracks, uint32_t track_count,
			      const struct ss_window *window, const uint8_t *paints,
			      struct ss_text *out, struct ss_error *err);

/* `curve` is one of the file's index. */
SS_MUST_USE
enum ss_status ss_draw_curve(struct ss_timeline *timeline, uint32_t file, struct ss_curve *curve,
			     const struct ss_window *window, struct ss_text *out,
			     struct ss_error *err);

/* Files that could not be read are drawn as idle. */
SS_MUST_USE
enum ss_status ss_draw_strips(struct ss_timeline *timeline, const uint32_t *files, uint32_t count,
			      const struct ss_window *window, struct ss_text *out,
			      struct ss_error *err);

/* Writes little-endian numbers into a buffer that is large enough. */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the answers of the viewer are little-endian"
#endif

struct ss_pen {
	char *base;
	size_t at;
};

static inline void ss_pen_put(struct ss_pen *pen, const void *bytes, size_t length)
{
	memcpy(pen->base + pen->at, bytes, length);
	pen->at += length;
}

static inline void ss_pen_f64(struct ss_pen *pen, double value)
{
	ss_pen_put(pen, &value, sizeof(value));
}

static inline void ss_pen_f32(struct ss_pen *pen, float value)
{
	ss_pen_put(pen, &value, sizeof(value));
}

static inline void ss_pen_u32(struct ss_pen *pen, uint32_t value)
{
	ss_pen_put(pen, &value, sizeof(value));
}

static inline void ss_pen_u16(struct ss_pen *pen, uint16_t value)
{
	ss_pen_put(pen, &value, sizeof(value));
}

static inline void ss_pen_u8(struct ss_pen *pen, uint8_t value)
{
	pen->base[pen->at++] = (char)value;
}

static inline void ss_pen_align(struct ss_pen *pen, size_t to)
{
	while (pen->at % to)
		pen->base[pen->at++] = 0;
}

#endif
