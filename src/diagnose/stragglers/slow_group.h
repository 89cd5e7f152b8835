/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_group.h - a job with one group whose transfers are all slow.
 *
 * There is no other group to compare with, so the reference is what devices of this kind
 * reach. The trace does not show which member has the slow link, or whether all have.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_SLOW_GROUP_H
#define SS_DIAGNOSE_STRAGGLERS_SLOW_GROUP_H

#include "diagnose/stragglers/slow_links.h"

/* Fills the link when it is so: all members may be it. False: no memory. */
SS_MUST_USE
bool ss_slow_group_find(struct ss_slow_link *link, const struct ss_joined *joined,
			struct ss_arena *arena);

#endif
