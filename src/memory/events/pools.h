/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.h - the memory of each device: its events, how much was allocated after each, and
 * the peaks.
 *
 * The total after an event is the recorded one. Old files have no totals: then it is the
 * sum since the start of the file, without earlier allocations.
 */
#ifndef SS_MEMORY_EVENTS_POOLS_H
#define SS_MEMORY_EVENTS_POOLS_H

#include "table/table.h"
#include "trace/trace.h"

struct ss_pool {
	uint8_t type; /* c10::DeviceType; 0: CPU, which is one whatever the number */
	int16_t id;
	uint32_t events, failed; /* failed ones count nowhere else */
	uint32_t first;          /* its events are order[first ...] */
	uint32_t peak;           /* the first event of the peak; SS_NO_ROW: no events */
	int64_t peak_bytes;      /* most that was allocated */
	int64_t gap_bytes;       /* reserved and not allocated then */
	int64_t reserved_bytes;  /* most that was reserved */
	int64_t net_bytes;       /* allocated less freed */
	int64_t first_bytes;     /* allocated before the first event */
	bool has_totals, has_reserved, has_gap;
};

struct ss_pools {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_pool *items; /* in the order of first appearance */
	uint32_t count, capacity;
	uint32_t event_count; /* the columns below are as long */
	uint32_t *pool;       /* index into items */
	int64_t *total_bytes; /* allocated on the device after the event */
	uint32_t *order;      /* events that did not fail, device by device, each in order */
	bool has_accelerator; /* a device other than the CPU */
};

SS_MUST_USE
enum ss_status ss_pools_init(struct ss_pools *pools, const struct ss_trace *trace,
			     struct ss_memory *memory, struct ss_error *err);
void ss_pools_release(struct ss_pools *pools);

/* Views of one kind of memory show devices, and the CPU only if there are none. */
static inline bool ss_pool_is_shown(const struct ss_pools *pools, const struct ss_pool *pool)
{
	return pool->type || !pools->has_accelerator;
}

#define SS_POOL_NAME_BYTES 32

/* "CUDA:0" */
void ss_pool_print(uint8_t type, int16_t id, char out[SS_POOL_NAME_BYTES]);
const char *ss_pool_name(const struct ss_pool *pool, struct ss_table *out);

/* What the file says of the device, or NULL. */
const struct ss_device *ss_pool_device(const struct ss_trace *trace, const struct ss_pool *pool);

/* A note that totals are sums, if those of a pool that is shown are. */
void ss_pools_note(const struct ss_pools *pools, bool shown_only, struct ss_table *out);

/* The amount in the smallest unit in which it is below `most`; `unit` gets its name. */
double ss_amount_scale(int64_t bytes, double most, const char **unit);

/* An amount for a sentence: "33.6 MB" */
void ss_amount_write(int64_t bytes, char *out, size_t capacity);
const char *ss_amount_text(int64_t bytes, struct ss_table *out);

/* Sizes come from files: sums stop at the ends of the range. */
static inline int64_t ss_amount_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

static inline int64_t ss_amount_subtract(int64_t a, int64_t b)
{
	int64_t rest;

	if (!__builtin_sub_overflow(a, b, &rest))
		return rest;
	return b < 0 ? INT64_MAX : INT64_MIN;
}

#endif
