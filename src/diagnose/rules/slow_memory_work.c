/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_memory_work.c - rule: kernels that only move data, far below the memory's rate.
 */
#include "diagnose/work/slow_work.h"

/* Less may come from caches or be latency. */
#define LARGE_BYTES 64e6

static bool memory_work_wants(const struct ss_work *work, enum ss_limit limit)
{
	return work->kind >= SS_WORK_COPY && work->kind <= SS_WORK_NORM &&
	       limit == SS_LIMIT_MEMORY && work->moved_bytes >= LARGE_BYTES;
}

static enum ss_status slow_memory_work_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_slow_work_kind kind = {
		.wants = memory_work_wants,
	};
	uint32_t worst;

	return ss_slow_work_look(context, &kind, &worst, err);
}

const struct ss_rule ss_rule_slow_memory_work = {
	.name = "slow-memory-work",
	.title = "Kernels that only move data are far below the memory's rate",
	.summary = "Norms, reductions, copies and elementwise kernels far below memory bandwidth",
	.fix = "model = torch.compile(model)   # kernels for these sizes\n"
	       "x = x.contiguous()   # once, after transpose or permute\n"
	       "# norms and losses: the kernels of Liger or Transformer Engine",
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline kernels",
	.warn_share = 0.15,
	.silent_share = 0.02,
	.why = "good kernels differ by a third among each other",
	.facts = SS_FACT_WORKS,
	.look = slow_memory_work_look,
};
