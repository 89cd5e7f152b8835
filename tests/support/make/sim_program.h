/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_program.h - programs of a few instructions for tests of the simulator's
 * machine, and places to stop in them.
 *
 * A stop is a collective on a stream that nothing else uses: the machine waits
 * there for others, and what it shows of itself can be looked at. Its call takes
 * time, so the call after it begins at `go_ns`.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_SIM_PROGRAM_H
#define SS_TESTS_SUPPORT_MAKE_SIM_PROGRAM_H

#include "sim/machine/run.h"
#include "sim/programs/program.h"
#include "support/support.h"

struct support_machine {
	struct ss_memory memory;
	struct ss_sim_plan plan;
	struct ss_sim_program items[4]; /* the first is the program of all ranks and steps */
	struct ss_sim_program *program;
	struct ss_sim_programs programs;
	struct ss_sim_rank rank;
	uint32_t stop;    /* the collective of stops */
	uint64_t kernels; /* so far: each has a size of its own */
};

/* A healthy job without steps of its own, on a simulated H100. */
void support_machine_open(struct support_machine *machine, uint32_t ranks);

/* The test fails when memory is still charged. */
void support_machine_close(struct support_machine *machine);

/* A kernel that takes about so long; exactly so long below a microsecond. */
void support_machine_kernel(struct support_machine *machine, int64_t duration_ns,
			    enum ss_sim_stream stream);

void support_machine_stop(struct support_machine *machine);

/* The program is complete: rank 0 stands at its beginning. */
void support_machine_start(struct support_machine *machine);

struct support_moment {
	int64_t now_ns;                   /* what stands before the stop is done */
	int64_t go_ns;                    /* what stands behind it begins */
	int64_t start_ns;                 /* of the device work before the stop */
	int64_t ready_ns[SS_SIM_STREAMS]; /* ends of each stream's work */
};

/* Runs to the next stop, and past it. */
struct support_moment support_machine_next(struct support_machine *machine);

/* The start of the device work that was launched `back` launches before the last stop. */
int64_t support_machine_start_of(const struct support_machine *machine, uint32_t back);

/* The program for all ranks of the job at once. */
void support_machine_run(struct support_machine *machine, struct ss_sim_outcome *out);

/* Noise of the host is at most 3.5 deviations: CPU time lies within 15 % of its figure. */
void support_check_cost(const char *what, int64_t found_ns, int64_t cost_ns);

#endif
