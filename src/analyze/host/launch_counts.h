/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_counts.h - launches, counted by what a row is about: the figures of the launches
 * view without its columns.
 */
#ifndef SS_ANALYZE_HOST_LAUNCH_COUNTS_H
#define SS_ANALYZE_HOST_LAUNCH_COUNTS_H

#include "analyze/host/ops.h"
#include "analyze/time/queue.h"

/* What a row is about, in the order of the view's groups. */
enum ss_launch_group {
	SS_LAUNCH_CALL,
	SS_LAUNCH_STREAM,
	SS_LAUNCH_STEP,
	SS_LAUNCH_THREAD,
	SS_LAUNCH_OP,
	SS_LAUNCH_GRAPH,
};

struct ss_launch_key {
	int64_t value; /* track, step or graph; -1: none */
	uint32_t name; /* of the call or the operator; 0: none */
	uint32_t zero;
};

struct ss_launch_count {
	uint32_t id;       /* of its key */
	uint32_t delay_at; /* index while delays are collected */
	int64_t calls, call_ns, call_max_ns;
	int64_t works, events, device_ns; /* of calls that started work */
	int64_t shorter, late;            /* works */
	int64_t delay_median_ns, delay_max_ns;
	struct ss_launch_queue queue;
};

struct ss_launch_counts {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	enum ss_launch_group group;
	struct ss_cover steps;
	struct ss_interval span; /* from the first step to the last */
	struct ss_launched works;
	const struct ss_ops *ops; /* NULL except for SS_LAUNCH_OP */
	struct ss_records keys;
	struct ss_launch_count *items; /* per key, in the order of their first appearance */
	uint32_t item_capacity;
	/* per work */
	uint32_t *work_keys;
	int64_t *graphs;
	bool has_calls; /* launches are recorded */
};

/* `scratch` must live as long as the counts. SS_LAUNCH_OP needs `ops`. */
SS_MUST_USE
enum ss_status ss_launch_counts_init(struct ss_launch_counts *counts, const struct ss_trace *trace,
				     enum ss_launch_group group, const struct ss_ops *ops,
				     struct ss_arena *scratch, struct ss_error *err);
void ss_launch_counts_release(struct ss_launch_counts *counts);

/* How long the step of a row of SS_LAUNCH_STEP is. */
int64_t ss_launch_step_ns(const struct ss_launch_counts *counts,
			  const struct ss_launch_count *count);

#endif
