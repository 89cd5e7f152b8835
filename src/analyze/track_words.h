/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track_words.h - the ids of threads and streams, as views show them.
 */
#ifndef SS_ANALYZE_TRACK_WORDS_H
#define SS_ANALYZE_TRACK_WORDS_H

#include "table/table.h"
#include "trace/trace.h"

/* The process and the thread, or the device and the stream; texts live as long as the table. */
const char *ss_track_pid(const struct ss_trace *trace, const struct ss_track *track,
			 struct ss_table *table);
const char *ss_track_tid(const struct ss_trace *trace, const struct ss_track *track,
			 struct ss_table *table);

#endif
