/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - looks up formulas once per name and applies them once per distinct set of
 * arguments; rows are then only numbers.
 */
#include <string.h>

#include "analyze/work/work.h"

/* A distinct call. `args` may be those of the operator around it. */
struct key {
	uint32_t name, args;
};

struct named {
	const struct ss_formula *formula;
	bool in_place;
};

static void *column(struct ss_memory *memory, size_t count, size_t item_bytes, int fill)
{
	void *items = ss_memory_zeroed(memory, count * item_bytes);

	if (items && fill)
		memset(items, fill, count * item_bytes);
	return items;
}

static size_t row_room(const struct ss_works *works)
{
	return (size_t)works->ops->row_count + 1;
}

static size_t name_room(const struct ss_works *works)
{
	return (size_t)works->ops->trace->names.count + 1;
}

void ss_works_release(struct ss_works *works)
{
	size_t rows;

	if (!works->memory)
		return;
	rows = row_room(works);
	ss_records_release(&works->keys);
	ss_memory_free(works->memory, works->items, works->capacity * sizeof(*works->items));
	ss_memory_free(works->memory, works->item, rows * sizeof(*works->item));
	ss_memory_free(works->memory, works->worker, rows * sizeof(*works->worker));
	ss_memory_free(works->memory, works->device_ns, rows * sizeof(*works->device_ns));
	ss_memory_free(works->memory, works->tensor, rows);
	ss_memory_free(works->memory, works->across, rows);
	ss_memory_free(works->memory, works->name_kind, name_room(works));
	*works = (struct ss_works){ 0 };
}

static void find_formulas(struct ss_works *works, struct named *named)
{
	const struct ss_trace *trace = works->ops->trace;

	for (uint32_t i = 0; i < trace->names.count; i++) {
		const struct ss_string *name = &trace->names.items[i];

		named[i].formula = ss_formula_find(name->text, name->length, &named[i].in_place);
		if (named[i].formula)
			works->name_kind[i] = (uint8_t)named[i].formula->kind;
		else if (trace->name_flags[i] & SS_NAME_COMM_OP)
			works->name_kind[i] = SS_WORK_COMM;
	}
}

/* Old writers' gradients: X_input in X, whose operands tell what the own ones do not. */
static uint32_t args_of_parent(const struct ss_ops *ops, uint32_t row)
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

/* The number of a distinct call, whose work is found when it is new; SS_NO_ID: no memory. */
static uint32_t item_of(struct ss_works *works, const struct named *named, struct key key)
{
	const struct ss_trace *trace = works->ops->trace;
	uint32_t known = works->keys.count;
	uint32_t id = ss_records_add(&works->keys, &key);
	struct ss_operands operands;
	struct ss_work *work;

	if (id == SS_NO_ID || works->keys.count == known)
		return id;
	if (!ss_memory_reserve(works->memory, (void **)&works->items, &works->capacity,
			       (size_t)id + 1, sizeof(*works->items)))
		return SS_NO_ID;
	work = &works->items[id];
	*work = (struct ss_work){ .kind = named->formula->kind };
	if (ss_operands_read(&operands, trace, ss_records_at(&trace->op_args, key.args)))
		named->formula->work(named->formula, &operands, named->in_place, work);
	/* sizes of files may be anything: beyond all numbers is not known */
	work->has_flops &= work->flops < 1e300;
	work->has_bytes &= work->moved_bytes < 1e300;
	return id;
}

static bool find_items(struct ss_works *works, const struct named *named)
{
	const struct ss_slices *slices = &works->ops->trace->slices;

	for (uint32_t row = 0; row < works->ops->row_count; row++) {
		struct key key = { slices->name[row], slices->args[row] };
		const struct named *call = &named[key.name];

		if (!ss_ops_counts(works->ops, row) || !call->formula || !call->formula->work)
			continue;
		if (call->formula->of_parent)
			key.args = args_of_parent(works->ops, row);
		if (key.args == SS_NO_ARGS)
			continue;
		works->item[row] = item_of(works, call, key);
		if (works->item[row] == SS_NO_ID)
			return false;
	}
	return true;
}

static bool has_flops(const struct ss_works *works, uint32_t row)
{
	return works->item[row] != SS_NO_ROW && works->items[works->item[row]].has_flops;
}

