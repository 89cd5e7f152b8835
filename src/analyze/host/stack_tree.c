/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_tree.c - nodes are looked up by (parent node, name), so memory grows with distinct
 * stacks, not with rows.
 */
#include "analyze/host/stack_tree.h"

#include <stdio.h>
#include <string.h>

/* A node as it is looked up. */
struct stack_key {
	uint32_t parent, name;
};

/* Marks the row of a launch whose node is wanted. */
#define NODE_WANTED (SS_NO_ID - 1)

/*
 * Removing ended rows from inside stacks may visit this many rows per row of the file; real
 * files need it once per step.
 */
#define WORK_PER_ROW 4

/* A row that is open. */
struct open_row {
	uint32_t row, node; /* SS_NO_ID: not looked up yet */
	int64_t end_ns;
	int64_t first_end_ns; /* the earliest end of it and all rows below it */
};

struct stack_builder {
	struct ss_stack_tree *tree;
	enum ss_stack_value value;
	const struct ss_phases *phases; /* NULL: none */
	struct ss_records keys;         /* struct stack_key: its id is the node's */
	uint32_t *node;                 /* per host row; SS_NO_ID: not wanted */
	struct open_row *open;          /* the thread's stack */
	uint32_t open_count, open_capacity;
	int64_t now_ns;           /* the thread's time is charged up to here */
	uint64_t work_left;       /* of stack_close_below() */
	uint32_t *roots;          /* per track: its node + 1 */
	struct stack_key *stacks; /* per call stack: its last parent node, its own node + 1 */
	bool failed;
};

struct ss_string ss_stack_frame(const struct ss_stack_tree *tree, uint32_t node)
{
	const struct ss_stack *stack = &tree->nodes[node];
	static const char step[] = "ProfilerStep";

	if (stack->parent == SS_NO_ID)
		return tree->texts.items[stack->name];
	if (stack->name & SS_STACK_OWN_TEXT)
		return tree->texts.items[stack->name & ~SS_STACK_OWN_TEXT];
	if (stack->name == tree->step_name)
		return (struct ss_string){ .text = step, .length = sizeof(step) - 1 };
	return tree->trace->names.items[stack->name];
}

/* The child of a node with this name, made now if it is new. */
static uint32_t stack_add_node(struct stack_builder *builder, uint32_t parent, uint32_t name)
{
	struct ss_stack_tree *tree = builder->tree;
	struct stack_key key = { parent, name };
	uint32_t id = name == SS_NO_ID ? SS_NO_ID : ss_records_add(&builder->keys, &key);

	if (id != SS_NO_ID && id < tree->count)
		return id;
	if (id == SS_NO_ID || !SS_GROW(tree->memory, tree->nodes, tree->capacity, tree->count)) {
		builder->failed = true;
		return SS_NO_ID;
	}
	tree->nodes[tree->count] = (struct ss_stack){ .parent = parent, .name = name };
	tree->nodes[tree->count].text_bytes =
		(parent == SS_NO_ID ? 0 : tree->nodes[parent].text_bytes + 1) +
		ss_stack_frame(tree, tree->count).length;
	return tree->count++;
}

/* The root of a thread: "thread 123". */
static uint32_t stack_thread_node(struct stack_builder *builder, uint32_t index)
{
	const struct ss_trace *trace = builder->tree->trace;
	const struct ss_track *track = &trace->tracks[index];
	char id[32], text[160];
	uint32_t node;
	int length;

	if (builder->roots[index])
		return builder->roots[index] - 1;
	snprintf(id, sizeof(id), "%lld", (long long)track->tid);
	length = snprintf(text, sizeof(text), "thread %s",
			  track->tid_text ? ss_strings_text(&trace->texts, track->tid_text) : id);
	if (length >= (int)sizeof(text))
		length = sizeof(text) - 1;
	node = stack_add_node(builder, SS_NO_ID,
			      ss_strings_add(&builder->tree->texts, text, (size_t)length));
	builder->roots[index] = node + 1;
	return node;
}

