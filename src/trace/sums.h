/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - figures of a whole track, which need a pass over its rows.
 *
 * A pack has them beside its columns, so that a file can be described without unpacking
 * those; when the columns are unpacked, both must agree.
 */
#ifndef SS_TRACE_SUMS_H
#define SS_TRACE_SUMS_H

#include "trace/trace.h"

/* All 0 for a track without rows. */
struct ss_track_sums {
	int64_t busy_ns;               /* covered by at least one row */
	int64_t first_ns, last_ns;     /* first start, latest end */
	uint32_t kinds[SS_KIND_COUNT]; /* rows of each kind */
	uint32_t unlinked;             /* rows of streams whose launch is not in the file */
};

/* From the pack, else from the rows. */
void ss_track_sum(const struct ss_trace *trace, uint32_t track, struct ss_track_sums *out);

/* One figure each, from the rows. */
void ss_track_sum_kinds(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out);
void ss_track_sum_times(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out);
void ss_track_sum_links(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out);

#endif
