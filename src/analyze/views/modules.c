/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.c - view: the nn.Modules as a tree, by class or by instance, with the device
 * time of their forward and of the backward work they cause.
 */
#include <string.h>

#include "analyze/facts.h"
#include "analyze/host/module_tree.h"
#include "base/sort.h"
#include "view/view.h"

enum { GROUP_TREE, GROUP_CLASS, GROUP_INSTANCE };

/*
 * Paths repeat the names of all ancestors: together they may have this many bytes. Real files
 * need less than one million.
 */
#define PATHS_BYTES_MAX (64u << 20)

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "module", SS_COLUMN_TEXT, "name of the module, indented by its depth in the tree",
	  SS_COLUMN_SLICES },
	{ "share_percent", SS_COLUMN_PERCENT,
	  "share of all device time, including backward and modules inside it; without a device: "
	  "its operators' share of the time of all operators",
	  SS_COLUMN_BAR },
	{ "device_total_ns", SS_COLUMN_NS,
	  "kernels, copies and memsets launched in its forward, including modules inside it", 0 },
	{ "device_self_ns", SS_COLUMN_NS, "device_total_ns without the modules inside it", 0 },
	{ "backward_ns", SS_COLUMN_NS,
	  "device time of its backward, including modules inside it; empty if the file has no "
	  "backward",
	  0 },
	{ "host_total_ns", SS_COLUMN_NS, "time of its forward on the CPU", 0 },
	{ "calls", SS_COLUMN_COUNT, "number of forward calls", SS_COLUMN_DETAIL },
	{ "backward_host_ns", SS_COLUMN_NS,
	  "time of its backward operators on the CPU, including modules inside it",
	  SS_COLUMN_DETAIL },
	{ "host_self_ns", SS_COLUMN_NS, "host_total_ns without the modules inside it",
	  SS_COLUMN_DETAIL },
	{ "operators", SS_COLUMN_COUNT,
	  "operators called directly by its forward, not by operators or modules inside it",
	  SS_COLUMN_DETAIL },
	{ "backward_self_ns", SS_COLUMN_NS, "backward_ns without the modules inside it",
	  SS_COLUMN_DETAIL },
	{ "operators_ns", SS_COLUMN_NS,
	  "time of its forward operators on the CPU, including modules inside it",
	  SS_COLUMN_DETAIL },
	{ "depth", SS_COLUMN_COUNT, "number of modules around it", SS_COLUMN_DETAIL },
	{ "path", SS_COLUMN_TEXT, "path of the module, outermost module first", SS_COLUMN_DETAIL },
};

struct module_printer {
	const struct ss_module_tree *tree;
	struct ss_table *out;
	uint32_t group;
	size_t path_bytes; /* printed so far */
};

/* The time that ranks a module: of the device or, without one, of operators. */
static int64_t module_weight(const struct ss_module_tree *tree, const int64_t *parts)
{
	int first = tree->has_device ? SS_MODULE_DEVICE : SS_MODULE_OPS;

	return parts[first] + parts[first + 1];
}

/* Measures the path, then writes it from its end: nodes only know their parents. */
static void modules_add_path(struct module_printer *printer, const struct ss_module *module)
{
	static const char gap[] = " / ";
	const struct ss_module_tree *tree = printer->tree;
	size_t length = 0;
	char *text;

	for (const struct ss_module *up = module;; up = &tree->nodes[up->parent]) {
		length += tree->labels.items[up->name].length + sizeof(gap) - 1;
		if (up->parent == SS_NO_ID)
			break;
	}
	length -= sizeof(gap) - 1;
	printer->path_bytes += length;
	if (printer->path_bytes > PATHS_BYTES_MAX) {
		ss_row_null(printer->out);
		return;
	}
	text = ss_arena_alloc(printer->out->arena, length + 1, 1);
	if (!text) {
		printer->out->failed = true;
		ss_row_null(printer->out);
		return;
	}
	for (const struct ss_module *up = module;; up = &tree->nodes[up->parent]) {
		const struct ss_string *label = &tree->labels.items[up->name];

		length -= label->length;
		memcpy(text + length, label->text, label->length);
		if (up->parent == SS_NO_ID)
			break;
		length -= sizeof(gap) - 1;
		memcpy(text + length, gap, sizeof(gap) - 1);
	}
	ss_row_text(printer->out, text);
}

