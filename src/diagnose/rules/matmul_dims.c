/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul_dims.c - rule: half-precision products whose sizes keep them from the fast kernels.
 *
 * Tensor cores read 16 bytes at once: eight half-precision numbers. If the length of a row is not
 * a multiple of eight, kernels read one or two numbers at a time (they are called align1, align2)
 * or do not use tensor cores at all. Padded to the next multiple of eight, a product reaches the
 * speed of others in the same file.
 */
#include <string.h>

#include "diagnose/work/slow_work.h"
#include "diagnose/work/speedup.h"

/* Tensor cores read 16 bytes at once: this many fp16 or bf16 numbers. */
#define MULTIPLE 8

/* Shorter kernels are bound by latency. */
#define KERNEL_NS 20000

/* Padding gains at most this much: align1 kernels reach a quarter of the others' speed. */
#define TIMES_MAX 4
/* If the file has no other products to compare with. */
#define TIMES 2

enum dims_verdict { DIMS_NEW = 0, DIMS_FINE, DIMS_ODD };

struct matmul_dims {
	struct ss_rule_context *context;
	const struct ss_works *works;
	uint8_t *args; /* enum dims_verdict, per record of op_args */
	uint8_t *slow; /* per name of a kernel: 1 it reads few at a time, 2 it does not */
	double rate;   /* FLOP/s of products with good sizes; 0: there are none */
	struct ss_reachable reachable;
	struct ss_slow_places places;
};

/* The row length of an operand in memory; 0: unknown. */
static int64_t operand_row_length(const struct ss_operand *operand)
{
	for (uint32_t i = operand->rank; operand->has_strides && i-- > 0;)
		if (operand->strides[i] == 1)
			return operand->dims[i];
	return operand->has_strides || !operand->rank ? 0 : operand->dims[operand->rank - 1];
}

/* Whether a matrix of the product has rows whose length is not a multiple of eight. */
static bool matmul_has_odd_rows(struct matmul_dims *dims, uint32_t row)
{
	const struct ss_trace *trace = dims->context->trace;
	uint32_t args = trace->slices.args[row];
	struct ss_operands operands;
	uint8_t *verdict;

	if (args == SS_NO_ARGS)
		return false;
	verdict = &dims->args[args];
	if (*verdict != DIMS_NEW)
		return *verdict == DIMS_ODD;
	*verdict = DIMS_FINE;
	if (!ss_operands_read(&operands, trace, ss_records_at(&trace->op_args, args)))
		return false;
	for (uint32_t i = 0; i < operands.count; i++) {
		const struct ss_operand *operand = ss_operand_tensor(&operands, i);

		if (operand && operand->rank == 2 && operand_row_length(operand) > MULTIPLE &&
		    operand_row_length(operand) % MULTIPLE)
			*verdict = DIMS_ODD;
	}
	return *verdict == DIMS_ODD;
}

/* Kernels of AMD's libraries have the numbers that they read at once in their names. */
static bool name_has_narrow_reads(const char *name)
{
	static const char *const parts[] = { "_GLVWA", "_GLVWB" };

	for (size_t i = 0; i < SS_COUNT(parts); i++) {
		const char *at = strstr(name, parts[i]);
		const char *width = at ? at + strlen(parts[i]) : "";

		if (*width >= '1' && *width < '8' && width[1] == '_')
			return true;
	}
	return false;
}

static bool matmul_kernel_reads_few(struct matmul_dims *dims, uint32_t name)
{
	const struct ss_trace *trace = dims->context->trace;
	const char *text = ss_strings_text(&trace->names, name);

	if (!dims->slow[name])
		dims->slow[name] = !(trace->name_flags[name] & SS_NAME_TENSOR_CORE) ||
						   strstr(text, "align1") ||
						   strstr(text, "align2") ||
						   strstr(text, "align4") ||
						   name_has_narrow_reads(text)
					   ? 1
					   : 2;
	return dims->slow[name] == 1;
}

/* A half-precision matmul of two matrices; batched ones are mostly attention. */
static bool matmul_is_half(const struct matmul_dims *dims, const struct ss_worker *worker)
{
	const struct ss_work *work = ss_works_item(dims->works, worker);

	return work && work->kind == SS_WORK_MATMUL && work->has_flops &&
	       (work->dtype == SS_DTYPE_FP16 || work->dtype == SS_DTYPE_BF16) &&
	       worker->device_ns > 0;
}

