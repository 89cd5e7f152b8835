/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.c - passes over the host rows, parents before children, and one over the device rows.
 */
#include "analyze/host/ops.h"

#include <string.h>

#include "trace/outward.h"

static void *ops_new_column(struct ss_ops *ops, size_t item_bytes)
{
	return ss_memory_zeroed(ops->memory, ((size_t)ops->row_count + 1) * item_bytes);
}

void ss_ops_release(struct ss_ops *ops)
{
	size_t count = (size_t)ops->row_count + 1;

	if (!ops->memory)
		return;
	SS_FREE(ops->memory, ops->owner, count);
	SS_FREE(ops->memory, ops->flags, count);
	SS_FREE(ops->memory, ops->self_ns, count);
	SS_FREE(ops->memory, ops->launched_ns, ops->launchers.count);
	ss_bitmap_release(&ops->launchers);
	SS_FREE(ops->memory, ops->total_ns, count);
	*ops = (struct ss_ops){ 0 };
}

/*
 * A call that starts together with an operator belongs to it, even if the call is longer and
 * therefore its parent.
 */
static void ops_adopt_calls(struct ss_ops *ops, uint32_t op)
{
	const struct ss_slices *slices = &ops->trace->slices;
	uint32_t row = slices->parent[op], tries = 0;

	for (; row != SS_NO_ROW && slices->start_ns[row] == slices->start_ns[op] &&
	       tries < SS_OUTWARD_ALIKE;
	     row = slices->parent[row], tries++)
		if (ss_kind_is_call(slices->kind[row]))
			ops->owner[row] = op;
}

/* A shortcut that ends outside all operators. Other shortcuts are the row of an operator + 1. */
#define OUTSIDE UINT32_MAX

/* The next operator outwards, by the shortcut if there is one. */
static uint32_t ops_outer(const struct ss_ops *ops, const uint32_t *further, uint32_t op)
{
	if (further[op] == OUTSIDE)
		return SS_NO_ROW;
	return further[op] ? further[op] - 1 : ops->owner[op];
}

/*
 * The first operator from `op` outwards that has not ended. Rows of a thread are sorted by
 * start, so what has ended for one row has ended for the next: shortcuts skip it.
 */
static uint32_t ops_still_open(struct ss_ops *ops, uint32_t *further, uint32_t op, int64_t start_ns)
{
	const struct ss_slices *slices = &ops->trace->slices;
	uint32_t found = op;

	while (found != SS_NO_ROW && ss_slice_end(slices, found) <= start_ns)
		found = ops_outer(ops, further, found);
	while (op != found) {
		uint32_t next = ops_outer(ops, further, op);

		further[op] = found == SS_NO_ROW ? OUTSIDE : found + 1;
		op = next;
	}
	return found;
}

/* More flags, while children are counted. */
enum {
	HAS_CHILD = 1 << 6,
	HAS_MORE = 1 << 7,
};

/*
 * Finds the innermost operator around the start of each row, and counts the operators within each.
 * A range or frame in between may have outlived the operator in which it began.
 */
static bool ops_find_owners(struct ss_ops *ops)
{
	const struct ss_slices *slices = &ops->trace->slices;
	uint32_t *further = ops_new_column(ops, sizeof(*further));

	for (uint32_t row = 0; further && row < ops->row_count; row++) {
		uint32_t parent = slices->parent[row], owner = SS_NO_ROW;

		if (parent != SS_NO_ROW)
			owner = slices->kind[parent] == SS_KIND_OP ? parent : ops->owner[parent];
		if (owner != SS_NO_ROW && ss_slice_end(slices, owner) <= slices->start_ns[row])
			owner = ops_still_open(ops, further, owner, slices->start_ns[row]);
		ops->owner[row] = owner;
		if (slices->kind[row] != SS_KIND_OP)
			continue;
		if (owner != SS_NO_ROW)
			ops->flags[owner] |= ops->flags[owner] & HAS_CHILD ? HAS_MORE : HAS_CHILD;
		ops_adopt_calls(ops, row);
	}
	SS_FREE(ops->memory, further, (size_t)ops->row_count + 1);
	return further != NULL;
}

