/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_group.c - compares the transfers of each group with what devices reach (peaks.c).
 */
#include <math.h>
#include <stddef.h>

#include "analyze/work/peaks.h"
#include "diagnose/stragglers/slow_links.h"

/* --- what devices reach ------------------------------------------------------------------ */

/* Boards without a switch have eight devices, all connected; other hosts have eight as well. */
#define BOARD 8

/* From this number of ranks on the switch adds up all-reduces itself (NVLS). */
#define SWITCH_RANKS 6

/*
 * NCCL's own model (tuning.cc): a step of a ring or tree through the network, and over NVLink. An
 * all-reduce goes up and down a tree of hosts, other kinds go around a ring of all ranks.
 */
#define NETWORK_STEP_NS 14000.0
#define LINK_STEP_NS 3400.0

/* Of the rate of all-reduces through the network: all-gathers of 32 hosts reach 200 of 340. */
#define NETWORK_RING 0.6

/* Through the network: hosts that are not full have fewer adapters. */
static double network_time(const struct ss_bus_rates *rate, const struct ss_bus_collective *own,
			   double bus_bytes)
{
	bool is_tree = own->kind == SS_COLLECTIVE_ALL_REDUCE;
	double share = (double)own->ranks / own->hosts / BOARD;
	double steps_ns = is_tree ? 2 * NETWORK_STEP_NS * ceil(log2(own->hosts))
				  : NETWORK_STEP_NS * own->hosts +
					    LINK_STEP_NS * (own->ranks - own->hosts);

	if (rate->network <= 0)
		return 0;
	return rate->network_us * 1000 + steps_ns +
	       bus_bytes / (rate->network * (is_tree ? 1 : NETWORK_RING) * (share < 1 ? share : 1));
}

struct ss_bus_time ss_slow_group_bus_time(const char *device_name,
					  const struct ss_bus_collective *own)
{
	const struct ss_peaks *peaks = ss_peaks_find(device_name);
	const struct ss_bus_rates *rate = peaks ? &peaks->bus : NULL;
	double bus_bytes = ss_collective_factor(own->kind, own->ranks) * own->bytes;
	bool is_reduce = own->kind == SS_COLLECTIVE_ALL_REDUCE && own->ranks >= SWITCH_RANKS;
	struct ss_bus_time time = { 0, 0 };
	double usual, least;

	if (!rate || rate->ring <= 0 || own->ranks < 2)
		return time;
	if (own->hosts > 1) {
		time.usual_ns = time.most_ns = network_time(rate, own, bus_bytes);
		return time;
	}
	usual = least = is_reduce ? rate->reduce : rate->ring;
	if (rate->pair > 0 && own->ranks < BOARD)
		least = rate->pair * (own->ranks - 1);
	time.usual_ns = rate->latency_us * 1000 + bus_bytes / usual;
	time.most_ns = rate->latency_us * 1000 + bus_bytes / (least < usual ? least : usual);
	return time;
}

/* --- what a group reaches ---------------------------------------------------------------- */

/* Smaller messages are mostly latency, which differs between versions of NCCL. */
#define LARGE_BYTES (INT64_C(8) << 20)

/* Hosts have up to 16. */
#define DEVICES_MAX 64

/* Fewer messages are not enough. */
#define MESSAGES_MIN 3

/*
 * A transfer that takes this multiple of the usual time is slow. Kernels that compute beside a
 * collective make it twice as long; a link that lost a lane or fell back to PCIe is slower still.
 */
#define SLOW 3

/* Of the time on the worst board: more is not explained by few links. */
#define SLOW_MOST 2

/*
 * How many hosts the members are on; 0: not known. Without host names, members with different
 * devices are on one host: on two they would have the same numbers.
 */
static uint32_t count_group_hosts(const struct ss_joined *joined, const struct ss_group *group,
				  uint8_t *is_counted)
{
	const uint32_t *members = &joined->group_members[group->first];
	uint64_t devices = 0;
	uint32_t hosts = 0;
	bool is_known = group->count > 1, are_different = true;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct ss_digest *rank = &joined->ranks[members[i]];
		uint64_t bit = rank->device >= 0 && rank->device < DEVICES_MAX
				       ? UINT64_C(1) << rank->device
				       : 0;

		is_known &= bit != 0;
		are_different &= !(devices & bit);
		devices |= bit;
		hosts += !is_counted[joined->hosts[members[i]]];
		is_counted[joined->hosts[members[i]]] = true;
	}
	/* 0 is the number of those without a name */
	if (is_counted[0] && hosts > 1)
		is_known = false;
	for (uint32_t i = 0; i < group->count; i++)
		is_counted[joined->hosts[members[i]]] = false;
	return is_known && (hosts > 1 || are_different) ? hosts : 0;
}

