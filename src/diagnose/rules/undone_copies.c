/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undone_copies.c - rule: a tensor is cast or copied, and the next operator casts or copies it
 * back.
 *
 * x.double().float() and x.t().contiguous().t().contiguous() touch the whole tensor twice and
 * compute nothing. Casts that operators need (autocast) are inside of these operators; someone
 * wrote those that stand alone. If the job has a device, the kernels of both go, and only pairs
 * with recorded types and sizes count.
 */
#include <string.h>

#include "analyze/host/op_category.h"
#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/host_rows.h"

/* Smaller ones are single numbers: their call is all they cost. */
#define ELEMENTS_MIN 1024
#define COPY_NS 10000

/*
 * Where types and sizes are not recorded, two casts in a row may be of two tensors. So only
 * exactly two count (q, k and v are three), and a few pairs per step: one for each layer of a
 * model is a pattern.
 */
#define PAIRS_MIN 3

/* Copies that follow each other; more are one of many. */
#define CHAIN_MAX 8

/* Copies of one tensor there and back take as long, up to caches. */
#define ALIKE_TIMES 4

enum kind { NO_COPY, CAST, LAYOUT };

struct copy {
	enum kind kind;
	uint32_t row, inner; /* the operator, and the aten::copy_ in it */
	uint32_t step;
	int64_t end_ns, fast_ns;
};

/* Copies with nothing but views between them. */
struct chain {
	struct copy items[CHAIN_MAX];
	uint32_t count;
};

struct undone {
	struct ss_look *look;
	const struct ss_ops *ops;
	const struct ss_op_runs *runs; /* NULL: the job has a device */
	struct ss_code_places sites;
	uint8_t *is_gone; /* per host row, of jobs with a device: what it launched goes */
	uint8_t *kinds;   /* per name: enum kind */
	uint8_t *changes; /* per name: enum change */
	uint32_t copy_;   /* name of aten::copy_ */
	int64_t pairs, sure, ns;
};

static enum kind kind_of(const char *name)
{
	if (strcmp(name, "aten::to") == 0 || strcmp(name, "aten::_to_copy") == 0)
		return CAST;
	return strcmp(name, "aten::contiguous") == 0 || strcmp(name, "aten::clone") == 0 ? LAYOUT
											 : NO_COPY;
}

/* Whether an operator of that name is no view and no wrapper of autograd; looked at once. */
enum change { CHANGE_NEW, CHANGE_NOTHING, CHANGES };

static bool changes(const struct undone *undone, uint32_t id)
{
	const char *name = ss_strings_text(&undone->look->trace->names, id);
	uint8_t *known = &undone->changes[id];

	if (*known == CHANGE_NEW)
		*known = strncmp(name, "aten::", 6) == 0 && ss_op_category(name) != SS_OP_MEMORY
				 ? CHANGES
				 : CHANGE_NOTHING;
	return *known == CHANGES;
}

static bool prepare(struct undone *undone, struct ss_arena *scratch)
{
	const struct ss_trace *trace = undone->look->trace;

	undone->kinds = SS_ARENA_NEW(scratch, uint8_t, (size_t)trace->names.count + 1);
	undone->changes = SS_ARENA_NEW(scratch, uint8_t, (size_t)trace->names.count + 1);
	undone->is_gone = SS_ARENA_NEW(scratch, uint8_t, (size_t)trace->device_from + 1);
	if (!undone->kinds || !undone->changes || !undone->is_gone)
		return false;
	for (uint32_t i = 0; i < trace->names.count; i++) {
		const char *name = ss_strings_text(&trace->names, i);

		undone->kinds[i] = (uint8_t)kind_of(name);
		if (strcmp(name, "aten::copy_") == 0)
			undone->copy_ = i;
	}
	return true;
}

/* Stands by itself: nothing is around it but what autograd wraps around a cast's own backward. */
static bool is_alone(const struct undone *undone, uint32_t row)
{
	const struct ss_trace *trace = undone->look->trace;
	uint32_t owner = undone->ops->owner[row];

	for (; owner != SS_NO_ROW; owner = undone->ops->owner[owner])
		if (!strstr(ss_strings_text(&trace->names, trace->slices.name[owner]),
			    "ToCopyBackward"))
			return false;
	return true;
}

/* The copy that an operator is, or NO_COPY: it had nothing to do. */
static struct copy read_copy(const struct undone *undone, uint32_t row)
{
	const struct ss_trace *trace = undone->look->trace;
	uint32_t end = ss_row_behind(trace, row);
	struct copy copy = { .kind = undone->kinds[trace->slices.name[row]],
			     .row = row,
			     .end_ns = ss_slice_end(&trace->slices, row),
			     .step = ss_step_at(trace, trace->slices.start_ns[row]) };

