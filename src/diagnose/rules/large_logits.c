/* SPDX-License-Identifier: Apache-2.0 */
/*
 * large_logits.c - rule: the loss reads and writes logits over a large vocabulary several times.
 *
 * Casts to FP32, log-softmax, its gradient and the casts back each move the whole matrix of tokens
 * by vocabulary. Kernels that compute the loss in pieces read the logits once in half precision and
 * write their gradient once.
 */
#include <string.h>

#include "diagnose/evidence/code_places.h"

/* Smaller vocabularies and batches cost little. */
#define VOCABULARY 16384
#define LARGE_BYTES 64e6

/* Half-precision logits are read once forward, and their gradient is written once. */
#define HALF_BYTES 2

struct large_logits {
	struct ss_rule_context *context;
	const struct ss_works *works;
	struct ss_code_places *sites;
	double columns;                  /* of log-softmax: hidden layers can be as wide */
	double moved_bytes, least_bytes; /* of all kernels; if the loss is one kernel */
	bool has_products;               /* logits are multiplied: targets are as large as they */
};

/* Targets with a value for each word, as label smoothing by hand has them. */
static const char dense_fix[] =
	"loss = F.cross_entropy(logits, words, label_smoothing=0.1)   # words: indices\n"
	"# targets with a value for each word are not needed for one-hot or\n"
	"# smoothed ones; for head and loss in pieces:\n"
	"from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss";

static bool name_is_log_softmax(const struct ss_trace *trace, uint32_t row)
{
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

	return strcmp(name, "aten::_log_softmax") == 0 ||
	       strcmp(name, "aten::_log_softmax_backward_data") == 0;
}

/* Whether it multiplies two tensors of that size; a factor for all is no target. */
static bool logits_are_multiplied(const struct ss_trace *trace, const struct ss_worker *worker,
				  const struct ss_work *work)
{
	const char *name = ss_strings_text(&trace->names, trace->slices.name[worker->row]);

	return (strcmp(name, "aten::mul") == 0 || strcmp(name, "aten::mul_") == 0) &&
	       work->moved_bytes > 2.5 * work->out_bytes;
}

/* The columns of the largest log-softmax over a large vocabulary; 0: there is none. */
static double logits_find_columns(const struct large_logits *logits)
{
	const struct ss_works *works = logits->works;
	double columns = 0, largest = LARGE_BYTES;

	for (uint32_t i = 0; i < works->worker_count; i++) {
		const struct ss_work *work = ss_works_item(works, &works->workers[i]);

		if (!work || work->columns < VOCABULARY || work->out_bytes < largest ||
		    !name_is_log_softmax(logits->context->trace, works->workers[i].row))
			continue;
		largest = work->out_bytes;
		columns = work->columns;
	}
	return columns;
}

/* The worker whose result has a column for each word of the vocabulary; else NULL. */
static const struct ss_worker *logits_worker(const struct large_logits *logits,
					     const struct ss_task *task)
{
	const struct ss_works *works = logits->works;
	uint32_t op;
	const struct ss_worker *worker;
	const struct ss_work *work;

	if (task->kind != SS_TASK_KERNEL || task->step == SS_NO_STEP)
		return NULL;
	op = ss_ops_launcher(works->ops, task->row);
	worker = op == SS_NO_ROW ? NULL : ss_works_worker(works, op);
	work = worker ? ss_works_item(works, worker) : NULL;
	return work && work->kind >= SS_WORK_COPY && work->kind <= SS_WORK_NORM &&
			       work->columns == logits->columns && work->out_bytes >= LARGE_BYTES &&
			       !worker->across && worker->device_ns > 0
		       ? worker
		       : NULL;
}

static void logits_measure(struct large_logits *logits, const struct ss_task *task)
{
	const struct ss_worker *worker = logits_worker(logits, task);
	const struct ss_work *work;
	double part;

	if (!worker)
		return;
	work = ss_works_item(logits->works, worker);
	part = (double)task->own_ns / (double)worker->device_ns;
	logits->moved_bytes += part * work->moved_bytes;
	if (name_is_log_softmax(logits->context->trace, worker->row))
		logits->least_bytes += part * HALF_BYTES * work->elements;
	logits->has_products |= logits_are_multiplied(logits->context->trace, worker, work);
}

static void logits_claim(struct large_logits *logits, uint32_t number)
{
	const struct ss_task *task = &logits->context->graph->tasks[number];
	const struct ss_worker *worker = logits_worker(logits, task);
	int64_t own_ns;

	if (!worker)
		return;
	own_ns = (int64_t)((double)task->own_ns * logits->least_bytes / logits->moved_bytes);
	/* torch.compile alone saves half as much */
	if (ss_rule_claim(logits->context,
			  (struct ss_claim){ .task = number,
					     .own_ns = own_ns,
					     .low_ns = own_ns + (task->own_ns - own_ns) / 2,
					     .high_ns = own_ns }))
		(void)ss_code_places_add(logits->sites,
					 logits->context->trace->slices.name[worker->row],
					 worker->row, task->own_ns);
}

static enum ss_status large_logits_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct large_logits logits = { .context = context };
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];

	SS_TRY(ss_facts_works(context->subject->facts, &logits.works, err));
	logits.columns = logits_find_columns(&logits);
	if (!(logits.columns > 0))
		return SS_OK;
	SS_TRY(ss_code_places_make(&logits.sites, context, err));
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		logits_measure(&logits, &graph->tasks[i]);
	if (logits.least_bytes <= 0 || logits.least_bytes >= logits.moved_bytes)
		return SS_OK;
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		logits_claim(&logits, i);
	ss_code_places_report(logits.sites, UINT32_MAX,
			      "%s moves all logits: {time} per step ({count} times)");
	if (logits.has_products)
		ss_rule_set_fix(context, dense_fix);
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "computed from the bytes that the kernels move");
	return SS_OK;
}

const struct ss_rule ss_rule_large_logits = {
	.name = "large-logits",
	.title = "The loss moves the logits of a large vocabulary several times",
	.summary = "Casts and softmax over a large vocabulary that one kernel could do",
	.fix = "from liger_kernel.transformers import \\\n"
	       "    LigerFusedLinearCrossEntropyLoss as Loss\n"
	       "loss = Loss()(head.weight, hidden, targets)   # head and loss in pieces\n"
	       "# or torch.compile around both, and no .float() of the logits",
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline operators",
	.warn_share = 0.10,
	.silent_share = 0.02,
	.why = "another loss is a small change, but it needs a library: below a tenth few would",
	.facts = SS_FACT_WORKS,
	.needs_device = true,
	.look = large_logits_look,
};
