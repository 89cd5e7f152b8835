/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track_words.c - the ids of a thread or stream as texts.
 */
#include "analyze/track_words.h"

static const char *track_id_text(const struct ss_trace *trace, struct ss_table *table,
				 int64_t number, uint32_t text)
{
	if (text)
		return ss_strings_text(&trace->texts, text);
	return ss_table_print(table, "%lld", (long long)number);
}

const char *ss_track_pid(const struct ss_trace *trace, const struct ss_track *track,
			 struct ss_table *table)
{
	return track_id_text(trace, table, track->pid, track->pid_text);
}

const char *ss_track_tid(const struct ss_trace *trace, const struct ss_track *track,
			 struct ss_table *table)
{
	return track_id_text(trace, table, track->tid, track->tid_text);
}
