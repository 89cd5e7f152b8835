/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - the runs that files are of, and what makes figures doubtful, as JSON.
 */
#ifndef SS_RENDER_RUNS_H
#define SS_RENDER_RUNS_H

#include "load/doubts.h"
#include "render/render.h"

/* An array of objects: number, name, time, ranks, whether it is complete and the chosen one. */
void ss_render_recorded_runs(const struct ss_job_run *runs, uint32_t count, uint32_t chosen,
			     struct ss_text *out);

/* An array of objects: what it is, how many files have it, and the sentence. */
void ss_render_doubts(const struct ss_doubts *doubts, struct ss_text *out);

#endif