static uint32_t stack_row_name(const struct stack_builder *builder, uint32_t row)
{
	const struct ss_trace *trace = builder->tree->trace;

	return ss_slice_flags(trace, row) & SS_NAME_STEP ? builder->tree->step_name
							 : trace->slices.name[row];
}

/* Adds the frames of "inner.py(3): f;outer.py(7): g" to a node, the outer ones first. */
static uint32_t stack_add_frames(struct stack_builder *builder, uint32_t node, uint32_t text)
{
	const struct ss_string *stack = &builder->tree->trace->texts.items[text];
	struct stack_key *latest = &builder->stacks[text];
	const char *end = stack->text + stack->length;

	builder->tree->has_lines = true;
	if (latest->name && latest->parent == node)
		return latest->name - 1;
	latest->parent = node;
	while (end > stack->text && !builder->failed) {
		const char *at = end;
		uint32_t id;

		while (at > stack->text && at[-1] != ';')
			at--;
		if (end > at) {
			id = ss_strings_add(&builder->tree->texts, at, (size_t)(end - at));
			node = stack_add_node(builder, node,
					      id == SS_NO_ID ? id : id | SS_STACK_OWN_TEXT);
		}
		end = at > stack->text ? at - 1 : at;
	}
	latest->name = node + 1;
	return node;
}

/* The recorded call stack (text id) of an operator without operators or frames around it, or 0. */
static uint32_t stack_outermost_frames(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t parent = slices->parent[row];
	const struct ss_op_args *args;

	if (slices->kind[row] != SS_KIND_OP || slices->args[row] == SS_NO_ARGS)
		return 0;
	if (parent != SS_NO_ROW &&
	    (slices->kind[parent] == SS_KIND_OP || slices->kind[parent] == SS_KIND_PYTHON))
		return 0;
	args = ss_records_at(&trace->op_args, slices->args[row]);
	return args->call_stack;
}

/* The node of an open row in the node of what is around it. */
static uint32_t stack_add_row(struct stack_builder *builder, uint32_t node, uint32_t row)
{
	const struct ss_trace *trace = builder->tree->trace;
	uint32_t stack = stack_outermost_frames(trace, row);

	builder->tree->has_lines |= trace->slices.kind[row] == SS_KIND_PYTHON;
	if (stack)
		node = stack_add_frames(builder, node, stack);
	if (builder->failed ||
	    (builder->value == SS_STACK_DEVICE && ss_kind_is_call(trace->slices.kind[row])))
		return node;
	return stack_add_node(builder, node, stack_row_name(builder, row));
}

/* The node of the top row, after those below it that are not known yet. */
static uint32_t stack_top_node(struct stack_builder *builder)
{
	uint32_t from = builder->open_count, node;

	while (from > 0 && builder->open[from - 1].node == SS_NO_ID)
		from--;
	if (from)
		node = builder->open[from - 1].node;
	else
		node = stack_thread_node(builder,
					 builder->tree->trace->slices.track[builder->open[0].row]);
	for (; from < builder->open_count && !builder->failed; from++) {
		node = stack_add_row(builder, node, builder->open[from].row);
		builder->open[from].node = node;
	}
	return node;
}

static void stack_charge(struct stack_builder *builder, uint32_t node, int64_t ns,
			 enum ss_phase phase)
{
	ss_ns_add(&builder->tree->nodes[node].self_ns, ns);
	ss_ns_add(&builder->tree->nodes[node].phases_ns[phase], ns);
}

/* Charges the thread's time up to `until` to the top row. */
static void stack_charge_top(struct stack_builder *builder, int64_t until_ns)
{
	uint32_t row = builder->open[builder->open_count - 1].row;

	if (until_ns <= builder->now_ns)
		return;
	if (builder->value == SS_STACK_HOST)
		stack_charge(builder, builder->node[row], until_ns - builder->now_ns,
			     builder->phases ? (enum ss_phase)builder->phases->phase[row]
					     : SS_PHASE_OTHER);
	builder->now_ns = until_ns;
}

/*
 * Removes rows that have ended below others that are still open: the range of a step begins in
 * the call that ended the previous step, and would be inside all previous steps. The cost is
 * the number of rows above; work_left limits it for files that need it everywhere.
 */
