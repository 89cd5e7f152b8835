/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_args.h - the arguments of a slice, formatted for people.
 */
#ifndef SS_API_VIEWER_SLICE_ARGS_H
#define SS_API_VIEWER_SLICE_ARGS_H

#include "base/text.h"
#include "trace/trace.h"

/* Writes [{"name":"grid","value":"64, 8, 1"},...]: only what was recorded. */
void ss_slice_args(const struct ss_trace *trace, uint32_t row, struct ss_text *out);

/* Whether any operator of the trace has shapes, or a stack. */
bool ss_slice_has_shapes(const struct ss_trace *trace);
bool ss_slice_has_stacks(const struct ss_trace *trace);

#endif
