/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_tensor_cores.c - rule: matmuls, convolutions and attention in FP32 on a device that
 * has tensor or matrix cores.
 *
 * If shapes are recorded, the types of the operands show it, and the kernels show whether they use
 * the cores. Otherwise the names of the kernels show it.
 */
#include <string.h>

#include "analyze/host/step_phase.h"
#include "analyze/kernel/category.h"
#include "base/text.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/work/speedup.h"

/* What the name of a kernel says. */
enum vector_use { VECTOR_NEW = 0, VECTOR_NO, VECTOR_FP32 };

struct fp32_products {
	struct ss_rule_context *context;
	struct ss_speedup speedup;
	struct ss_code_places *sites;
	const struct ss_kernel_name *names;
	uint8_t *uses; /* enum vector_use, per name */
	int64_t known_ns, guessed_ns;
	bool has_convs; /* some of the products are convolutions */
};

static const char fp16_fix[] =
	"scaler = torch.amp.GradScaler(\"cuda\")   # once\n"
	"with torch.autocast(\"cuda\", dtype=torch.float16):\n"
	"    loss = model(batch)\n"
	"scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()";

static const char amd_fix[] = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
			      "    loss = model(batch)";

/* Where nothing is trained there is no loss and no scaler. */
static const char infer_fp16_fix[] = "with torch.autocast(\"cuda\", dtype=torch.float16):\n"
				     "    y = model(x)";
static const char infer_bf16_fix[] = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
				     "    y = model(x)";
static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_INFERS, "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
			 "    y = model(x)\n"
			 "# less gain, same types: torch.set_float32_matmul_precision(\"high\")" },
	{ 0 },
};

/* Products in FP32 on vector units, as the libraries of NVIDIA and AMD name them. */
static bool name_is_vector_fp32(const char *name)
{
	static const char *const wanted[] = {
		"sgemm", "scudnn", "dgrad_engine<float", "wgrad_alg0_engine<float", "_ffma",
	};
	static const char *const halves[] = { "fp16", "bf16", "half", "bfloat16", "BFloat16" };

	if (ss_string_has_one_of(name, halves, SS_COUNT(halves)))
		return false;
	if (ss_string_has_one_of(name, wanted, SS_COUNT(wanted)))
		return true;
	/* Tensile: S is the type of the operands, B batched; MI the instruction of the cores */
	return strncmp(name, "Cijk_", 5) == 0 && (strstr(name, "_SB_") || strstr(name, "_S_B_")) &&
	       !strstr(name, "_MI");
}

static bool fp32_runs_on_vectors(struct fp32_products *products, uint32_t row)
{
	const struct ss_trace *trace = products->context->trace;
	uint32_t name = trace->slices.name[row];

	if (products->uses[name] == VECTOR_NEW)
		products->uses[name] = !(trace->name_flags[name] & SS_NAME_TENSOR_CORE) &&
						       name_is_vector_fp32(
							       ss_strings_text(&trace->names, name))
					       ? VECTOR_FP32
					       : VECTOR_NO;
	return products->uses[name] == VECTOR_FP32;
}

/* The operator whose product the kernel computes, if its type is known; else NULL. */
static const struct ss_worker *fp32_worker(const struct fp32_products *products, uint32_t row)
{
	const struct ss_works *works = products->speedup.works;
	uint32_t op = ss_ops_launcher(works->ops, row);
	const struct ss_worker *worker = op == SS_NO_ROW ? NULL : ss_works_worker(works, op);
	const struct ss_work *work = worker ? ss_works_item(works, worker) : NULL;

	return work && work->kind >= SS_WORK_MATMUL && work->dtype != SS_DTYPE_UNKNOWN ? worker
										       : NULL;
}

static bool fp32_product_is_slow(const struct fp32_products *products,
				 const struct ss_worker *worker)
{
	const struct ss_work *work = ss_works_item(products->speedup.works, worker);

	return work->dtype == SS_DTYPE_FP32 && worker->device_ns > 0 &&
	       (work->kind == SS_WORK_ATTENTION || !worker->tensor);
}

