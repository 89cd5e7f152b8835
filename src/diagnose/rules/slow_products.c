/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_products.c - rule: products of matrices that take longer than the best kernels need.
 *
 * A kernel divides the result into tiles, and each multiprocessor computes a tile at a time. With
 * fewer tiles than multiprocessors some idle: the kernel's name has the size of its tiles.
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

static enum ss_status slow_products_look(struct ss_rule_context *context, struct ss_error *err)
{
	static const struct ss_slow_work_kind kind = {
		.wants = products_want,
	};
	const struct ss_works *works;
	const struct ss_work *work;
	uint32_t worst;

	SS_TRY(ss_slow_work_look(context, &kind, &worst, err));
	if (worst == SS_NO_ROW)
		return SS_OK;
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
