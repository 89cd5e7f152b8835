/*
 * range.h - what ran in a stretch of time: how busy each track was, and with what.
 *
 * Times are of the part inside of the stretch. Rows of a track stand in the order of their
 * starts, so those that begin in it are a run of rows. What began before and is still open
 * is found by the last end of each block of rows: blocks that are over are not looked at.
 */
#ifndef SS_TIMELINE_RANGE_H
#define SS_TIMELINE_RANGE_H

#include "timeline/index.h"

/* Rows of a block: a long one costs looking at so many. */
#define SS_BLOCK_ROWS 256u
#define SS_BLOCKS(rows) ((size_t)(rows) / SS_BLOCK_ROWS + 1)

struct ss_range {
	int64_t from_ns, to_ns;
	const uint32_t *files; /* of the timeline, all readable */
	uint32_t file_count;
	const uint32_t *tracks; /* of the only file, those of ss_tracks */
	uint32_t track_count;   /* 0: all that something ran on, but the idle ones */
	uint32_t room;          /* names that are shown */
};

struct ss_range_track {
	uint32_t file, track;
	int64_t busy_ns; /* a union */
	uint64_t count;
};

struct ss_range_name {
	uint32_t file, track;
	uint32_t name;        /* id; on idle tracks enum ss_idle_cause */
	uint32_t longest_row; /* by its part inside; on idle tracks a gap */
	int64_t longest_ns, total_ns;
	uint64_t count;
};

struct ss_ranged {
	struct ss_memory *memory;
	struct ss_range_track *tracks; /* by file, then as they are shown */
	uint32_t track_count, track_capacity;
	struct ss_range_name *names; /* the largest totals */
	uint32_t name_count, name_capacity;
	uint64_t all_names; /* shown or not */
};

/* Release it when SS_OK came back. */
SS_MUST_USE
enum ss_status ss_range_run(const struct ss_range *range, struct ss_timeline *timeline,
			    struct ss_memory *memory, struct ss_ranged *out, struct ss_error *err);
void ss_ranged_release(struct ss_ranged *ranged);

#endif
