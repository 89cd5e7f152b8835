/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_steps.h - what torch.compile did in each step: compiled and eager kernels,
 * guards, compile time.
 */
#ifndef SS_ANALYZE_HOST_REGION_STEPS_H
#define SS_ANALYZE_HOST_REGION_STEPS_H

#include "analyze/host/regions.h"

struct ss_region_step {
	int64_t calls;  /* outermost ones */
	int64_t breaks; /* regions inside another region, outside its graph */
	int64_t lookups;
	int64_t kernels, device_ns, triton_ns; /* launched in calls */
	int64_t eager_kernels, eager_ns;       /* outside of them */
	int64_t between;                       /* of these, between two calls of a thread */
	int64_t compile_ns, guard_ns;          /* of the step's range on the CPU */
};

/* One for each step, dropped ones too; NULL: no memory. */
SS_MUST_USE
struct ss_region_step *ss_region_steps(const struct ss_regions *regions, struct ss_arena *arena);

#endif
