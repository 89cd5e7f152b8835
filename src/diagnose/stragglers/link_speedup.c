/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_speedup.c - groups all collectives by kind, members and bytes, and compares those with the
 * slow rank with the median of those without it.
 */
#include "diagnose/stragglers/link_speedup.h"

#include "base/sort.h"

/* A collective of the job in a step, sends and receives too. */
struct link_collective {
	uint32_t collective; /* of the job */
	enum ss_collective_kind kind;
	uint32_t members;
	int64_t bytes;       /* -1: not recorded */
	int64_t transfer_ns; /* the shortest of its members, after the last has arrived */
	bool is_slow;        /* a rank of the link, or its group, takes part */
};

struct link_claim {
	struct ss_judgement *judgement;
	const struct ss_slow_link *link;
	struct ss_finding *finding;
	struct link_collective *items;
	uint32_t count;
	int64_t sum_ns;
};

static bool is_link_rank(const struct ss_slow_link *link, uint32_t rank)
{
	for (uint32_t i = 0; i < link->count; i++)
		if (link->ranks[i] == rank)
			return true;
	return false;
}

/* The task of a member's transfer, or SS_NO_TASK. */
static uint32_t transfer_task(const struct link_claim *links, const struct ss_member *member)
{
	uint32_t row = ss_joined_arrival(links->judgement->joined, member)->row;
	uint32_t task = ss_packed_comm_of(&links->judgement->graphs[member->rank], row);

	return task == SS_NO_TASK ? task : task + 1;
}

/* Lists all collectives of two or more members that have transfers, with the shortest of them. */
static void collect_link_collectives(struct link_claim *links)
{
	const struct ss_joined *joined = links->judgement->joined;

	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];
		struct link_collective item = { .collective = i,
						.kind = collective->kind,
						.members = collective->count,
						.bytes = collective->bytes,
						.transfer_ns = -1 };

		for (uint32_t k = 0; k < collective->count; k++) {
			const struct ss_member *member = &joined->members[collective->first + k];
			uint32_t task = transfer_task(links, member);
			int64_t own_ns;

			if (task == SS_NO_TASK)
				continue;
			own_ns = ss_packed_own(&links->judgement->graphs[member->rank], task);
			if (item.transfer_ns < 0 || own_ns < item.transfer_ns)
				item.transfer_ns = own_ns;
			item.is_slow |= is_link_rank(links->link, member->rank);
		}
		/* of_group is the number + 1 of a group that is slow as a whole */
		if (links->link->of_group)
			item.is_slow = collective->group + 1 == links->link->of_group;
		if (collective->count > 1 && item.transfer_ns >= 0)
			links->items[links->count++] = item;
	}
}

SS_COMPARATOR(link_collective_compare, struct link_collective,
	      SS_ASCENDING(kind) SS_ASCENDING(members) SS_ASCENDING(bytes) SS_ASCENDING(is_slow)
		      SS_ASCENDING(transfer_ns) SS_ASCENDING(collective))

static bool is_same_link_class(const struct link_collective *a, const struct link_collective *b)
{
	return a->kind == b->kind && a->members == b->members && a->bytes == b->bytes;
}

/* What is left when the devices have fewer links than is usual. */
static double least_link_factor(const struct link_claim *links, double factor)
{
	double ratio = links->link->least_ratio;

	if (!links->link->of_group)
		return factor;
	return ratio > 1 ? 1 / ratio : 1;
}

/* Scales the transfers of all members, and sums what the link's rank saves. */
static void claim_link_collective(struct link_claim *links, const struct link_collective *item,
				  double factor)
{
	const struct ss_joined *joined = links->judgement->joined;
	const struct ss_collective *collective = &joined->collectives[item->collective];

	for (uint32_t i = 0; i < collective->count && factor < 1; i++) {
		const struct ss_member *member = &joined->members[collective->first + i];
		const struct ss_packed *graph = &links->judgement->graphs[member->rank];
		uint32_t task = transfer_task(links, member);
		double saved;

		if (task == SS_NO_TASK || ss_packed_run(graph, task)->step == SS_NO_STEP)
			continue;
		saved = (double)ss_packed_own(graph, task) * (1 - factor);
		if (ss_judgement_scale(links->judgement, links->finding, member->rank, task, factor,
				       least_link_factor(links, factor)) &&
		    member->rank == links->link->ranks[0])
			links->sum_ns = ss_ns_sum(links->sum_ns, (int64_t)saved);
	}
}

/* Items from..to are a class: first those without the slow rank. */
static void claim_link_class(struct link_claim *links, uint32_t from, uint32_t to)
{
	uint32_t slow = from;

	while (slow < to && !links->items[slow].is_slow)
		slow++;
	for (uint32_t i = slow; i < to && !links->judgement->failed; i++) {
		const struct link_collective *item = &links->items[i];
		double factor = links->link->ratio > 0 ? 1 / links->link->ratio : 1;

		/* no other group has one of this size: by the ratio of the link */
		if (slow > from && item->transfer_ns > 0)
			factor = (double)links->items[from + (slow - from - 1) / 2].transfer_ns /
				 (double)item->transfer_ns;
		claim_link_collective(links, item, factor);
	}
}

int64_t ss_slow_link_claim(struct ss_judgement *judgement, struct ss_finding *finding,
			   const struct ss_slow_link *link, struct ss_arena *arena)
{
	struct link_claim links = { .judgement = judgement, .link = link, .finding = finding };

	if (!SS_ALLOC(arena, links.items, (size_t)judgement->joined->collective_count + 1)) {
		judgement->failed = true;
		return 0;
	}
	collect_link_collectives(&links);
	SS_SORT(links.items, links.count, link_collective_compare);
	for (uint32_t from = 0, to; from < links.count; from = to) {
		for (to = from + 1;
		     to < links.count && is_same_link_class(&links.items[from], &links.items[to]);)
			to++;
		claim_link_class(&links, from, to);
	}
	return links.sum_ns;
}
