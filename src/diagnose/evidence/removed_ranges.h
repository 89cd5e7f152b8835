/* SPDX-License-Identifier: Apache-2.0 */
/*
 * removed_ranges.h - functions and ranges of the main thread that a fix removes as a whole: their
 * time on the host, and what they launched on the device.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_REMOVED_RANGES_H
#define SS_DIAGNOSE_EVIDENCE_REMOVED_RANGES_H

#include "diagnose/rule.h"

struct ss_removed_ranges {
	struct ss_rule_context *context;
	uint8_t *is_gone; /* per host row: it is part of one */
	bool any;
};

/* False: no memory. */
SS_MUST_USE
bool ss_removed_ranges_init(struct ss_removed_ranges *ranges, struct ss_rule_context *context);

/*
 * Removes the rows in [from, to) on the thread of `row`; half of them stay if the fix does less
 * than expected. Returns the host time that could be claimed.
 */
int64_t ss_removed_ranges_claim(struct ss_removed_ranges *ranges, uint32_t row, int64_t from_ns,
				int64_t to_ns);

/* Also removes what they launched: call it once, after all claims. */
void ss_removed_ranges_claim_device(struct ss_removed_ranges *ranges);

/* A thread that waits only for collectives that are gone (per task) goes on at once. */
void ss_rule_release_joins(struct ss_rule_context *context, const uint8_t *gone);

#endif
