/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fp8_products.c - rule: large products in half precision on a device that has FP8.
 *
 * FP8 has twice the rate and half of the bytes, but both operands have to be converted first, and
 * the results have fewer digits. So it is information: the rule claims no time, and says how long
 * the products would take.
 */
#include "diagnose/evidence/code_places.h"
#include "diagnose/work/slow_work.h"

/* A device has it in its tensor cores. */
#define FASTER_MIN 1.5

/* FP8 reaches less of its peak: 1,403 of 1,979 TFLOP/s, bf16 794 of 989 (H100); B200 alike. */
#define REACHED_PART 0.9

/* Operands are read in two bytes and written in one. */
#define CONVERT_BYTES 3

/* Kernels of FP8 want sizes in multiples of it. No real size is above the other. */
#define MULTIPLE 16
#define SIZE_MAX_REAL 1e12

/* Below a tenth of the step few would change the numbers. */
#define SAVED_SHARE 0.10

struct half_products {
	struct ss_rule_context *context;
	const struct ss_works *works;
	struct ss_reachable reachable;
	double rate; /* FLOP/s in FP8 */
	double saved_ns, now_ns;
	struct ss_code_places *sites;
};

static bool is_multiple(double size)
{
	return size >= MULTIPLE && size <= SIZE_MAX_REAL && (int64_t)size % MULTIPLE == 0;
}

/* The part of its time that a product would take in FP8; 1: none, or no less. */
static double product_fp8_part(const struct half_products *products, const struct ss_worker *worker)
{
	const struct ss_work *work = ss_works_item(products->works, worker);
	struct ss_reach reach;
	double depth, operands, faster_ns, result_ns;

	if (!work || work->kind != SS_WORK_MATMUL || work->batch != 1 || work->groups > 0 ||
	    (work->dtype != SS_DTYPE_BF16 && work->dtype != SS_DTYPE_FP16) || !work->has_flops)
		return 1;
	reach = ss_reach_of(&products->reachable, worker);
	depth = work->flops / 2 / (work->rows * work->columns);
	if (reach.limit != SS_LIMIT_TENSORS || !is_multiple(work->rows) ||
	    !is_multiple(work->columns) || !is_multiple(depth))
		return 1;
	operands = depth * (work->rows + work->columns);
	result_ns = (operands + work->out_bytes) * 1e9 / products->reachable.memory;
	faster_ns = work->flops * 1e9 / products->rate;
	faster_ns = (faster_ns > result_ns ? faster_ns : result_ns) + reach.ns - reach.compute_ns +
		    CONVERT_BYTES * operands * 1e9 / products->reachable.memory;
	return faster_ns < reach.ns ? faster_ns / reach.ns : 1;
}

static void product_check(struct half_products *products, uint32_t number)
{
	const struct ss_task *task = &products->context->graph->tasks[number];
	uint32_t op = ss_ops_launcher(products->works->ops, task->row);
	const struct ss_worker *worker = op == SS_NO_ROW ? NULL
							 : ss_works_worker(products->works, op);
	double part = worker ? product_fp8_part(products, worker) : 1;

	if (part >= 1)
		return;
	products->now_ns += (double)task->own_ns;
	products->saved_ns += (1 - part) * (double)task->own_ns;
	(void)ss_code_places_add(products->sites,
				 products->context->trace->slices.name[worker->row], worker->row,
				 task->own_ns);
}

/* Whether products are in FP8 already: somebody has decided which. */
static bool products_have_fp8(const struct ss_works *works)
{
	for (uint32_t i = 0; i < works->worker_count; i++) {
		const struct ss_work *work = ss_works_item(works, &works->workers[i]);

		if (work && work->kind == SS_WORK_MATMUL && work->dtype <= SS_DTYPE_FP8)
			return true;
	}
	return false;
}

static void products_report(struct half_products *products)
{
	unsigned percent = (unsigned)(100 - 100 * products->saved_ns / products->now_ns);

	ss_code_places_report(products->sites, UINT32_MAX,
			      "%s computes in half precision: {time} per step ({count} times)");
	ss_rule_add_evidence(products->context, (struct ss_fact){ .row = SS_NO_ROW },
			     "FP8, with its conversions, would take about %u %% of that",
			     (percent + 5) / 10 * 10);
	ss_rule_set_confidence(products->context, SS_CONFIDENCE_MEDIUM,
			       "from published rates of such GPUs, with the conversions");
}

static enum ss_status fp8_products_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct half_products products = { .context = context };
	const struct ss_peaks *peaks = ss_peaks_find(ss_slow_work_device(context));
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];

	if (!peaks || peaks->fp8 < FASTER_MIN * peaks->bf16)
		return SS_OK;
	SS_TRY(ss_facts_works(context->subject->facts, &products.works, err));
	ss_reachable_init(&products.reachable, products.works, ss_slow_work_device(context));
	if (!products.reachable.is_published || products_have_fp8(products.works))
		return SS_OK;
	products.rate = REACHED_PART * products.reachable.products[SS_DTYPE_FP8][SS_UNITS_TENSOR];
	SS_TRY(ss_code_places_make(&products.sites, context, err));
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (graph->tasks[i].kind == SS_TASK_KERNEL && graph->tasks[i].step != SS_NO_STEP)
			product_check(&products, i);
	if (products.saved_ns > 0 && products.saved_ns >= SAVED_SHARE * (double)context->step_ns)
		products_report(&products);
	return SS_OK;
}

static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_SERVED, "vllm serve MODEL --quantization fp8   # SGLang: --quantization fp8" },
	{ SS_JOB_INFERS, "from torchao.quantization import (\n"
			 "    quantize_, Float8DynamicActivationFloat8WeightConfig as Float8)\n"
			 "quantize_(model, Float8())   # then torch.compile; compare the results" },
	{ 0 },
};

const struct ss_rule ss_rule_fp8_products = {
	.name = "fp8-products",
	.title = "Large matmuls run in half precision on a GPU that has FP8",
	.summary = "Matmuls that FP8 would make shorter: information",
	.fix = "from torchao.float8 import convert_to_float8_training\n"
	       "convert_to_float8_training(model)   # then torch.compile(model)\n"
	       "# Transformer Engine: te.fp8_autocast(); compare the loss",
	.fixes = by_kind,
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline kernels",
	.warn_share = 0,
	.silent_share = 0,
	.why = "fewer digits change the numbers, and only the author knows whether they may; from "
	       "an estimate of a tenth of the step on",
	.is_timeless = true,
	.facts = SS_FACT_WORKS,
	.needs_device = true,
	.look = fp8_products_look,
};
