/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_summary.h - what a diagnosis keeps of a rank, or of a snapshot, after its file is closed.
 */
#ifndef SS_DIAGNOSE_RANK_SUMMARY_H
#define SS_DIAGNOSE_RANK_SUMMARY_H

#include "diagnose/rank_findings.h"
#include "diagnose/snapshot_findings.h"

struct ss_rank_summary {
	struct ss_memory *memory;
	struct ss_graph whole; /* until the findings are made, or it is written */
	struct ss_packed graph;
	struct ss_rank_findings findings;
	uint64_t file_bytes; /* uncompressed */
};

/* The same of a memory snapshot. */
struct ss_snapshot_summary {
	struct ss_memory *memory;
	struct ss_arena arena;
	struct ss_rule_memory_findings findings; /* findings have device numbers, not devices */
};

/* Makes the summary of each trace and each snapshot of a job. */
extern const struct ss_job_summarizer ss_diagnose_summarizer;

/* The same for traces that are only written as digests: their graphs are not packed. */
extern const struct ss_job_summarizer ss_diagnose_digest_summarizer;

#endif
