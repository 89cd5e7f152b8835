/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_memory_work.c - rule: kernels that only move data, far below the memory's rate.
 */
#include "base/text.h"
#include "diagnose/work/slow_work.h"

/* Less may come from caches or be latency. */
#define LARGE_BYTES 64e6

static bool memory_work_wants(const struct ss_work *work, enum ss_limit limit)
{
	return work->kind >= SS_WORK_COPY && work->kind <= SS_WORK_NORM &&
	       limit == SS_LIMIT_MEMORY && work->moved_bytes >= LARGE_BYTES;
}

/* Whether the operator adds up rows or numbers that have the same index. */
static bool op_adds_by_index(const char *name)
{
	static const char *const parts[] = { "embedding_dense_backward", "index_put", "index_add",
					     "scatter" };

	return ss_string_has_one_of(name, parts, SS_COUNT(parts));
}

static enum ss_status slow_memory_work_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_slow_work_kind kind = {
		.wants = memory_work_wants,
	};
	const struct ss_trace *trace = context->trace;
	const struct ss_ops *ops;
	uint32_t worst;

	SS_TRY(ss_slow_work_look(context, &kind, &worst, err));
	if (worst == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_facts_ops(context->subject->facts, &ops, err));
	if (op_adds_by_index(ss_strings_text(&trace->names,
					     trace->slices.name[ss_ops_launcher(ops, worst)])))
		ss_rule_set_fix(
			context,
			"# equal indices wait for each other (atomics), or are sorted first\n"
			"# few rows: torch.nn.functional.one_hot(i).to(g.dtype).T @ g\n"
			"# large tables: nn.Embedding(..., sparse=True), EmbeddingBag");
	return SS_OK;
}

static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_COMPILED, "x = x.contiguous()   # once, after transpose or permute\n"
			   "torch._inductor.config.max_autotune_pointwise = True   # tries tiles\n"
			   "# norms and losses: the kernels of Liger or Transformer Engine" },
	{ 0 },
};

const struct ss_rule ss_rule_slow_memory_work = {
	.name = "slow-memory-work",
	.title = "Kernels that only move data are far below the memory's rate",
	.summary = "Norms, reductions, copies and elementwise kernels far below memory bandwidth",
	.fix = "model = torch.compile(model)   # kernels for these sizes\n"
	       "x = x.contiguous()   # once, after transpose or permute\n"
	       "# norms and losses: the kernels of Liger or Transformer Engine",
	.fixes = by_kind,
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline kernels",
	.warn_share = 0.15,
	.silent_share = 0.02,
	.why = "good kernels differ by a third among each other",
	.keeps_work = true,
	.facts = SS_FACT_WORKS,
	.look = slow_memory_work_look,
};
