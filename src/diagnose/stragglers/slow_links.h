/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_links.h - groups whose collectives take longer than those of other groups of the
 * same kind and size, and the rank that these groups share.
 *
 * The shortest time of a member in a collective is the transfer: it contains no waiting.
 * If it is long in some groups only, a link is slow, not a rank: the rank that is in all
 * slow groups and in no fast one has it.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_SLOW_LINKS_H
#define SS_DIAGNOSE_STRAGGLERS_SLOW_LINKS_H

#include "ranks/join.h"

struct ss_slow_link {
	uint32_t ranks[4]; /* candidates, all equally likely */
	uint32_t count;    /* 0: no link is slow */
	double ratio;      /* transfer of the slow groups to that of the others */
	int64_t cost_ns;   /* what it adds to the transfers of a step */
	uint32_t groups;   /* slow ones */
	/*
	 * number + 1 of the group whose members may all be it: there is no other group to compare
	 * with; 0: not so
	 */
	uint32_t of_group;
	double reached, usual; /* then: GB/s of the bus, of this group and of such devices */
	uint32_t hosts;        /* then: of its members */
	double least_ratio;    /* then: the ratio for boards with few links */
};

SS_MUST_USE
bool ss_slow_link_find(struct ss_slow_link *link, const struct ss_joined *joined,
		       struct ss_arena *arena);

/*
 * slow_group.c: a job with one group whose transfers are all slow. There is no other group to
 * compare with, so the reference is what devices of this kind reach at that size. The trace does
 * not show which member has the slow link, or whether all have.
 */

/* Fills the link when it is so: all members may be it. False: no memory. */
SS_MUST_USE
bool ss_slow_group_find(struct ss_slow_link *link, const struct ss_joined *joined,
			struct ss_arena *arena);

/*
 * The time that a collective takes between devices of this name, from published results of
 * nccl-tests and rccl-tests: slow_group.c. On one host with a switch it does not depend on the
 * number of ranks; without one, few ranks have few links between them.
 */
struct ss_bus_collective {
	enum ss_collective_kind kind;
	uint32_t ranks, hosts;
	double bytes;
};
struct ss_bus_time {
	double usual_ns; /* 0: the device is not in the table, or has no links of its own (PCIe) */
	double most_ns;  /* on the worst board */
};
struct ss_bus_time ss_slow_group_bus_time(const char *device_name,
					  const struct ss_bus_collective *collective);

#endif
