/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.h - random variation from run to run, derived from a seed.
 *
 * Noise is a function of seed, rank, step and the piece of work, not of a
 * generator's state: the same piece of work gets the same noise in a job with a
 * cause and in the same job without it, so that their difference is the cause's.
 */
#ifndef SS_SIM_NOISE_H
#define SS_SIM_NOISE_H

#include "base/hash/hash.h"

enum ss_sim_noise_kind {
	SS_SIM_NOISE_KERNEL,
	SS_SIM_NOISE_HOST,
	SS_SIM_NOISE_NETWORK,
	SS_SIM_NOISE_INPUT,
	SS_SIM_NOISE_RANK, /* how this rank's device differs from others, all the time */
	SS_SIM_NOISE_CLOCK,
	SS_SIM_NOISE_LOSS,
	SS_SIM_NOISE_CORES, /* threads that share the cores */
	SS_SIM_NOISE_RUN,   /* how this run differs from others, from its begin to its end */
};

static inline uint64_t ss_sim_random(uint64_t seed, uint32_t rank, uint32_t step, uint32_t key,
				     enum ss_sim_noise_kind kind)
{
	uint64_t hash = ss_hash_mix(SS_HASH_SEED, seed);

	hash = ss_hash_mix(hash, (uint64_t)rank << 32 | step);
	hash = ss_hash_mix(hash, (uint64_t)key << 8 | kind);
	hash ^= hash >> 29;
	hash *= 0xbf58476d1ce4e5b9u;
	return hash ^ (hash >> 32);
}

/* Approximately normal with this deviation, in millionths; never beyond 3.5 deviations. */
static inline int64_t ss_sim_ppm(uint64_t random, int64_t deviation_ppm)
{
	int64_t sum = (int64_t)((random & 0xffff) + (random >> 16 & 0xffff) +
				(random >> 32 & 0xffff) + (random >> 48));

	/* the sum of four uniform 16-bit numbers has mean 131070 and deviation 37837 */
	return (sum - 131070) * deviation_ppm / 37837;
}

/* What a run's clocks (by the kind of their work) differ from those of other runs. */
static inline int64_t ss_sim_run_ppm(uint64_t seed, uint32_t deviation_ppm,
				     enum ss_sim_noise_kind kind)
{
	return ss_sim_ppm(ss_sim_random(seed, 0, 0, kind, SS_SIM_NOISE_RUN), deviation_ppm);
}

static inline int64_t ss_sim_scale(int64_t ns, uint32_t permille, int64_t ppm)
{
	ns = permille == 1000 ? ns : ns / 1000 * permille + ns % 1000 * permille / 1000;
	return ns + ns / 1000 * ppm / 1000;
}

#endif
