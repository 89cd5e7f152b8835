/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_parts.h - what the files of the machine share.
 */
#ifndef SS_SIM_MACHINE_MACHINE_PARTS_H
#define SS_SIM_MACHINE_MACHINE_PARTS_H

#include "sim/machine/machine.h"
#include "sim/machine/recorder.h"

static inline int64_t ss_sim_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t ss_sim_now(const struct ss_sim_rank *rank)
{
	return rank->now_ns[rank->thread];
}

static inline void ss_sim_advance_to(struct ss_sim_rank *rank, int64_t moment_ns)
{
	assert(moment_ns >= ss_sim_now(rank));
	rank->now_ns[rank->thread] = moment_ns;
}

static inline bool ss_sim_is_recording(const struct ss_sim_rank *rank)
{
	return rank->recorder && rank->recorder->on;
}

/* Time or work of this rank in this step, in thousandths of the others'; 1000: the same. */
uint32_t ss_sim_odd_permille(const struct ss_sim_rank *rank, const struct ss_sim_odd_rank *odd);

/* CPU time with the noise of its key (0: none) and what slows this host. */
int64_t ss_sim_host_time(struct ss_sim_rank *rank, int64_t cost_ns, uint32_t key);

/* When all streams will have finished their current work. */
int64_t ss_sim_device_ready(const struct ss_sim_rank *rank);

/* A call that takes its CPU time, and longer when it has to wait; returns its correlation. */
uint64_t ss_sim_call_device(struct ss_sim_rank *rank, struct ss_sim_call_note note, int64_t cost_ns,
			    int64_t until_ns);

/* One function per instruction. */
void ss_sim_run_kernel(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_graph(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_copy(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_memset(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_collect(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_record(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_wait(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_sync(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_call(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_run_switch(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);

#endif
