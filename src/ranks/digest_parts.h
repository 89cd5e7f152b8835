/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_parts.h - the parts of a digest that digest.c does not fill itself.
 */
#ifndef SS_RANKS_DIGEST_PARTS_H
#define SS_RANKS_DIGEST_PARTS_H

#include "analyze/time/cover.h"
#include "ranks/digest.h"

/*
 * arrivals.c: fills the arrivals and groups of a digest that has everything else. False: no memory.
 */
SS_MUST_USE
bool ss_digest_find_arrivals(struct ss_digest *digest, const struct ss_trace *trace,
			     struct ss_arena *scratch);

/*
 * host_work.c: when the host was blocked in a runtime call. A launch returns at once unless the
 * queue is full; a host sync returns when the device is done. A host in such a call while the
 * device only communicates is waiting for other ranks.
 *
 * Removes from the set all moments at which a thread was blocked; false: no memory.
 */
SS_MUST_USE
bool ss_digest_subtract_blocked(struct ss_cover *set, const struct ss_trace *trace,
				struct ss_memory *memory);

/*
 * host_work.c: ranks without a device. Fills loose_ns and input_ns of the steps, and the hash that
 * tells their work apart. False: no memory.
 */
SS_MUST_USE
bool ss_digest_find_loose(struct ss_digest *digest, const struct ss_trace *trace,
			  struct ss_arena *scratch);

#endif
