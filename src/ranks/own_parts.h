/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_parts.h - what a rank did before each collective, in the bytes that it needs.
 *
 * Of the parts most are 0. A digest keeps which ones are not, and those with 7 bits in a byte: some
 * 10 bytes an arrival instead of 104.
 */
#ifndef SS_RANKS_OWN_PARTS_H
#define SS_RANKS_OWN_PARTS_H

#include "ranks/digest.h"

/* An arrival as digest files have it. */
struct ss_whole_arrival {
	struct ss_arrival arrival;
	int64_t own_ns[SS_OWN_PARTS];
};

/* Sets the parts of an arrival, once. False: no memory. */
SS_MUST_USE
bool ss_digest_set_own(struct ss_digest *digest, uint32_t arrival,
		       const int64_t own_ns[SS_OWN_PARTS]);

/* What a rank did from release to start. */
void ss_digest_own(const struct ss_digest *digest, const struct ss_arrival *arrival,
		   int64_t own_ns[SS_OWN_PARTS]);

/* Takes arrivals from `wholes`, which is empty then. False: no memory. */
SS_MUST_USE bool ss_digest_fold(struct ss_digest *digest);

/* Fills `wholes`, to be freed by ss_digest_drop_wholes(). False: no memory. */
SS_MUST_USE bool ss_digest_unfold(struct ss_digest *digest);
void ss_digest_drop_wholes(struct ss_digest *digest);

#endif