static void matmul_measure_rate(struct matmul_dims *dims)
{
	double flops = 0, ns = 0;

	for (uint32_t i = 0; i < dims->works->worker_count; i++) {
		const struct ss_worker *worker = &dims->works->workers[i];

		if (matmul_is_half(dims, worker) && worker->tensor &&
		    !matmul_has_odd_rows(dims, worker->row)) {
			flops += ss_works_item(dims->works, worker)->flops;
			ns += (double)worker->device_ns;
		}
	}
	dims->rate = ns > 0 ? flops * 1e9 / ns : 0;
}

/* Claims what a product with odd sizes would save at the speed of padded ones. */
static void matmul_check_kernel(struct matmul_dims *dims, uint32_t number)
{
	const struct ss_task *task = &dims->context->graph->tasks[number];
	const struct ss_slices *slices = &dims->context->trace->slices;
	struct ss_slow_kernel reach;
	const struct ss_worker *worker;
	double ns = (double)task->own_ns / TIMES, share;
	int64_t own_ns;

	if (task->own_ns < KERNEL_NS)
		return;
	reach = ss_slow_kernel_of(&dims->reachable, task);
	worker = reach.worker;
	if (!dims->reachable.is_published)
		reach.limit = SS_LIMIT_UNKNOWN;
	if (!worker || !matmul_is_half(dims, worker) || !matmul_has_odd_rows(dims, worker->row) ||
	    !matmul_kernel_reads_few(dims, slices->name[task->row]) ||
	    ss_slow_kernel_is_good(&reach, task))
		return;
	share = (double)task->own_ns / (double)worker->device_ns;
	if (dims->rate > 0)
		ns = ss_works_item(dims->works, worker)->flops * 1e9 / dims->rate * share;
	if (ns < (double)task->own_ns / TIMES_MAX)
		ns = (double)task->own_ns / TIMES_MAX;
	if (reach.limit != SS_LIMIT_UNKNOWN && ns < reach.ns)
		ns = reach.ns;
	own_ns = ns < (double)task->own_ns ? (int64_t)ns : task->own_ns;
	/* at worst half of it: copies into the padded form cost time, too */
	if (ss_rule_claim(dims->context,
			  (struct ss_claim){ .task = number,
					     .own_ns = own_ns,
					     .low_ns = own_ns + (task->own_ns - own_ns) / 2,
					     .high_ns = own_ns }))
		ss_slow_places_add(&dims->places, slices->name[worker->row], worker->row,
				   task->own_ns, &reach);
}

static void matmul_dims_report(struct matmul_dims *dims)
{
	struct ss_rule_context *context = dims->context;

	ss_slow_places_report(&dims->places, " with rows that are not a multiple of 8", NULL);
	ss_rule_set_confidence(context, dims->rate > 0 ? SS_CONFIDENCE_MEDIUM : SS_CONFIDENCE_LOW,
			       dims->rate > 0
				       ? "the trace has products with aligned sizes to compare"
				       : "twice as fast is a guess");
}

static enum ss_status matmul_dims_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct matmul_dims dims = { .context = context };
	struct ss_speedup speedup;
	const struct ss_trace *trace = context->trace;
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];

	SS_TRY(ss_speedup_init(&speedup, context, err));
	if (!speedup.has_cores)
		return SS_OK;
	dims.works = speedup.works;
	ss_reachable_init(&dims.reachable, dims.works, ss_slow_work_device(context));
	SS_TRY(ss_code_places_make(&dims.places.sites, context, err));
	if (!SS_ALLOC(context->scratch, dims.args, (size_t)trace->op_args.count + 1) ||
	    !SS_ALLOC(context->scratch, dims.slow, (size_t)trace->names.count + 1))
		return ss_fail_memory(err, "the sizes of products");
	matmul_measure_rate(&dims);
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (graph->tasks[i].kind == SS_TASK_KERNEL && graph->tasks[i].step != SS_NO_STEP)
			matmul_check_kernel(&dims, i);
	if (dims.places.sites->count)
		matmul_dims_report(&dims);
	return SS_OK;
}

const struct ss_rule ss_rule_matmul_dims = {
	.name = "matmul-dims",
	.title = "Sizes that are not a multiple of 8 keep products from the fast kernels",
	.summary = "Half-precision products whose sizes are not multiples of 8",
	.fix = "vocabulary = (vocabulary + 63) // 64 * 64   # pad to a multiple of 8\n"
	       "tokenizer(..., padding=True, pad_to_multiple_of=8)",
	.to_record = "record_shapes=True records the sizes",
	.views = "roofline kernels",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "padding changes the model: few would do it for less than 5 %",
	.keeps_work = true,
	.facts = SS_FACT_WORKS,
	.needs_device = true,
	.look = matmul_dims_look,
};
