/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ddp_job.h - small jobs with DistributedDataParallel, on threads (gloo) or devices (NCCL).
 *
 * A step has a pass of 200 us for each backward, then the optimizer. A pass: forward for 40 us,
 * then the hooks of AccumulateGrad from 50 us on, which ask for all-reduces. On threads the
 * all-reduces run from 60 to 140 us while the main thread does nothing from 70 us on. On devices
 * a kernel computes until 70 us, the all-reduces follow it until 150 us, and the host waits for
 * the device until 155 us.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_DDP_JOB_H
#define SS_TESTS_SUPPORT_MAKE_DDP_JOB_H

#include "support/rule_cases.h"

struct ddp_job {
	int passes;       /* per optimizer step */
	bool on_device;   /* NCCL; else gloo */
	bool no_sizes;    /* of the all-reduces */
	bool no_forward;  /* DistributedDataParallel.forward is not recorded */
	bool no_step;     /* Optimizer.step is not recorded */
	bool other_hook;  /* all-reduces are part of another function of autograd */
	bool zeroes_each; /* gradients are dropped in each pass */
	bool sizes_vary;  /* each pass has other sizes: another model */
	int buckets;      /* all-reduces of a pass, one after the other; 0: one */
	int elements;     /* of each, four bytes; 0: 1,000 */
	int embedding;    /* elements of the last bucket; 0: as many as the others have */
	int backward_us;  /* devices: a kernel of backward computes so long before they start */
	int held;         /* so many passes, from the first on, do not reduce: no_sync() */
	/* find_unused_parameters: */
	int search_us;  /* how long the search takes, from 40 us on; 0: it is off */
	int map;        /* elements of the map that is all-reduced as well; 0: none */
	int parameters; /* with gradients; 0: one */
};

/* Two ranks with three steps of 1,000 us; for free(). */
char *ddp_job_trace(const struct ddp_job *job);

/* A job, and what a rule finds in it: struct rule_case. */
struct ddp_case {
	const char *what;
	struct ddp_job job;
	const char *found;
};

void ddp_cases_run(const char *rule, const struct ddp_case *cases, size_t count);

/* A diagnosis of the job, refused every allocation in turn. */
void ddp_memory_run(const struct ddp_job *job);

/* The whole program of a rule's test: its cases, and refusals of memory with the first of them. */
#define DDP_TESTS(rule, cases)                                            \
	ONE_TEST(test_cases, ddp_cases_run(rule, cases, COUNT_OF(cases))) \
	ONE_TEST(test_memory, ddp_memory_run(&(cases)[0].job))            \
	TEST_PROGRAM(cmocka_unit_test(test_cases), cmocka_unit_test(test_memory))

#endif
