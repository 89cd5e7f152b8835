/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_ops.c - walks up from a host sync to the operator that users call.
 */
#include "analyze/host/sync_ops.h"

#include <string.h>

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

const uint8_t *ss_sync_wrappers(const struct ss_trace *trace, struct ss_arena *arena)
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

uint32_t ss_sync_op(const uint8_t *wraps, const struct ss_ops *ops, uint32_t row)
{
	uint32_t op = ops->owner[row];

	for (int i = 0; i < CLIMB_MAX && op != SS_NO_ROW && ops->owner[op] != SS_NO_ROW; i++) {
		if (!wraps[ops->trace->slices.name[ops->owner[op]]])
			break;
		op = ops->owner[op];
	}
	return op;
}
