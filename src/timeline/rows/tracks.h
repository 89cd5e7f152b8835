/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.h - the tracks of a file as they are shown: what each is, and in which order.
 *
 * Threads first: the one that runs the steps, autograd, DataLoader workers, the others.
 * Then each device: its idle time, its streams by what they do most of the time, ranges
 * and waits over them. At the end what belongs to neither. Tracks without rows are not
 * shown. Idle tracks are numbered behind those of the trace: track_count + k is that of
 * the k-th device of ss_idle.
 */
#ifndef SS_TIMELINE_ROWS_TRACKS_H
#define SS_TIMELINE_ROWS_TRACKS_H

#include "analyze/time/idle.h"
#include "base/text.h"

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

#endif
