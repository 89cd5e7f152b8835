/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inference_steps.h - inference steps: what engines write into the names of their ranges,
 * and what the devices did in them.
 */
#ifndef SS_ANALYZE_INFERENCE_STEPS_H
#define SS_ANALYZE_INFERENCE_STEPS_H

#include "analyze/facts.h"

enum ss_inference_kind {
	SS_INFERENCE_PREFILL,
	SS_INFERENCE_DECODE,
	SS_INFERENCE_MIXED,
	SS_INFERENCE_UNKNOWN,
	SS_INFERENCE_KINDS,
};

/* Counts are -1 where they are not recorded. */
struct ss_inference_step {
	enum ss_inference_kind kind;
	uint32_t name;                      /* id into names; 0: none */
	int64_t start_ns, end_ns;           /* effective */
	int64_t host_start_ns, host_end_ns; /* the range on the CPU */
	int64_t batch, context_tokens, generated_tokens;
	int64_t kernels, graph_launches;
	int64_t busy_ns; /* at least one device was busy */
	int64_t gap_ns;  /* none was, between the previous step and this one */
};

struct ss_inference_steps {
	struct ss_inference_step *items; /* in the order of time */
	uint32_t count;
	bool by_engine; /* from ranges of an engine, not from the profiler's steps */
};

const char *ss_inference_kind_name(enum ss_inference_kind kind);

/* Reads the name of an engine's range; false: it is not one. */
bool ss_inference_step_read(const char *name, struct ss_inference_step *out);

/* The last step that begins no later than a moment of the host, if it is not over; or NULL. */
struct ss_inference_step *ss_inference_step_at(const struct ss_inference_steps *passes,
					       int64_t host_ns);

SS_MUST_USE
enum ss_status ss_inference_steps_find(struct ss_facts *facts, struct ss_arena *arena,
				       struct ss_inference_steps *out, struct ss_error *err);

#endif
