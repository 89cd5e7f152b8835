/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flops.h - FLOPs of the operators of steps, and MFU.
 *
 * MFU is FLOPs of the model / (peak of the devices in the main data type x time of the steps). What
 * backward computes a second time (checkpoints) belongs to no model; HFU counts it as well.
 */
#ifndef SS_ANALYZE_WORK_FLOPS_H
#define SS_ANALYZE_WORK_FLOPS_H

#include "analyze/host/step_phase.h"
#include "analyze/work/peaks.h"
#include "analyze/work/work.h"

/* Zeroed: none. */
struct ss_flops {
	double all;
	double again; /* of it, what backward computes a second time */
	double of[SS_DTYPE_OTHER + 1][SS_UNITS_COUNT];
};

/* Adds the work of an operator that has FLOPs. */
void ss_flops_add(struct ss_flops *flops, const struct ss_trace *trace,
		  const struct ss_phases *phases, const struct ss_works *works,
		  const struct ss_worker *worker);

/* The type of most FLOPs, and on what they ran. */
enum ss_dtype ss_flops_main_dtype(const struct ss_flops *flops, enum ss_units *units);

/* FLOP/s of one device in that type; 0: unknown. */
double ss_flops_peak(const struct ss_flops *flops, const struct ss_peaks *peaks);

/* The step that a host row starts in; the number of steps: none. */
uint32_t ss_flops_step_of(const struct ss_trace *trace, uint32_t row);

#endif
