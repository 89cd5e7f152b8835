/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_hosts.h - ranks whose hosts take longer for a step than their devices.
 *
 * In a job whose hosts are all too slow, only the slowest device visibly runs out of work: the
 * others wait for it in collectives. So the time that such a host needs is compared with what its
 * device does itself, without that waiting.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_SLOW_HOSTS_H
#define SS_DIAGNOSE_STRAGGLERS_SLOW_HOSTS_H

#include "diagnose/diagnose.h"

struct ss_slow_hosts {
	uint8_t *is_slow;           /* per rank */
	bool with_pauses;           /* pauses are frequent enough to belong to the loop */
	double pauses;              /* of all ranks, per step: mean */
	int64_t pause_ns;           /* theirs */
	uint32_t count;             /* of those */
	int64_t host_ns, device_ns; /* theirs, per step: means */
};

/* What claims of a host's work have in common. */
struct ss_host_limits {
	int64_t loading_ns; /* a launch of this length loads code */
	int64_t pause_ns;   /* between two launches: the host does something else */
	uint32_t pauses;    /* from this number on they belong to the loop */
	int64_t launch_ns;  /* what is left of a launch */
};

/* False: no memory. */
SS_MUST_USE
bool ss_slow_hosts_find(struct ss_slow_hosts *hosts, const struct ss_judgement *judgement,
			const struct ss_host_limits *limits, struct ss_arena *arena);

/* Claims what the host does for its launches, in all steps of the rank. */
void ss_slow_hosts_claim(const struct ss_slow_hosts *hosts, struct ss_judgement *judgement,
			 struct ss_finding *finding, uint32_t rank,
			 const struct ss_host_limits *limits);

#endif
