/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - view: stacks with their device or host time, in the format of flame graphs,
 * or merged into a tree.
 */

#include "analyze/host/stack_tree.h"
#include "base/sort.h"
#include "view/view.h"

enum { GROUP_DEVICE, GROUP_HOST, GROUP_TREE };

/*
 * A hundred thousand stacks of sixty frames would be hundreds of megabytes of text: the largest
 * stacks get this much, the rest is summed. Real files need a tenth of it.
 */
#define TEXT_BYTES_MAX (64u << 20)

/*
 * Nodes with less than one percent of all time are not shown in the tree. A frame that keeps
 * less than one percent of its time for itself is merged with its child.
 */
#define BRANCH_PARTS 100

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "frame", SS_COLUMN_TEXT, "in the tree: the frame, indented by its depth",
	  SS_COLUMN_SLICES },
	{ "stack", SS_COLUMN_TEXT, "frames, outermost first: thread;frame;frame;kernel", 0 },
	{ "time_ns", SS_COLUMN_NS,
	  "device time launched under the stack, or its own host time; in the tree, including all "
	  "below",
	  SS_COLUMN_FILLED },
	{ "share_percent", SS_COLUMN_PERCENT, "share of the time of all stacks", SS_COLUMN_BAR },
	{ "self_ns", SS_COLUMN_NS, "in the tree: time that no row below it accounts for", 0 },
	{ "calls", SS_COLUMN_COUNT, "kernels, copies and memsets; for host time: calls", 0 },
	{ "frames", SS_COLUMN_COUNT,
	  "in the tree: number of nested frames merged into this row; the last one is shown", 0 },
	{ "leaf", SS_COLUMN_TEXT, "last frame: the kernel, or the function that took the time",
	  SS_COLUMN_DETAIL | SS_COLUMN_SLICES },
	{ "depth", SS_COLUMN_COUNT, "in the tree: number of rows above it", SS_COLUMN_DETAIL },
	{ "path", SS_COLUMN_TEXT, "in the tree: the full stack", SS_COLUMN_DETAIL },
};

struct stack_item {
	int64_t weight;
	uint32_t parent, node;
};

struct stack_printer {
	struct ss_stack_tree tree;
	struct ss_table *out;
	struct ss_arena scratch;
	uint64_t text_bytes; /* printed so far */
	char *text;          /* the stack that is printed */
	uint32_t text_room;
	/* the tree: per node */
	uint32_t *child, *next; /* of those that are shown */
	uint32_t *depth, *branches, *small;
	int64_t *small_ns; /* time of children that are not shown */
};

/* By parent, then the largest first, then in order of first appearance. */
SS_COMPARATOR(stack_item_compare, struct stack_item,
	      SS_ASCENDING(parent) SS_DESCENDING(weight) SS_ASCENDING(node))

/* A cell with the whole stack; null beyond TEXT_BYTES_MAX. */
static void stacks_add_text(struct stack_printer *printer, uint32_t node)
{
	uint64_t bytes = printer->tree.nodes[node].text_bytes;
	struct ss_table *out = printer->out;

	if (bytes > TEXT_BYTES_MAX - printer->text_bytes) {
		ss_row_null(out);
		return;
	}
	printer->text_bytes += bytes;
	if (!ss_memory_reserve(out->arena->memory, (void **)&printer->text, &printer->text_room,
			       (size_t)bytes + 1, 1)) {
		out->failed = true;
		ss_row_null(out);
		return;
	}
	ss_stack_text(&printer->tree, node, printer->text);
	ss_row_text_part(out, printer->text, (size_t)bytes);
}

static void stacks_add_leaf(struct stack_printer *printer, uint32_t node)
{
	struct ss_string frame = ss_stack_frame(&printer->tree, node);

	ss_row_text_part(printer->out, frame.text, frame.length);
}

/* One folded stack; SS_NO_ID: the rest of them. */
static void stacks_add_stack(struct stack_printer *printer, uint32_t node, int64_t time_ns,
			     int64_t calls)
{
	struct ss_table *out = printer->out;

	ss_row_begin(out);
	ss_row_null(out);
	if (node == SS_NO_ID)
		ss_row_text(out, "(other)");
	else
		stacks_add_text(printer, node);
	ss_row_int(out, time_ns);
	ss_row_share(out, (double)time_ns, (double)printer->tree.all_ns);
	ss_row_null(out);
	ss_row_int(out, calls);
	ss_row_null(out);
	if (node == SS_NO_ID)
		ss_row_null(out);
	else
		stacks_add_leaf(printer, node);
	ss_row_null(out);
	ss_row_null(out);
	ss_row_end(out);
}