	for (copy.inner = row; copy.inner < end; copy.inner++)
		if (trace->slices.name[copy.inner] == undone->copy_ &&
		    trace->slices.kind[copy.inner] == SS_KIND_OP)
			break;
	if (copy.inner >= end || (undone->runs && undone->runs->group_of[copy.inner] == SS_NO_ROW))
		return (struct copy){ .kind = NO_COPY };
	if (!undone->runs)
		return copy;
	copy.fast_ns = undone->runs->groups[undone->runs->group_of[copy.inner]].fast_ns;
	return copy;
}

/* Destination and source of an aten::copy_; false: not recorded. */
static bool read_operands(const struct undone *undone, const struct copy *copy,
			  struct ss_operands *out)
{
	const struct ss_trace *trace = undone->look->trace;
	uint32_t args = trace->slices.args[copy->inner];

	return args != SS_NO_ARGS &&
	       ss_operands_read(out, trace, ss_records_at(&trace->op_args, args)) &&
	       out->count >= 2 && out->items[0].is_tensor && out->items[1].is_tensor;
}

/* The sizes of one are those of the other in another order. */
static bool is_permuted(const struct ss_operand *a, const struct ss_operand *b)
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

/* Whether the second undoes the first: 1 yes, 0 no, -1 not known. */
static int undoes(const struct undone *undone, const struct copy *first, const struct copy *second)
{
	struct ss_operands a, b;

	if (!read_operands(undone, first, &a) || !read_operands(undone, second, &b))
		return -1;
	if (ss_operand_elements(&a.items[0]) < ELEMENTS_MIN)
		return 0;
	if (first->kind == LAYOUT)
		return a.items[0].dtype == b.items[0].dtype &&
		       is_permuted(&a.items[0], &b.items[0]);
	return a.items[0].dtype == b.items[1].dtype && a.items[1].dtype == b.items[0].dtype &&
	       a.items[0].dtype != a.items[1].dtype && a.items[0].rank == b.items[0].rank &&
	       memcmp(a.items[0].dims, b.items[0].dims,
		      a.items[0].rank * sizeof(*a.items[0].dims)) == 0;
}

static bool is_alike(const struct copy *first, const struct copy *second)
{
	return first->fast_ns >= COPY_NS && second->fast_ns >= COPY_NS &&
	       first->fast_ns / ALIKE_TIMES <= second->fast_ns &&
	       second->fast_ns / ALIKE_TIMES <= first->fast_ns;
}

static void claim_copy(struct undone *undone, const struct copy *copy)
{
	const struct ss_slices *slices = &undone->look->trace->slices;
	int64_t ns = slices->dur_ns[copy->row];
	uint32_t end = ss_row_behind(undone->look->trace, copy->row);

	ss_look_claim_time(undone->look,
			   (struct ss_stretch){ .track = slices->track[copy->row],
						.from_ns = slices->start_ns[copy->row],
						.to_ns = copy->end_ns,
						.low_keep_ns = ns / 2 });
	if (!undone->runs) { /* what it launched is claimed when all are known */
		memset(&undone->is_gone[copy->row], true, end - copy->row);
		return;
	}
	undone->ns = ss_ns_sum(undone->ns, ns);
	ss_code_places_add(&undone->sites, slices->name[copy->row], copy->row, ns);
}

/* What the casts launched. */
static void claim_kernels(struct undone *undone)
{
	const struct ss_graph *graph = undone->look->graph;
	const struct ss_slices *slices = &undone->look->trace->slices;

	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t launch = ss_task_on_device(task->kind) ? slices->link[task->row]
								: SS_NO_ROW;

		if (launch >= undone->look->trace->device_from || !undone->is_gone[launch] ||
		    task->step == SS_NO_STEP ||
		    !ss_look_claim(undone->look,
				   (struct ss_claim){ .task = i, .low_ns = task->own_ns / 2 }))
			continue;
		undone->ns = ss_ns_sum(undone->ns, task->own_ns);
		ss_code_places_add(&undone->sites, slices->name[undone->ops->owner[launch]], launch,
				   task->own_ns);
	}
}

/* Pairs of a chain are counted, then claimed. */
static void end_chain(struct undone *undone, struct chain *chain, bool claims)
{
	for (uint32_t i = 0; i + 1 < chain->count; i++) {
		const struct copy *first = &chain->items[i], *second = first + 1;
		int answer = undoes(undone, first, second);

		if (answer == 0 || (answer < 0 && (!undone->runs || chain->count != 2 ||
						   !is_alike(first, second))))
			continue;
		if (claims) {
			claim_copy(undone, first);
			claim_copy(undone, second);
		} else {
			undone->pairs++;
			undone->sure += answer == 1;
		}
		i++;
	}
	chain->count = 0;
}

