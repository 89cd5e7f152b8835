/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradients.h - the all-reduces with which DistributedDataParallel averages gradients.
 *
 * The reducer starts them in the hooks of AccumulateGrad: that distinguishes them from the
 * all-reduces of tensor parallel layers, of SyncBatchNorm and of the user's own program. All of
 * one backward are a pass; each pass has a DistributedDataParallel.forward before it. The passes
 * up to an optimizer step are its round.
 *
 * In jobs without devices a collective runs on a thread of the library and has no link to the
 * operator that requested it. The library processes them in the order of the requests, so they
 * are paired in that order.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_GRADIENTS_H
#define SS_DIAGNOSE_EVIDENCE_GRADIENTS_H

#include "diagnose/rule.h"

struct ss_gradient {
	uint32_t arrival;  /* of the rank's digest */
	uint32_t launch;   /* host row that requested it */
	uint32_t pass;     /* number of its pass */
	int64_t launch_ns; /* when */
	int64_t bytes;     /* -1: not recorded */
	bool is_integer;   /* not gradients: the map of parameters that were used */
};

struct ss_gradient_pass {
	uint32_t first, count; /* of the gradients */
	uint32_t round;
	int64_t forward_ns; /* when its DistributedDataParallel.forward began */
	int64_t bytes;      /* of all its gradients; -1: not recorded */
};

struct ss_gradient_round {
	uint32_t first, count; /* of the passes */
	bool is_stepped;       /* an optimizer step ends it */
};

/* Zeroed: none. */
struct ss_gradients {
	struct ss_gradient *items; /* by launch */
	struct ss_gradient_pass *passes;
	struct ss_gradient_round *rounds;
	uint32_t count, pass_count, round_count;
};

/* Empty if the file does not show them. All rules that ask for them get the same. */
SS_MUST_USE
enum ss_status ss_rule_gradients(struct ss_rule_context *context, const struct ss_gradients **out,
				 struct ss_error *err);

/* The task of the transfer; SS_NO_TASK: it is not in a step of the graph. */
uint32_t ss_gradient_task(const struct ss_gradient *gradient,
			  const struct ss_rule_context *context);

#endif
