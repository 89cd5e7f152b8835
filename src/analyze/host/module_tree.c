/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_tree.c - assigns each host row to its node, then adds up times in simple passes.
 */
#include <string.h>

#include "analyze/host/module_tree.h"

/* The node of a frame before it is looked up, and while it is. */
#define NODE_UNKNOWN (SS_NO_ID - 1)
#define NODE_SOUGHT (SS_NO_ID - 2)

/* A node as it is looked up. */
struct module_key {
	uint32_t parent, name;
};

struct module_builder {
	struct ss_module_tree *tree;
	const struct ss_trace *trace;
	const struct ss_places *places;
	struct ss_records keys; /* struct module_key: its id is the node's */
	uint32_t *node;         /* per host row, SS_NO_ID: outside */
	uint32_t *above;        /* per host row: the innermost operator around it */
	uint32_t *chain;        /* modules whose nodes are looked up, innermost first */
	uint32_t *name_labels;  /* per name: id of its label + 1 */
	uint32_t *text_nodes;   /* per text of a hierarchy: its node + 1 */
	uint8_t *in_op;         /* per host row: it is inside an operator of its module */
	bool failed;
};

/* "Linear_3" is a "Linear", and so is "layer1(Linear)". */
static uint32_t module_label_class(struct ss_strings *labels, const char *label, size_t length)
{
	size_t end = length;
	const char *open;

	while (end && label[end - 1] >= '0' && label[end - 1] <= '9')
		end--;
	if (end > 1 && end < length && label[end - 1] == '_')
		return ss_strings_add(labels, label, end - 1);
	open = length > 2 && label[length - 1] == ')' ? memchr(label, '(', length) : NULL;
	if (open && open + 2 < label + length)
		return ss_strings_add(labels, open + 1, (size_t)(label + length - open) - 2);
	return ss_strings_add(labels, label, length);
}

/* The node of a module in a module; beyond the maximum depth, the parent itself. */
static uint32_t module_add_node(struct module_builder *builder, uint32_t parent, uint32_t label)
{
	struct ss_module_tree *tree = builder->tree;
	struct module_key key = { parent, label };
	uint32_t depth = parent == SS_NO_ID ? 0 : tree->nodes[parent].depth + 1;
	uint32_t id, class;

	if (depth >= SS_MODULE_DEPTH_MAX) {
		tree->has_deeper = true;
		return parent;
	}
	id = label == SS_NO_ID ? SS_NO_ID : ss_records_add(&builder->keys, &key);
	if (id != SS_NO_ID && id < tree->count)
		return id;
	if (id == SS_NO_ID || !SS_GROW(tree->memory, tree->nodes, tree->capacity, tree->count)) {
		builder->failed = true;
		return SS_NO_ID;
	}
	class = module_label_class(&tree->labels, tree->labels.items[label].text,
				   tree->labels.items[label].length);
	builder->failed |= class == SS_NO_ID;
	tree->nodes[tree->count++] = (struct ss_module){
		.parent = parent, .name = label, .class = class, .depth = depth
	};
	return id;
}

/* Frames are "nn.Module: Linear_3". */
static uint32_t module_frame_label(struct module_builder *builder, uint32_t name)
{
	static const char prefix[] = "nn.Module: ";
	const struct ss_string *text = &builder->trace->names.items[name];
	size_t skip = strncmp(text->text, prefix, sizeof(prefix) - 1) == 0 ? sizeof(prefix) - 1 : 0;

	if (!builder->name_labels[name])
		builder->name_labels[name] = ss_strings_add(&builder->tree->labels,
							    text->text + skip,
							    text->length - skip) +
					     1;
	return builder->name_labels[name] - 1;
}

/* The module's frame around a module's frame, or SS_NO_ROW. */
static uint32_t module_frame_around(const struct module_builder *builder, uint32_t frame)
{
	uint32_t parent = builder->trace->slices.parent[frame];

	return parent == SS_NO_ROW ? SS_NO_ROW : ss_places_module(builder->places, parent);
}

