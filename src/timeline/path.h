/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - the critical path on the timeline.
 *
 * replay/critical.h finds the path; here its pieces get their files and tracks. It does not change,
 * so it is made once. For a window, pieces narrower than a pixel are merged.
 */
#ifndef SS_TIMELINE_PATH_H
#define SS_TIMELINE_PATH_H

#include "replay/critical.h"
#include "timeline/timeline.h"
#include "diagnose/diagnose.h"

struct ss_shown_piece {
	int64_t start_ns, end_ns; /* times of the timeline */
	uint32_t file;
	uint32_t row;   /* the slice that it is, or is in; SS_NO_ROW: none */
	uint32_t track; /* SS_NO_ROW: none */
	uint32_t part;  /* enum ss_critical_part */
	uint32_t count; /* pieces merged into this one; the other fields are those of the longest */
};

/* Zeroed: empty. */
struct ss_shown_path {
	struct ss_memory *memory;
	struct ss_shown_piece *pieces; /* by start */
	uint32_t count, capacity;
	int64_t length_ns;
	int64_t parts_ns[SS_CRITICAL_PARTS]; /* sum to the length */
};

/* Places the pieces on the timeline; ranks without a trace count in the sums but have no pieces. */
SS_MUST_USE
enum ss_status ss_shown_path_make(struct ss_shown_path *path, const struct ss_critical *critical,
				  const struct ss_replay *replay,
				  const struct ss_timeline *timeline, struct ss_memory *memory,
				  struct ss_error *err);
void ss_shown_path_release(struct ss_shown_path *path);

/*
 * The path in a window of `pixels` pixels: a piece narrower than a pixel is merged with the one
 * before it on the same track if they touch. `out` is empty or released.
 */
SS_MUST_USE
enum ss_status ss_shown_path_in_window(const struct ss_shown_path *path, int64_t from_ns,
				       int64_t to_ns, uint32_t pixels, struct ss_shown_path *out,
				       struct ss_error *err);

/* Where on the timeline a finding is: the tasks that its fix would shorten. */

/* A finding lists the places that cost most, and of each stretch of the run the one that does. */
#define SS_FLAG_PLACES 24
#define SS_FLAG_STRETCHES 128

struct ss_flag_place {
	uint32_t file;
	uint32_t row, track;      /* SS_NO_ROW: none */
	int64_t start_ns, end_ns; /* times of the timeline */
	int64_t ns;               /* what the fix would save there */
};

struct ss_flag_places {
	struct ss_flag_place longest[SS_FLAG_PLACES]; /* what costs most first */
	uint32_t count;
	uint64_t all_count; /* listed or not */
	/* by the stretch in which they begin; all stretches are equally long; ns 0: none */
	struct ss_flag_place stretches[SS_FLAG_STRETCHES];
};

struct ss_flag_visit {
	struct ss_edits_visit edits;
	uint32_t after_rank, file; /* that of the rank before it */
};

/* Visits all places of a finding, rank by rank. `visit` zeroed: before the first. */
SS_MUST_USE
bool ss_flag_next(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		  const struct ss_timeline *timeline, struct ss_flag_visit *visit,
		  struct ss_flag_place *out);

/* Of a wait that goes away it counts how long the device idles behind it, if that is known. */
void ss_flag_find(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		  const struct ss_timeline *timeline, struct ss_flag_places *out);

/*
 * Where other ranks wait for the ranks of a finding: of the collectives at which one of these
 * arrived last, its slice in the one with the longest wait. SS_NO_ROW: nobody waits for them, or
 * their traces are missing.
 */
uint32_t ss_flag_collective(const struct ss_finding *finding, const struct ss_timeline *timeline,
			    uint32_t *file);

#endif
