/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claimed_time.h - what the rules before left of a rank: the time that they claimed.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_CLAIMED_TIME_H
#define SS_DIAGNOSE_EVIDENCE_CLAIMED_TIME_H

#include "analyze/time/idle.h"
#include "attribute/attribute.h"
#include "diagnose/rank_findings.h"
#include "diagnose/rule.h"

/*
 * The time of a thread that rules claimed so far, sorted; SS_NO_ROW: of any thread. With `idle` the
 * gaps of the rank's device that end by themselves when a rule lets the host run ahead count as
 * well. False: no memory. `out` is released by the caller.
 */
SS_MUST_USE
bool ss_rule_claimed_time(struct ss_rule_context *context, uint32_t track,
			  const struct ss_idle *idle, struct ss_cover *out);

/* The places of the rank with the time that no rule claimed so far. */
struct ss_unclaimed {
	struct ss_attribution attribution;
	struct ss_attribution_options options;
	struct ss_cover taken;
	int64_t left_ns; /* idle time of the device that nobody claims; without one, of the steps */
	/* what was claimed when this was found */
	uint32_t claim_count, taken_count;
	struct ss_found_taken last_taken;
	bool is_measured; /* the places as well */
};

/*
 * Made once per rank, measured anew by each call, and released when all rules have looked;
 * the rule must not end its claims before it is done with it. NULL in
 * `out`: no thread runs steps, or the device has less idle time that nobody claims than `least_ns`.
 */
SS_MUST_USE
enum ss_status ss_rule_unclaimed(struct ss_rule_context *context, int64_t least_ns,
				 struct ss_unclaimed **out, struct ss_error *err);

#endif
