/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_options.c - reads the open options of callers of any version.
 */
#include "api/open_options.h"

#include <string.h>

#include "api/first_sizes.h"

enum ss_status ss_open_options_take(const struct ss_open_options *options,
				    struct ss_open_options *own, struct ss_error *err)
{
	return ss_sized_take(own, sizeof(*own), options, SS_FIRST_OPEN_OPTIONS, "ss_open_options",
			     err);
}

enum ss_status ss_open_inputs_take(struct ss_open_options *own, struct ss_arena *arena,
				   struct ss_error *err)
{
	struct ss_input *inputs = SS_ARENA_NEW(arena, struct ss_input, own->input_count + 1);
	/* all are of one array: the first says how far apart they are */
	size_t size = own->input_count ? own->inputs->size : 0;
	size_t stride = size ? size : SS_FIRST_INPUT;

	if (!inputs)
		return ss_fail_memory(err, "the list of files");
	for (size_t i = 0; i < own->input_count; i++) {
		const char *given = (const char *)own->inputs + i * stride;

		if (memcmp(given, &size, sizeof(size)) != 0)
			return ss_fail(err, SS_ERR_USAGE,
				       "struct ss_input: all inputs must have the same .size");
		SS_TRY(ss_sized_take(&inputs[i], sizeof(inputs[i]), given, SS_FIRST_INPUT,
				     "ss_input", err));
	}
	own->inputs = inputs;
	return SS_OK;
}
