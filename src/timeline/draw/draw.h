/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - curves and strips in a window, as the viewer takes them
 * (docs/formats/viewer.md, "strips" and "curve").
 */
#ifndef SS_TIMELINE_DRAW_DRAW_H
#define SS_TIMELINE_DRAW_DRAW_H

#include "timeline/draw/tiles.h"

/* `curve` is one of the file's index. */
SS_MUST_USE
enum ss_status ss_draw_curve(struct ss_timeline *timeline, uint32_t file, struct ss_curve *curve,
			     const struct ss_window *window, struct ss_text *out,
			     struct ss_error *err);

/* Those that could not be read are drawn as if nothing had run. */
SS_MUST_USE
enum ss_status ss_draw_strips(struct ss_timeline *timeline, const uint32_t *files, uint32_t count,
			      const struct ss_window *window, struct ss_text *out,
			      struct ss_error *err);

#endif