static void modules_add_known(struct ss_table *out, bool known, int64_t value)
{
	if (known)
		ss_row_int(out, value);
	else
		ss_row_null(out);
}

/* A row; `where` is the node whose depth and path it shows; NULL: neither. */
static void modules_add_row(struct module_printer *printer, const char *text,
			    const struct ss_module *module, const struct ss_module *where)
{
	const struct ss_module_tree *tree = printer->tree;
	struct ss_table *out = printer->out;
	bool frames = tree->has_frames && module != &tree->outside;
	bool ops = tree->all_ns[SS_MODULE_OPS] > 0;

	ss_row_begin(out);
	ss_row_text(out, text);
	ss_row_share(out, (double)module_weight(tree, module->total_ns),
		     (double)module_weight(tree, tree->all_ns));
	modules_add_known(out, tree->has_device, module->total_ns[SS_MODULE_DEVICE]);
	modules_add_known(out, tree->has_device, module->self_ns[SS_MODULE_DEVICE]);
	modules_add_known(out, tree->has_device && tree->has_backward,
			  module->total_ns[SS_MODULE_DEVICE_BACKWARD]);
	modules_add_known(out, frames, module->host_total_ns);
	modules_add_known(out, frames, module->calls);
	modules_add_known(out, tree->has_backward, module->total_ns[SS_MODULE_OPS_BACKWARD]);
	modules_add_known(out, frames, module->host_self_ns);
	modules_add_known(out, ops, module->operators);
	modules_add_known(out, tree->has_device && tree->has_backward,
			  module->self_ns[SS_MODULE_DEVICE_BACKWARD]);
	modules_add_known(out, ops, module->total_ns[SS_MODULE_OPS]);
	if (where) {
		ss_row_int(out, where->depth);
		modules_add_path(printer, where);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_end(out);
}

/* A node to be sorted among its siblings. */
struct module_item {
	int64_t weight;
	uint32_t parent, node;
};

/* By parent, then the largest first, then in order of first appearance. */
SS_COMPARATOR(module_item_compare, struct module_item,
	      SS_ASCENDING(parent) SS_DESCENDING(weight) SS_ASCENDING(node))

static void modules_add_node(struct module_printer *printer, uint32_t node)
{
	const struct ss_module *module = &printer->tree->nodes[node];
	const char *label = ss_strings_text(&printer->tree->labels, module->name);

	modules_add_row(printer,
			ss_table_print(printer->out, "%*s%s", (int)module->depth * 2, "", label),
			module, module);
}

/* Depth first: from a node to its first child, else to its next sibling. */
static bool modules_add_tree(struct module_printer *printer, struct ss_arena *scratch)
{
	const struct ss_module_tree *tree = printer->tree;
	struct module_item *items;
	uint32_t *child = SS_ARENA_NEW(scratch, uint32_t, (size_t)tree->count + 1);
	uint32_t *next = SS_ARENA_NEW(scratch, uint32_t, (size_t)tree->count + 1);
	uint32_t first = SS_NO_ID;

	if (!SS_ALLOC(scratch, items, (size_t)tree->count + 1) || !child || !next)
		return false;
	for (uint32_t i = 0; i < tree->count; i++) {
		items[i] = (struct module_item){ module_weight(tree, tree->nodes[i].total_ns),
						 tree->nodes[i].parent, i };
		child[i] = next[i] = SS_NO_ID;
	}
	SS_SORT(items, tree->count, module_item_compare);
	for (uint32_t i = tree->count; i-- > 0;) {
		uint32_t *head = items[i].parent == SS_NO_ID ? &first : &child[items[i].parent];

		next[items[i].node] = *head;
		*head = items[i].node;
	}
	for (uint32_t node = first; node != SS_NO_ID;) {
		modules_add_node(printer, node);
		if (child[node] != SS_NO_ID) {
			node = child[node];
			continue;
		}
		while (next[node] == SS_NO_ID && tree->nodes[node].parent != SS_NO_ID)
			node = tree->nodes[node].parent;
		node = next[node];
	}
	return true;
}

static uint32_t module_kind_key(const struct module_printer *printer,
				const struct ss_module *module)
{
	return printer->group == GROUP_CLASS ? module->class : module->name;
}

/* Whether a module is inside one of its own kind, whose total includes its time. */
static bool module_inside_its_kind(const struct module_printer *printer,
				   const struct ss_module *module)
{
	uint32_t key = module_kind_key(printer, module);

	for (uint32_t up = module->parent; up != SS_NO_ID; up = printer->tree->nodes[up].parent)
		if (module_kind_key(printer, &printer->tree->nodes[up]) == key)
			return true;
	return false;
}

static void modules_sum_kind(const struct module_printer *printer, const struct ss_module *module,
			     struct ss_module *sum)
{
	bool inside = module_inside_its_kind(printer, module);

	sum->calls += module->calls;
	sum->operators += module->operators;
	ss_ns_add(&sum->host_self_ns, module->host_self_ns);
	ss_ns_add(&sum->host_total_ns, inside ? 0 : module->host_total_ns);
	for (int part = 0; part < SS_MODULE_PARTS; part++) {
		ss_ns_add(&sum->self_ns[part], module->self_ns[part]);
		ss_ns_add(&sum->total_ns[part], inside ? 0 : module->total_ns[part]);
	}
}

/* One row per class or instance, summed over all nodes of the tree. */
static bool modules_add_kinds(struct module_printer *printer, struct ss_arena *scratch)
{
	const struct ss_module_tree *tree = printer->tree;
	struct ss_module *sums = SS_ARENA_NEW(scratch, struct ss_module, tree->labels.count);
	struct module_item *items = SS_ARENA_NEW(scratch, struct module_item, tree->labels.count);
	uint8_t *seen = SS_ARENA_NEW(scratch, uint8_t, tree->labels.count);
	uint32_t used = 0;

	if (!sums || !items || !seen)
		return false;
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t key = module_kind_key(printer, &tree->nodes[i]);

		modules_sum_kind(printer, &tree->nodes[i], &sums[key]);
		seen[key] = 1;
	}
	for (uint32_t i = 0; i < tree->labels.count; i++)
		if (seen[i])
			items[used++] = (struct module_item){ module_weight(tree, sums[i].self_ns),
							      0, i };
	SS_SORT(items, used, module_item_compare);
	for (uint32_t i = 0; i < used; i++)
		modules_add_row(printer, ss_strings_text(&tree->labels, items[i].node),
				&sums[items[i].node], NULL);
	return true;
}

