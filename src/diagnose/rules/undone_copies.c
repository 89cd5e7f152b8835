/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undone_copies.c - rule: a tensor is cast or copied, and the next operator casts or copies it
 * back.
 *
 * x.double().float() and x.t().contiguous().t().contiguous() touch the whole tensor twice and
 * compute nothing. Casts that operators need (autocast) are within these operators; a cast that
 * stands alone was written by someone. If the job has a device, the kernels of both disappear, and
 * only pairs with known types and sizes count: recorded, or shown by names and grids of kernels.
 */
#include <string.h>

#include "analyze/host/op_category.h"
#include "analyze/time/moment.h"
#include "analyze/work/work.h"
#include "base/text.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"

/* Smaller tensors are a few numbers: only the call costs time. */
#define ELEMENTS_MIN 1024
#define COPY_NS 10000

/*
 * If types and sizes are not recorded, two consecutive casts may concern two tensors. So only
 * chains of exactly two count (q, k and v are three), and only if each step has a few pairs: one
 * per layer of a model is a pattern.
 */
#define PAIRS_MIN 3

/* The longest chain of copies that is searched for pairs. */
#define CHAIN_MAX 8

/* Both copies of one tensor take about as long, except for effects of caches. */
#define ALIKE_TIMES 4

enum tensor_copy_kind { NO_COPY, CAST, LAYOUT };

struct tensor_copy {
	enum tensor_copy_kind kind;
	uint32_t row, inner; /* the operator, and the aten::copy_ in it */
	uint32_t step;
	int64_t end_ns, fast_ns;
};

/* Copies with nothing but views between them. */
struct copy_chain {
	struct tensor_copy items[CHAIN_MAX];
	uint32_t count;
};

struct undone_copies {
	struct ss_rule_context *context;
	const struct ss_ops *ops;
	const struct ss_op_runs *runs; /* NULL: the job has a device */
	struct ss_code_places *sites;
	uint8_t *is_gone; /* per host row, of jobs with a device: what it launched goes */
	uint8_t *kinds;   /* per name: enum tensor_copy_kind */
	uint8_t *changes; /* per name: enum name_change */
	uint8_t *casts;   /* per name: enum cast_kernel, where sizes are not recorded */
	uint32_t *kernel; /* per host row: the last such kernel that it launched + 1 */
	uint32_t copy_;   /* name of aten::copy_ */
	int64_t pairs, sure, ns;
};

/* What kernels of casts say: of vectors they name both types. Pairs differ in the last bit. */
enum cast_kernel {
	CAST_UNKNOWN = 0,
	CAST_FROM_BF16 = 2,
	CAST_TO_BF16 = 3,
	CAST_FROM_FP16 = 4,
	CAST_TO_FP16 = 5,
};

static enum cast_kernel cast_of_kernel(const char *name)
{
	bool from_float = strstr(name, "{lambda(float)") != NULL;

	if (!strstr(name, "_copy_kernel"))
		return CAST_UNKNOWN;
	if (strstr(name, "bfloat16tofloat32_copy"))
		return CAST_FROM_BF16;
	if (strstr(name, "float16tofloat32_copy"))
		return CAST_FROM_FP16;
	if (strstr(name, "bfloat16_copy"))
		return from_float ? CAST_TO_BF16 : CAST_UNKNOWN;
	return strstr(name, "float16_copy") && from_float ? CAST_TO_FP16 : CAST_UNKNOWN;
}

static enum tensor_copy_kind undone_kind_of_name(const char *name)
{
	if (strcmp(name, "aten::to") == 0 || strcmp(name, "aten::_to_copy") == 0)
		return CAST;
	return strcmp(name, "aten::contiguous") == 0 || strcmp(name, "aten::clone") == 0 ? LAYOUT
											 : NO_COPY;
}

/* Whether an operator of that name is neither a view nor a wrapper of autograd; checked once. */
enum name_change { CHANGE_NEW, CHANGE_NOTHING, CHANGES };

static bool undone_name_changes(const struct undone_copies *undone, uint32_t id)
{
	const char *name = ss_strings_text(&undone->context->trace->names, id);
	uint8_t *known = &undone->changes[id];

	if (*known == CHANGE_NEW)
		*known = strncmp(name, "aten::", 6) == 0 && ss_op_category(name) != SS_OP_MEMORY
				 ? CHANGES
				 : CHANGE_NOTHING;
	return *known == CHANGES;
}