/* Folded stacks, the largest first; when their text exceeds the limit, the rest is summed. */
static bool stacks_add_stacks(struct stack_printer *printer)
{
	const struct ss_stack_tree *tree = &printer->tree;
	struct stack_item *items;
	int64_t rest_ns = 0, rest_calls = 0;
	uint32_t used = 0, shown = 0;

	if (!SS_ALLOC(&printer->scratch, items, (size_t)tree->count + 1))
		return false;
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].self_ns)
			items[used++] = (struct stack_item){ tree->nodes[i].self_ns, 0, i };
	SS_SORT(items, used, stack_item_compare);
	for (; shown < used; shown++) {
		const struct ss_stack *stack = &tree->nodes[items[shown].node];

		if (stack->text_bytes > TEXT_BYTES_MAX - printer->text_bytes)
			break;
		stacks_add_stack(printer, items[shown].node, stack->self_ns, stack->calls);
	}
	for (uint32_t i = shown; i < used; i++) {
		ss_ns_add(&rest_ns, tree->nodes[items[i].node].self_ns);
		rest_calls += tree->nodes[items[i].node].calls;
	}
	if (shown == used)
		return true;
	stacks_add_stack(printer, SS_NO_ID, rest_ns, rest_calls);
	ss_table_note(printer->out,
		      "%u more stacks are summed as (other), because their text exceeds %u MB.",
		      used - shown, TEXT_BYTES_MAX >> 20);
	return true;
}

static int64_t stacks_limit_ns(const struct stack_printer *printer)
{
	int64_t limit = printer->tree.all_ns / BRANCH_PARTS;

	return limit > 0 ? limit : 1;
}

/* Links the nodes that are shown; a shown node's parent is shown as well. */
static bool stacks_link_branches(struct stack_printer *printer, uint32_t *first)
{
	const struct ss_stack_tree *tree = &printer->tree;
	size_t count = (size_t)tree->count + 1;
	struct stack_item *items = SS_ARENA_NEW(&printer->scratch, struct stack_item, count);
	uint32_t used = 0;

	printer->child = SS_ARENA_NEW(&printer->scratch, uint32_t, count);
	printer->next = SS_ARENA_NEW(&printer->scratch, uint32_t, count);
	printer->depth = SS_ARENA_NEW(&printer->scratch, uint32_t, count);
	printer->branches = SS_ARENA_NEW(&printer->scratch, uint32_t, count);
	printer->small = SS_ARENA_NEW(&printer->scratch, uint32_t, count);
	printer->small_ns = SS_ARENA_NEW(&printer->scratch, int64_t, count);
	if (!items || !printer->child || !printer->next || !printer->depth || !printer->branches ||
	    !printer->small || !printer->small_ns)
		return false;
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t parent = tree->nodes[i].parent;
		uint32_t above = parent == SS_NO_ID ? tree->count : parent;

		printer->child[i] = printer->next[i] = SS_NO_ID;
		if (tree->nodes[i].total_ns >= stacks_limit_ns(printer)) {
			items[used++] = (struct stack_item){ tree->nodes[i].total_ns, parent, i };
			printer->branches[above]++;
		} else if (tree->nodes[i].total_ns) {
			printer->small[above]++;
			ss_ns_add(&printer->small_ns[above], tree->nodes[i].total_ns);
		}
	}
	SS_SORT(items, used, stack_item_compare);
	*first = SS_NO_ID;
	for (uint32_t i = used; i-- > 0;) {
		uint32_t *head = items[i].parent == SS_NO_ID ? first
							     : &printer->child[items[i].parent];

		printer->next[items[i].node] = *head;
		*head = items[i].node;
	}
	return true;
}

/* A row of the tree; SS_NO_ID: the sum of `small` branches that are not shown. */
static void stacks_add_branch(struct stack_printer *printer, uint32_t node, int64_t time_ns,
			      int64_t self_ns, uint32_t frames, uint32_t depth, uint32_t small)
{
	struct ss_table *out = printer->out;
	struct ss_string frame = { 0 };

	if (node != SS_NO_ID)
		frame = ss_stack_frame(&printer->tree, node);
	ss_row_begin(out);
	if (node == SS_NO_ID)
		ss_row_text(out, ss_table_print(out, "%*s(%u smaller)", (int)depth * 2, "", small));
	else
		ss_row_text(out, ss_table_print(out, "%*s%.*s", (int)depth * 2, "",
						(int)frame.length, frame.text));
	ss_row_null(out);
	ss_row_int(out, time_ns);
	ss_row_share(out, (double)time_ns, (double)printer->tree.all_ns);
	ss_row_int(out, self_ns);
	ss_row_null(out);
	if (node == SS_NO_ID) {
		ss_row_null(out);
		ss_row_null(out);
		ss_row_int(out, depth);
		ss_row_null(out);
	} else {
		ss_row_int(out, frames);
		stacks_add_leaf(printer, node);
		ss_row_int(out, depth);
		stacks_add_text(printer, node);
	}
	ss_row_end(out);
}