static int64_t fp32_share_ns(int64_t ns, int64_t all_ns, int64_t own_ns)
{
	return (int64_t)((double)ns / (double)all_ns * (double)own_ns);
}

/* Claims what a product in FP32 would save on the tensor cores. */
static void fp32_check_product(struct fp32_products *products, uint32_t number)
{
	const struct ss_trace *trace = products->context->trace;
	const struct ss_task *task = &products->context->graph->tasks[number];
	const struct ss_worker *worker = fp32_worker(products, task->row);
	uint32_t name = trace->slices.name[task->row];
	uint32_t site = trace->slices.link[task->row];
	struct ss_claim claim = { .task = number };
	struct ss_faster faster;

	if (worker) {
		int64_t all_ns = worker->device_ns;

		if (!fp32_product_is_slow(products, worker))
			return;
		faster = ss_speedup_of(&products->speedup, worker);
		claim.own_ns = fp32_share_ns(faster.own_ns, all_ns, task->own_ns);
		claim.low_ns = fp32_share_ns(faster.low_ns, all_ns, task->own_ns);
		claim.high_ns = fp32_share_ns(faster.high_ns, all_ns, task->own_ns);
		name = trace->slices.name[worker->row];
		site = worker->row;
	} else {
		if (!fp32_runs_on_vectors(products, task->row))
			return;
		faster = ss_speedup_of_kernel(task->own_ns);
		claim = (struct ss_claim){ .task = number,
					   .own_ns = faster.own_ns,
					   .low_ns = faster.low_ns,
					   .high_ns = faster.high_ns };
	}
	if (!ss_rule_claim(products->context, claim))
		return;
	products->has_convs |= worker &&
			       ss_works_item(products->speedup.works, worker)->kind == SS_WORK_CONV;
	ss_ns_add(worker ? &products->known_ns : &products->guessed_ns, task->own_ns);
	ss_code_places_add(products->sites, name, site, task->own_ns);
}

/* Under autocast these use the type of their inputs, which come from products. */
static bool name_is_activation(const char *name)
{
	static const char *const names[] = { "aten::relu",
					     "aten::threshold_backward",
					     "aten::gelu",
					     "aten::gelu_backward",
					     "aten::silu",
					     "aten::silu_backward",
					     "aten::leaky_relu",
					     "aten::leaky_relu_backward",
					     "aten::clamp_min",
					     "aten::cudnn_batch_norm",
					     "aten::cudnn_batch_norm_backward",
					     "aten::miopen_batch_norm",
					     "aten::miopen_batch_norm_backward",
					     "aten::native_batch_norm",
					     "aten::native_batch_norm_backward" };

	for (size_t i = 0; i < SS_COUNT(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0 &&
		    (!name[strlen(names[i])] || strcmp(name + strlen(names[i]), "_") == 0))
			return true;
	return false;
}

/* In a convolutional network, sums in forward and backward are of outputs of convolutions. */
static bool fp32_is_sum_of_products(const struct fp32_products *products, const char *name,
				    const struct ss_task *task)
{
	return products->has_convs &&
	       (task->phase == SS_PHASE_FORWARD || task->phase == SS_PHASE_BACKWARD) &&
	       (strcmp(name, "aten::add") == 0 || strcmp(name, "aten::add_") == 0);
}

/* FP32 activations then move half of the bytes; at worst they stay as they are. */
static void fp32_check_activation(struct fp32_products *products, uint32_t number)
{
	const struct ss_works *works = products->speedup.works;
	const struct ss_trace *trace = products->context->trace;
	const struct ss_task *task = &products->context->graph->tasks[number];
	uint32_t op = ss_ops_launcher(works->ops, task->row);
	const struct ss_work *work = op == SS_NO_ROW ? NULL : ss_works_of(works, op);
	const char *name;

	if (!work || work->dtype != SS_DTYPE_FP32 || task->own_ns < 2 * SS_SPEEDUP_FLOOR_NS)
		return;
	name = ss_strings_text(&trace->names, trace->slices.name[op]);
	if (!name_is_activation(name) && !fp32_is_sum_of_products(products, name, task))
		return;
	if (ss_rule_claim(products->context, (struct ss_claim){ .task = number,
								.own_ns = task->own_ns / 2,
								.low_ns = task->own_ns,
								.high_ns = task->own_ns / 2 }))
		ss_code_places_add(products->sites, trace->slices.name[op], op, task->own_ns);
}

static void fp32_check_kernels(struct fp32_products *products,
			       void (*look_at_one)(struct fp32_products *products, uint32_t number))
{
	const struct ss_graph *graph = products->context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];

	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (graph->tasks[i].kind == SS_TASK_KERNEL && graph->tasks[i].step != SS_NO_STEP)
			look_at_one(products, i);
}

