/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked_host.h - when the host was blocked in a runtime call.
 *
 * A launch returns at once unless the queue is full; a host sync returns when the device
 * is done. A host in such a call while the device only communicates is waiting for other
 * ranks.
 */
#ifndef SS_RANKS_BLOCKED_HOST_H
#define SS_RANKS_BLOCKED_HOST_H

#include "analyze/time/cover.h"
#include "trace/trace.h"

/* Takes from the set all moments at which a thread was stuck; false: no memory. */
SS_MUST_USE
bool ss_blocked_host_subtract(struct ss_cover *set, const struct ss_trace *trace,
			      struct ss_memory *memory);

#endif