static bool undone_classify_names(struct undone_copies *undone)
{
	const struct ss_trace *trace = undone->context->trace;

	if (!SS_ALLOC(undone->context->scratch, undone->kinds, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(undone->context->scratch, undone->changes, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(undone->context->scratch, undone->is_gone, (size_t)trace->device_from + 1))
		return false;
	for (uint32_t i = 0; i < trace->names.count; i++) {
		const char *name = ss_strings_text(&trace->names, i);

		undone->kinds[i] = (uint8_t)undone_kind_of_name(name);
		if (strcmp(name, "aten::copy_") == 0)
			undone->copy_ = i;
	}
	return true;
}

/* Whether no operator contains it, except a cast's backward, and layers that run again in it. */
static bool undone_is_alone(const struct undone_copies *undone, uint32_t row)
{
	static const char *const allowed[] = { "ToCopyBackward", "CheckpointFunctionBackward" };
	const struct ss_trace *trace = undone->context->trace;
	uint32_t owner = undone->ops->owner[row];

	for (; owner != SS_NO_ROW; owner = undone->ops->owner[owner])
		if (!ss_string_has_one_of(ss_strings_text(&trace->names, trace->slices.name[owner]),
					  allowed, SS_COUNT(allowed)))
			return false;
	return true;
}

/* The copy that an operator makes; NO_COPY: it had nothing to do. */
static struct tensor_copy undone_read_copy(const struct undone_copies *undone, uint32_t row)
{
	const struct ss_trace *trace = undone->context->trace;
	uint32_t end = ss_cpu_row_end(trace, row);
	struct tensor_copy copy = { .kind = undone->kinds[trace->slices.name[row]],
				    .row = row,
				    .end_ns = ss_slice_end(&trace->slices, row),
				    .step = ss_step_at(trace, trace->slices.start_ns[row]) };

	for (copy.inner = row; copy.inner < end; copy.inner++)
		if (trace->slices.name[copy.inner] == undone->copy_ &&
		    trace->slices.kind[copy.inner] == SS_KIND_OP)
			break;
	if (copy.inner >= end || (undone->runs && undone->runs->group_of[copy.inner] == SS_NO_ROW))
		return (struct tensor_copy){ .kind = NO_COPY };
	if (!undone->runs)
		return copy;
	copy.fast_ns = undone->runs->groups[undone->runs->group_of[copy.inner]].fast_ns;
	return copy;
}

/* Destination and source of an aten::copy_; false: not recorded. */
static bool undone_read_operands(const struct undone_copies *undone, const struct tensor_copy *copy,
				 struct ss_operands *out)
{
	const struct ss_trace *trace = undone->context->trace;
	uint32_t args = trace->slices.args[copy->inner];

	return args != SS_NO_ARGS &&
	       ss_operands_read(out, trace, ss_records_at(&trace->op_args, args)) &&
	       out->count >= 2 && out->items[0].is_tensor && out->items[1].is_tensor;
}

/* Whether both have the same sizes in a different order. */
static bool operand_is_permuted(const struct ss_operand *a, const struct ss_operand *b)
{
	uint32_t same = 0;
	bool used[SS_OPERAND_DIMS_MAX] = { false };

	for (uint32_t i = 0; i < a->rank && i < SS_OPERAND_DIMS_MAX && a->rank == b->rank; i++)
		for (uint32_t k = 0; k < b->rank && k < SS_OPERAND_DIMS_MAX; k++)
			if (!used[k] && a->dims[i] == b->dims[k]) {
				used[k] = true;
				same++;
				break;
			}
	return same == a->rank && memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) != 0;
}

/* Without sizes: whether the kernels of both cast there and back, with the same grid. */
static bool undone_kernels_are_pair(const struct undone_copies *undone,
				    const struct tensor_copy *first,
				    const struct tensor_copy *second)
{
	const struct ss_trace *trace = undone->context->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t a = undone->kernel[first->inner], b = undone->kernel[second->inner];
	const struct ss_kernel_args *one, *other;

	if (!a-- || !b-- ||
	    (undone->casts[slices->name[a]] ^ 1) != undone->casts[slices->name[b]] ||
	    slices->args[a] == SS_NO_ARGS || slices->args[b] == SS_NO_ARGS)
		return false;
	one = ss_records_at(&trace->kernel_args, slices->args[a]);
	other = ss_records_at(&trace->kernel_args, slices->args[b]);
	return memcmp(one->grid, other->grid, sizeof(one->grid)) == 0 &&
	       memcmp(one->block, other->block, sizeof(one->block)) == 0;
}

/* Whether the second copy undoes the first: 1 yes, 0 no, -1 unknown. */
static int undone_is_pair(const struct undone_copies *undone, const struct tensor_copy *first,
			  const struct tensor_copy *second)
{
	struct ss_operands a, b;

	if (!undone_read_operands(undone, first, &a) || !undone_read_operands(undone, second, &b))
		return -1;
	if (ss_operand_elements(&a.items[0]) < ELEMENTS_MIN)
		return 0;
	if (first->kind == LAYOUT)
		return a.items[0].dtype == b.items[0].dtype &&
		       operand_is_permuted(&a.items[0], &b.items[0]);
	return a.items[0].dtype == b.items[1].dtype && a.items[1].dtype == b.items[0].dtype &&
	       a.items[0].dtype != a.items[1].dtype && a.items[0].rank == b.items[0].rank &&
	       memcmp(a.items[0].dims, b.items[0].dims,
		      a.items[0].rank * sizeof(*a.items[0].dims)) == 0;
}

static bool undone_takes_as_long(const struct tensor_copy *first, const struct tensor_copy *second)
{
	return first->fast_ns >= COPY_NS && second->fast_ns >= COPY_NS &&
	       first->fast_ns / ALIKE_TIMES <= second->fast_ns &&
	       second->fast_ns / ALIKE_TIMES <= first->fast_ns;
}

/* Claims the host's time of a copy; with a device also marks what it launches. */
static void undone_claim_copy(struct undone_copies *undone, const struct tensor_copy *copy)
{
	const struct ss_slices *slices = &undone->context->trace->slices;
	int64_t ns = slices->dur_ns[copy->row];
	uint32_t end = ss_cpu_row_end(undone->context->trace, copy->row);

	ss_rule_claim_time(undone->context,
			   (struct ss_stretch){ .track = slices->track[copy->row],
						.from_ns = slices->start_ns[copy->row],
						.to_ns = copy->end_ns,
						.low_keep_ns = ns / 2 });
	if (!undone->runs) { /* what it launched is claimed when all are known */
		memset(&undone->is_gone[copy->row], true, end - copy->row);
		return;
	}
	undone->ns = ss_ns_sum(undone->ns, ns);
	ss_code_places_add(undone->sites, slices->name[copy->row], copy->row, ns);
}

/* Claims the kernels that the casts launched. */
static void undone_claim_kernels(struct undone_copies *undone)
{
	const struct ss_graph *graph = undone->context->graph;
	struct ss_task_range tasks = ss_replay_device_tasks(graph);
	const struct ss_slices *slices = &undone->context->trace->slices;

	for (uint32_t i = tasks.from; i < tasks.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t launch = ss_task_on_device(task->kind) ? slices->link[task->row]
								: SS_NO_ROW;

		if (launch >= undone->context->trace->device_from || !undone->is_gone[launch] ||
		    task->step == SS_NO_STEP ||
		    !ss_rule_claim(undone->context, (struct ss_claim){ .task = i,
								       .low_ns = task->own_ns / 2,
								       .scales = true }))
			continue;
		undone->ns = ss_ns_sum(undone->ns, task->own_ns);
		ss_code_places_add(undone->sites, slices->name[undone->ops->owner[launch]], launch,
				   task->own_ns);
	}
}

/* Without sizes. */
static bool undone_is_guessed(const struct undone_copies *undone, const struct copy_chain *chain,
			      const struct tensor_copy *first, const struct tensor_copy *second)
{
	return undone->runs ? chain->count == 2 && undone_takes_as_long(first, second)
			    : undone_kernels_are_pair(undone, first, second);
}

/* Counts or claims the pairs of a chain, and empties it. */
static void undone_end_chain(struct undone_copies *undone, struct copy_chain *chain, bool claims)
{
	for (uint32_t i = 0; i + 1 < chain->count; i++) {
		const struct tensor_copy *first = &chain->items[i], *second = first + 1;
		int answer = undone_is_pair(undone, first, second);

		if (answer < 0)
			answer = undone_is_guessed(undone, chain, first, second) ? -1 : 0;
		if (!answer)
			continue;
		if (claims) {
			undone_claim_copy(undone, first);
			undone_claim_copy(undone, second);
		} else {
			undone->pairs++;
			undone->sure += answer == 1;
		}
		i++;
	}
	chain->count = 0;
}

static bool undone_chain_goes_on(const struct undone_copies *undone, const struct copy_chain *chain,
				 const struct tensor_copy *copy)
{
	const struct tensor_copy *last = &chain->items[chain->count - 1];
	const struct ss_slices *slices = &undone->context->trace->slices;

	return chain->count < CHAIN_MAX && last->kind == copy->kind && last->step == copy->step &&
	       slices->track[last->row] == slices->track[copy->row];
}

/* Builds chains: consecutive copies with only views between them. */
static void undone_walk_rows(struct undone_copies *undone, bool claims)
{
	const struct ss_trace *trace = undone->context->trace;
	struct copy_chain chain = { .count = 0 };

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t name = trace->slices.name[row];
		struct tensor_copy copy = { .kind = NO_COPY };

		if (trace->slices.kind[row] != SS_KIND_OP || !undone_name_changes(undone, name))
			continue;
		if (undone->kinds[name] != NO_COPY && undone_is_alone(undone, row))
			copy = undone_read_copy(undone, row);
		if (chain.count && !undone_chain_goes_on(undone, &chain, &copy))
			undone_end_chain(undone, &chain, claims);
		if (copy.kind != NO_COPY && copy.step != SS_NO_ROW)
			chain.items[chain.count++] = copy;
		row = ss_cpu_row_last(trace, row);
	}
	undone_end_chain(undone, &chain, claims);
}

