/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_job.h - a small job for tests of the simulator's writer: two ranks, a
 * program made by hand, and the rows of one step of it.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_SIM_JOB_H
#define SS_TESTS_SUPPORT_MAKE_SIM_JOB_H

#include "sim/writer/writer.h"
#include "support/support.h"

extern const struct ss_sim_device support_h100, support_mi300;

/* Names of the program's kernels: one that computes, one that communicates. */
extern const char support_gemm[], support_nccl[];

struct support_job {
	struct ss_sim_plan plan;
	struct ss_sim_program program;
	struct ss_memory memory;
	struct ss_sim_phrases *phrases;
};

/* Everything is recorded; change the plan before the first row. */
void support_job_open(struct support_job *job, const struct ss_sim_device *device);

/* Closes the job; the test fails when memory is still charged. */
void support_job_close(struct support_job *job);

/* Times of rows are microseconds from here on. */
#define SUPPORT_AT(us) (INT64_C(100000000) + (us)*INT64_C(1000))

/* 18 rows: what a rank does in a step. */
void support_job_rows(struct ss_sim_writer *writer);

/* The profiler's own time, from 300 to 310. */
void support_job_overhead(struct ss_sim_writer *writer);

/* Writes what the rank says; returns how many rows got into the text. */
uint64_t support_job_write(struct support_job *job, uint32_t rank, struct ss_text *out);

#endif
