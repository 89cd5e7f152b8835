/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedup.h - how long FP32 work would take on the tensor or matrix cores of its device.
 */
#ifndef SS_DIAGNOSE_WORK_SPEEDUP_H
#define SS_DIAGNOSE_WORK_SPEEDUP_H

#include "analyze/facts.h"
#include "analyze/work/peaks.h"
#include "diagnose/rule.h"

/* No kernel is shorter: launching and draining its blocks takes that long. */
#define SS_SPEEDUP_FLOOR_NS 5000

/* Products of a network have a few dozen sizes; only the first ones are kept. */
#define SS_SPEEDUP_SIZES 64

/* What half-precision products of one kind and size took in this trace. */
struct ss_speedup_size {
	double flops, ns;
	uint32_t count, kind;
};

struct ss_speedup {
	const struct ss_works *works;
	const struct ss_peaks *peaks; /* NULL: the device's peaks are unknown */
	bool has_cores;               /* tensor or matrix cores */
	bool has_bf16, has_tf32;
	/* FLOP/s of this trace's own half-precision work, per kind; 0: it has none */
	double rate[SS_WORK_KIND_COUNT];
	/* Work with unknown FLOPs: attention, forward and backward. */
	struct ss_speedup_size sizes[SS_SPEEDUP_SIZES], attention[2];
	const struct ss_trace *trace;
	uint32_t size_count;
};

/* Times of some work after the fix. */
struct ss_faster {
	int64_t own_ns, low_ns, high_ns;
};

SS_MUST_USE
enum ss_status ss_speedup_init(struct ss_speedup *speedup, const struct ss_rule_context *context,
			       struct ss_error *err);

/* The device work of a worker in bf16 (fp16); low is TF32. */
struct ss_faster ss_speedup_of(const struct ss_speedup *speedup, const struct ss_worker *worker);

/* The same for a kernel of which only the name is known. */
struct ss_faster ss_speedup_of_kernel(int64_t own_ns);

#endif
