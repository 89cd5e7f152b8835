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

struct ss_works {
	const struct ss_ops *ops;
	struct ss_memory *memory;
	struct ss_records keys; /* distinct calls: name and arguments */
	struct ss_work *items;  /* for each of them */
	uint32_t capacity;
	uint32_t *item;     /* of each host row, or SS_NO_ROW */
	uint32_t *worker;   /* the row whose work a row's device time is for; itself mostly */
	int64_t *device_ns; /* of workers: all device time that is for their work */
	uint8_t *tensor;    /* of workers: kernels of it use tensor cores */
	uint8_t *across;    /* of workers: copies of it go between host and device */
	uint8_t *name_kind; /* enum ss_work_kind, per name */
};

/* ops must outlive it. */
SS_MUST_USE
enum ss_status ss_works_init(struct ss_works *works, const struct ss_ops *ops,
			     struct ss_memory *memory, struct ss_error *err);
void ss_works_release(struct ss_works *works);

/* What the row's operator did; NULL: not known, or others did it. */
const struct ss_work *ss_works_of(const struct ss_works *works, uint32_t row);

#endif
