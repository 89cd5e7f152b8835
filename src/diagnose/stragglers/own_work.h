/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_work.h - functions of the program that take longer on one rank than on the others, for
 * ranks without a device.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_OWN_WORK_H
#define SS_DIAGNOSE_STRAGGLERS_OWN_WORK_H

#include "diagnose/rule.h"

/*
 * Adds a sentence for each function of the program with its time outside of operators, the longest
 * first. Adds nothing for ranks with a device, without collectives or without stacks.
 */
SS_MUST_USE
enum ss_status ss_straggler_collect_functions(struct ss_rule_context *look, struct ss_error *err);

/*
 * Adds those sentences of a rank to a finding whose functions take longer than on the median of the
 * others, by a tenth of `excess_ns` (per step) at least.
 */
void ss_straggler_report_functions(struct ss_judgement *judgement, struct ss_finding *finding,
				   uint32_t rank, int64_t excess_ns);

#endif
