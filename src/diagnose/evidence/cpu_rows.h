/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_rows.h - searches the rows of CPU threads, and what a thread was doing at each moment.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_CPU_ROWS_H
#define SS_DIAGNOSE_EVIDENCE_CPU_ROWS_H

#include "analyze/host/step_phase.h"
#include "analyze/time/cover.h"
#include "trace/trace.h"
#include "diagnose/rule.h"

/* The first row of the track that starts at or after the moment, or the track's end. */
uint32_t ss_cpu_row_after(const struct ss_trace *trace, uint32_t track, int64_t moment_ns);

/* The row after the last one that starts within the range of this one. */
uint32_t ss_cpu_row_end(const struct ss_trace *trace, uint32_t row);

/* The last row that starts within the range of this one, or the row itself. */
uint32_t ss_cpu_row_last(const struct ss_trace *trace, uint32_t row);

/* Calls can be nested: the outermost one is the task of the graph. */
uint32_t ss_cpu_outer_call(const struct ss_trace *trace, uint32_t row);

/* Whether any event has one of these flags (enum ss_name_flag): else no row needs to be visited. */
static inline bool ss_cpu_has_name(const struct ss_trace *trace, uint32_t flags)
{
	for (uint32_t i = 0; i < trace->names.count; i++)
		if (trace->name_flags[i] & flags)
			return true;
	return false;
}

/* Ranges and functions: rows with a name from the program. */
static inline bool ss_cpu_row_is_named(const struct ss_trace *trace, uint32_t row)
{
	return trace->slices.kind[row] == SS_KIND_PYTHON ||
	       trace->slices.kind[row] == SS_KIND_ANNOTATION;
}

/* Visits the time of a thread. */
struct ss_cpu_visitor {
	/* Receives the innermost row that was open between two moments; SS_NO_ROW: none was. */
	void (*add)(void *context, uint32_t row, int64_t from_ns, int64_t to_ns);
	/* The row around this one whose rows count as it does, or SS_NO_ROW. NULL: none do. */
	uint32_t (*whole)(void *context, uint32_t row);
	void *context;
};

/*
 * Reports each piece of a stretch of a thread, in order of time; they sum to the stretch. Pieces of
 * rows within a whole one can be reported as one piece of it.
 */
void ss_cpu_visit_time(const struct ss_trace *trace, uint32_t track, struct ss_interval stretch,
		       const struct ss_cpu_visitor *visitor);

/*
 * The function or range that fills a stretch of a thread: the outermost one around its middle that
 * lies entirely within it, give or take a tenth of its length. Forward, backward and optimizer are
 * the step itself and do not count. SS_NO_ROW: none does.
 */
uint32_t ss_cpu_function(const struct ss_phases *phases, uint32_t track,
			 struct ss_interval stretch);

/*
 * Claims what the host does from one launch to the next, where the next one is in `calls` (per host
 * row) and the task is the rule's own. Returns its time.
 */
typedef bool (*ss_own_task)(const void *data, const struct ss_task *task);
int64_t ss_cpu_claim_before(struct ss_rule_context *context, const uint8_t *calls,
			    ss_own_task is_own, const void *data);

#endif
