/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - places as a tree: nodes are stored once by parent, type and label.
 *
 * Module instances (Block_0, Block_1) are one place, and so are functions of objects whose names
 * differ by an address only.
 */
#include <string.h>

#include "attribute/rows.h"

struct node_key {
	uint32_t parent, label;
	uint32_t type;
};

static const char *const phase_labels[] = {
	[SS_PLACE_INPUT] = "input",
	[SS_PLACE_FORWARD] = "forward",
	[SS_PLACE_BACKWARD] = "backward",
	[SS_PLACE_OPTIMIZER] = "optimizer",
	[SS_PLACE_BESIDE] = "beside training",
};

/* `label`: an id of of->labels. */
static uint32_t node_below(struct ss_attribution *of, uint32_t parent, enum ss_place_type type,
			   enum ss_place_phase phase, uint32_t label)
{
	struct node_key key = { .parent = parent, .label = label, .type = (uint32_t)type };
	uint32_t id = label == SS_NO_ID ? SS_NO_ID : ss_records_add(&of->keys, &key);

	if (id == SS_NO_ID || !SS_GROW(of->memory, of->nodes, of->node_capacity, id)) {
		of->failed = true;
		return 0;
	}
	if (id == of->node_count) {
		of->nodes[of->node_count++] = (struct ss_place_node){ .parent = parent,
								      .label = label,
								      .row = SS_NO_ROW,
								      .type = (uint8_t)type,
								      .phase = (uint8_t)phase };
	}
	return id;
}

uint32_t ss_attribution_below(struct ss_attribution *of, uint32_t parent, enum ss_place_type type,
			      enum ss_place_phase phase, const char *label, size_t length)
{
	return node_below(of, parent, type, phase, ss_strings_add(&of->labels, label, length));
}

uint32_t ss_attribution_phase_node(struct ss_attribution *of, enum ss_place_phase phase)
{
	const char *label = phase < SS_COUNT(phase_labels) ? phase_labels[phase] : NULL;

	if (phase == SS_PLACE_BESIDE && !of->trains)
		label = "outside of the model";
	if (label && !of->rows->phase_nodes[phase])
		of->rows->phase_nodes[phase] = ss_attribution_below(of, 0, SS_PLACE_PHASE, phase,
								    label, strlen(label));
	return label ? of->rows->phase_nodes[phase] : 0;
}

/* How much of a name is its place: without numbers of instances and addresses. */
static size_t label_length(const char *name, size_t length, enum ss_kind kind)
{
	const char *address = kind == SS_KIND_PYTHON ? strstr(name, " object at 0x") : NULL;
	size_t end = address ? (size_t)(address - name) : length;
	size_t digits = end;
	char before = kind == SS_KIND_PYTHON ? '_' : '#';

	if (kind == SS_KIND_PYTHON && strncmp(name, "nn.Module: ", 11) != 0)
		return end;
	while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits > 0 && digits < end && name[digits - 1] == before ? digits - 1 : end;
}

static enum ss_place_type type_of_row(const struct ss_attribution *of, uint32_t row)
{
	switch (of->trace->slices.kind[row]) {
	case SS_KIND_PYTHON:
		return ss_attribution_traits(of, row) & SS_TRAIT_USER ? SS_PLACE_FUNCTION
								      : SS_PLACE_LIBRARY;
	case SS_KIND_ANNOTATION:
		return SS_PLACE_RANGE;
	default:
		return SS_PLACE_OPERATOR;
	}
}

/* The place above a row: that of its parent, or its phase, or its position. */
static uint32_t base_of_row(struct ss_attribution *of, uint32_t row, uint32_t above)
{
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t i = row - rows->first, parent = rows->parent[i];
	uint32_t base;

	if (above && parent != SS_NO_ROW && rows->phase[parent - rows->first] == rows->phase[i])
		return above;
	base = ss_attribution_phase_node(of, rows->phase[i]);
	if (rows->region[i] && rows->phase[i] == SS_PLACE_BESIDE) {
		const struct ss_string *region = &of->labels.items[rows->region[i]];

		base = ss_attribution_below(of, base, SS_PLACE_RANGE, SS_PLACE_BESIDE, region->text,
					    region->length);
	}
	return base;
}

/* Backward of an operator that is in excess counts at the operator's own place. */
static uint32_t forward_base(struct ss_attribution *of, uint32_t row, uint32_t base)
{
	const struct ss_slices *slices = &of->trace->slices;
	const struct ss_attribution_rows *rows = of->rows;
	uint32_t i = row - rows->first, forward = slices->link[row];
	uint8_t kind = rows->kind[i];

	if (rows->phase[i] != SS_PLACE_BACKWARD || slices->kind[row] != SS_KIND_OP ||
	    !ss_attribution_has(of, forward) || !(rows->excess[i] > 0) ||
	    !ss_attribution_is_answered_in_kind(kind))
		return base;
	forward = ss_attribution_outer_op(of, forward);
	/* what is around forward is forward or the loop: this does not go on */
	return rows->phase[forward - rows->first] == SS_PLACE_FORWARD
		       ? ss_attribution_place(of, forward)
		       : base;
}

/* Names of rows are looked at once each: those of a kind never have another one. */
static uint32_t label_of_row(struct ss_attribution *of, uint32_t row)
{
	const struct ss_slices *slices = &of->trace->slices;
	const struct ss_string *name = &of->trace->names.items[slices->name[row]];
	uint32_t *label = &of->rows->labels[slices->name[row]];

	if (!*label)
		*label = ss_strings_add(&of->labels, name->text,
					label_length(name->text, name->length, slices->kind[row])) +
			 1;
	return *label - 1;
}

static uint32_t make_place(struct ss_attribution *of, uint32_t row, uint32_t above)
{
	struct ss_attribution_rows *rows = of->rows;
	uint32_t i = row - rows->first, node;
	uint8_t phase = rows->phase[i];

	if (phase == SS_PLACE_LOOP || phase == SS_PLACE_PROFILER)
		return above;
	node = node_below(of, forward_base(of, row, base_of_row(of, row, above)),
			  type_of_row(of, row), phase, label_of_row(of, row));
	if (of->nodes && of->nodes[node].row == SS_NO_ROW)
		of->nodes[node].row = row;
	return node;
}

uint32_t ss_attribution_place(struct ss_attribution *of, uint32_t row)
{
	struct ss_attribution_rows *rows = of->rows;
	uint32_t from = rows->chain_count, up = row;

	while (up != SS_NO_ROW && !rows->node[up - rows->first]) {
		if (!SS_GROW(of->memory, rows->chain, rows->chain_capacity, rows->chain_count)) {
			of->failed = true;
			return 0;
		}
		rows->chain[rows->chain_count++] = up;
		up = rows->parent[up - rows->first];
	}
	/* outermost first */
	while (rows->chain_count > from) {
		uint32_t next = rows->chain[--rows->chain_count];
		uint32_t above = up == SS_NO_ROW ? 0 : rows->node[up - rows->first] - 1;

		rows->node[next - rows->first] = make_place(of, next, above) + 1;
		up = next;
	}
	return rows->node[row - rows->first] - 1;
}
