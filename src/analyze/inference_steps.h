/*
 * inference_steps.h - steps of inference: what engines write into the names of their ranges,
 * and what the devices did in them.
 */
#ifndef SS_ANALYZE_INFERENCE_STEPS_H
#define SS_ANALYZE_INFERENCE_STEPS_H

#include "analyze/facts.h"

enum ss_pass_kind {
	SS_PASS_PREFILL,
	SS_PASS_DECODE,
	SS_PASS_MIXED,
	SS_PASS_UNKNOWN,
	SS_PASS_KINDS,
};

/* Counts are -1 where they are not recorded. */
struct ss_pass {
	enum ss_pass_kind kind;
	uint32_t name;                      /* id into names; 0: none */
	int64_t start_ns, end_ns;           /* effective */
	int64_t host_start_ns, host_end_ns; /* the range on the CPU */
	int64_t batch, context_tokens, generated_tokens;
	int64_t kernels, graph_launches;
	int64_t busy_ns; /* at least one device worked */
	int64_t gap_ns;  /* none did, between the one before and this */
};

struct ss_passes {
	struct ss_pass *items; /* in the order of time */
	uint32_t count;
	bool by_engine; /* ranges of an engine told, not the profiler's steps */
};

const char *ss_pass_name(enum ss_pass_kind kind);

/* What the name of an engine's range says; false: it is none. */
bool ss_pass_read(const char *name, struct ss_pass *out);

/* The last step that begins no later than a moment of the host, if it is not over; or NULL. */
struct ss_pass *ss_pass_at(const struct ss_passes *passes, int64_t host_ns);

SS_MUST_USE
enum ss_status ss_passes_find(struct ss_bricks *bricks, struct ss_arena *arena,
			      struct ss_passes *out, struct ss_error *err);

#endif
