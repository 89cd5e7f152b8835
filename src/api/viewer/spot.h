/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot.h - how answers say where something is on the timeline.
 */
#ifndef SS_API_VIEWER_SPOT_H
#define SS_API_VIEWER_SPOT_H

#include "api/session.h"
#include "base/text.h"
#include "timeline/index.h"

/* A member of an object: ,"name":"text"; null when there is none. */
void ss_spot_text(const char *name, const char *text, struct ss_text *out);

/* ,"name":7; null below 0. */
void ss_spot_int_known(const char *name, int64_t value, struct ss_text *out);

/* "row":5,"track":9,"lane":0,"start_ns":1,"dur_ns":2,"name":"..." of a slice. */
void ss_spot_slice(const struct ss_timeline_file *file, uint32_t row, struct ss_text *out);

/* ,"track":9,"lane":0,"row":5 ; null if there is no slice or no track. */
void ss_spot_lane(const struct ss_timeline_file *file, uint32_t track, uint32_t row,
		  struct ss_text *out);

/* "gap":5,"track":14,"lane":0,"start_ns":1,"dur_ns":2,"name":"sync" of a gap. */
void ss_spot_gap(const struct ss_timeline_file *file, const struct ss_index *index, uint32_t track,
		 uint32_t gap, struct ss_text *out);

/*
 * Writes entry `number` of the memory data. `opened` NULL: not computed yet; the devices of a trace
 * are null then.
 */
void ss_spot_snapshot(const struct ss_job *job, uint32_t number, const struct ss_opened *opened,
		      struct ss_text *out);

#endif