/*
 * Checkpointing recomputes a forward during backward, so a module seems to be called from
 * inside itself. Module names are unique: the module of that name around it is the same.
 * SS_NO_ID: none.
 */
static uint32_t same_module_around(const struct module_builder *builder, uint32_t frame,
				   uint32_t node, uint32_t label)
{
	uint32_t outer = module_frame_around(builder, frame);

	if (!builder->places->backward[frame] ||
	    (outer != SS_NO_ROW && builder->places->backward[outer]))
		return SS_NO_ID;
	while (node != SS_NO_ID && builder->tree->nodes[node].name != label)
		node = builder->tree->nodes[node].parent;
	return node;
}

/*
 * The node of a module's frame, after those around it. Backward work belongs to modules of
 * other threads, so they need not come before it. Damaged files can even contain a circle,
 * which is cut.
 */
static uint32_t module_frame_node(struct module_builder *builder, uint32_t frame)
{
	uint32_t length = 0, row = frame, node = SS_NO_ID;

	while (row != SS_NO_ROW && builder->node[row] == NODE_UNKNOWN) {
		builder->node[row] = NODE_SOUGHT;
		builder->chain[length++] = row;
		row = module_frame_around(builder, row);
	}
	if (row != SS_NO_ROW && builder->node[row] != NODE_SOUGHT)
		node = builder->node[row];
	while (length-- > 0 && !builder->failed) {
		uint32_t label, same;

		row = builder->chain[length];
		label = module_frame_label(builder, builder->trace->slices.name[row]);
		same = same_module_around(builder, row, node, label);
		node = same == SS_NO_ID ? module_add_node(builder, node, label) : same;
		builder->node[row] = node;
	}
	return node;
}

static void module_nodes_of_frames(struct module_builder *builder)
{
	const struct ss_places *places = builder->places;

	for (uint32_t row = 0; row < places->row_count; row++)
		builder->node[row] = ss_places_module(places, row) == row ? NODE_UNKNOWN : SS_NO_ID;
	for (uint32_t row = 0; row < places->row_count && !builder->failed; row++)
		if (ss_places_module(places, row) != SS_NO_ROW)
			builder->node[row] = module_frame_node(builder,
							       ss_places_module(places, row));
}

/*
 * The node of "TOP(Net)::forward.SELF(Net)::body.conv1(Conv2d)::forward": modules without
 * their functions. SELF is the same module again; a function outside a module adds no node.
 */
static uint32_t module_path_node(struct module_builder *builder, uint32_t text)
{
	const struct ss_string *path = &builder->trace->texts.items[text];
	const char *at = path->text, *end = at + path->length;
	uint32_t node = SS_NO_ID;

	if (builder->text_nodes[text])
		return builder->text_nodes[text] - 1;
	while (at < end && !builder->failed) {
		const char *stop = at, *name_end;
		int open = 0;

		for (; stop < end && (*stop != '.' || open > 0); stop++)
			open += *stop == '(' ? 1 : *stop == ')' ? -1 : 0;
		for (name_end = at; name_end < stop; name_end++)
			if (name_end[0] == ':' && name_end[1] == ':')
				break;
		if (name_end > at && !(node != SS_NO_ID && strncmp(at, "SELF(", 5) == 0))
			node = module_add_node(builder, node,
					       ss_strings_add(&builder->tree->labels, at,
							      (size_t)(name_end - at)));
		at = stop + 1;
	}
	builder->text_nodes[text] = node + 1;
	return node;
}

/*
 * Gives each row the node of TorchScript's module hierarchy: its own, or that of its parent.
 * Backward operators, which have no path, then get the node of their forward operator.
 */
