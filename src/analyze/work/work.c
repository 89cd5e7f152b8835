/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - looks up formulas once per name and applies them once per distinct set of
 * arguments; rows are then only numbers.
 */
#include <string.h>

#include "analyze/work/peaks.h"
#include "analyze/work/work.h"

/* Between a convolution and the operator that reads its result: views, allocations, counters. */
#define RESULT_ROWS 32

/* A distinct call. `args` may be those of its parent. */
struct work_key {
	uint32_t name, args;
};

struct named_formula {
	const struct ss_formula *formula;
	bool in_place;
	uint8_t list_bytes; /* a kernel for lists of tensors: of an element; 0: others */
	uint8_t units;      /* enum ss_units, of a kernel */
};

static size_t works_row_capacity(const struct ss_works *works)
{
	return (size_t)works->ops->row_count + 1;
}

static size_t works_name_capacity(const struct ss_works *works)
{
	return (size_t)works->ops->trace->names.count + 1;
}

void ss_works_release(struct ss_works *works)
{
	if (!works->memory)
		return;
	ss_records_release(&works->keys);
	SS_FREE(works->memory, works->items, works->capacity);
	SS_FREE(works->memory, works->workers, works->worker_capacity);
	SS_FREE(works->memory, works->worker_of, works->row_capacity);
	ss_bitmap_release(&works->rows);
	ss_memory_free(works->memory, works->name_kind, works_name_capacity(works));
	*works = (struct ss_works){ 0 };
}

/* The bytes of the type that ends at a comma; 0: of something else. */
static uint8_t name_type_bytes(const char *at)
{
	const char *end = strchr(at, ',');

	return end ? (uint8_t)ss_dtype_bytes(ss_dtype_of_text(at, (size_t)(end - at))) : 0;
}

/*
 * CatArrayBatchedCopy<...OpaqueType<2u>...>: bytes of an element; older ones have the type, and so
 * have kernels for lists: multi_tensor_apply_kernel<..., UnaryOpFunctor<float, 1, 1, 0>, ...>.
 */
static uint8_t list_kernel_bytes(const char *name)
{
	const char *at = strstr(name, "CatArrayBatchedCopy"), *opaque;

	if (!at && strstr(name, "multi_tensor_apply_kernel")) {
		at = strstr(name, "Functor<");
		return at ? name_type_bytes(at + strlen("Functor<")) : 0;
	}
	at = at ? strchr(at, '<') : NULL;
	if (!at)
		return 0;
	opaque = strstr(at, "OpaqueType<");
	if (opaque && opaque[11] >= '1' && opaque[11] <= '8')
		return (uint8_t)(opaque[11] - '0');
	return name_type_bytes(at + 1);
}

static void works_find_formulas(struct ss_works *works, struct named_formula *named)
{
	const struct ss_trace *trace = works->ops->trace;

	for (uint32_t i = 0; i < trace->names.count; i++) {
		const struct ss_string *name = &trace->names.items[i];

		named[i].formula = ss_formula_find(name->text, name->length, &named[i].in_place);
		if (named[i].formula)
			works->name_kind[i] = (uint8_t)named[i].formula->kind;
		else if (trace->name_flags[i] & SS_NAME_COMM_OP)
			works->name_kind[i] = SS_WORK_COMM;
		else
			named[i].list_bytes = list_kernel_bytes(name->text);
		/* Tensile: FP32 (S) whose operands are shortened (MX) */
		if (trace->name_flags[i] & SS_NAME_TENSOR_CORE)
			named[i].units = strstr(name->text, "_S_MX_") ? SS_UNITS_XF32
								      : SS_UNITS_TENSOR;
	}
}

