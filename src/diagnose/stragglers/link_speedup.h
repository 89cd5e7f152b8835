/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_speedup.h - makes the transfers of a slow link as fast as those of others.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_LINK_SPEEDUP_H
#define SS_DIAGNOSE_STRAGGLERS_LINK_SPEEDUP_H

#include "diagnose/rule.h"
#include "diagnose/stragglers/slow_links.h"

/*
 * Makes the transfers of the link's ranks as long as other transfers of the same kind, size and
 * number of members. Returns the saving in ns, summed over the link's rank.
 */
int64_t ss_slow_link_claim(struct ss_judgement *judgement, struct ss_finding *finding,
			   const struct ss_slow_link *link, struct ss_arena *arena);

#endif
