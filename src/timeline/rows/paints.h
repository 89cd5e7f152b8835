/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paints.h - other things than its category that can give a slice its colour: the phase of the
 * step, the nn.Module, the stream. Made when they are first asked for.
 *
 * Phases have colours of their own. Of modules (the class of the innermost one) and streams the
 * eight with the most time on the device get one each, in this order; without a device it is the
 * time on the host. The first file of the run that could be read decides, so that a colour means
 * the same on all ranks.
 */
#ifndef SS_TIMELINE_ROWS_PAINTS_H
#define SS_TIMELINE_ROWS_PAINTS_H

#include "timeline/rows/colors.h"

struct ss_index;
struct ss_timeline;

enum ss_paint_by {
	SS_PAINT_CATEGORY, /* enum ss_color: nothing has to be made */
	SS_PAINT_PHASE,
	SS_PAINT_MODULE,
	SS_PAINT_STREAM,
	SS_PAINT_COUNT,
};

/* Numbers of colours that go on behind enum ss_color: eight, and what all others share. */
#define SS_PAINT_FIRST SS_COLOR_COUNT
#define SS_PAINT_HUES 8
#define SS_PAINT_REST (SS_PAINT_FIRST + SS_PAINT_HUES)

struct ss_paints {
	uint8_t *paint; /* per row; NULL: not asked for yet */
	struct ss_strings
		names; /* of modules or streams that have a colour, in its order, from id 1 on */
	bool has_rest; /* others share one */
};

/* "phase", and what its colours mean. */
const char *ss_paint_name(enum ss_paint_by by);
const char *ss_paint_about(enum ss_paint_by by);

/* By its name; false: unknown. */
bool ss_paint_find(const char *name, enum ss_paint_by *out);

/* The colours of a file that could be read; NULL for the category. */
SS_MUST_USE
enum ss_status ss_paints_of(struct ss_timeline *timeline, uint32_t file, enum ss_paint_by by,
			    const struct ss_paints **out, struct ss_error *err);

/* The file whose modules and streams have colours; SS_NO_ROW: none could be read. */
uint32_t ss_paints_leader(const struct ss_timeline *timeline);

void ss_paints_release(struct ss_paints *paints, const struct ss_trace *trace,
		       struct ss_memory *memory);

/* The number of a phase. */
uint8_t ss_paint_of_phase(uint32_t phase);

#endif
