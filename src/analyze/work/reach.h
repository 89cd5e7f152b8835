/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - how long the work of an operator takes in good kernels, and what limits it.
 *
 * Good kernels do not reach a device's peaks: power limits large products, latency small ones. The
 * parts of the peaks that are reached are in peaks.c. If the device is not there, the fastest work
 * of the same kind in the file is what can be reached.
 */
#ifndef SS_ANALYZE_WORK_REACH_H
#define SS_ANALYZE_WORK_REACH_H

#include "analyze/work/peaks.h"
#include "analyze/work/work.h"

enum ss_limit {
	SS_LIMIT_UNKNOWN = 0,
	SS_LIMIT_SIZE, /* starting and ending takes longer than the work */
	SS_LIMIT_MEMORY,
	SS_LIMIT_VECTORS, /* units for single numbers: FP32 without tensor cores */
	SS_LIMIT_TENSORS, /* tensor or matrix cores */
};

/* NULL for the unknown one. */
const char *ss_limit_name(enum ss_limit limit);

struct ss_reachable {
	const struct ss_works *works;
	const struct ss_peaks *peaks; /* NULL: the device is not in the table */
	double products[SS_DTYPE_OTHER + 1][SS_UNITS_COUNT]; /* FLOP/s */
	double memory;                                       /* bytes/s */
	bool is_published; /* the rate of products is; else of the file */
};

/* All times are of all device work of the call. */
struct ss_reach {
	enum ss_limit limit;
	double ns; /* the longer of the next two, and a latency */
	double compute_ns, memory_ns;
};

/* The name of the used devices, or "" if they have several; *count: how many. */
const char *ss_reach_device_name(const struct ss_trace *trace, uint32_t *count);

void ss_reachable_init(struct ss_reachable *reachable, const struct ss_works *works,
		       const char *device_name);

/*
 * The same works on another device. What is published about neither of the two is taken as 1.
 */
void ss_reachable_move(struct ss_reachable *out, const struct ss_reachable *from,
		       const struct ss_peaks *to);

/* SS_LIMIT_UNKNOWN: sizes, types or rates are unknown. */
struct ss_reach ss_reach_of(const struct ss_reachable *reachable, const struct ss_worker *worker);

#endif
