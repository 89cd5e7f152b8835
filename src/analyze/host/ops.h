/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - who launched what: operators, their own time and their device time.
 *
 * The parent of an operator is the innermost operator around its start on the same thread;
 * annotations and frames in between do not count. An operator whose only child has the
 * same name counts once (aten::to in aten::to): the child is part of it.
 */
#ifndef SS_ANALYZE_HOST_OPS_H
#define SS_ANALYZE_HOST_OPS_H

#include "base/bitmap.h"
#include "trace/trace.h"

enum ss_ops_flag {
	SS_OPS_MERGED = 1 << 0,    /* an operator that is part of its parent */
	SS_OPS_ON_DEVICE = 1 << 1, /* it or its descendants launched work that took time */
};

struct ss_ops {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	uint32_t row_count; /* of host rows: the length of the columns */
	uint32_t *owner;    /* the operator that a row belongs to (an operator: its parent) */
	uint8_t *flags;     /* enum ss_ops_flag */
	struct ss_bitmap launchers; /* operators that launched device work themselves */
	int64_t *launched_ns;       /* for each of them: its duration */
	/* NULL until ss_ops_find_times() */
	int64_t *self_ns;  /* an operator's time without child operators and calls */
	int64_t *total_ns; /* device time that it and its descendants launched */
};

SS_MUST_USE
enum ss_status ss_ops_init(struct ss_ops *ops, const struct ss_trace *trace,
			   struct ss_memory *memory, struct ss_error *err);
void ss_ops_release(struct ss_ops *ops);

/* Computes self_ns and total_ns, which few need, unless they are there. */
SS_MUST_USE
enum ss_status ss_ops_find_times(struct ss_ops *ops, struct ss_error *err);

/* True for operators that are not merged into their parent. */
static inline bool ss_ops_counts(const struct ss_ops *ops, uint32_t row)
{
	return ops->trace->slices.kind[row] == SS_KIND_OP && !(ops->flags[row] & SS_OPS_MERGED);
}

static inline bool ss_ops_is_merged(const struct ss_ops *ops, uint32_t row)
{
	return ops->flags[row] & SS_OPS_MERGED;
}

static inline bool ss_ops_on_device(const struct ss_ops *ops, uint32_t row)
{
	return ops->flags[row] & SS_OPS_ON_DEVICE;
}

/* Device time that an operator launched itself. */
static inline int64_t ss_ops_device_ns(const struct ss_ops *ops, uint32_t row)
{
	uint32_t at = ss_bitmap_find(&ops->launchers, row);

	return at == SS_NO_ROW ? 0 : ops->launched_ns[at];
}

/* The operator that launched a device row, or SS_NO_ROW. */
static inline uint32_t ss_ops_launcher(const struct ss_ops *ops, uint32_t row)
{
	uint32_t launch = ops->trace->slices.link[row];

	return launch < ops->row_count ? ops->owner[launch] : SS_NO_ROW;
}

/* --- the operator that users know a host sync by -------------------------------------- */

/* Per name of the trace: whether it is an operator that always waits. NULL: no memory. */
SS_MUST_USE
const uint8_t *ss_ops_sync_wrappers(const struct ss_trace *trace, struct ss_arena *arena);

/* The operator to show for a wait, or SS_NO_ROW. */
uint32_t ss_ops_sync_op(const uint8_t *wraps, const struct ss_ops *ops, uint32_t row);

#endif
