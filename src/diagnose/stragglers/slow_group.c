/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_group.c - compares the transfers of each group with a table of what devices reach. PCIe
 * cards are not in it: what they reach depends on the board.
 */
#include <stddef.h>
#include <string.h>

#include "diagnose/stragglers/slow_links.h"

/* --- what devices reach ------------------------------------------------------------------ */

/* Boards without a switch have eight devices, all connected. */
#define BOARD 8

struct device_rate {
	const char *part; /* of the name */
	double usual;
	double pair; /* between two of them, without a switch; 0: there is one */
};

/*
 * V100: six NVLinks of 25 GB/s, one to most neighbours, or a switch (SXM3). A100: twelve and a
 * switch. MI300X: seven links of 64 GB/s, one to each of the others.
 */
static const struct device_rate device_rates[] = {
	{ "V100-SXM2", 120, 20 },     { "V100-SXM3", 120, 0 }, { "A100-SXM", 220, 0 },
	{ "H100 80GB HBM3", 360, 0 }, { "H100-SXM", 360, 0 },  { "H200", 360, 0 },
	{ "B200", 700, 0 },           { "MI300X", 310, 45 },
};

struct ss_bus_rate ss_slow_group_bus_rate(const char *device_name, uint32_t ranks)
{
	struct ss_bus_rate found = { 0, 0 };

	for (size_t i = 0; i < sizeof(device_rates) / sizeof(*device_rates) && ranks > 1; i++) {
		const struct device_rate *rate = &device_rates[i];

		if (!strstr(device_name, rate->part) || strstr(device_name, "NVL"))
			continue;
		found.usual = found.least = rate->usual;
		if (rate->pair > 0 && ranks < BOARD)
			found.least = rate->pair * (ranks - 1);
		if (found.least > found.usual)
			found.least = found.usual;
		break;
	}
	return found;
}

/* --- what a group reaches ---------------------------------------------------------------- */

/* From here on messages are limited by links, not by latency: half of the rate is reached. */
#define LARGE_BYTES (INT64_C(8) << 20)

/* Hosts have up to 16. */
#define DEVICES_MAX 64

/* Fewer messages are not enough. */
#define MESSAGES_MIN 3

/*
 * Of the usual rate. Kernels that compute beside a collective take half of it, messages of 8 MB
 * reach half of what large ones do: both together are rare, and a link that lost a lane or fell
 * back to PCIe is slower still.
 */
#define SLOW 0.33

/* Of the least that a board has: less is not explained by few links. */
#define SLOW_LEAST 0.5

/*
 * Whether all members are on one host: between hosts the network counts, and its rate is not known.
 * Without host names, members with different devices are on one host: on two they would have the
 * same numbers.
 */
static bool is_on_one_host(const struct ss_joined *joined, const struct ss_group *group)
{
	const uint32_t *members = &joined->group_members[group->first];
	uint64_t devices = 0;

	if (group->count < 2)
		return false;
	for (uint32_t i = 0; i < group->count; i++) {
		const struct ss_digest *rank = &joined->ranks[members[i]];
		uint64_t bit = rank->device >= 0 && rank->device < DEVICES_MAX
				       ? UINT64_C(1) << rank->device
				       : 0;

		if (!bit || (devices & bit) ||
		    joined->hosts[members[i]] != joined->hosts[members[0]])
			return false;
		devices |= bit;
	}
	return true;
}

struct group_flow {
	double bytes;       /* that each link carries */
	double transfer_ns; /* of the same */
	double all_ns;      /* of all messages of the group */
	uint32_t count;
};

/* Adds each collective to the flow of its group. */
static void measure_group_flows(const struct ss_joined *joined, struct group_flow *flows)
{
	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];
		struct group_flow *flow = &flows[collective->group];

		if (!collective->is_symmetric || collective->step == SS_NO_ROW ||
		    collective->count != joined->groups[collective->group].count)
			continue;
		flow->all_ns += (double)collective->transfer_ns;
		if (collective->bytes < LARGE_BYTES)
			continue;
		flow->bytes += ss_collective_factor(collective->kind, collective->count) *
			       (double)collective->bytes;
		flow->transfer_ns += (double)collective->transfer_ns;
		flow->count++;
	}
}

/* Makes the group the slow link if it reaches too little and costs more than those before. */
static void judge_group_flow(struct ss_slow_link *link, const struct ss_joined *joined,
			     uint32_t group, const struct group_flow *flow)
{
	const struct ss_group *members = &joined->groups[group];
	const struct ss_digest *first = &joined->ranks[joined->group_members[members->first]];
	struct ss_bus_rate rate = ss_slow_group_bus_rate(ss_strings_text(&first->texts,
									 first->device_name),
							 members->count);
	double reached = flow->transfer_ns > 0 ? flow->bytes / flow->transfer_ns : 0;
	double limit = SLOW * rate.usual;
	int64_t cost_ns;

	if (rate.least < rate.usual && SLOW_LEAST * rate.least < limit)
		limit = SLOW_LEAST * rate.least;
	if (flow->count < MESSAGES_MIN || reached <= 0 || reached >= limit || !first->step_count)
		return;
	cost_ns = (int64_t)(flow->all_ns * (1 - reached / rate.usual) / first->step_count);
	if (cost_ns <= link->cost_ns)
		return;
	*link = (struct ss_slow_link){ .ranks = { joined->group_members[members->first] },
				       .count = 1,
				       .ratio = rate.usual / reached,
				       .least_ratio = rate.least / reached,
				       .cost_ns = cost_ns,
				       .groups = 1,
				       .of_group = group + 1,
				       .reached = reached,
				       .usual = rate.usual };
}

bool ss_slow_group_find(struct ss_slow_link *link, const struct ss_joined *joined,
			struct ss_arena *arena)
{
	struct group_flow *flows = SS_ARENA_NEW(arena, struct group_flow,
						(size_t)joined->group_count + 1);

	if (!flows)
		return false;
	measure_group_flows(joined, flows);
	for (uint32_t i = 0; i < joined->group_count; i++)
		if (is_on_one_host(joined, &joined->groups[i]))
			judge_group_flow(link, joined, i, &flows[i]);
	return true;
}
