/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - one rank at work: its threads, streams, copy engines and memory.
 *
 * A rank runs the programs of its steps one after the other, in true time. CPU
 * threads run ahead of the device: a launch puts work into a stream and returns.
 * At a collective the machine stops and reports when this rank's kernel began to
 * wait; it resumes when it gets the end of the collective (run.c does both).
 *
 * All timing rules:
 *   - device work starts at the latest of: its call's start + launch_latency (the
 *     call's end if the kernel had to be loaded);
 *     the end of the work before it in its stream + kernel_gap (graph_gap within
 *     a graph launch); the end of what events its stream waits for + event_gap
 *     (an event covers the work before it in its stream, and what that stream
 *     itself waits for);
 *     for copies, the end of the last copy of that direction + copy_gap.
 *   - a launch returns after its CPU time, and not before the piece of work
 *     queue_depth launches earlier has started.
 *   - a collective ends for all members at (last start) + transfer.
 *   - a call that waits returns at the later of its CPU time and what it waits
 *     for + sync_return.
 */
#ifndef SS_SIM_MACHINE_MACHINE_H
#define SS_SIM_MACHINE_MACHINE_H

#include "sim/machine/pool.h"
#include "sim/plan.h"
#include "sim/programs/program.h"

/* Programs of the steps; a rank with more work has another one. */
struct ss_sim_programs {
	const struct ss_sim_plan *plan;
	struct ss_sim_program *items;
	uint32_t count;
	uint32_t events_max, slots_max, sequences_max; /* over all of them */
};

/* Which of them a rank runs in a step. */
uint32_t ss_sim_program_at(const struct ss_sim_programs *programs, uint32_t rank, uint32_t step);

/* Builds the programs of the plan. */
SS_MUST_USE
enum ss_status ss_sim_programs_open(struct ss_sim_programs *programs,
				    const struct ss_sim_plan *plan, struct ss_memory *memory,
				    struct ss_error *err);
void ss_sim_programs_close(struct ss_sim_programs *programs, struct ss_memory *memory);

/* Nanoseconds, but for queue_depth. */
struct ss_sim_timing {
	int64_t launch_latency, kernel_gap, graph_gap, event_gap, copy_gap, sync_return;
	int64_t wake_up; /* of a thread that another hands over to */
	int64_t queue_depth;
	/* CPU time of calls */
	int64_t launch, launch_graph, copy, memset, record, wait, sync;
	/* a collective: base + hop * log2(members), and bytes over the links */
	int64_t network_base, network_hop;
};

extern const struct ss_sim_timing ss_sim_timing;

#define SS_SIM_WORKERS_MAX 16u
#define SS_SIM_QUEUE 1024u

/* A step as metrics.md defines it: effective, in true time. */
struct ss_sim_span {
	int64_t start_ns, end_ns;
};

enum ss_sim_state { SS_SIM_RUNNING, SS_SIM_WAITING, SS_SIM_FINISHED };

struct ss_sim_recorder;

struct ss_sim_rank {
	const struct ss_sim_plan *plan;
	const struct ss_sim_programs *programs;
	struct ss_memory *memory;
	struct ss_sim_recorder *recorder; /* NULL: only time is wanted */
	uint32_t rank;

	/* where it is */
	enum ss_sim_state state;
	uint32_t step, at;
	uint32_t program_index;
	const struct ss_sim_program *program;
	enum ss_sim_thread thread;
	int64_t now_ns[SS_SIM_THREADS];

	/* the device */
	int64_t ready_ns[SS_SIM_STREAMS];  /* end of the last work of each */
	int64_t waited_ns[SS_SIM_STREAMS]; /* end of what events the next work waits for */
	int64_t engine_ns[2];              /* end of the last copy to and from the device */
	int64_t *events;                   /* end of the work that each event covers */
	int64_t queue[SS_SIM_QUEUE];       /* starts of the last launches */
	uint64_t launch_count;
	uint32_t graph_left; /* kernels of the open graph launch */
	int64_t graph_start_ns;
	bool graph_first;

	/* a collective that waits for others */
	uint64_t collective_count[SS_SIM_GROUP_ROLES];
	int64_t arrival_ns;
	int64_t call_start_ns;

	/* the loader's workers */
	int64_t worker_ns[SS_SIM_WORKERS_MAX];
	int64_t taken_ns[2 * SS_SIM_WORKERS_MAX];
	uint32_t batch_count; /* taken so far */

	uint32_t loaded_count; /* kernels of the program that were loaded while recording */

	struct ss_sim_pool pool;
	uint32_t *slots; /* block of each memory slot */

	/* steps */
	int64_t host_start_ns, device_end_ns, last_end_ns;
	bool in_step;
	uint32_t step_depth; /* of the open step note among open ranges */
	uint32_t depth;
	struct ss_sim_span *spans; /* of recorded steps; lent by the run */
	int64_t window_start_ns;
	int64_t host_busy_ns; /* CPU time of main and autograd in recorded steps, waits apart */
	int64_t rank_ppm;     /* how this device differs from others, and from other runs */
	int64_t host_ppm;     /* how the host differs from other runs */
};

SS_MUST_USE
bool ss_sim_rank_init(struct ss_sim_rank *rank, const struct ss_sim_programs *programs,
		      uint32_t number, struct ss_memory *memory);
void ss_sim_rank_release(struct ss_sim_rank *rank);

/* Runs until it is WAITING in a collective or FINISHED. */
void ss_sim_rank_run(struct ss_sim_rank *rank);

/* The collective that a WAITING rank stands in. */
const struct ss_sim_comm *ss_sim_rank_comm(const struct ss_sim_rank *rank);

/* Ends it; the rank is RUNNING again. */
void ss_sim_rank_resume(struct ss_sim_rank *rank, int64_t end_ns);

#endif
