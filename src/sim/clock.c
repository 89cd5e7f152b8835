/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - the clocks of the hosts, drawn from the seed.
 */
#include "sim/clock.h"
#include "sim/noise.h"

/* A number from -limit to limit, the same for all ranks of the host. */
static int64_t clock_draw(const struct ss_sim_plan *plan, uint32_t host, uint32_t key,
			  int64_t limit)
{
	uint64_t random = ss_sim_random(plan->seed, host, 0, key, SS_SIM_NOISE_CLOCK);

	return limit <= 0 ? 0 : (int64_t)(random % (2 * (uint64_t)limit + 1)) - limit;
}

struct ss_sim_clock ss_sim_clock_of(const struct ss_sim_plan *plan, uint32_t rank)
{
	uint32_t host = rank / plan->host_ranks;

	if (!host)
		return (struct ss_sim_clock){ 0 };
	return (struct ss_sim_clock){
		.offset_ns = clock_draw(plan, host, 1, plan->clock_offset_ns),
		.drift_ppb = clock_draw(plan, host, 2, plan->drift_ppb),
	};
}

int64_t ss_sim_clock_show(const struct ss_sim_clock *clock, int64_t true_ns)
{
	/* in two parts, so that a day of nanoseconds times the drift does not overflow */
	int64_t drift_ns = true_ns / 1000000 * clock->drift_ppb / 1000 +
			   true_ns % 1000000 * clock->drift_ppb / 1000000000;

	return SS_SIM_EPOCH_NS + true_ns + clock->offset_ns + drift_ns;
}