static void stack_close_below(struct stack_builder *builder, int64_t start_ns)
{
	struct open_row *open = builder->open;
	uint32_t from = builder->open_count, kept;

	while (from > 0 && builder->work_left && open[from - 1].first_end_ns <= start_ns) {
		from--;
		builder->work_left--;
	}
	if (from == builder->open_count || !builder->work_left)
		return;
	kept = from;
	for (uint32_t i = from; i < builder->open_count; i++) {
		int64_t below_ns = kept ? open[kept - 1].first_end_ns : INT64_MAX;

		if (open[i].end_ns <= start_ns)
			continue;
		open[kept] = open[i];
		open[kept].first_end_ns = open[i].end_ns < below_ns ? open[i].end_ns : below_ns;
		open[kept++].node = SS_NO_ID;
	}
	builder->open_count = kept;
}

/* Closes rows that have ended by then. */
static void stack_advance(struct stack_builder *builder, int64_t start_ns)
{
	while (builder->open_count && builder->open[builder->open_count - 1].end_ns <= start_ns) {
		stack_charge_top(builder, builder->open[builder->open_count - 1].end_ns);
		builder->open_count--;
	}
	if (!builder->open_count)
		return;
	stack_charge_top(builder, start_ns);
	stack_close_below(builder, start_ns);
}

/* Pushes a row on the stack of its thread. A row without duration leaves it at once. */
static void stack_enter_row(struct stack_builder *builder, uint32_t row)
{
	const struct ss_slices *slices = &builder->tree->trace->slices;
	uint32_t at = builder->open_count;
	int64_t end_ns = ss_slice_end(slices, row);
	int64_t below_ns = at ? builder->open[at - 1].first_end_ns : INT64_MAX;

	if (!SS_GROW(builder->tree->memory, builder->open, builder->open_capacity, at)) {
		builder->failed = true;
		return;
	}
	builder->open[at] = (struct open_row){ .row = row, .node = SS_NO_ID, .end_ns = end_ns };
	builder->open[at].first_end_ns = end_ns < below_ns ? end_ns : below_ns;
	builder->open_count = at + 1;
	builder->now_ns = slices->start_ns[row];
	if (builder->value == SS_STACK_HOST || builder->node[row] == NODE_WANTED)
		builder->node[row] = stack_top_node(builder);
	if (!slices->dur_ns[row])
		builder->open_count--;
}

/* Visits rows by thread and start: what is open at the start of a row is its stack. */
static void stack_walk_host(struct stack_builder *builder)
{
	const struct ss_trace *trace = builder->tree->trace;

	for (uint32_t row = 0; row < trace->device_from && !builder->failed; row++) {
		if (row && trace->slices.track[row] != trace->slices.track[row - 1])
			stack_advance(builder, INT64_MAX);
		else
			stack_advance(builder, trace->slices.start_ns[row]);
		stack_enter_row(builder, row);
		if (!builder->failed && builder->value == SS_STACK_HOST)
			builder->tree->nodes[builder->node[row]].calls++;
	}
	if (!builder->failed)
		stack_advance(builder, INT64_MAX);
}

/* Marks the launches, whose nodes are wanted. */
static void stack_mark_launches(struct stack_builder *builder)
{
	const struct ss_trace *trace = builder->tree->trace;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (ss_kind_on_device(trace->slices.kind[row]) &&
		    trace->slices.link[row] < trace->device_from)
			builder->node[trace->slices.link[row]] = NODE_WANTED;
}

/* Charges device work to the stack of its launch, with the kernel as the last frame. */
static void stack_count_device(struct stack_builder *builder)
{
	static const char unknown[] = "(launch not recorded)";
	const struct ss_trace *trace = builder->tree->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = slices->link[row], node;

		if (!ss_kind_on_device(slices->kind[row]))
			continue;
		if (launch < trace->device_from)
			node = builder->node[launch];
		else
			node = stack_add_node(builder, SS_NO_ID,
					      ss_strings_add(&builder->tree->texts, unknown,
							     sizeof(unknown) - 1));
		if (!builder->failed)
			node = stack_add_node(builder, node, slices->name[row]);
		if (builder->failed)
			return;
		builder->tree->nodes[node].calls++;
		stack_charge(builder, node, slices->dur_ns[row],
			     builder->phases ? ss_phase_of_launch(builder->phases, row)
					     : SS_PHASE_OTHER);
	}
}