static void module_nodes_of_paths(struct module_builder *builder)
{
	const struct ss_slices *slices = &builder->trace->slices;
	const struct ss_places *places = builder->places;

	for (uint32_t row = 0; row < places->row_count && !builder->failed; row++) {
		const struct ss_op_args *args = NULL;

		if (slices->kind[row] == SS_KIND_OP && slices->args[row] != SS_NO_ARGS)
			args = ss_records_at(&builder->trace->op_args, slices->args[row]);
		if (args && args->module)
			builder->node[row] = module_path_node(builder, args->module);
		else
			builder->node[row] = slices->parent[row] == SS_NO_ROW
						     ? SS_NO_ID
						     : builder->node[slices->parent[row]];
	}
	for (uint32_t row = 0; row < places->row_count && !builder->failed; row++)
		if (ss_places_forward(places, row) != SS_NO_ROW &&
		    builder->node[ss_places_forward(places, row)] != SS_NO_ID)
			builder->node[row] = builder->node[ss_places_forward(places, row)];
}

static struct ss_module *module_of_row(const struct module_builder *builder, uint32_t row)
{
	uint32_t node = row == SS_NO_ROW ? SS_NO_ID : builder->node[row];

	return node == SS_NO_ID ? &builder->tree->outside : &builder->tree->nodes[node];
}

/* The part of the inner row that lies in the outer one, in which it began. */
static int64_t row_common_ns(const struct ss_slices *slices, uint32_t inner, uint32_t outer)
{
	int64_t end_ns = ss_slice_end(slices, inner), limit_ns = ss_slice_end(slices, outer);

	if (end_ns > limit_ns)
		end_ns = limit_ns;
	return end_ns > slices->start_ns[inner] ? end_ns - slices->start_ns[inner] : 0;
}

/* A frame with the node of the frame around it is beyond the maximum depth: not counted. */
static void module_count_frame(struct module_builder *builder, uint32_t row)
{
	const struct ss_slices *slices = &builder->trace->slices;
	struct ss_module *module = module_of_row(builder, row);
	uint32_t outer = module_frame_around(builder, row);

	if (builder->places->backward[row] ||
	    (outer != SS_NO_ROW && builder->node[outer] == builder->node[row]))
		return;
	module->calls++;
	ss_ns_add(&module->host_total_ns, slices->dur_ns[row]);
	ss_ns_add(&module->host_self_ns, slices->dur_ns[row]);
	if (outer != SS_NO_ROW && slices->track[outer] == slices->track[row] &&
	    !builder->places->backward[outer])
		ss_ns_subtract(&module_of_row(builder, outer)->host_self_ns,
			       row_common_ns(slices, row, outer));
}

static void module_count_op(struct module_builder *builder, uint32_t row)
{
	const struct ss_slices *slices = &builder->trace->slices;
	const uint8_t *backward = builder->places->backward;
	struct ss_module *module = module_of_row(builder, row);
	uint32_t above = builder->above[row];

	builder->tree->has_backward |= backward[row];
	module->operators += !backward[row] && !builder->in_op[row];
	ss_ns_add(&module->self_ns[SS_MODULE_OPS + backward[row]], slices->dur_ns[row]);
	if (above == SS_NO_ROW)
		return;
	module_of_row(builder, above)->self_ns[SS_MODULE_OPS + backward[above]] -=
		row_common_ns(slices, row, above);
}

/* Parents come before children, so what is around a row is known when it is counted. */
static void module_count_host(struct module_builder *builder)
{
	const struct ss_slices *slices = &builder->trace->slices;

	for (uint32_t row = 0; row < builder->places->row_count; row++) {
		uint32_t parent = slices->parent[row];

		builder->above[row] = SS_NO_ROW;
		if (parent != SS_NO_ROW) {
			bool op = slices->kind[parent] == SS_KIND_OP;

			builder->above[row] = op ? parent : builder->above[parent];
			builder->in_op[row] = op ||
					      (builder->in_op[parent] &&
					       ss_places_module(builder->places, parent) != parent);
		}
		if (slices->kind[row] == SS_KIND_OP)
			module_count_op(builder, row);
		else if (ss_places_module(builder->places, row) == row)
			module_count_frame(builder, row);
	}
}

