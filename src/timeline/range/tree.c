/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - what was called from where in a stretch, by name.
 */
#include <stdlib.h>

#include "timeline/range/sweep.h"
#include "base/sort.h"

uint32_t ss_range_node_at(struct ss_file_sweep *file, uint32_t parent, uint32_t text,
			  enum ss_color color)
{
	struct ss_ranged *out = file->out;
	uint32_t key[2] = { parent, text };
	uint32_t id = ss_records_add(file->nodes, key);

	if (id == SS_NO_ID || id < out->node_count)
		return id == SS_NO_ID ? SS_NO_ROW : id;
	if (!ss_memory_reserve(out->memory, (void **)&out->nodes, &out->node_capacity,
			       (size_t)id + 1, sizeof(*out->nodes)))
		return SS_NO_ROW;
	out->nodes[out->node_count++] =
		(struct ss_range_node){ .parent = parent, .text = text, .color = color };
	return id;
}

/* Where a node comes among those that are shown. */
struct node_rank {
	int64_t total_ns;
	uint32_t node;
};

/* A parent has at least the time of what is below it, and comes before that. */
SS_COMPARATOR(node_rank_compare, struct node_rank, SS_DESCENDING(total_ns) SS_ASCENDING(node))

static void range_nodes_sum(struct ss_ranged *out)
{
	for (uint32_t i = out->node_count; i-- > 0;) {
		struct ss_range_node *node = &out->nodes[i];

		node->total_ns = ss_ns_sum(node->total_ns, node->self_ns);
		if (node->parent != SS_NO_ROW)
			out->nodes[node->parent].total_ns =
				ss_ns_sum(out->nodes[node->parent].total_ns, node->total_ns);
	}
}

/* Moves those that are kept together; `moved` says where each stands then, + 1. */
static void range_nodes_pack(struct ss_ranged *out, uint32_t *moved)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < out->node_count; i++) {
		struct ss_range_node node = out->nodes[i];
		uint32_t parent = node.parent == SS_NO_ROW ? 0 : moved[node.parent];

		if (moved[i]) {
			moved[i] = count + 1;
			node.parent = parent ? parent - 1 : SS_NO_ROW;
			out->nodes[count++] = node;
		} else if (parent) {
			out->nodes[parent - 1].rest_ns = ss_ns_sum(out->nodes[parent - 1].rest_ns,
								   node.total_ns);
		} else if (node.parent == SS_NO_ROW) {
			out->rest_ns = ss_ns_sum(out->rest_ns, node.total_ns);
		}
	}
	out->node_count = count;
}

bool ss_range_prune(struct ss_ranged *out, uint32_t room)
{
	struct ss_arena scratch;
	struct node_rank *places;
	uint32_t *moved;
	bool whole;

	range_nodes_sum(out);
	ss_arena_init(&scratch, out->memory);
	places = SS_ARENA_NEW(&scratch, struct node_rank, (size_t)out->node_count + 1);
	moved = SS_ARENA_NEW(&scratch, uint32_t, (size_t)out->node_count + 1);
	whole = places && moved;
	if (whole) {
		for (uint32_t i = 0; i < out->node_count; i++)
			places[i] = (struct node_rank){ out->nodes[i].total_ns, i };
		qsort(places, out->node_count, sizeof(*places), node_rank_compare);
		for (uint32_t i = 0; i < out->node_count && i < room; i++)
			moved[places[i].node] = out->nodes[places[i].node].count > 0;
		range_nodes_pack(out, moved);
	}
	ss_arena_release(&scratch);
	return whole;
}