static void stack_tree_sum(struct ss_stack_tree *tree)
{
	for (uint32_t i = tree->count; i-- > 0;) {
		struct ss_stack *node = &tree->nodes[i];

		ss_ns_add(&node->total_ns, node->self_ns);
		ss_ns_add(&tree->all_ns, node->self_ns);
		if (node->parent != SS_NO_ID)
			ss_ns_add(&tree->nodes[node->parent].total_ns, node->total_ns);
	}
}

static bool stack_builder_init(struct stack_builder *builder, struct ss_arena *scratch)
{
	struct ss_stack_tree *tree = builder->tree;
	size_t rows = (size_t)tree->trace->device_from + 1;

	for (uint32_t id = 0; id < tree->trace->names.count; id++)
		if (tree->step_name == SS_NO_ID && (tree->trace->name_flags[id] & SS_NAME_STEP))
			tree->step_name = id;
	builder->node = SS_ARENA_NEW(scratch, uint32_t, rows);
	builder->stacks = SS_ARENA_NEW(scratch, struct stack_key,
				       (size_t)tree->trace->texts.count + 1);
	builder->roots = SS_ARENA_NEW(scratch, uint32_t, (size_t)tree->trace->track_count + 1);
	if (builder->node) /* all bytes of SS_NO_ID are 0xff */
		memset(builder->node, 0xff, rows * sizeof(*builder->node));
	return builder->node && builder->roots && builder->stacks &&
	       ss_strings_init(&tree->texts, tree->memory) &&
	       ss_records_init(&builder->keys, tree->memory, sizeof(struct stack_key));
}

void ss_stack_tree_release(struct ss_stack_tree *tree)
{
	if (!tree->memory)
		return;
	SS_FREE(tree->memory, tree->nodes, tree->capacity);
	ss_strings_release(&tree->texts);
	*tree = (struct ss_stack_tree){ 0 };
}

enum ss_status ss_stack_tree_init(struct ss_stack_tree *tree, const struct ss_trace *trace,
				  enum ss_stack_value value, const struct ss_phases *phases,
				  struct ss_memory *memory, struct ss_error *err)
{
	struct stack_builder builder = { .tree = tree,
					 .value = value,
					 .phases = phases,
					 .work_left = (uint64_t)trace->device_from * WORK_PER_ROW };
	SS_SCRATCH(scratch, memory);

	*tree = (struct ss_stack_tree){ .trace = trace, .memory = memory, .step_name = SS_NO_ID };
	builder.failed = !stack_builder_init(&builder, &scratch);
	if (!builder.failed && value == SS_STACK_DEVICE)
		stack_mark_launches(&builder);
	if (!builder.failed)
		stack_walk_host(&builder);
	if (!builder.failed && value == SS_STACK_DEVICE)
		stack_count_device(&builder);
	stack_tree_sum(tree);
	ss_records_release(&builder.keys);
	SS_FREE(memory, builder.open, builder.open_capacity);
	if (!builder.failed)
		return SS_OK;
	ss_stack_tree_release(tree);
	return ss_fail_memory(err, "the stacks");
}

void ss_stack_text(const struct ss_stack_tree *tree, uint32_t node, char *text)
{
	size_t at = (size_t)tree->nodes[node].text_bytes;

	for (uint32_t up = node; up != SS_NO_ID; up = tree->nodes[up].parent) {
		struct ss_string frame = ss_stack_frame(tree, up);

		at -= frame.length;
		for (uint32_t i = 0; i < frame.length; i++) {
			unsigned char byte = (unsigned char)frame.text[i];

			text[at + i] = byte == ';' ? ':' : byte < ' ' ? ' ' : (char)byte;
		}
		if (at)
			text[--at] = ';';
	}
}