/* Whether an operator is the only child of one with its name. */
static bool op_is_part(const struct ss_ops *ops, uint32_t op)
{
	const uint32_t *names = ops->trace->slices.name;
	uint32_t owner = ops->owner[op];

	return owner != SS_NO_ROW && !(ops->flags[owner] & HAS_MORE) && names[op] == names[owner];
}

/* Marks operators that are part of their parent, and moves what belongs to them to the parent. */
static void ops_merge_only_children(struct ss_ops *ops)
{
	const uint8_t *kinds = ops->trace->slices.kind;

	for (uint32_t row = 0; row < ops->row_count; row++) {
		uint32_t owner = ops->owner[row];

		if (owner == SS_NO_ROW)
			continue;
		if (kinds[row] == SS_KIND_OP && op_is_part(ops, row))
			ops->flags[row] |= SS_OPS_MERGED;
		/* the operator of a call may come after it */
		if (owner < row ? ss_ops_is_merged(ops, owner) : op_is_part(ops, owner))
			ops->owner[row] = ops->owner[owner];
	}
}

/*
 * Subtracts what children and calls cover, clipped to the parent. Children are sorted by
 * start, so it is enough to know where the covered part ends; total_ns stores that here.
 */
static void ops_find_self(struct ss_ops *ops)
{
	const struct ss_slices *slices = &ops->trace->slices;
	int64_t *covered_ns = ops->total_ns;

	for (uint32_t row = 0; row < ops->row_count; row++)
		if (slices->kind[row] == SS_KIND_OP) {
			ops->self_ns[row] = slices->dur_ns[row];
			covered_ns[row] = slices->start_ns[row];
		}
	for (uint32_t row = 0; row < ops->row_count; row++) {
		uint32_t owner = ops->owner[row];
		int64_t start_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row),
			limit_ns;

		if (owner == SS_NO_ROW || ss_ops_is_merged(ops, row) ||
		    !(slices->kind[row] == SS_KIND_OP || ss_kind_is_call(slices->kind[row])))
			continue;
		limit_ns = ss_slice_end(slices, owner);
		if (end_ns > limit_ns)
			end_ns = limit_ns;
		if (start_ns < covered_ns[owner])
			start_ns = covered_ns[owner];
		if (end_ns <= start_ns)
			continue;
		ss_ns_subtract(&ops->self_ns[owner], end_ns - start_ns);
		covered_ns[owner] = end_ns;
	}
	memset(covered_ns, 0, ops->row_count * sizeof(*covered_ns));
}

/* Only operators that launched work get a device time: most launched none. */
static bool ops_find_launchers(struct ss_ops *ops)
{
	const struct ss_trace *trace = ops->trace;
	const struct ss_slices *slices = &trace->slices;

	if (!ss_bitmap_init(&ops->launchers, ops->row_count, ops->memory))
		return false;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t op = ss_kind_on_device(slices->kind[row]) ? ss_ops_launcher(ops, row)
								   : SS_NO_ROW;

		if (op != SS_NO_ROW)
			ss_bitmap_add(&ops->launchers, op);
	}
	ss_bitmap_finish(&ops->launchers);
	if (!ops->launchers.count)
		return true;
	ops->launched_ns = ss_memory_zeroed(ops->memory,
					    ops->launchers.count * sizeof(*ops->launched_ns));
	if (ops->launched_ns)
		return true;
	ops->launchers.count = 0;
	return false;
}

/* Adds up the device time of each launcher, and marks the operators around it. */
static void ops_find_device_time(struct ss_ops *ops)
{
	const struct ss_trace *trace = ops->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t op = ss_kind_on_device(slices->kind[row]) ? ss_ops_launcher(ops, row)
								   : SS_NO_ROW;

		if (op == SS_NO_ROW)
			continue;
		ss_ns_add(&ops->launched_ns[ss_bitmap_find(&ops->launchers, op)],
			  slices->dur_ns[row]);
		if (slices->dur_ns[row] > 0 && ss_ops_counts(ops, op))
			ops->flags[op] |= SS_OPS_ON_DEVICE;
	}
	for (uint32_t row = ops->row_count; row-- > 0;) {
		ops->flags[row] &= SS_OPS_MERGED | SS_OPS_ON_DEVICE;
		if (ops->flags[row] == SS_OPS_ON_DEVICE && ops->owner[row] != SS_NO_ROW)
			ops->flags[ops->owner[row]] |= SS_OPS_ON_DEVICE;
	}
}

