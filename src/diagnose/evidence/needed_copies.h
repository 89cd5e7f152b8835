/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed_copies.h - copies to the host whose values the code behind them may use at once.
 *
 * A fix can make such a copy faster, but the host still has to wait for it. The trace shows that a
 * copy is not needed if the host launches more work before it could have read the values.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_NEEDED_COPIES_H
#define SS_DIAGNOSE_EVIDENCE_NEEDED_COPIES_H

#include "analyze/host/ops.h"
#include "diagnose/rule.h"

/*
 * Per host row: a call that makes such a copy, or the operator around it. Single numbers (.item())
 * do not count. NULL: no memory.
 */
SS_MUST_USE
const uint8_t *ss_needed_copies_find(const struct ss_rule_context *context,
				     const struct ss_ops *ops, struct ss_arena *arena);

/* Whether a call copies to the host what is needed there, or waits for such a copy. */
static inline bool ss_needed_copies_has(const uint8_t *needed, const struct ss_ops *ops,
					uint32_t row)
{
	return needed[row] || (ops->owner[row] != SS_NO_ROW && needed[ops->owner[row]]);
}

#endif
