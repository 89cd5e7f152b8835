/*
 * keep.h - what a diagnosis keeps of one rank when its trace is gone.
 */
#ifndef SS_DIAGNOSE_KEEP_H
#define SS_DIAGNOSE_KEEP_H

#include "diagnose/exam.h"

struct ss_kept_rank {
	struct ss_memory *memory;
	struct ss_graph graph;
	struct ss_exam exam;
	uint64_t file_bytes; /* uncompressed */
};

/* Makes a struct ss_kept_rank of each file of a job. */
extern const struct ss_job_keeper ss_diagnose_keeper;

#endif
