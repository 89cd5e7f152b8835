/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - the ranks of a job on one clock, as a timeline shows them.
 *
 * Times of the timeline are ns from its beginning, the earliest moment of all files. The
 * clocks of ranks that met in collectives are aligned (ranks/join.h); a rank whose clock
 * cannot be compared is placed by its wall clock where that falls among the others, else
 * at the beginning, and says so.
 */
#ifndef SS_TIMELINE_TIMELINE_H
#define SS_TIMELINE_TIMELINE_H

#include "load/job.h"

struct ss_index;

struct ss_timeline_file {
	const struct ss_trace *trace; /* NULL: could not be read, or only its digest is kept */
	const struct ss_subject *subject;
	uint32_t rank_index;    /* in job->many; SS_NO_ROW: left out of the comparison */
	bool is_placed;         /* it has a trace or a digest: it has its place in time */
	int64_t span_ns;        /* its length, if it is placed */
	bool is_aligned;        /* its clock was compared with the others' */
	int64_t clock_error_ns; /* -1: not compared */
	/* time of the timeline = own time + shift + drift after `middle` (own times) */
	int64_t shift_ns, middle_ns;
	int64_t drift_ppb;
	struct ss_index *index; /* index.h; NULL: not made yet */
};

struct ss_timeline {
	struct ss_memory *memory;
	struct ss_job *job;
	struct ss_timeline_file *files; /* as in the job */
	uint32_t file_count, file_capacity;
	int64_t span_ns; /* to the end of the last */
};

/* Joins the ranks of the job, which must outlive it. */
SS_MUST_USE
enum ss_status ss_timeline_make(struct ss_timeline *timeline, struct ss_job *job,
				struct ss_memory *memory, struct ss_error *err);
void ss_timeline_release(struct ss_timeline *timeline);

/* Converts a time of the file's trace to the timeline, and back. */
int64_t ss_timeline_moment(const struct ss_timeline_file *file, int64_t own_ns);
int64_t ss_timeline_own(const struct ss_timeline_file *file, int64_t moment_ns);

/* --- a slice as a collective: who else took part, and who waited ------------------------- */

struct ss_slice_collective {
	const struct ss_arrival *arrival;       /* NULL: the slice is no collective */
	const struct ss_collective *collective; /* NULL: it was matched with no other rank */
};

struct ss_slice_collective ss_slice_collective_of(const struct ss_timeline *timeline, uint32_t file,
						  uint32_t row);

/* The file of a rank of the job; SS_NO_ROW: its trace is missing. */
uint32_t ss_timeline_file_of(const struct ss_timeline *timeline, uint32_t rank_index);

/* How long a member waited for the others; -1: unknown. */
int64_t ss_slice_collective_wait(const struct ss_collective *collective,
				 const struct ss_arrival *arrival);

#endif
