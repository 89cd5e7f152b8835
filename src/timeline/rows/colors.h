/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colors.h - the categories of slices that have a colour of their own.
 *
 * Everything that is drawn uses these: tracks, tables, the legend.
 */
#ifndef SS_TIMELINE_ROWS_COLORS_H
#define SS_TIMELINE_ROWS_COLORS_H

#include "analyze/time/idle.h"
#include "trace/trace.h"

/* The numbers are part of docs/formats/viewer.md. */
enum ss_color {
	SS_COLOR_COMPUTE = 0,
	SS_COLOR_COMMUNICATION,
	SS_COLOR_COPY,
	SS_COLOR_OPERATOR,
	SS_COLOR_CALL, /* of the runtime or the driver */
	SS_COLOR_PYTHON,
	SS_COLOR_INPUT,
	SS_COLOR_OPTIMIZER,
	SS_COLOR_RANGE, /* annotations, steps */
	SS_COLOR_IDLE,
	SS_COLOR_OTHER,
	SS_COLOR_COUNT,
};

/* "compute" */
const char *ss_color_name(enum ss_color color);

/*
 * The colour of idle time: that of the work which the device waited for. The host's operators
 * launch too slowly, a call of the runtime takes its time, another rank or stream is late.
 */
enum ss_color ss_color_of_cause(enum ss_idle_cause cause);

/*
 * The colour of a row. Operators of the optimizer are known by what is around them, so this
 * walks up; ss_colors has it ready for all rows.
 */
enum ss_color ss_color_of(const struct ss_trace *trace, uint32_t row);

/* One bit per host row: it is within a range of the optimizer. */
struct ss_colors {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	uint8_t *in_optimizer; /* NULL: no row is */
	uint32_t row_count;    /* of host rows */
};

SS_MUST_USE
enum ss_status ss_colors_init(struct ss_colors *colors, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err);
void ss_colors_release(struct ss_colors *colors);

/* The same as ss_color_of(), in constant time. */
enum ss_color ss_colors_at(const struct ss_colors *colors, uint32_t row);

#endif
