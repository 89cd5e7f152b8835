/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - the parts of a stretch: rows of a track, the tree, the devices.
 */
#ifndef SS_TIMELINE_RANGE_SWEEP_H
#define SS_TIMELINE_RANGE_SWEEP_H

#include "timeline/range/range.h"

/* A slice that is open at the current moment of the sweep. */
struct ss_open_row {
	int64_t end_ns;
	uint32_t name, node; /* of ss_range_sums */
	enum ss_color color;
};

/* The sweep over one file. */
struct ss_file_sweep {
	struct ss_index *index;
	uint32_t file;
	int64_t from_ns, to_ns;   /* own times */
	int64_t length_ns;        /* of the stretch */
	const bool *asked;        /* per place of ss_tracks */
	bool only_used;           /* tracks on which nothing ran are left out */
	uint32_t *name_ids;       /* name + 1 in ss_range_sums, per where and name of the trace */
	struct ss_records *names; /* of what is a name: text and where */
	struct ss_records *nodes; /* of what is a node: parent and text */
	struct ss_open_row *open;
	uint32_t open_count, open_capacity;
	struct ss_range_sums *out;
};

/* Called for each row of a track that has a part in the stretch, in their order; false stops. */
typedef bool (*ss_row_sink)(void *context, uint32_t row, int64_t start_ns, int64_t end_ns);
SS_MUST_USE
bool ss_timeline_range_each_row(const struct ss_file_sweep *file, const struct ss_track *track,
				ss_row_sink sink, void *context);

/* Sums up a track of either sort; false: no memory. */
SS_MUST_USE
bool ss_timeline_range_sweep(struct ss_file_sweep *file, uint32_t place);

/* Computes totals from self times; keeps the `room` nodes with the most time. False: no memory. */
SS_MUST_USE
bool ss_timeline_range_prune(struct ss_range_sums *out, uint32_t room);

/* The first gap of the device that ends after the beginning of the stretch. */
uint32_t ss_timeline_range_gap_from(const struct ss_file_sweep *file,
				    const struct ss_idle_device *device);

/* The length of the part of a gap that lies in the stretch, and its causes, which sum to it;
 * -1: the gap begins behind it. */
int64_t ss_timeline_range_gap_part(const struct ss_file_sweep *file, uint32_t number,
				   int64_t parts_ns[SS_IDLE_CAUSES]);

#endif
