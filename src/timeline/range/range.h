/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - what ran in a stretch of time: on which rows, with what, and what was idle.
 *
 * Times are of the part inside of the stretch. Rows of a track stand in the order of their
 * starts, so those that begin in it are a run of rows. What began before and is still open
 * is found by the last end of each block of rows: blocks that are over are not looked at.
 *
 * Each moment of a track belongs to the slice that began last of those that are open: that is
 * its own time. Own times of names, of colours and of the nodes of the tree sum to the busy
 * time of the tracks.
 */
#ifndef SS_TIMELINE_RANGE_RANGE_H
#define SS_TIMELINE_RANGE_RANGE_H

#include "base/intern.h"
#include "timeline/index.h"

/* Rows of a block: the price of a look at a long one. */
#define SS_BLOCK_ROWS 256u
#define SS_BLOCKS(rows) ((size_t)(rows) / SS_BLOCK_ROWS + 1)

struct ss_range_file {
	uint32_t file; /* of the timeline, readable */
	const uint32_t *tracks;
	uint32_t track_count; /* 0: all that something ran on, but the idle ones */
};

struct ss_range_query {
	int64_t from_ns, to_ns;
	const struct ss_range_file *files; /* by file, each once */
	uint32_t file_count;
	uint32_t room;      /* names that are shown */
	uint32_t tree_room; /* nodes of the tree that are shown */
};

/* Where a slice ran. Times of different places are never summed: they run in parallel. */
enum ss_where {
	SS_WHERE_HOST,
	SS_WHERE_DEVICE,
	SS_WHERE_OTHER, /* ranges over streams, waits, the profiler */
	SS_WHERE_IDLE,
	SS_WHERE_COUNT,
};

const char *ss_where_name(enum ss_where where);

struct ss_range_track {
	uint32_t file, place; /* in ss_tracks of the file */
	int64_t busy_ns;      /* a union */
	uint64_t count;
};

/* All slices of a name, of all tracks of a sort. */
struct ss_range_name {
	uint32_t text; /* in texts */
	enum ss_where where;
	uint32_t file, longest_track;
	uint32_t longest_row; /* by its part inside; of idle time a gap */
	int64_t longest_ns, total_ns, self_ns;
	uint64_t count;
};

struct ss_range_color {
	int64_t self_ns;
	uint64_t count;
};

/* What was called from where; below nothing (SS_NO_ROW) stand the tracks by their name. */
struct ss_range_node {
	uint32_t parent, text; /* parents come first */
	enum ss_color color;
	int64_t total_ns, self_ns;
	int64_t rest_ns; /* of nodes below it that are not shown */
	uint64_t count;
};

/* A device of which a row was asked for; its times sum to the stretch. */
struct ss_range_device {
	uint32_t file;
	int64_t device;
	int64_t busy_ns; /* at least one of its streams ran something */
	/* gaps that the stretch cuts have each of their causes in the same part */
	int64_t cause_ns[SS_IDLE_CAUSES], longest_ns[SS_IDLE_CAUSES];
	uint32_t longest_gap[SS_IDLE_CAUSES], gap_count[SS_IDLE_CAUSES];
	uint32_t idle_track; /* SS_NO_ROW: it has no gap */
	int64_t outside_ns;  /* idle outside of the measured steps: no cause is known */
};

struct ss_range_sums {
	struct ss_memory *memory;
	struct ss_strings texts;
	struct ss_range_track *tracks; /* by file, then as they are shown */
	uint32_t track_count, track_capacity;
	struct ss_range_name *names; /* by total */
	uint32_t name_count, name_capacity;
	uint64_t all_names; /* shown or not */
	struct ss_range_color colors[SS_WHERE_IDLE][SS_COLOR_COUNT];
	struct ss_range_node *nodes;
	uint32_t node_count, node_capacity;
	int64_t rest_ns;                 /* of tracks that have no node */
	struct ss_range_device *devices; /* by file, then by number */
	uint32_t device_count, device_capacity;
};

/* Release it when SS_OK came back. */
SS_MUST_USE
enum ss_status ss_timeline_range_run(const struct ss_range_query *range,
				     struct ss_timeline *timeline, struct ss_memory *memory,
				     struct ss_range_sums *out, struct ss_error *err);
void ss_timeline_range_release(struct ss_range_sums *ranged);

#endif
