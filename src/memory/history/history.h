/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - what a snapshot shows about each device: the final state, and how it came
 * about.
 *
 * The recorded events are the last ones before the snapshot. The initial state follows
 * from the final one: what is there at the end and was not allocated by an event, and what
 * an event frees and none allocated before. From that state the events are replayed, block
 * by block, and the result is compared with the segments in the file.
 *
 * If the events are those of a caching allocator (`is_exact`), the size of every block is
 * known; otherwise the requested size is used.
 *
 * A trace has no final state to compare with; its recorded initial state is used. Its
 * events without an address are `loose`: amounts without known blocks.
 */
#ifndef SS_MEMORY_HISTORY_HISTORY_H
#define SS_MEMORY_HISTORY_HISTORY_H

#include "memory/history/address_map.h"
#include "memory/load/snapshot.h"
#include "trace/trace.h"

/* A block that was in use when the events begin. */
struct ss_old_block {
	uint64_t address;
	int64_t bytes;           /* of the block */
	int64_t requested_bytes; /* what memory_viz counts; the block's size where not recorded */
	uint32_t freed_row;      /* SS_NO_ROW: still there at the end */
	uint32_t block;          /* in ss_snapshot.blocks; SS_NO_ID: gone by the end */
};

/* An allocation that failed. */
struct ss_oom {
	uint32_t row;
	int64_t reserved_bytes, active_bytes; /* at that moment */
	bool has_free;
	int64_t free_bytes; /* reserved and not in use */
	int64_t largest_bytes, releasable_bytes;
	int64_t paged_bytes; /* see struct ss_block_layout_free */
};

/* A job that fails more often is caught in a loop: further failures are only counted. */
#define SS_OOMS_MAX 64

/* Sums over the segments of the file. */
struct ss_device_state {
	uint32_t segments, blocks;
	int64_t reserved_bytes;
	int64_t allocated_bytes; /* blocks that the program holds */
	int64_t active_bytes;    /* and those that only streams still use */
	int64_t requested_bytes; /* of active blocks; what rounding added is not in it */
	int64_t inactive_bytes;
	int64_t largest_free_bytes;
	int64_t internal_bytes;   /* active, less requested: rounding */
	int64_t external_bytes;   /* inactive, in segments that are in use */
	int64_t releasable_bytes; /* segments that are wholly free */
	bool has_requested;       /* of all active blocks */
};

struct ss_device_memory {
	int32_t device;
	bool is_host;
	bool is_cpu;                           /* tensors of the host, of a trace */
	uint32_t first, count;                 /* rows of its events */
	const struct ss_traced_device *traced; /* what a trace says of it; NULL: it is none */
	struct ss_device_state end;
	uint32_t *segments; /* in ss_snapshot.segments, by address */
	uint32_t segment_count, segment_capacity;

	/* from the events; peaks are within what was recorded */
	struct ss_old_block *old; /* in use at the beginning; by address */
	uint32_t old_count, old_capacity;
	int64_t first_active_bytes, first_requested_bytes, first_reserved_bytes;
	int64_t peak_active_bytes;    /* of blocks */
	int64_t peak_requested_bytes; /* as torch's memory_viz counts */
	int64_t peak_reserved_bytes;
	uint32_t peak_row; /* first row after which it is reached; SS_NO_ROW: at the start */
	uint32_t peak_requested_row; /* the same of the requested bytes */
	uint64_t action_counts[SS_ACTION_COUNT];
	struct ss_oom ooms[SS_OOMS_MAX];
	uint32_t oom_count; /* in `ooms` */

	/* how far the replay agrees with the file */
	bool is_exact;         /* every block is known */
	bool is_compared;      /* there were both events and segments */
	uint32_t unmatched;    /* blocks of the end that the replay lacks or has otherwise */
	uint32_t odd_events;   /* frees of what was free, allocations of what was taken */
	uint32_t lost_stacks;  /* blocks in use at the beginning whose stack is not recorded */
	int64_t lost_bytes;    /* their size */
	bool begins_in_middle; /* the ring buffer lost the beginning */
	bool frees_by_request; /* an old recording: when memory could be used again is unknown */
};

