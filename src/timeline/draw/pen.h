/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pen.h - writes little-endian numbers into a buffer that is large enough.
 */
#ifndef SS_TIMELINE_DRAW_PEN_H
#define SS_TIMELINE_DRAW_PEN_H

#include <string.h>

#include "base/error.h"

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
