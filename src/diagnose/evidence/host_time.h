/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_time.h - what a thread was doing at each moment.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_HOST_TIME_H
#define SS_DIAGNOSE_EVIDENCE_HOST_TIME_H

#include "analyze/host/step_phase.h"
#include "analyze/time/cover.h"
#include "trace/trace.h"

/* Receives the innermost row that was open between two moments; SS_NO_ROW: none was. */
typedef void (*ss_host_sink)(void *context, uint32_t row, int64_t from_ns, int64_t to_ns);

/* Reports each piece of a stretch of a thread, in order of time; they sum to the stretch. */
void ss_host_time(const struct ss_trace *trace, uint32_t track, struct ss_interval stretch,
		  ss_host_sink sink, void *context);

/*
 * The function or range that fills a stretch of a thread: the outermost one around its middle that
 * lies entirely within it, give or take a tenth of its length. Forward, backward and optimizer are
 * the step itself and do not count. SS_NO_ROW: none does.
 */
uint32_t ss_host_function(const struct ss_phases *phases, uint32_t track,
			  struct ss_interval stretch);

#endif