/* Gradients of old writers: X_input inside X, whose operands have what its own lack. */
static uint32_t op_args_of_parent(const struct ss_ops *ops, uint32_t row)
{
	const struct ss_slices *slices = &ops->trace->slices;
	const struct ss_string *names = ops->trace->names.items, *own, *around;
	uint32_t owner = ops->owner[row];

	if (owner == SS_NO_ROW)
		return SS_NO_ARGS;
	own = &names[slices->name[row]];
	around = &names[slices->name[owner]];
	if (around->length >= own->length || memcmp(own->text, around->text, around->length) != 0 ||
	    own->text[around->length] != '_')
		return SS_NO_ARGS;
	return slices->args[owner];
}

/* The number of a distinct call; computes its work if it is new. SS_NO_ID: no memory. */
static uint32_t works_item_of_call(struct ss_works *works, const struct named_formula *named,
				   struct work_key key)
{
	const struct ss_trace *trace = works->ops->trace;
	uint32_t known = works->keys.count;
	uint32_t id = ss_records_add(&works->keys, &key);
	struct ss_operands operands;
	struct ss_work *work;

	if (id == SS_NO_ID || works->keys.count == known)
		return id;
	if (!SS_GROW(works->memory, works->items, works->capacity, id))
		return SS_NO_ID;
	work = &works->items[id];
	*work = (struct ss_work){ .kind = named->formula->kind };
	if (ss_operands_read(&operands, trace, ss_records_at(&trace->op_args, key.args)))
		named->formula->work(named->formula, &operands, named->in_place, work);
	/* files may claim any size: absurd results are unknown */
	work->has_flops &= work->flops < 1e300;
	work->has_bytes &= work->moved_bytes < 1e300;
	return id;
}

/*
 * Old writers record no strides, so the size of a convolution's result is unknown; an operator soon
 * behind it has the result as its first operand.
 */
static void works_find_result(const struct ss_works *works, uint32_t row, uint32_t args,
			      struct ss_work *work)
{
	const struct ss_trace *trace = works->ops->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t last = row + RESULT_ROWS < works->ops->row_count ? row + RESULT_ROWS
								  : works->ops->row_count;
	struct ss_operands in, next;

	if (!ss_operands_read(&in, trace, ss_records_at(&trace->op_args, args)))
		return;
	for (uint32_t i = row + 1; i < last; i++) {
		const struct ss_operand *first;

		if (slices->track[i] != slices->track[row] || slices->args[i] == SS_NO_ARGS ||
		    slices->kind[i] != SS_KIND_OP ||
		    slices->start_ns[i] < ss_slice_end(slices, row) ||
		    !ss_operands_read(&next, trace,
				      ss_records_at(&trace->op_args, slices->args[i])))
			continue;
		first = ss_operand_tensor(&next, 0);
		if (first && ss_formula_conv_by_result(&in, first, work))
			return;
	}
}

/* Sets number[row] to the number of its distinct call + 1; 0: its work is unknown. */
static bool works_find_items(struct ss_works *works, const struct named_formula *named,
			     uint32_t *number)
{
	const struct ss_slices *slices = &works->ops->trace->slices;

	for (uint32_t row = 0; row < works->ops->row_count; row++) {
		const struct named_formula *call = &named[slices->name[row]];
		struct work_key key;
		uint32_t item;

		if (!ss_ops_counts(works->ops, row) || !call->formula || !call->formula->work)
			continue;
		key = (struct work_key){ slices->name[row], slices->args[row] };
		if (call->formula->of_parent)
			key.args = op_args_of_parent(works->ops, row);
		if (key.args == SS_NO_ARGS)
			continue;
		item = works_item_of_call(works, call, key);
		if (item == SS_NO_ID)
			return false;
		if (works->items[item].lacks_result) {
			works->items[item].lacks_result = false;
			works_find_result(works, row, key.args, &works->items[item]);
		}
		number[row] = item + 1;
	}
	return true;
}

/* `number`: of a distinct call, + 1. */
static bool work_has_flops(const struct ss_works *works, uint32_t number)
{
	return number && works->items[number - 1].has_flops;
}

