/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_products.c - rule: products of matrices that take longer than the best kernels need.
 *
 * A kernel divides the result into tiles, and each multiprocessor computes a tile at a time. With
 * fewer tiles than multiprocessors some idle: the kernel's name has the size of its tiles.
 *
 * Small products that follow each other could be one product. The file does not say which tensors
 * they read; none of them can be the input of the next if results have other sizes than inputs.
 */
#include <math.h>
#include <string.h>

#include "diagnose/work/slow_work.h"

/* Tensor cores work on 64 to 128 rows at a time: fewer leave them idle. */
#define GROUP_ROWS 64

/* Libraries have tiles from 8 to 512 rows. */
#define TILE_MAX 512

static bool products_want(const struct ss_work *work, enum ss_limit limit)
{
	/* batched matmuls are mostly attention: attention_not_fused.c */
	return work->kind == SS_WORK_MATMUL && limit >= SS_LIMIT_MEMORY &&
	       (work->batch <= 1 || work->groups > 0);
}

/* Reads a number of up to three digits; returns what follows it, or NULL. */
static const char *tile_read_number(const char *text, unsigned *out)
{
	unsigned value = 0;
	int digits = 0;

	for (; text[digits] >= '0' && text[digits] <= '9' && digits < 4; digits++)
		value = 10 * value + (unsigned)(text[digits] - '0');
	*out = value;
	return digits && digits < 4 && value >= 8 && value <= TILE_MAX ? text + digits : NULL;
}

/* "..._128x256_..." of cuBLAS, "tilesize128x128x64", "MT256x128x64" of AMD: the first pair. */
static bool tile_of_kernel(const char *name, unsigned tile[2])
{
	for (const char *at = name; *at; at++) {
		const char *next;

		if (at > name && at[-1] >= '0' && at[-1] <= '9')
			continue;
		next = tile_read_number(at, &tile[0]);
		if (next && *next == 'x' && tile_read_number(next + 1, &tile[1]))
			return true;
	}
	return false;
}

/* Tiles of the result; columns may be first in memory, so the order that needs more counts. */
static double tiles_of_work(const struct ss_work *work, const unsigned tile[2])
{
	double one = ceil(work->rows / tile[0]) * ceil(work->columns / tile[1]);
	double other = ceil(work->rows / tile[1]) * ceil(work->columns / tile[0]);

	return work->batch * (one > other ? one : other);
}

/* Whether the kernel has fewer tiles than the device has multiprocessors. */
static bool products_have_few_tiles(const struct ss_rule_context *context, uint32_t row,
				    const struct ss_works *works)
{
	const struct ss_trace *trace = context->trace;
	const struct ss_peaks *peaks = ss_peaks_find(ss_slow_work_device(context));
	const struct ss_worker *worker = ss_works_worker(works, ss_ops_launcher(works->ops, row));
	const struct ss_work *work = ss_works_item(works, worker);
	unsigned tile[2];

	return peaks && work->batch > 0 &&
	       tile_of_kernel(ss_strings_text(&trace->names, trace->slices.name[row]), tile) &&
	       tiles_of_work(work, tile) < peaks->multiprocessors;
}

/* Rows that each matrix of a grouped product has; 0: it is no such product. */
static double products_rows_per_group(const struct ss_work *work)
{
	return work->groups > 0 ? work->batch * work->rows / work->groups : 0;
}

/* --- several products that could be one ------------------------------------------------- */

/* Kernels of products whose inputs have the same sizes, one after the other on a stream. */
struct joined_products {
	struct ss_rule_context *context;
	struct ss_reachable reachable;
	struct ss_slow_places places;
	const struct ss_worker *last;
	uint32_t from, to; /* tasks */
	uint32_t count;    /* of products */
	double now_ns, compute_ns, memory_ns, latency_ns;
	double apart_ns; /* of good kernels, one per product */
};

/* The length of the sums. */
static double product_depth(const struct ss_work *work)
{
	return work->flops / (2 * work->rows * work->columns);
}

static bool product_can_join(const struct ss_work *work)
{
	return work && work->kind == SS_WORK_MATMUL && work->has_flops && work->has_bytes &&
	       work->groups <= 0 && work->batch == 1 && work->rows > 0 && work->columns > 0 &&
	       product_depth(work) != work->columns;
}

static bool products_are_alike(const struct joined_products *joined, const struct ss_worker *worker)
{
	const struct ss_works *works = joined->reachable.works;
	const struct ss_work *one = ss_works_item(works, joined->last);
	const struct ss_work *other = ss_works_item(works, worker);

	return one->dtype == other->dtype && joined->last->tensor == worker->tensor &&
	       one->rows == other->rows && product_depth(one) == product_depth(other);
}

/* Claims what their kernels save as one; inputs may differ, so all of them are read. */
static void joined_end(struct joined_products *joined)
{
	const struct ss_graph *graph = joined->context->graph;
	double more = joined->compute_ns > joined->memory_ns ? joined->compute_ns
							     : joined->memory_ns;
	double part = (joined->latency_ns + more) / joined->now_ns;
	/* what large ones lack is not that they are several */
	bool helps = joined->count > 1 && part < SS_SLOW_WORK_SLOW_PART &&
		     joined->latency_ns + more < SS_SLOW_WORK_SLOW_PART * joined->apart_ns;

	for (uint32_t i = joined->from; helps && i < joined->to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		struct ss_slow_kernel reach = ss_slow_kernel_of(&joined->reachable, task);
		int64_t own_ns = (int64_t)(part * (double)task->own_ns);

		reach.ns = (double)own_ns;
		if (ss_rule_claim(joined->context,
				  (struct ss_claim){ .task = i,
						     .own_ns = own_ns,
						     .low_ns = own_ns + (task->own_ns - own_ns) / 2,
						     .high_ns = own_ns }))
			ss_slow_places_add(&joined->places,
					   joined->context->trace->slices.name[reach.worker->row],
					   reach.worker->row, task->own_ns, &reach);
	}
	joined->count = 0;
}

