/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.h - the passes that run when all events of a file have been read.
 *
 * In this order: rows are sorted, slices are nested, device events are linked to
 * their launches and backward to forward, steps are found. Each has its file.
 */
#ifndef SS_TRACE_FINISH_FINISH_H
#define SS_TRACE_FINISH_FINISH_H

#include "trace/builder.h"
#include "trace/trace.h"

/* sort.c: sorts the rows, sets the origin and the runs of rows of each track. */
SS_MUST_USE
enum ss_status ss_finish_sort(struct ss_builder *builder, uint32_t threads, struct ss_error *err);

/* nest.c: parents and depths on CPU threads, lanes on devices. */
void ss_finish_nest(struct ss_trace *trace, uint32_t threads);

/* links.c: launches and forward-backward pairs. */
SS_MUST_USE
enum ss_status ss_finish_links(struct ss_builder *builder, uint32_t threads, struct ss_error *err);

/* graphs.c: rows of captures in graph launches; later, when rows are linked, what leads to them. */
SS_MUST_USE
enum ss_status ss_finish_graphs(struct ss_builder *builder, struct ss_error *err);
void ss_finish_nodes(struct ss_trace *trace);

/* steps.c: the steps. */
SS_MUST_USE
enum ss_status ss_finish_steps(struct ss_trace *trace, struct ss_error *err);

/* suspects.c: values that contradict the rest of the file, for `quality`. */
void ss_finish_suspects(struct ss_trace *trace);

/* All of it. */
SS_MUST_USE
enum ss_status ss_finish(struct ss_builder *builder, uint32_t threads, struct ss_error *err);

/*
 * periods.c: finds the steps of a program that does not mark them, from what it repeats.
 *
 * A loop launches the same collectives and kernels in the same order in every iteration. The
 * shortest period that explains nearly all of a sequence of names is taken for a step; if nothing
 * repeats clearly, no step is reported.
 */
struct ss_periods {
	enum ss_step_anchor anchor; /* SS_STEPS_COLLECTIVES or SS_STEPS_KERNELS */
	int64_t *starts_ns; /* host time of the first launch of each period, and of the end */
	uint32_t count;     /* 0: no period; else one more than there are steps */
};

/* The result lives in the trace's arena. */
SS_MUST_USE
enum ss_status ss_periods_find(struct ss_trace *trace, struct ss_periods *out,
			       struct ss_error *err);

/* Does the CPU wait for the device in each of the intervals? `waits` is scratch, one per start. */
bool ss_periods_all_wait(const struct ss_trace *trace, const int64_t *starts, uint32_t count,
			 uint8_t *waits);

/* ranges.c: the rows of ranges that are steps, by time, in the trace's arena; 0: none are. */
SS_MUST_USE
enum ss_status ss_ranges_find(struct ss_trace *trace, const uint32_t **out, uint32_t *out_count,
			      struct ss_error *err);

#endif
