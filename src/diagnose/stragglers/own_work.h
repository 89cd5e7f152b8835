/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_work.h - functions of the program that take longer on one rank than on the others, for
 * ranks without a device; and what a host does while its device is idle.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_OWN_WORK_H
#define SS_DIAGNOSE_STRAGGLERS_OWN_WORK_H

#include "diagnose/rule.h"
#include "diagnose/stragglers/verdict.h"

/*
 * Adds a sentence for each function of the program with its time outside of operators, and one with
 * all of its time, the longest first. Adds nothing for ranks with a device, without collectives or
 * without stacks.
 */
SS_MUST_USE
enum ss_status ss_straggler_collect_functions(struct ss_rule_context *look, struct ss_error *err);

/*
 * Adds those sentences of a rank to a finding whose functions take longer than on the median of the
 * others, by a tenth of `excess_ns` (per step) at least. True: one of them makes up most of that,
 * and the others do not call it.
 */
bool ss_straggler_report_functions(struct ss_judgement *judgement, struct ss_finding *finding,
				   uint32_t rank, int64_t excess_ns, bool with_operators);

/*
 * What the host of a rank was in while its device was idle, if one thing explains half of the
 * excess: an id into the texts of the rank, and its time per step; 0: there is no such thing, or no
 * memory.
 */
uint32_t ss_straggler_host_place(const struct ss_digest *rank, int64_t excess_ns,
				 struct ss_memory *memory, int64_t *step_ns);

/* Its name for a title, cut where there is no room; false: it launches late for another reason. */
bool ss_straggler_place_words(const struct ss_judgement *judgement, const struct ss_straggler *item,
			      char *out, size_t room);

/*
 * Adds that to a finding. `who` stands before the sentence: "rank 3: ", or nothing.
 */
void ss_straggler_report_gaps(struct ss_judgement *judgement, struct ss_finding *finding,
			      const struct ss_straggler *item, const char *who);

/* Says what the recorded clocks show about a rank that computes more slowly. */
void ss_straggler_report_clock(struct ss_judgement *judgement, struct ss_finding *finding,
			       const struct ss_straggler *item);

#endif