/* From one percent of the device time on, it distorts the shares. */
static void modules_note_orphans(struct module_printer *printer)
{
	const struct ss_module_tree *tree = printer->tree;
	int64_t all_ns = module_weight(tree, tree->all_ns);

	if (tree->orphans_ns && tree->orphans_ns >= all_ns / 100)
		ss_table_note(printer->out,
			      "%.0f %% of the device time has no recorded launch and counts as "
			      "outside modules.",
			      100.0 * (double)tree->orphans_ns / (double)all_ns);
}

static enum ss_status modules_run(const struct ss_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	const struct ss_places *places;
	struct ss_module_tree tree;
	struct module_printer printer = { .tree = &tree, .out = out, .group = subject->group };
	SS_SCRATCH(scratch, out->arena->memory);
	bool whole = true;

	SS_TRY(ss_facts_places(subject->facts, &places, err));
	SS_TRY(ss_module_tree_init(&tree, places, out->arena->memory, err));
	if (!tree.count)
		ss_note_missing(out, ss_places_missing_modules(places));
	else
		whole = subject->group == GROUP_TREE ? modules_add_tree(&printer, &scratch)
						     : modules_add_kinds(&printer, &scratch);
	if (tree.count && whole)
		modules_add_row(&printer, "(outside modules)", &tree.outside, NULL);
	modules_note_orphans(&printer);
	if (tree.has_deeper)
		ss_table_note(out,
			      "Modules deeper than %d levels count as part of their parent at "
			      "that level.",
			      SS_MODULE_DEPTH_MAX);
	if (printer.path_bytes > PATHS_BYTES_MAX)
		ss_table_note(out, "Module paths above %u MB in total are left out.",
			      PATHS_BYTES_MAX >> 20);
	ss_module_tree_release(&tree);
	return whole ? SS_OK : ss_fail_memory(err, "the modules");
}

const struct ss_view ss_view_modules = {
	.name = "modules",
	.summary = "nn.Modules: device and host time of forward and backward",
	.empty = "No modules in the file.",
	SS_TABLE_COLUMNS(columns),
	.sums = "device_self_ns host_self_ns backward_self_ns",
	.basis = SS_BASIS_FILE,
	.groups = { "tree", "class", "instance" },
	.order = { "device_self_ns", "host_self_ns" },
	.own_order = 1u << GROUP_TREE,
	.run = modules_run,
};