/* Charges device time to the module of its launch; without a launch, to no module. */
static void module_count_device(struct module_builder *builder)
{
	const struct ss_trace *trace = builder->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = slices->link[row];
		bool backward;

		if (!ss_kind_on_device(slices->kind[row]))
			continue;
		if (launch >= builder->places->row_count) {
			launch = SS_NO_ROW;
			ss_ns_add(&builder->tree->orphans_ns, slices->dur_ns[row]);
		}
		builder->tree->has_device = true;
		backward = launch != SS_NO_ROW && builder->places->backward[launch];
		ss_ns_add(&module_of_row(builder, launch)->self_ns[SS_MODULE_DEVICE + backward],
			  slices->dur_ns[row]);
	}
}

/* Children come after their parents: one pass backwards adds up the totals. */
static void module_tree_sum(struct ss_module_tree *tree)
{
	struct ss_module *outside = &tree->outside;

	memcpy(outside->total_ns, outside->self_ns, sizeof(outside->total_ns));
	memcpy(tree->all_ns, outside->self_ns, sizeof(tree->all_ns));
	for (uint32_t i = tree->count; i-- > 0;) {
		struct ss_module *module = &tree->nodes[i];

		for (int part = 0; part < SS_MODULE_PARTS; part++) {
			ss_ns_add(&module->total_ns[part], module->self_ns[part]);
			ss_ns_add(&tree->all_ns[part], module->self_ns[part]);
			if (module->parent != SS_NO_ID)
				ss_ns_add(&tree->nodes[module->parent].total_ns[part],
					  module->total_ns[part]);
		}
	}
}

static bool module_builder_init(struct module_builder *builder, struct ss_arena *scratch)
{
	size_t count = (size_t)builder->places->row_count + 1;

	return SS_ALLOC(scratch, builder->node, count) &&
	       SS_ALLOC(scratch, builder->above, count) &&
	       SS_ALLOC(scratch, builder->chain, count) &&
	       SS_ALLOC(scratch, builder->in_op, count) &&
	       SS_ALLOC(scratch, builder->name_labels, (size_t)builder->trace->names.count + 1) &&
	       SS_ALLOC(scratch, builder->text_nodes, (size_t)builder->trace->texts.count + 1) &&
	       ss_strings_init(&builder->tree->labels, builder->tree->memory) &&
	       ss_records_init(&builder->keys, builder->tree->memory, sizeof(struct module_key));
}

static void module_tree_build(struct module_builder *builder)
{
	builder->tree->has_frames = builder->places->has_modules;
	if (builder->places->has_modules)
		module_nodes_of_frames(builder);
	else
		module_nodes_of_paths(builder);
	if (builder->failed || !builder->tree->count)
		return;
	module_count_host(builder);
	module_count_device(builder);
	module_tree_sum(builder->tree);
}

void ss_module_tree_release(struct ss_module_tree *tree)
{
	if (!tree->memory)
		return;
	SS_FREE(tree->memory, tree->nodes, tree->capacity);
	ss_strings_release(&tree->labels);
	*tree = (struct ss_module_tree){ 0 };
}

enum ss_status ss_module_tree_init(struct ss_module_tree *tree, const struct ss_places *places,
				   struct ss_memory *memory, struct ss_error *err)
{
	return ss_module_tree_init_rows(tree, places, NULL, memory, err);
}

enum ss_status ss_module_tree_init_rows(struct ss_module_tree *tree, const struct ss_places *places,
					uint32_t *rows, struct ss_memory *memory,
					struct ss_error *err)
{
	struct module_builder builder = { .tree = tree, .trace = places->trace, .places = places };
	SS_SCRATCH(scratch, memory);

	*tree = (struct ss_module_tree){ .memory = memory };
	builder.failed = !module_builder_init(&builder, &scratch);
	if (!builder.failed)
		module_tree_build(&builder);
	if (!builder.failed && rows)
		memcpy(rows, builder.node, places->row_count * sizeof(*rows));
	ss_records_release(&builder.keys);
	if (!builder.failed)
		return SS_OK;
	ss_module_tree_release(tree);
	return ss_fail_memory(err, "the modules");
}
