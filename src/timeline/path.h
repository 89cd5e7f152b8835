/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - the critical path on the timeline.
 *
 * The path itself is found by replay/critical.h; here its pieces get their files, tracks and
 * lanes. It does not change, so it is made once; what is seen of it in a window is merged to
 * pixels.
 */
#ifndef SS_TIMELINE_PATH_H
#define SS_TIMELINE_PATH_H

#include "replay/critical.h"
#include "timeline/timeline.h"

struct ss_shown_piece {
	int64_t start_ns, end_ns; /* times of the timeline */
	uint32_t file;
	uint32_t row;   /* the slice that it is, or is in; SS_NO_ROW: none */
	uint32_t track; /* SS_NO_ROW: none */
	uint32_t part;  /* enum ss_critical_part */
	uint32_t count; /* pieces that it stands for; the rest is of the longest */
};

/* Zeroed: empty. */
struct ss_shown_path {
	struct ss_memory *memory;
	struct ss_shown_piece *pieces; /* by start */
	uint32_t count, capacity;
	int64_t length_ns;
	int64_t parts_ns[SS_CRITICAL_PARTS]; /* sum to the length */
};

/* Puts the pieces on the timeline; ranks without a trace are counted and have no pieces. */
SS_MUST_USE
enum ss_status ss_shown_path_make(struct ss_shown_path *path, const struct ss_critical *critical,
				  const struct ss_replay *replay,
				  const struct ss_timeline *timeline, struct ss_memory *memory,
				  struct ss_error *err);
void ss_shown_path_release(struct ss_shown_path *path);

/*
 * What is seen of it in a window of `pixels` pixels: pieces that are narrower than a pixel are
 * merged with those before them on the track that they touch. `out` is empty or released.
 */
SS_MUST_USE
enum ss_status ss_shown_path_see(const struct ss_shown_path *path, int64_t from_ns, int64_t to_ns,
				 uint32_t pixels, struct ss_shown_path *out, struct ss_error *err);

#endif
