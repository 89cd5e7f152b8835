/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawn_area.h - the requested window of an area, pixel by pixel.
 */
#ifndef SS_API_VIEWER_DRAWN_AREA_H
#define SS_API_VIEWER_DRAWN_AREA_H

#include "api/viewer/route.h"

struct ss_drawn_area {
	struct ss_memory *memory;
	const struct ss_area *area; /* lent by the session */
	struct ss_window window;    /* of events, or of ns from the first of them */
	bool by_time;
	struct ss_area_pixel *pixels;
};

/* What such routes read, beside parameters of their own. */
#define SS_DRAWN_PARAMETERS "snapshot device group axis from to pixels"

/* To be released when SS_OK came back. */
SS_MUST_USE
enum ss_status ss_drawn_area_make(struct ss_drawn_area *drawn,
				  const struct ss_viewer_request *asked, struct ss_error *err);
void ss_drawn_area_release(struct ss_drawn_area *drawn);

/* Columns of binary answers. */
void ss_drawn_double(struct ss_text *out, double value);
void ss_drawn_u32(struct ss_text *out, uint32_t value);

#endif
