/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - what each operator call computed and moved, and the device time it took.
 *
 * An operator that calls another one with a formula does not do the work itself: of
 * aten::linear and the aten::addmm in it, only the inner one counts, so nothing is counted
 * twice. Work that a call with FLOPs launched through operators without a formula is part
 * of its time.
 */
#ifndef SS_ANALYZE_WORK_WORK_H
#define SS_ANALYZE_WORK_WORK_H

#include "analyze/host/ops.h"
#include "analyze/work/formulas.h"

/* An operator call that launched something, or whose work is known. */
struct ss_worker {
	int64_t device_ns; /* all device time of its work */
	uint32_t row;
	uint32_t item;  /* index into items; SS_NO_ROW: its work is unknown, or others did it */
	uint8_t tensor; /* enum ss_units: whether its kernels use tensor cores */
	bool across;    /* it copies between host and device */
};

struct ss_works {
	const struct ss_ops *ops;
	struct ss_memory *memory;
	struct ss_records keys; /* distinct calls: name and arguments */
	struct ss_work *items;  /* for each of them */
	uint32_t capacity;
	struct ss_worker *workers; /* in the order of their rows */
	uint32_t worker_count, worker_capacity;
	struct ss_bitmap rows; /* of workers, and of operators that launched work of others */
	uint32_t *worker_of;   /* for each of them: the worker that its device time belongs to */
	uint32_t row_capacity;
	uint8_t *name_kind; /* enum ss_work_kind, per name */
};

/* ops must outlive it. */
SS_MUST_USE
enum ss_status ss_works_init(struct ss_works *works, const struct ss_ops *ops,
			     struct ss_memory *memory, struct ss_error *err);
void ss_works_release(struct ss_works *works);

/* What a worker did; NULL: unknown, or others did it. */
static inline const struct ss_work *ss_works_item(const struct ss_works *works,
						  const struct ss_worker *worker)
{
	return worker->item == SS_NO_ROW ? NULL : &works->items[worker->item];
}

/* The worker that the device time of an operator belongs to; NULL: it launched nothing. */
static inline const struct ss_worker *ss_works_worker(const struct ss_works *works, uint32_t row)
{
	uint32_t at = ss_bitmap_find(&works->rows, row);

	return at == SS_NO_ROW ? NULL : &works->workers[works->worker_of[at]];
}

/* The worker of a row itself; NULL: the row is not a worker. */
static inline const struct ss_worker *ss_works_find(const struct ss_works *works, uint32_t row)
{
	const struct ss_worker *worker = ss_works_worker(works, row);

	return worker && worker->row == row ? worker : NULL;
}

/* Whether sizes were recorded. */
bool ss_works_have_shapes(const struct ss_trace *trace);

/* What the operator of the row did; NULL: unknown, or others did it. */
const struct ss_work *ss_works_of(const struct ss_works *works, uint32_t row);

#endif
