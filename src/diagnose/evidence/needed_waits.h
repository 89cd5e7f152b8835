/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed_waits.h - host syncs and copies to the host that stay, whatever is fixed.
 *
 * If nothing is trained, the program has to see what a step computed (the next tokens) before it
 * can go on: one host sync per step stays.
 *
 * The code behind a copy to the host may use its values at once. A fix can make such a copy faster,
 * but the host still has to wait for it. The trace shows that a copy is not needed if the host
 * launches more work before it could have read the values.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_NEEDED_WAITS_H
#define SS_DIAGNOSE_EVIDENCE_NEEDED_WAITS_H

#include "analyze/host/ops.h"
#include "analyze/time/waits.h"
#include "diagnose/rule.h"

/* Per step of the graph: the row of that wait; SS_NO_ROW: none. NULL: no memory. */
SS_MUST_USE
uint32_t *ss_result_waits_find(const struct ss_rule_context *context, const struct ss_waits *waits,
			       const struct ss_phases *phases);

/*
 * Per host row: a call that makes such a copy, or the operator around it. Single numbers (.item())
 * do not count. NULL: no memory.
 */
SS_MUST_USE
const uint8_t *ss_needed_copies_find(struct ss_rule_context *context, const struct ss_ops *ops);

/* Whether a call copies to the host what is needed there, or waits for such a copy. */
static inline bool ss_needed_copies_has(const uint8_t *needed, const struct ss_ops *ops,
					uint32_t row)
{
	return needed[row] || (ops->owner[row] != SS_NO_ROW && needed[ops->owner[row]]);
}

#endif
