/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - everything that is drawn of one file, made on first use.
 *
 * It reads the trace and the joined ranks of the job, and nothing that views change: one thread may
 * use it while views run. It lives as long as the timeline.
 */
#ifndef SS_TIMELINE_INDEX_H
#define SS_TIMELINE_INDEX_H

#include "analyze/host/places.h"
#include "timeline/rows/colors.h"
#include "timeline/rows/curves.h"
#include "timeline/rows/lanes.h"
#include "timeline/rows/paints.h"
#include "timeline/timeline.h"
#include "analyze/time/idle.h"
#include "base/text.h"

/*
 * The tracks of a file as they are shown: what each is, and in which order.
 *
 * Threads first: the one that runs the steps, autograd, DataLoader workers, the others.
 * Then each device: its idle time, its streams by what they do most of the time, ranges
 * and waits over them. At the end what belongs to neither. Tracks without rows are not
 * shown. Idle tracks are numbered behind those of the trace: track_count + k is that of
 * the k-th device of ss_idle.
 */

enum ss_shown_track_kind {
	SS_SHOWN_MAIN,
	SS_SHOWN_AUTOGRAD,
	SS_SHOWN_LOADER,
	SS_SHOWN_THREAD,
	SS_SHOWN_IDLE,
	SS_SHOWN_COMPUTE,
	SS_SHOWN_COMMUNICATION,
	SS_SHOWN_COPY,
	SS_SHOWN_OTHER,
};

struct ss_shown_track {
	uint32_t track;
	enum ss_shown_track_kind kind;
	bool has_device;
	int64_t device;           /* its number, where it has one */
	int64_t start_ns, end_ns; /* own times of the file: first start, last end */
	uint32_t slices, lanes;
};

struct ss_tracks {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_shown_track *items; /* in the order in which they are shown */
	uint32_t count, capacity;
};

/* Reads `idle` only during the call. */
SS_MUST_USE
enum ss_status ss_tracks_init(struct ss_tracks *tracks, const struct ss_trace *trace,
			      const struct ss_idle *idle, struct ss_memory *memory,
			      struct ss_error *err);
void ss_tracks_release(struct ss_tracks *tracks);

/* "main": see docs/formats/viewer.md */
const char *ss_shown_track_kind_name(enum ss_shown_track_kind kind);

/* "main thread", "stream 7" */
void ss_shown_track_name(const struct ss_trace *trace, const struct ss_shown_track *track,
			 struct ss_text *out);

/* "python 4711, thread 4711", "device 0, stream 7": which one it is */
void ss_shown_track_about(const struct ss_trace *trace, const struct ss_shown_track *track,
			  struct ss_text *out);

/* Gaps of all devices as columns, for lanes; in the order of ss_idle. */
struct ss_gap_columns {
	int64_t *start_ns, *dur_ns;
	uint8_t *cause; /* enum ss_idle_cause, of its largest part */
	uint32_t count;
};

/* The part of a collective, from its start, that it waited for others; 255: all of it. */
struct ss_row_wait {
	uint32_t row;
	uint8_t part;
};

/* All slices of a name. */
struct ss_name_sum {
	int64_t total_ns;
	uint32_t count;
	uint32_t longest; /* row; of equal ones the earliest */
	uint32_t kinds;   /* bit per enum ss_kind */
	uint32_t reserved;
};

struct ss_index {
	struct ss_memory *memory;
	const struct ss_trace *trace;
	struct ss_idle idle;
	struct ss_gap_columns gaps;
	struct ss_tracks tracks;
	struct ss_colors colors;
	struct ss_lanes lanes;     /* of the tracks of the trace */
	struct ss_lanes gap_lanes; /* of the idle tracks: one for each device of ss_idle */
	struct ss_row_wait *waits; /* by row */
	uint32_t wait_count, wait_capacity;
	struct ss_places places;       /* made by ss_index_places(); no trace: not made yet */
	struct ss_name_sum *name_sums; /* per name; NULL: not made yet */
	int64_t *block_ends; /* the last end of each block of rows; NULL: not made yet (range.h) */
	struct ss_curves curves;
	struct ss_paints paints[SS_PAINT_COUNT]; /* made by ss_paints_of() */
	bool is_made;        /* all above but the parts that are made on demand */
	struct ss_busy busy; /* made by ss_index_busy() */
};

/* The index of a file that could be read. */
SS_MUST_USE
enum ss_status ss_index_of(struct ss_timeline *timeline, uint32_t file, struct ss_index **out,
			   struct ss_error *err);

/* Only its busy time, which is all that the strips of a thousand ranks need. */
SS_MUST_USE
enum ss_status ss_index_busy(struct ss_timeline *timeline, uint32_t file,
			     const struct ss_busy **out, struct ss_error *err);

/* Sums of all names of a file, without the rest of its index. */
SS_MUST_USE
enum ss_status ss_index_names(struct ss_timeline *timeline, uint32_t file,
			      const struct ss_name_sum **out, struct ss_error *err);

/* NULL is fine. */
void ss_index_release(struct ss_index *index);

/* The part of a row that is waiting, of 255. */
uint8_t ss_index_wait(const struct ss_index *index, uint32_t row);

#endif
