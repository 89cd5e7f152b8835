/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - what can be seen of a file in a window, as the viewer takes it: slices of some tracks,
 * curves and strips (docs/formats/viewer.md, "tiles", "curve" and "strips").
 */
#ifndef SS_TIMELINE_DRAW_DRAW_H
#define SS_TIMELINE_DRAW_DRAW_H

#include "timeline/index.h"

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

#endif
