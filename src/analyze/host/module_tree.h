/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_tree.h - the nn.Modules of a file as a tree, with the time charged to them.
 *
 * A node is a path of modules: the same module called from two places is two nodes. Device
 * time belongs to the module that launched it, an operator's own time to the module that
 * called it, backward work to the module of its forward operator (places.h). Everything
 * else is charged to `outside`, so all nodes and `outside` together account for all time
 * in the file.
 *
 * Modules are frames ("nn.Module: Linear_3") or, in files without those, the "Module
 * Hierarchy" that TorchScript gives its operators; then calls and host time of modules are
 * not recorded.
 */
#ifndef SS_ANALYZE_HOST_MODULE_TREE_H
#define SS_ANALYZE_HOST_MODULE_TREE_H

#include "analyze/host/places.h"

/* Times that have a self and a total. */
enum ss_module_part {
	SS_MODULE_DEVICE,          /* kernels, copies, memsets */
	SS_MODULE_DEVICE_BACKWARD, /* those that backward work launched */
	SS_MODULE_OPS,             /* operators on the host, without operators inside */
	SS_MODULE_OPS_BACKWARD,
	SS_MODULE_PARTS,
};

struct ss_module {
	uint32_t parent; /* node, or SS_NO_ID: a root */
	uint32_t name;   /* id into labels: "Linear_3" */
	uint32_t class;  /* id into labels: "Linear" */
	uint32_t depth;
	int64_t calls;     /* in forward */
	int64_t operators; /* called by it directly, in forward */
	int64_t host_total_ns, host_self_ns;
	int64_t self_ns[SS_MODULE_PARTS];
	int64_t total_ns[SS_MODULE_PARTS]; /* with those of the modules in it */
};

/* Deeper modules are charged to their ancestor at this depth; real trees have 30 levels. */
#define SS_MODULE_DEPTH_MAX 128

struct ss_module_tree {
	struct ss_memory *memory;
	struct ss_strings labels;
	struct ss_module *nodes; /* parents before children */
	uint32_t count, capacity;
	struct ss_module outside;
	int64_t all_ns[SS_MODULE_PARTS];
	int64_t orphans_ns; /* device time whose launch is not recorded; it is outside */
	bool has_frames;    /* calls and host time are known */
	bool has_device;    /* something ran on a device */
	bool has_backward;
	bool has_deeper; /* something is beyond the maximum depth */
};

SS_MUST_USE
enum ss_status ss_module_tree_init(struct ss_module_tree *tree, const struct ss_places *places,
				   struct ss_memory *memory, struct ss_error *err);

/* The same, and writes the node of each host row (SS_NO_ID: outside) to `rows`. */
SS_MUST_USE
enum ss_status ss_module_tree_init_rows(struct ss_module_tree *tree, const struct ss_places *places,
					uint32_t *rows, struct ss_memory *memory,
					struct ss_error *err);
void ss_module_tree_release(struct ss_module_tree *tree);

#endif
