/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimizer_not_fused.h - the two halves of the rule: jobs with a device, and those without.
 */
#ifndef SS_DIAGNOSE_RULES_OPTIMIZER_NOT_FUSED_H
#define SS_DIAGNOSE_RULES_OPTIMIZER_NOT_FUSED_H

#include "diagnose/rule.h"

/* The figure that says that the rank has no device. */
#define SS_OPTIMIZER_ON_CPU 0

/* Claims what a fused optimizer saves on the CPU. */
SS_MUST_USE
enum ss_status ss_rule_optimizer_on_cpu(struct ss_look *context, struct ss_error *err);

#endif