/* A row for the small branches of a node; below the limit they are in its self time. */
static void stacks_add_small(struct stack_printer *printer, uint32_t node)
{
	uint32_t at = node == SS_NO_ID ? printer->tree.count : node;
	uint32_t depth = node == SS_NO_ID ? 0 : printer->depth[node] + 1;

	if (!printer->small_ns[at] ||
	    (node != SS_NO_ID && printer->small_ns[at] < stacks_limit_ns(printer)))
		return;
	stacks_add_branch(printer, SS_NO_ID, printer->small_ns[at], printer->small_ns[at], 0, depth,
			  printer->small[at]);
}

/*
 * A row for a node. Frames that only pass their time on to one other frame are merged with it:
 * a hundred frames of libraries would hide the few that matter. Returns the last frame.
 */
static uint32_t stacks_add_chain(struct stack_printer *printer, uint32_t node, uint32_t depth)
{
	const struct ss_stack *nodes = printer->tree.nodes;
	int64_t self_ns = 0, limit = stacks_limit_ns(printer);
	uint32_t last = node, frames = 1;

	for (;; last = printer->child[last], frames++) {
		int64_t own_ns = nodes[last].self_ns + printer->small_ns[last];

		printer->depth[last] = depth;
		if (nodes[last].parent == SS_NO_ID || printer->branches[last] != 1 ||
		    own_ns > nodes[last].total_ns / BRANCH_PARTS)
			break;
		ss_ns_add(&self_ns, own_ns);
		printer->small_ns[last] = 0;
	}
	ss_ns_add(&self_ns, nodes[last].self_ns);
	if (printer->small_ns[last] < limit)
		ss_ns_add(&self_ns, printer->small_ns[last]);
	stacks_add_branch(printer, last, nodes[node].total_ns, self_ns, frames, depth, 0);
	return last;
}

/* Depth first, the largest first, small branches after their larger siblings. */
static bool stacks_add_tree(struct stack_printer *printer)
{
	const struct ss_stack *nodes = printer->tree.nodes;
	uint32_t node;

	if (!stacks_link_branches(printer, &node))
		return false;
	while (node != SS_NO_ID) {
		uint32_t parent = nodes[node].parent;
		uint32_t depth = parent == SS_NO_ID ? 0 : printer->depth[parent] + 1;
		uint32_t up = stacks_add_chain(printer, node, depth);

		node = printer->child[up];
		while (node == SS_NO_ID && up != SS_NO_ID) {
			stacks_add_small(printer, up);
			node = printer->next[up];
			up = nodes[up].parent;
		}
	}
	stacks_add_small(printer, SS_NO_ID);
	return true;
}

static enum ss_status stacks_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	bool device = trace->device_event_count > 0 && subject->group != GROUP_HOST;
	struct stack_printer printer = { .out = out };
	bool whole, has_lines;

	SS_TRY(ss_stack_tree_init(&printer.tree, trace, device ? SS_STACK_DEVICE : SS_STACK_HOST,
				  NULL, out->arena->memory, err));
	ss_arena_init(&printer.scratch, out->arena->memory);
	whole = subject->group == GROUP_TREE ? stacks_add_tree(&printer)
					     : stacks_add_stacks(&printer);
	has_lines = printer.tree.has_lines;
	ss_memory_free(out->arena->memory, printer.text, printer.text_room);
	ss_arena_release(&printer.scratch);
	ss_stack_tree_release(&printer.tree);
	if (!whole)
		return ss_fail_memory(err, "the stacks");
	if (out->row_count && !device && subject->group != GROUP_HOST)
		ss_table_note(out, "Nothing ran on a device: the times are host times.");
	if (out->row_count && !has_lines)
		ss_note_missing(out, SS_MISSING_LINES);
	return SS_OK;
}

const struct ss_view ss_view_stacks = {
	.name = "stacks",
	.summary = "Stacks with their device or host time, for flame graphs",
	.empty = "No stacks: nothing in the file took time.",
	SS_TABLE_COLUMNS(columns),
	.sums = "self_ns",
	.basis = SS_BASIS_FILE,
	.groups = { "device", "host", "tree" },
	.order = { "time_ns" },
	.own_order = 1u << GROUP_TREE,
	.run = stacks_run,
};
