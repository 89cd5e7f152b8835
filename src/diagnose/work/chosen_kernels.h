/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen_kernels.h - claims for kernels that a rule chooses by their names or their work, each with
 * the part of its time that remains.
 */
#ifndef SS_DIAGNOSE_WORK_CHOSEN_KERNELS_H
#define SS_DIAGNOSE_WORK_CHOSEN_KERNELS_H

#include "analyze/work/work.h"
#include "diagnose/rule.h"

/* What remains of a kernel: expected, if the fix does less, and if it does more; 1: all of it. */
struct ss_kernel_rest {
	double own, low, high;
};

/* A rule has one of the two; each is asked once per name or call. A low of 0: not chosen. */
struct ss_kernel_choice {
	struct ss_kernel_rest (*by_name)(const char *name);
	struct ss_kernel_rest (*by_work)(const struct ss_work *work);
	const char *evidence; /* what the operator or kernel does: "computes in TF32" */
};

/* Claims them, unless the rule is timeless, and adds evidence; *claimed: whether there are any. */
SS_MUST_USE
enum ss_status ss_chosen_kernels_look(struct ss_rule_context *context,
				      const struct ss_kernel_choice *choice, bool *claimed,
				      struct ss_error *err);

#endif