struct ss_history {
	const struct ss_snapshot *snapshot;
	struct ss_memory *memory;
	struct ss_device_memory *devices; /* those with segments or events; the host's last */
	uint32_t device_count, device_capacity;
	/*
	 * Per event: of an allocation its free, of a free its allocation, or itself where it frees
	 * what was there before. SS_NO_ROW: never freed; a free that frees nothing, or what is
	 * loose.
	 */
	uint32_t *partner;
	int64_t *bytes; /* per event: of the block that is allocated or freed */
};

SS_MUST_USE
enum ss_status ss_history_init(struct ss_history *history, const struct ss_snapshot *snapshot,
			       struct ss_memory *memory, struct ss_error *err);
void ss_history_release(struct ss_history *history);

/* By how much an event changes the memory in use: + for an allocation, - for a free. */
static inline int64_t ss_history_change(const struct ss_history *history, uint32_t row)
{
	switch (history->snapshot->events.action[row]) {
	case SS_ACTION_ALLOC:
		return history->bytes[row];
	case SS_ACTION_FREE_REQUESTED:
	case SS_ACTION_FREE_COMPLETED:
		return -history->bytes[row]; /* 0 of the one that does not count */
	case SS_ACTION_GAIN:
		return history->snapshot->events.bytes[row];
	case SS_ACTION_LOSS:
		return -history->snapshot->events.bytes[row];
	default:
		return 0;
	}
}

/* Whether an event changes an amount without a known block. */
static inline bool ss_history_is_loose(const struct ss_history *history, uint32_t row)
{
	return history->snapshot->traced && !history->snapshot->events.address[row];
}

/* By how much an event changes the reserved memory. */
static inline int64_t ss_history_reserved_change(const struct ss_snapshot *snapshot, uint32_t row)
{
	if (snapshot->traced_rows)
		return snapshot->traced_rows[row].reserved_change;
	switch (snapshot->events.action[row]) {
	case SS_ACTION_SEGMENT_ALLOC:
	case SS_ACTION_SEGMENT_MAP:
		return snapshot->events.bytes[row];
	case SS_ACTION_SEGMENT_FREE:
	case SS_ACTION_SEGMENT_UNMAP:
		return -snapshot->events.bytes[row];
	default:
		return 0;
	}
}

/* What is in use of loose amounts after a row of the device. */
int64_t ss_history_loose_bytes(const struct ss_history *history,
			       const struct ss_device_memory *device, uint32_t row);

/* The block that was there before the events at this address, or NULL. */
const struct ss_old_block *ss_history_old(const struct ss_device_memory *device, uint64_t address);

/* history_pair.c: which free belongs to which allocation; what was there before. */
SS_MUST_USE
enum ss_status ss_history_pair(struct ss_history *history, struct ss_device_memory *device,
			       struct ss_error *err);

/* history_replay.c: the size of every block; compares the end with the file. */
SS_MUST_USE
enum ss_status ss_history_replay(struct ss_history *history, struct ss_device_memory *device,
				 struct ss_error *err);

/*
 * The peaks of a device's active memory, in order of time.
 *
 * A peak is the highest state between two falls: memory has risen to it by a twentieth of
 * the device's peak, and falls by as much after it, or the events end. Smaller ones are
 * noise: every operator allocates something. Of equal states, the first counts.
 */

/* Where one is among them. Events are those of the device, from 0. */
struct ss_summits {
	int64_t before, after; /* the nearest ones; -1: there is none */
	uint32_t number;       /* of the one at the event, from 1; 0: it is none */
	uint32_t count;
	int64_t active_bytes, reserved_bytes; /* after the event; reserved -1: not known */
};

/* One pass over the events; `event` may be -1 and the number of events, too. */
void ss_summits_find(const struct ss_history *history, const struct ss_device_memory *device,
		     int64_t event, struct ss_summits *out);

#endif