/*
 * Removes the work of operators whose inner operators do it. If there is a device, operators
 * that launched nothing do no work.
 */
static bool works_keep_innermost(struct ss_works *works, uint32_t *number)
{
	const struct ss_ops *ops = works->ops;
	bool on_device = ops->trace->device_event_count > 0;
	/* operators inside it do the work */
	uint8_t *inside = ss_memory_zeroed(works->memory, works_row_capacity(works));

	for (uint32_t row = inside ? ops->row_count : 0; row-- > 0;) {
		uint32_t owner = ops->owner[row];
		bool does;

		if ((!number[row] && !inside[row]) || !ss_ops_counts(ops, row))
			continue;
		does = work_has_flops(works, number[row]) &&
		       (!on_device || ss_ops_on_device(ops, row));
		if (owner != SS_NO_ROW && (does || inside[row]))
			inside[owner] = 1;
		if (work_has_flops(works, number[row]) && (!does || inside[row]))
			number[row] = 0;
	}
	ss_memory_free(works->memory, inside, works_row_capacity(works));
	return inside != NULL;
}

/* Whether the worker around a row has FLOPs: then the row works for it. */
static bool worker_does_flops(const struct ss_works *works, uint32_t around)
{
	uint32_t item = around ? works->workers[around - 1].item : SS_NO_ROW;

	return item != SS_NO_ROW && works->items[item].has_flops;
}

static bool works_add_worker(struct ss_works *works, uint32_t row, uint32_t *number)
{
	if (!SS_GROW(works->memory, works->workers, works->worker_capacity, works->worker_count))
		return false;
	works->workers[works->worker_count++] = (struct ss_worker){ .row = row,
								    .item = *number - 1 };
	*number = works->worker_count;
	return true;
}

/* Stores the worker of a row; most rows have none. */
static bool works_add_row(struct ss_works *works, uint32_t row, uint32_t worker)
{
	if (!SS_GROW(works->memory, works->worker_of, works->row_capacity, works->rows.count))
		return false;
	ss_bitmap_add(&works->rows, row);
	works->worker_of[works->rows.count++] = worker;
	return true;
}

/* Turns number[row] into the number + 1 of the worker that its device time belongs to. */
static bool works_find_workers(struct ss_works *works, uint32_t *number)
{
	const struct ss_ops *ops = works->ops;
	uint32_t launcher = 0; /* of those before the row */

	for (uint32_t row = 0; row < ops->row_count; row++) {
		uint32_t owner = ops->owner[row];
		bool counts, launches, is_own;

		if (ops->trace->slices.kind[row] != SS_KIND_OP)
			continue;
		counts = !ss_ops_is_merged(ops, row);
		launches = ss_bitmap_has(&ops->launchers, row);
		is_own = number[row] || launches;
		if (counts && !number[row] && owner != SS_NO_ROW &&
		    worker_does_flops(works, number[owner]))
			number[row] = number[owner];
		else if (is_own && !works_add_worker(works, row, &number[row]))
			return false;
		if (is_own && !works_add_row(works, row, number[row] - 1))
			return false;
		if (counts && launches)
			ss_ns_add(&works->workers[number[row] - 1].device_ns,
				  ops->launched_ns[launcher]);
		launcher += launches;
	}
	ss_bitmap_finish(&works->rows);
	return true;
}

static struct ss_worker *works_worker_of_op(struct ss_works *works, uint32_t op)
{
	uint32_t at = op == SS_NO_ROW ? SS_NO_ROW : ss_bitmap_find(&works->rows, op);

	return at == SS_NO_ROW ? NULL : &works->workers[works->worker_of[at]];
}

/* Calls of the same sizes share an item: the first kernel says how large elements are. */
static void work_set_list(struct ss_work *work, double element_bytes)
{
	if (work->has_bytes || work->elements <= 0 || work->list_passes <= 0)
		return;
	work->has_bytes = true;
	work->moved_bytes = work->list_passes * work->elements * element_bytes;
	/* one pass reads or writes, and norms write little */
	if (work->list_passes > 1)
		work->out_bytes = work->elements * element_bytes;
}

