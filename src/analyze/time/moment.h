/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moment.h - the step that contains a moment of the host.
 */
#ifndef SS_ANALYZE_TIME_MOMENT_H
#define SS_ANALYZE_TIME_MOMENT_H

#include "trace/trace.h"

/*
 * The last measured step that begins on the CPU no later than the moment, if it
 * ends after it; else SS_NO_ROW.
 */
uint32_t ss_step_at(const struct ss_trace *trace, int64_t host_ns);

/* The step of the launch of a device row, or SS_NO_ROW. */
uint32_t ss_step_of_launch(const struct ss_trace *trace, uint32_t row);

#endif
