/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - where the time of the mean step goes: what the findings explain, what is needed,
 * and what nothing explains. The parts sum to the step exactly.
 *
 * The steps are replayed with every reported fix in place. What remains is measured on each rank,
 * moment by moment: compute, then communication, copies, waiting for other ranks, and the rest.
 * Stages of a pipeline wait for each other while it fills and drains, and for the busiest of them:
 * as far as the numbers of stages and micro-batches require it, this is communication.
 * On ranks with a device the rest is idle time: it is unexplained as far as the rule
 * unexplained-time saw it in the recording; anything beyond that is host work that the device
 * used to hide. Without a device the host computes: operators are compute, and what that rule
 * found outside of them is unexplained. If a device was used and nothing of it is recorded, the
 * operators are host work, and waiting for the device is unexplained.
 */
#ifndef SS_DIAGNOSE_ACCOUNT_H
#define SS_DIAGNOSE_ACCOUNT_H

#include "diagnose/rank_findings.h"
#include "replay/pipelines.h"

/*
 * From this share of the step on, time that no finding explains is a finding of its own. Steps of a
 * healthy job differ by a few percent, and every step has some launches and Python: 10 % is more.
 */
#define SS_UNEXPLAINED_SHARE 0.10

/* Of the mean step; all parts but `stages_ns` and `peers_ns` sum to step_ns. */
struct ss_account {
	int64_t step_ns;
	int64_t warnings_ns; /* what the fixes of all warnings save together */
	int64_t smaller_ns;  /* what the fixes of all other findings save then */
	int64_t compute_ns;  /* needed */
	int64_t communication_ns;
	int64_t stages_ns; /* of communication_ns: waiting for other stages of a pipeline */
	int64_t copies_ns;
	int64_t host_ns; /* launches and Python that limit the step when the fixes are in place */
	int64_t unexplained_ns;
	int64_t peers_ns;       /* of unexplained_ns: in collectives, waiting for other ranks */
	uint32_t stages, micro; /* of the pipeline that waits most, if stages_ns is not 0 */
};

/* The rank that reaches collectives last. */
struct ss_account_late {
	uint32_t rank;        /* the one that the others wait for most; SS_NO_ROW: nobody waits */
	uint32_t last;        /* collectives that it reaches last, */
	uint32_t collectives; /* of all of these */
	int64_t waiting_ns;   /* for it: of a rank, per step */
};

/* What the last run of the replay spends its time on; sums over ranks, per step. */
struct ss_account_parts {
	double compute, communication, copies, stages, peers, host, rest;
	uint32_t stage_count, micro; /* of the pipeline that waits most */
	struct ss_account_late late;
};

/*
 * False: no memory. `rank_findings` are per rank, as in the replay. `names_rest`: the finding of
 * unexplained-time is one of the fixes. `pipelines` are those of the replay's ranks.
 */
SS_MUST_USE
bool ss_account_measure(struct ss_account_parts *parts, const struct ss_replay *replay,
			struct ss_rank_findings *const *rank_findings, bool names_rest,
			const struct ss_pipelines *pipelines, struct ss_memory *memory);

/* The account of a step that the fixes make `fixed_ns` long, and all findings `least_ns`. */
struct ss_account ss_account_close(int64_t step_ns, int64_t fixed_ns, int64_t least_ns,
				   const struct ss_account_parts *parts);

#endif