static void works_mark_kernels(struct ss_works *works, const struct named_formula *named)
{
	const struct ss_trace *trace = works->ops->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint8_t list_bytes = named[slices->name[row]].list_bytes;
		uint8_t units = named[slices->name[row]].units;
		struct ss_worker *worker;
		uint32_t op;

		if (!ss_kind_on_device(slices->kind[row]) || slices->dur_ns[row] <= 0 ||
		    (!list_bytes && !units))
			continue;
		op = ss_ops_launcher(works->ops, row);
		worker = works_worker_of_op(works, op);
		if (worker && list_bytes && worker->item != SS_NO_ROW)
			work_set_list(&works->items[worker->item], list_bytes);
		else if (worker && !list_bytes && ss_ops_counts(works->ops, op))
			worker->tensor = units > worker->tensor ? units : worker->tensor;
	}
}

/* Marks workers with copies between host and device: memory bandwidth does not limit them. */
static void works_mark_copies(struct ss_works *works)
{
	const struct ss_trace *trace = works->ops->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t name = SS_NO_ID;
	bool across = false;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		struct ss_worker *worker;

		if (slices->kind[row] != SS_KIND_MEMCPY)
			continue;
		worker = works_worker_of_op(works, ss_ops_launcher(works->ops, row));
		if (slices->name[row] != name) {
			const char *text = ss_strings_text(&trace->names, slices->name[row]);

			name = slices->name[row];
			across = !strstr(text, "DtoD") && !strstr(text, "DeviceToDevice");
		}
		if (worker && across)
			worker->across = true;
	}
}

static bool works_find_all(struct ss_works *works, struct named_formula *named, uint32_t *number)
{
	works_find_formulas(works, named);
	if (!works_find_items(works, named, number) || !works_keep_innermost(works, number) ||
	    !works_find_workers(works, number))
		return false;
	works_mark_kernels(works, named);
	works_mark_copies(works);
	return true;
}

enum ss_status ss_works_init(struct ss_works *works, const struct ss_ops *ops,
			     struct ss_memory *memory, struct ss_error *err)
{
	struct named_formula *named;
	uint32_t *number;
	bool ok;

	*works = (struct ss_works){ .ops = ops, .memory = memory };
	named = ss_memory_zeroed(memory, works_name_capacity(works) * sizeof(*named));
	number = ss_memory_zeroed(memory, works_row_capacity(works) * sizeof(*number));
	works->name_kind = ss_memory_zeroed(memory, works_name_capacity(works));
	ok = ss_records_init(&works->keys, memory, sizeof(struct work_key)) && named && number &&
	     works->name_kind && ss_bitmap_init(&works->rows, ops->row_count, memory) &&
	     works_find_all(works, named, number);
	ss_memory_free(memory, number, works_row_capacity(works) * sizeof(*number));
	ss_memory_free(memory, named, works_name_capacity(works) * sizeof(*named));
	if (ok) {
		ss_memory_fit(memory, (void **)&works->workers, &works->worker_capacity,
			      works->worker_count, sizeof(*works->workers));
		ss_memory_fit(memory, (void **)&works->worker_of, &works->row_capacity,
			      works->rows.count, sizeof(*works->worker_of));
		return SS_OK;
	}
	ss_works_release(works);
	return ss_fail_memory(err, "the operators' work");
}

const struct ss_work *ss_works_of(const struct ss_works *works, uint32_t row)
{
	const struct ss_worker *worker = ss_works_find(works, row);

	return worker ? ss_works_item(works, worker) : NULL;
}

bool ss_works_have_shapes(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->op_args.count; i++) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args, i);

		if (args->input_dims)
			return true;
	}
	return false;
}