static void joined_add(struct joined_products *joined, uint32_t number)
{
	const struct ss_task *tasks = joined->context->graph->tasks, *task = &tasks[number];
	struct ss_slow_kernel kernel = ss_slow_kernel_of(&joined->reachable, task);
	struct ss_reach reach;

	if (kernel.limit == SS_LIMIT_UNKNOWN || task->step == SS_NO_STEP ||
	    !product_can_join(kernel.work)) {
		joined_end(joined);
		return;
	}
	if (joined->count &&
	    (joined->to != number || tasks[joined->from].track != task->track ||
	     tasks[joined->from].step != task->step || !products_are_alike(joined, kernel.worker)))
		joined_end(joined);
	reach = ss_reach_of(&joined->reachable, kernel.worker);
	if (!joined->count) {
		joined->from = number;
		joined->now_ns = joined->compute_ns = joined->memory_ns = joined->apart_ns = 0;
		joined->last = NULL;
		joined->latency_ns = reach.ns - (reach.compute_ns > reach.memory_ns
							 ? reach.compute_ns
							 : reach.memory_ns);
	}
	if (joined->last != kernel.worker) {
		joined->compute_ns += reach.compute_ns;
		joined->memory_ns += reach.memory_ns;
		joined->apart_ns += reach.ns;
		joined->count++;
	}
	joined->now_ns += (double)task->own_ns;
	joined->last = kernel.worker;
	joined->to = number + 1;
}

/* *any: whether there are some. */
SS_MUST_USE
static enum ss_status joined_look(struct ss_rule_context *context, bool *any, struct ss_error *err)
{
	struct joined_products joined = { .context = context };
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];
	const struct ss_works *works;

	*any = false;
	if (context->digest->device < 0)
		return SS_OK;
	SS_TRY(ss_facts_works(context->subject->facts, &works, err));
	ss_reachable_init(&joined.reachable, works, ss_slow_work_device(context));
	if (!joined.reachable.is_published)
		return SS_OK;
	SS_TRY(ss_code_places_make(&joined.places.sites, context, err));
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (graph->tasks[i].kind == SS_TASK_KERNEL)
			joined_add(&joined, i);
		else
			joined_end(&joined);
	joined_end(&joined);
	*any = joined.places.sites->count > 0;
	if (*any)
		ss_slow_places_report(&joined.places,
				      " is one of several that could be one product", NULL);
	return SS_OK;
}

static enum ss_status slow_products_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_slow_work_kind kind = {
		.wants = products_want,
	};
	const struct ss_works *works;
	const struct ss_work *work;
	uint32_t worst;
	bool joined;

	SS_TRY(joined_look(context, &joined, err));
	SS_TRY(ss_slow_work_look(context, &kind, &worst, err));
	if (worst == SS_NO_ROW) {
		if (!joined)
			return SS_OK;
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "compared with published rates of such GPUs");
		ss_rule_set_fix(context,
				"# inputs are the same: one product with joined weights, such as\n"
				"qkv = nn.Linear(d, 3 * d)   # not three of nn.Linear(d, d)\n"
				"# inputs differ: torch.bmm or torch.nn.functional.grouped_mm");
		return SS_OK;
	}
	SS_TRY(ss_facts_works(context->subject->facts, &works, err));
	work = ss_works_item(works, ss_works_worker(works, ss_ops_launcher(works->ops, worst)));
	if (work->groups > 0 && products_rows_per_group(work) < GROUP_ROWS)
		ss_rule_set_fix(
			context,
			"# each expert has few tokens, so its weights are read for little:\n"
			"# more tokens per step, or fewer experts per GPU (expert parallel)\n"
			"# kernels: torch.nn.functional.grouped_mm, DeepGEMM, aiter (AMD)");
	else if (products_have_few_tiles(context, worst, works))
		ss_rule_set_fix(context,
				"# the slowest fills a part of the GPU: it has few tiles\n"
				"# a larger batch, or the weights of several products as one\n"
				"model = torch.compile(model, mode=\"max-autotune\")   # split-K");
	return SS_OK;
}

const struct ss_rule ss_rule_slow_products = {
	.name = "slow-products",
	.title = "Matmuls take longer than the best kernels need",
	.summary = "Products far below the rate that such GPUs reach",
	.fix = "model = torch.compile(model, mode=\"max-autotune\")   # tries tiles\n"
	       "# AMD: PYTORCH_TUNABLEOP_ENABLED=1 tries the kernels of hipBLASLt\n"
	       "# sizes in multiples of 64, or several products as one",
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline kernels",
	.warn_share = 0.25,
	.silent_share = 0.02,
	.why = "what is reachable was measured on large and even sizes: untuned libraries leave up "
	       "to a fifth of a healthy step",
	.keeps_work = true,
	.facts = SS_FACT_WORKS,
	.look = slow_products_look,
};
