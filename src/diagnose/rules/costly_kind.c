/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costly_kind.c - rule: one kind of work takes more than is normal, wherever it is: float64, hooks
 * at every operator, start-up, repeated backward passes, tensors that grow.
 */
#include "diagnose/evidence/costly.h"

static enum ss_status costly_kind_look(struct ss_rule_context *context, struct ss_error *err)
{
	return ss_costly_look(context, true, err);
}

const struct ss_rule ss_rule_costly_kind = {
	.name = "costly-kind",
	.title = "One kind of work takes more time than normal",
	.summary = "Kinds of work that need not be: float64, hooks, start-up, repeated backward",
	.fix = "stepscope places FILE   # the places, and what exceeds the normal",
	.to_record = "with_stack=True names the functions, record_shapes=True the sizes",
	.views = "places stacks operators",
	.warn_share = SS_COSTLY_SHARE,
	.silent_share = SS_COSTLY_SHARE,
	.why = "healthy programs exceed what is normal by up to 8 % of the step",
	.look = costly_kind_look,
	.judge = ss_costly_judge,
};