static void fp32_report(struct fp32_products *products)
{
	struct ss_rule_context *context = products->context;
	const struct ss_speedup *speedup = &products->speedup;
	bool infers = context->job_kind & SS_JOB_INFERS;

	for (uint32_t i = 0; i < products->sites->count; i++) {
		const struct ss_code_place *site = &products->sites->items[i];
		const char *kernel = products->names[site->name].text;
		const struct ss_work *work = ss_works_of(speedup->works, site->row);

		ss_rule_add_evidence(
			context, ss_code_place_fact(site),
			work && work->kind < SS_WORK_MATMUL
				? "%s moves results in FP32, twice the bytes of half "
				  "precision: {time} per step ({count} times)"
				: "%s computes in FP32: {time} per step ({count} times)",
			kernel ? kernel : ss_strings_text(&context->trace->names, site->name));
	}
	if (!speedup->has_bf16)
		ss_rule_set_fix(context, infers ? infer_fp16_fix : fp16_fix);
	else if (!speedup->has_tf32)
		ss_rule_set_fix(context, infers ? infer_bf16_fix : amd_fix);
	if (products->guessed_ns > products->known_ns || !speedup->peaks)
		ss_rule_set_confidence(
			context, SS_CONFIDENCE_LOW,
			products->guessed_ns > products->known_ns
				? "most sizes are unknown; four times as fast is a guess"
				: "the GPU is not in the table of peaks: four times as fast "
				  "is a guess");
	else if (speedup->rate[SS_WORK_MATMUL] > 0 || speedup->rate[SS_WORK_CONV] > 0)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace has products in half precision to compare with");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "computed from the sizes and the GPU's peak rates");
}

static enum ss_status no_tensor_cores_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct fp32_products products = { .context = context };

	SS_TRY(ss_speedup_init(&products.speedup, context, err));
	if (!products.speedup.has_cores)
		return SS_OK;
	SS_TRY(ss_code_places_make(&products.sites, context, err));
	SS_TRY(ss_facts_kernel_names(context->subject->facts, &products.names, err));
	if (!SS_ALLOC(context->scratch, products.uses, (size_t)context->trace->names.count + 1))
		return ss_fail_memory(err, "the matmuls");
	fp32_check_kernels(&products, fp32_check_product);
	if (products.sites->count)
		fp32_check_kernels(&products, fp32_check_activation);
	ss_code_places_sort(products.sites);
	if (products.sites->count)
		fp32_report(&products);
	return SS_OK;
}

const struct ss_rule ss_rule_no_tensor_cores = {
	.name = "no-tensor-cores",
	.title = "Matmuls run in FP32 and leave the tensor cores idle",
	.summary = "Matmuls, convolutions and attention in FP32 while the tensor cores idle",
	.fix = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
	       "    loss = model(batch)\n"
	       "# less gain, same types: torch.set_float32_matmul_precision(\"high\")",
	.fixes = by_kind,
	.to_record = "record_shapes=True records sizes and types of the operands",
	.views = "kernels roofline",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "it changes the numbers, which have to be checked: below 5 % few would do that, "
	       "below 2 % nobody",
	.facts = SS_FACT_WORKS,
	.needs_device = true,
	.look = no_tensor_cores_look,
};
