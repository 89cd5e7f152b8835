/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_kind.h - what kind of job a trace is of, so that rules advise what fits it.
 */
#ifndef SS_DIAGNOSE_JOB_KIND_H
#define SS_DIAGNOSE_JOB_KIND_H

#include "analyze/host/step_phase.h"

/* Flags; what the file does not show is not set. */
enum ss_job_kind {
	SS_JOB_INFERS = 1 << 0,   /* operators run, and nothing is trained */
	SS_JOB_SERVED = 1 << 1,   /* by an inference engine: vLLM, SGLang and their like */
	SS_JOB_COMPILED = 1 << 2, /* torch.compile is in use */
	SS_JOB_ON_CPU = 1 << 3,   /* no device works in the steps */
	SS_JOB_UNFED = 1 << 4,    /* no DataLoader gives the batches */
};

/* The kind of a rank's job. */
uint32_t ss_rule_job_kind(const struct ss_phases *phases, bool has_device);

/* A fix for jobs that are all of these kinds. */
struct ss_rule_fix {
	uint32_t kind; /* flags of enum ss_job_kind */
	const char *text;
};

/* The first that fits; the list ends with a text of NULL. NULL: none does. */
const char *ss_rule_choose_fix(const struct ss_rule_fix *fixes, uint32_t kind);

#endif
