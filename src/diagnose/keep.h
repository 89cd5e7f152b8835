/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - what a diagnosis keeps of one rank after its trace is gone.
 */
#ifndef SS_DIAGNOSE_KEEP_H
#define SS_DIAGNOSE_KEEP_H

#include "diagnose/rank_findings.h"
#include "diagnose/snapshot_findings.h"

struct ss_kept_rank {
	struct ss_memory *memory;
	struct ss_graph whole; /* until its findings are there, or it is written */
	struct ss_packed graph;
	struct ss_rank_findings exam;
	uint64_t file_bytes; /* uncompressed */
};

/* The same of a snapshot of memory. */
struct ss_snapshot_summary {
	struct ss_memory *memory;
	struct ss_arena arena;
	struct ss_snapshot_findings exam; /* its findings have numbers of devices, and no devices */
};

/* Makes a struct ss_kept_rank of each trace, and a struct ss_snapshot_summary of each snapshot. */
extern const struct ss_job_keeper ss_diagnose_keeper;

/* The same for traces that are only written as digests: their graphs are not packed. */
extern const struct ss_job_keeper ss_digest_keeper;

#endif
