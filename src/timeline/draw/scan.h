/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - what can be seen of a lane in a window.
 *
 * A row that is at least a pixel wide is drawn as it is. Narrower rows are summed up to cells of at
 * most a pixel, and adjacent cells that look alike to runs. The walk goes down the tree of the lane
 * only where nodes are wider than a pixel, so time and answer depend on the pixels and not on the
 * number of rows. Where rows overlap on a lane, those that begin in the same pixel as a wide one
 * are summed up with it.
 */
#ifndef SS_TIMELINE_DRAW_SCAN_H
#define SS_TIMELINE_DRAW_SCAN_H

#include "timeline/rows/lanes.h"

/* More are refused: a screen needs a hundredth of this. */
#define SS_SEEN_MAX (4u << 20)

/* One drawn item: a slice, or several summed up. */
struct ss_drawn {
	int64_t start_ns, end_ns; /* own times of the file, not cut by the window */
	int64_t longest_ns;
	float busy_ns; /* sum of durations, approximate */
	uint32_t row;  /* the longest */
	uint32_t count;
	uint16_t lane;
	uint8_t color, cause; /* of the longest */
};

/* A list that grows; released by ss_scan_release(). */
struct ss_scan {
	struct ss_memory *memory;
	/* times of the file; without rows that end at `from`, with those that start at `to` */
	int64_t from_ns, to_ns;
	double pixel_ns;
	const uint8_t *paints; /* per row: another colour that runs must share; NULL: none */
	struct ss_drawn *items;
	uint32_t count, capacity;
	bool failed; /* no memory, or more than SS_SEEN_MAX */
};

/* Adds what is seen of a lane of a track. */
void ss_scan_lane(struct ss_scan *scan, const struct ss_lanes *lanes, uint32_t track,
		  uint32_t lane);
void ss_scan_release(struct ss_scan *scan);

/* The busy part, of 255; at least 1, as there is something. */
uint8_t ss_seen_fill(const struct ss_drawn *seen);

#endif
