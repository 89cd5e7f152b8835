/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_trace.h - a trace of any size, built in memory, for bench/timeline.
 */
#ifndef SS_BENCH_TIMELINE_TRACE_H
#define SS_BENCH_TIMELINE_TRACE_H

#include "trace/trace.h"

/*
 * Steps of a training loop: a thread with frames, operators and calls six levels deep, a
 * stream of the kernels that it launches and one of collectives, pauses between steps,
 * allocations. About `count` slices. False: no memory.
 */
SS_MUST_USE
bool bench_trace_make(struct ss_trace *trace, uint32_t count, struct ss_memory *memory);

/* Reproducible random numbers below `limit`. */
uint32_t bench_random(uint64_t *state, uint32_t limit);

#endif