struct group_flow {
	uint32_t hosts;         /* of its members; 0: not known */
	double bytes;           /* that each link carries */
	double transfer_ns;     /* of the same */
	struct ss_bus_time bus; /* of the same, as it should be */
	double all_ns;          /* of all messages of the group */
	uint32_t count;
};

static const char *group_device_name(const struct ss_joined *joined, const struct ss_group *group)
{
	const struct ss_digest *first = &joined->ranks[joined->group_members[group->first]];

	return ss_strings_text(&first->texts, first->device_name);
}

/* Adds each collective to the flow of its group. */
static void measure_group_flows(const struct ss_joined *joined, struct group_flow *flows)
{
	for (uint32_t i = 0; i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];
		const struct ss_group *group = &joined->groups[collective->group];
		struct group_flow *flow = &flows[collective->group];
		struct ss_bus_collective own = { collective->kind, group->count, flow->hosts,
						 (double)collective->bytes };
		struct ss_bus_time bus;

		if (!flow->hosts || !collective->is_symmetric || collective->step == SS_NO_ROW ||
		    collective->count != group->count)
			continue;
		flow->all_ns += (double)collective->transfer_ns;
		if (collective->bytes < LARGE_BYTES)
			continue;
		flow->bytes += ss_collective_factor(collective->kind, collective->count) *
			       (double)collective->bytes;
		flow->transfer_ns += (double)collective->transfer_ns;
		bus = ss_slow_group_bus_time(group_device_name(joined, group), &own);
		flow->bus.usual_ns += bus.usual_ns;
		flow->bus.most_ns += bus.most_ns;
		flow->count++;
	}
}

/* Makes the group the slow link if it reaches too little and costs more than those before. */
static void judge_group_flow(struct ss_slow_link *link, const struct ss_joined *joined,
			     uint32_t group, const struct group_flow *flow)
{
	uint32_t first = joined->group_members[joined->groups[group].first];
	uint32_t steps = joined->ranks[first].step_count;
	double limit_ns = SLOW * flow->bus.usual_ns;
	int64_t cost_ns;

	if (flow->bus.most_ns > flow->bus.usual_ns && SLOW_MOST * flow->bus.most_ns > limit_ns)
		limit_ns = SLOW_MOST * flow->bus.most_ns;
	if (flow->count < MESSAGES_MIN || limit_ns <= 0 || flow->transfer_ns <= limit_ns || !steps)
		return;
	cost_ns = (int64_t)(flow->all_ns * (1 - flow->bus.usual_ns / flow->transfer_ns) / steps);
	if (cost_ns <= link->cost_ns)
		return;
	*link = (struct ss_slow_link){ .ranks = { first },
				       .count = 1,
				       .ratio = flow->transfer_ns / flow->bus.usual_ns,
				       .least_ratio = flow->transfer_ns / flow->bus.most_ns,
				       .cost_ns = cost_ns,
				       .groups = 1,
				       .of_group = group + 1,
				       .hosts = flow->hosts,
				       .reached = flow->bytes / flow->transfer_ns,
				       .usual = flow->bytes / flow->bus.usual_ns };
}

bool ss_slow_group_find(struct ss_slow_link *link, const struct ss_joined *joined,
			struct ss_arena *arena)
{
	struct group_flow *flows;
	uint8_t *is_counted = SS_ARENA_NEW(arena, uint8_t, (size_t)joined->rank_count + 2);

	if (!SS_ALLOC(arena, flows, (size_t)joined->group_count + 1) || !is_counted)
		return false;
	for (uint32_t i = 0; i < joined->group_count; i++)
		flows[i].hosts = count_group_hosts(joined, &joined->groups[i], is_counted);
	measure_group_flows(joined, flows);
	for (uint32_t i = 0; i < joined->group_count; i++)
		judge_group_flow(link, joined, i, &flows[i]);
	return true;
}
