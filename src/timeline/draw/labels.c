/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.c - short texts for names; each name is shortened once in an answer.
 */
#include <string.h>

#include "analyze/kernel/short_name.h"
#include "timeline/draw/labels.h"

bool ss_labels_init(struct ss_labels *labels, const struct ss_trace *trace, uint32_t most,
		    struct ss_memory *memory)
{
	uint32_t names = trace->names.count < most ? trace->names.count : most;

	*labels = (struct ss_labels){ .trace = trace, .slots = 16 };
	/* half full at most: searches are short */
	while (labels->slots / 2 < names)
		labels->slots *= 2;
	ss_arena_init(&labels->scratch, memory);
	labels->of_name = SS_ARENA_NEW(&labels->scratch, uint32_t, labels->slots);
	labels->names = SS_ARENA_NEW(&labels->scratch, uint32_t, labels->slots);
	if (ss_strings_init(&labels->texts, memory) && labels->of_name && labels->names)
		return true;
	ss_labels_release(labels);
	return false;
}

void ss_labels_release(struct ss_labels *labels)
{
	ss_strings_release(&labels->texts);
	ss_arena_release(&labels->scratch);
}

/* "/opt/torch/nn/modules/module.py(1501): _call_impl" from the last folder's end on. */
static struct ss_string label_of_frame(const struct ss_string *name)
{
	const char *end = strchr(name->text, '(');
	const char *from = name->text;

	for (const char *at = name->text; end && at < end; at++)
		if (*at == '/' || *at == '\\')
			from = at + 1;
	return (struct ss_string){ from, name->length - (uint32_t)(from - name->text), 0 };
}

static uint32_t label_make(struct ss_labels *labels, uint32_t row)
{
	const struct ss_slices *slices = &labels->trace->slices;
	const struct ss_string *name = &labels->trace->names.items[slices->name[row]];
	char text[SS_SHORT_NAME_ROOM];
	struct ss_string frame;

	if (ss_kind_is_kernel(slices->kind[row])) {
		size_t length = ss_short_name(name->text, name->length, text, sizeof(text));

		return ss_strings_add(&labels->texts, text, length);
	}
	if (slices->kind[row] != SS_KIND_PYTHON)
		return ss_strings_add(&labels->texts, name->text, name->length);
	frame = label_of_frame(name);
	return ss_strings_add(&labels->texts, frame.text, frame.length);
}

bool ss_labels_add(struct ss_labels *labels, uint32_t row, uint32_t *out)
{
	uint32_t name = labels->trace->slices.name[row];
	uint32_t slot = name * 2654435761u & (labels->slots - 1);

	while (labels->of_name[slot] && labels->names[slot] != name)
		slot = (slot + 1) & (labels->slots - 1);
	if (!labels->of_name[slot]) {
		uint32_t label = label_make(labels, row);

		if (label == SS_NO_ID)
			return false;
		labels->names[slot] = name;
		labels->of_name[slot] = label + 1;
	}
	*out = labels->of_name[slot] - 1;
	return true;
}

bool ss_labels_add_text(struct ss_labels *labels, const char *text, uint32_t *out)
{
	*out = ss_strings_add(&labels->texts, text, strlen(text));
	return *out != SS_NO_ID;
}
