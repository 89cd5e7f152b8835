/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - the rows of each lane of each track in order of time, and a summary over them.
 *
 * A lane is what is drawn at one height: slices.depth says which one a row is on. Rows of
 * a lane do not overlap, but for the last lane of a track that has more than are told
 * apart (trace/finish/nest.c). Over each lane stands a tree: a node sums up SS_LANE_FAN nodes
 * below it, so that a stretch of any length is summed up in a few steps.
 *
 * A node costs 32 bytes and stands for 16 rows: with the order of rows where a track has
 * several lanes that is 2.1 to 6.1 bytes a row.
 */
#ifndef SS_TIMELINE_ROWS_LANES_H
#define SS_TIMELINE_ROWS_LANES_H

#include "timeline/rows/colors.h"
#include "analyze/time/cover.h"
#include "trace/trace.h"

#define SS_LANE_FAN 16u

/* Levels of a tree over as many rows as there can be. */
#define SS_LANE_LEVELS_MAX 8u

struct ss_lane_node {
	int64_t start_ns; /* of the first */
	int64_t end_ns;   /* the last end of any */
	float busy_ns;    /* sum of durations, approximate: a pixel has 8 bits for it */
	float longest_ns; /* approximate: exact below 2^24, and never in the wrong order */
	uint32_t longest; /* row; of equal ones the first */
	uint8_t color;    /* of the longest, so that nobody has to read the row */
	uint8_t cause;
};

/* Cause of what is no gap. */
#define SS_NO_CAUSE 255

struct ss_lane {
	uint32_t first; /* row, or place in `order` where the track has several lanes */
	uint32_t count;
	uint32_t node; /* the first node; those of each level follow those below it */
};

/* Rows of any sort that have a start and a duration: slices, gaps. */
struct ss_lane_rows {
	const int64_t *start_ns, *dur_ns;
	const struct ss_colors *colors; /* of slices; NULL: they are gaps */
	const uint8_t *causes;          /* of gaps; NULL: they are slices */
};

/* Colour and cause of the node's longest row. */
static inline void ss_lane_paint(const struct ss_lane_rows *rows, struct ss_lane_node *node)
{
	node->color = rows->colors ? (uint8_t)ss_colors_at(rows->colors, node->longest)
				   : SS_COLOR_IDLE;
	node->cause = rows->causes ? rows->causes[node->longest] : SS_NO_CAUSE;
}

static inline struct ss_lane_node ss_lane_row(const struct ss_lane_rows *rows, uint32_t row)
{
	int64_t start_ns = rows->start_ns[row], dur_ns = rows->dur_ns[row];

	return (struct ss_lane_node){ .start_ns = start_ns,
				      .end_ns = start_ns + dur_ns,
				      .busy_ns = (float)dur_ns,
				      .longest_ns = (float)dur_ns,
				      .longest = row };
}

struct ss_lanes {
	struct ss_memory *memory;
	struct ss_lane_rows rows;
	uint32_t *lane_of; /* per track, and one more: its first lane */
	uint32_t track_count;
	struct ss_lane *lanes;
	uint32_t lane_count, lane_capacity;
	uint32_t *order; /* rows of tracks with several lanes, lane by lane, by start */
	uint32_t order_count;
	struct ss_lane_node *nodes;
	uint32_t node_count;
};

/* The lanes of all tracks of a trace; `colors` must outlive them. */
SS_MUST_USE
enum ss_status ss_lanes_init(struct ss_lanes *lanes, const struct ss_trace *trace,
			     const struct ss_colors *colors, struct ss_memory *memory,
			     struct ss_error *err);

/* Tracks of one lane each: track i has the rows from[i] to before from[i + 1], by start. */
SS_MUST_USE
enum ss_status ss_lanes_init_plain(struct ss_lanes *lanes, struct ss_lane_rows rows,
				   const uint32_t *from, uint32_t track_count,
				   struct ss_memory *memory, struct ss_error *err);
void ss_lanes_release(struct ss_lanes *lanes);

/* The bytes that it takes. */
size_t ss_lanes_bytes(const struct ss_lanes *lanes);

static inline bool ss_lanes_is_ordered(const struct ss_lanes *lanes, uint32_t track)
{
	return lanes->lane_of[track + 1] - lanes->lane_of[track] > 1;
}

/*
 * The next (by = 1) or previous (-1) row of the same track and lane; SS_NO_ROW: there is
 * none.
 */
uint32_t ss_lanes_neighbour(const struct ss_lanes *lanes, uint32_t track, uint32_t lane,
			    uint32_t row, int by);

/*
 * How long a device computed and communicated in any stretch of time.
 *
 * Sets of moments with running sums, so that the length in a stretch is found by two
 * searches, however many rows lie in it.
 */

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