static void ops_find_totals(struct ss_ops *ops)
{
	for (uint32_t row = ops->row_count; row-- > 0;) {
		uint32_t owner = ops->owner[row];

		if (!ss_ops_counts(ops, row))
			continue;
		ss_ns_add(&ops->total_ns[row], ss_ops_device_ns(ops, row));
		if (owner != SS_NO_ROW)
			ss_ns_add(&ops->total_ns[owner], ops->total_ns[row]);
	}
}

enum ss_status ss_ops_find_times(struct ss_ops *ops, struct ss_error *err)
{
	if (ops->total_ns)
		return SS_OK;
	if (!ops->self_ns)
		ops->self_ns = ops_new_column(ops, sizeof(*ops->self_ns));
	ops->total_ns = ops->self_ns ? ops_new_column(ops, sizeof(*ops->total_ns)) : NULL;
	if (!ops->total_ns)
		return ss_fail_memory(err, "the operators");
	ops_find_self(ops);
	ops_find_totals(ops);
	return SS_OK;
}

enum ss_status ss_ops_init(struct ss_ops *ops, const struct ss_trace *trace,
			   struct ss_memory *memory, struct ss_error *err)
{
	*ops = (struct ss_ops){ .trace = trace, .memory = memory, .row_count = trace->device_from };
	ops->owner = ops_new_column(ops, sizeof(*ops->owner));
	ops->flags = ops_new_column(ops, sizeof(*ops->flags));
	if (!ops->owner || !ops->flags || !ops_find_owners(ops)) {
		ss_ops_release(ops);
		return ss_fail_memory(err, "the operators");
	}
	ops_merge_only_children(ops);
	if (!ops_find_launchers(ops)) {
		ss_ops_release(ops);
		return ss_fail_memory(err, "the operators");
	}
	ops_find_device_time(ops);
	return SS_OK;
}

/* --- operators of host syncs ---------------------------------------------------------- */

/*
 * Operators that always wait, with other operators inside. Users know these, not the inner
 * ones: aten::_local_scalar_dense is aten::item.
 */
static const char *const sync_wrapper_names[] = {
	"aten::item",         "aten::is_nonzero",    "aten::to",
	"aten::_to_copy",     "aten::nonzero",       "aten::nonzero_numpy",
	"aten::argwhere",     "aten::masked_select", "aten::equal",
	"aten::allclose",     "aten::bincount",      "aten::repeat_interleave",
	"aten::unique_dim",   "aten::_unique2",      "aten::unique_consecutive",
	"aten::tensor_split", "aten::multinomial",
};

/* Wrappers around wrappers: PyTorch has three (is_nonzero > item > _local_scalar_dense). */
#define CLIMB_MAX 8

const uint8_t *ss_ops_sync_wrappers(const struct ss_trace *trace, struct ss_arena *arena)
{
	uint8_t *wraps = SS_ARENA_NEW(arena, uint8_t, (size_t)trace->names.count + 1);

	for (size_t i = 0; wraps && i < SS_COUNT(sync_wrapper_names); i++) {
		uint32_t id = ss_strings_find(&trace->names, sync_wrapper_names[i],
					      strlen(sync_wrapper_names[i]));

		if (id != SS_NO_ID)
			wraps[id] = true;
	}
	return wraps;
}

uint32_t ss_ops_sync_op(const uint8_t *wraps, const struct ss_ops *ops, uint32_t row)
{
	uint32_t op = ops->owner[row];

	for (int i = 0; i < CLIMB_MAX && op != SS_NO_ROW && ops->owner[op] != SS_NO_ROW; i++) {
		if (!wraps[ops->trace->slices.name[ops->owner[op]]])
			break;
		op = ops->owner[op];
	}
	return op;
}