/*
 * Takes their work from operators around others that do it. Where there is a device
 * it is done by what launched something.
 */
static void leave_innermost(struct ss_works *works)
{
	const struct ss_ops *ops = works->ops;
	bool on_device = ops->trace->device_event_count > 0;
	uint8_t *inside = works->tensor; /* operators that do it are in it */

	for (uint32_t row = ops->row_count; row-- > 0;) {
		uint32_t owner = ops->owner[row];
		bool does = has_flops(works, row) && (!on_device || ss_ops_on_device(ops, row));

		if (!ss_ops_counts(ops, row))
			continue;
		if (owner != SS_NO_ROW && (does || inside[row]))
			inside[owner] = 1;
		if (has_flops(works, row) && (!does || inside[row]))
			works->item[row] = SS_NO_ROW;
	}
	memset(inside, 0, row_room(works));
}

static void find_workers(struct ss_works *works)
{
	const struct ss_ops *ops = works->ops;

	for (uint32_t row = 0; row < ops->row_count; row++) {
		uint32_t owner = ops->owner[row], worker = row;

		works->worker[row] = row;
		if (!ss_ops_counts(ops, row))
			continue;
		if (works->item[row] == SS_NO_ROW && owner != SS_NO_ROW &&
		    has_flops(works, works->worker[owner]))
			worker = works->worker[owner];
		works->worker[row] = worker;
		ss_ns_add(&works->device_ns[worker], ops->device_ns[row]);
	}
}

static void find_tensor(struct ss_works *works)
{
	const struct ss_trace *trace = works->ops->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t op;

		if (!ss_kind_on_device(slices->kind[row]) || slices->dur_ns[row] <= 0 ||
		    !(ss_slice_flags(trace, row) & SS_NAME_TENSOR_CORE))
			continue;
		op = ss_ops_launcher(works->ops, row);
		if (op != SS_NO_ROW && ss_ops_counts(works->ops, op))
			works->tensor[works->worker[op]] = 1;
	}
}

/* Copies whose bytes do not pass the device's memory alone: all but those from device to device. */
static void find_across(struct ss_works *works)
{
	const struct ss_trace *trace = works->ops->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t name = SS_NO_ID;
	bool across = false;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t op = slices->link[row];

		if (slices->kind[row] != SS_KIND_MEMCPY || op >= works->ops->row_count)
			continue;
		op = works->ops->owner[op];
		if (slices->name[row] != name) {
			const char *text = ss_strings_text(&trace->names, slices->name[row]);

			name = slices->name[row];
			across = !strstr(text, "DtoD") && !strstr(text, "DeviceToDevice");
		}
		if (op != SS_NO_ROW && across)
			works->across[works->worker[op]] = 1;
	}
}

enum ss_status ss_works_init(struct ss_works *works, const struct ss_ops *ops,
			     struct ss_memory *memory, struct ss_error *err)
{
	struct named *named;
	bool ok;

	*works = (struct ss_works){ .ops = ops, .memory = memory };
	named = column(memory, name_room(works), sizeof(*named), 0);
	works->item = column(memory, row_room(works), sizeof(*works->item), 0xff);
	/* written for every row by find_workers() */
	works->worker = ss_memory_resize(memory, NULL, 0, row_room(works) * sizeof(*works->worker));
	works->device_ns = column(memory, row_room(works), sizeof(*works->device_ns), 0);
	works->tensor = column(memory, row_room(works), 1, 0);
	works->across = column(memory, row_room(works), 1, 0);
	works->name_kind = column(memory, name_room(works), 1, 0);
	ok = ss_records_init(&works->keys, memory, sizeof(struct key)) && named && works->item &&
	     works->worker && works->device_ns && works->tensor && works->across &&
	     works->name_kind;
	if (ok) {
		find_formulas(works, named);
		ok = find_items(works, named);
	}
	ss_memory_free(memory, named, name_room(works) * sizeof(*named));
	if (!ok) {
		ss_works_release(works);
		return ss_fail_memory(err, "the operators' work");
	}
	leave_innermost(works);
	find_workers(works);
	find_tensor(works);
	find_across(works);
	return SS_OK;
}

const struct ss_work *ss_works_of(const struct ss_works *works, uint32_t row)
{
	return works->item[row] == SS_NO_ROW ? NULL : &works->items[works->item[row]];
}