/* If sizes are not recorded: the kernels that cast; false: no memory. */
static bool undone_find_casts(struct undone_copies *undone)
{
	const struct ss_trace *trace = undone->context->trace;
	const struct ss_slices *slices = &trace->slices;

	if (!SS_ALLOC(undone->context->scratch, undone->casts, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(undone->context->scratch, undone->kernel, (size_t)trace->device_from + 1))
		return false;
	if (ss_works_have_shapes(trace))
		return true;
	for (uint32_t i = 0; i < trace->names.count; i++)
		undone->casts[i] = (uint8_t)cast_of_kernel(ss_strings_text(&trace->names, i));
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t op = undone->casts[slices->name[row]] ? ss_ops_launcher(undone->ops, row)
							       : SS_NO_ROW;

		if (op != SS_NO_ROW)
			undone->kernel[op] = row + 1;
	}
	return true;
}

static void undone_report(struct undone_copies *undone)
{
	struct ss_rule_context *context = undone->context;
	struct ss_fact all = { undone->ns, (double)undone->pairs, SS_NO_ROW };

	ss_rule_add_evidence(
		context, all,
		"a tensor is cast or copied and then back {count} times per step, with no "
		"computation in between: {time}");
	ss_code_places_report(undone->sites, 3, "%s copies {count} times per step: {time}");
	if (undone->sure == undone->pairs)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "types and sizes show that the next cast undoes each cast");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "that the copies concern the same tensor is a guess");
}