static bool goes_on(const struct undone *undone, const struct chain *chain, const struct copy *copy)
{
	const struct copy *last = &chain->items[chain->count - 1];
	const struct ss_slices *slices = &undone->look->trace->slices;

	return chain->count < CHAIN_MAX && last->kind == copy->kind && last->step == copy->step &&
	       slices->track[last->row] == slices->track[copy->row];
}

/* One copy behind the other, with nothing but views between them. */
static void go_through(struct undone *undone, bool claims)
{
	const struct ss_trace *trace = undone->look->trace;
	struct chain chain = { .count = 0 };

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t name = trace->slices.name[row];
		struct copy copy = { .kind = NO_COPY };

		if (trace->slices.kind[row] != SS_KIND_OP || !changes(undone, name))
			continue;
		if (undone->kinds[name] != NO_COPY && is_alone(undone, row))
			copy = read_copy(undone, row);
		if (chain.count && !goes_on(undone, &chain, &copy))
			end_chain(undone, &chain, claims);
		if (copy.kind != NO_COPY && copy.step != SS_NO_ROW)
			chain.items[chain.count++] = copy;
		row = ss_row_last(trace, row);
	}
	end_chain(undone, &chain, claims);
}

static void tell(struct undone *undone)
{
	struct ss_look *look = undone->look;
	struct ss_fact all = { undone->ns, (double)undone->pairs, SS_NO_ROW };

	ss_look_evidence(look, all,
			 "a tensor is cast or copied and then back {count} times per step, with no "
			 "computation in between: {time}");
	ss_code_places_sort(&undone->sites);
	for (uint32_t i = 0; i < undone->sites.count && i < 3; i++)
		ss_look_evidence(look, ss_code_place_fact(&undone->sites.items[i]),
				 "%s copies {count} times per step: {time}",
				 ss_strings_text(&look->trace->names, undone->sites.items[i].name));
	if (undone->sure == undone->pairs)
		ss_look_confidence(look, SS_CONFIDENCE_HIGH,
				   "types and sizes show that the next cast undoes each cast");
	else
		ss_look_confidence(look, SS_CONFIDENCE_MEDIUM,
				   "that the copies concern the same tensor is a guess");
}

static enum ss_status find(struct undone *undone, struct ss_arena *scratch, struct ss_error *err)
{
	struct ss_look *look = undone->look;
	int64_t steps = look->steps->count;

	SS_TRY(ss_facts_ops(look->subject->facts, &undone->ops, err));
	if (look->digest->device < 0)
		SS_TRY(ss_facts_op_runs(look->subject->facts, &undone->runs, err));
	SS_TRY(ss_code_places_init(&undone->sites, look, err));
	if (!prepare(undone, scratch))
		return ss_fail_memory(err, "the copies");
	if (!undone->copy_)
		return SS_OK;
	go_through(undone, false);
	if (undone->pairs < (undone->sure == undone->pairs ? 1 : PAIRS_MIN) * steps)
		return SS_OK;
	go_through(undone, true);
	if (!undone->runs)
		claim_kernels(undone);
	if (undone->sites.failed)
		return ss_fail_memory(err, "the copies");
	if (undone->ns)
		tell(undone);
	return SS_OK;
}

static enum ss_status look_for_undone(struct ss_look *look, struct ss_error *err)
{
	struct undone undone = { .look = look };
	struct ss_arena scratch;
	enum ss_status status;

	if (!look->steps->count)
		return SS_OK;
	ss_arena_init(&scratch, look->memory);
	status = find(&undone, &scratch, err);
	ss_code_places_release(&undone.sites);
	ss_arena_release(&scratch);
	return status;
}

const struct ss_rule ss_rule_undone_copies = {
	.name = "undone-copies",
	.title = "Tensors are cast or copied, and then back again",
	.summary = "x.double().float() and similar: two copies with no computation in between",
	.fix = "y = layer(x)   # not layer(x.double().float())\n"
	       "# keep the tensor in the type and layout that the next layer needs",
	.surer = "record_shapes=True shows types and sizes; with_stack=True names the line",
	.views = "operators kernels",
	.warn_share = 0.05,
	.silent_share = 0.01,
	.why = "removing one call fixes it, so 1 % is worth reporting and 5 % a warning",
	.facts = SS_FACT_OPS,
	.host_facts = SS_FACT_OP_RUNS,
	.look = look_for_undone,
};
