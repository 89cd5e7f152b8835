/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.h - how long a device computed and communicated in any stretch of time.
 *
 * Sets of moments with running sums, so that the length in a stretch is found by two
 * searches, however many rows lie in it.
 */
#ifndef SS_TIMELINE_ROWS_BUSY_H
#define SS_TIMELINE_ROWS_BUSY_H

#include "analyze/time/cover.h"
#include "trace/trace.h"

struct ss_busy_set {
	struct ss_interval *items; /* by start, apart from each other */
	uint32_t count;
	int64_t *sums; /* length of all before every SS_BUSY_BLOCK-th */
};

#define SS_BUSY_BLOCK 16u

/* Of one device; of the host where the file has none. */
struct ss_busy_device {
	int64_t device; /* -1: the host */
	struct ss_busy_set compute;
	struct ss_busy_set comm; /* where nothing was computed; on the host: all of it */
};

struct ss_busy {
	struct ss_memory *memory; /* NULL: not made yet */
	struct ss_busy_device *devices;
	uint32_t count, capacity;
};

/*
 * By device: kernels that compute, and those that communicate where none computes. Files
 * without a device: operators of threads, and nccl: or gloo: ranges, which run inside of
 * operators and count first.
 */
SS_MUST_USE
enum ss_status ss_busy_init(struct ss_busy *busy, const struct ss_trace *trace,
			    struct ss_memory *memory, struct ss_error *err);
void ss_busy_release(struct ss_busy *busy);

/* The length of the set before a moment; `near` is where the search begins. */
int64_t ss_busy_before(const struct ss_busy_set *set, int64_t moment_ns, uint32_t *near);

#endif