static enum ss_status undone_copies_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct undone_copies undone = { .context = context };
	int64_t steps = context->steps->count;

	SS_TRY(ss_facts_ops(context->subject->facts, &undone.ops, err));
	if (context->digest->device < 0)
		SS_TRY(ss_facts_op_runs(context->subject->facts, &undone.runs, err));
	SS_TRY(ss_code_places_make(&undone.sites, context, err));
	if (!undone_classify_names(&undone))
		return ss_fail_memory(err, "the copies");
	if (!undone.copy_)
		return SS_OK;
	if (!undone.runs && !undone_find_casts(&undone))
		return ss_fail_memory(err, "the casts");
	undone_walk_rows(&undone, false);
	if (undone.pairs < (undone.sure == undone.pairs ? 1 : PAIRS_MIN) * steps)
		return SS_OK;
	undone_walk_rows(&undone, true);
	if (!undone.runs)
		undone_claim_kernels(&undone);
	if (undone.ns)
		undone_report(&undone);
	return SS_OK;
}

const struct ss_rule ss_rule_undone_copies = {
	.name = "undone-copies",
	.title = "Redundant copies: tensors are cast or copied, then back",
	.summary = "x.double().float() and similar: two copies with no computation in between",
	.fix = "y = layer(x)   # not layer(x.double().float())\n"
	       "# keep the tensor in the type and layout that the next layer needs",
	.to_record = "record_shapes=True shows types and sizes; with_stack=True names the line",
	.views = "operators kernels",
	.warn_share = 0.05,
	.silent_share = 0.01,
	.why = "removing one call fixes it, so 1 % is worth reporting and 5 % a warning",
	.facts = SS_FACT_OPS,
	.host_facts = SS_FACT_OP_RUNS,
	.look = undone_copies_look,
};
