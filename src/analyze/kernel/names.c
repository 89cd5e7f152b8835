/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - classifies every kernel name once.
 */
#include "analyze/kernel/names.h"

#include "analyze/kernel/short_name.h"

static bool kernel_classify_name(const struct ss_string *full, struct ss_arena *arena,
				 struct ss_kernel_name *out)
{
	char name[SS_SHORT_NAME_ROOM];
	size_t length = ss_short_name(full->text, full->length, name, sizeof(name));

	out->category = ss_kernel_category(name, length);
	out->text = ss_arena_copy(arena, name, length);
	return out->text != NULL;
}

struct ss_kernel_name *ss_kernel_names(const struct ss_trace *trace, struct ss_arena *arena)
{
	struct ss_kernel_name *names = SS_ARENA_NEW(arena, struct ss_kernel_name,
						    (size_t)trace->names.count + 1);

	if (!names)
		return NULL;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t id = trace->slices.name[row];

		if (!ss_kind_is_kernel(trace->slices.kind[row]))
			continue;
		names[id].is_comm |= trace->slices.kind[row] == SS_KIND_COMM_KERNEL;
		if (!names[id].text &&
		    !kernel_classify_name(&trace->names.items[id], arena, &names[id]))
			return NULL;
	}
	for (uint32_t id = 0; id < trace->names.count; id++)
		if (names[id].is_comm)
			names[id].category = SS_KERNEL_COMMUNICATION;
	return names;
}
