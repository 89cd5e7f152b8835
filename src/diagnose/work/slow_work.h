/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_work.h - claims for kernels that take longer than good ones (analyze/work/reach.h). A rule
 * says which work it looks at.
 */
#ifndef SS_DIAGNOSE_WORK_SLOW_WORK_H
#define SS_DIAGNOSE_WORK_SLOW_WORK_H

#include "analyze/work/reach.h"
#include "diagnose/rule.h"

/* Work that reaches this part of what is reachable is good. */
#define SS_SLOW_WORK_GOOD_PART 0.7

/* Shorter kernels are bound by latency. */
#define SS_SLOW_WORK_NS 20000

struct ss_slow_work_kind {
	/* Whether the rule looks at this work; its rate is not yet compared. */
	bool (*wants)(const struct ss_work *work, enum ss_limit limit);
	bool is_all; /* good and short kernels count, too */
};

/*
 * Claims what each kernel of such work would save, and says where. *worst: the kernel with the
 * largest saving; SS_NO_ROW if there is none.
 */
SS_MUST_USE
enum ss_status ss_slow_work_look(struct ss_rule_context *context,
				 const struct ss_slow_work_kind *kind, uint32_t *worst,
				 struct ss_error *err);

/* The name of the device that the rank works on, or of its instruction set; "": not recorded. */
const char *ss_slow_work_device(const struct ss_rule_context *context);

#endif
