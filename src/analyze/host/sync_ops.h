/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_ops.h - the operator that users know a host sync by.
 *
 * It is rarely the innermost one: aten::_local_scalar_dense is aten::item.
 */
#ifndef SS_ANALYZE_HOST_SYNC_OPS_H
#define SS_ANALYZE_HOST_SYNC_OPS_H

#include "analyze/host/ops.h"

/* Per name of the trace: whether it is an operator that always waits. NULL: no memory. */
SS_MUST_USE
const uint8_t *ss_sync_wrappers(const struct ss_trace *trace, struct ss_arena *arena);

/* The operator to show for a wait, or SS_NO_ROW. */
uint32_t ss_sync_op(const uint8_t *wraps, const struct ss_ops *ops, uint32_t row);

#endif
