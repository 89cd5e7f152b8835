/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utilization.h - MFU and HFU of the recorded steps, and their kernel time by kind: struct ss_mfu,
 * struct ss_kernel_time.
 */
#ifndef SS_DIAGNOSE_WORK_UTILIZATION_H
#define SS_DIAGNOSE_WORK_UTILIZATION_H

#include "diagnose/recorded_steps.h"
#include "diagnose/rule.h"

/* Leaves the sums of a rank as figures of the rule. */
SS_MUST_USE
enum ss_status ss_utilization_note(struct ss_rule_context *context, struct ss_error *err);

/* Adds up what the rule left for the ranks. */
struct ss_mfu ss_utilization_sum(const struct ss_judgement *judgement);
struct ss_kernel_time ss_utilization_sum_kernels(const struct ss_judgement *judgement);

#endif
