/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_program.c - programs of a few instructions for tests of the machine.
 */
#include "support/make/sim_program.h"

#define STOP_STREAM SS_SIM_COMM_BACK

void support_machine_open(struct support_machine *machine, uint32_t ranks)
{
	struct ss_sim_comm comm = { .role = SS_SIM_GROUP_WORLD,
				    .kind = SS_SIM_NCCL_ALL_REDUCE,
				    .in_count = 1,
				    .out_count = 1,
				    .bytes = 4 };
	const struct ss_sim_kernel_wish wish = { .class = SS_SIM_NCCL_ALL_REDUCE, .size = { 4 } };

	memset(machine, 0, sizeof(*machine));
	ss_memory_init(&machine->memory, 0);
	machine->program = &machine->items[0];
	machine->plan = (struct ss_sim_plan){
		.device = ss_sim_device_find("h100"),
		.seed = 11,
		.rank_count = ranks,
		.host_ranks = 8,
		.step_count = 1,
		.tensor = 1,
		.pipe = 1,
		.host_permille = 1000,
		.loader_workers = 4,
		.fetch_ns = 1000000,
		.slow_device = { .rank = -1 },
		.slow_host = { .rank = -1 },
		.slow_link = { .rank = -1 },
		.more_work = { .rank = -1 },
	};
	assert_non_null(machine->plan.device);
	assert_true(ss_sim_program_init(machine->program, &machine->memory, machine->plan.device));
	comm.name = ss_sim_text_id(machine->program, "allreduce");
	comm.note = ss_sim_text_id(machine->program, "nccl:all_reduce");
	comm.dtype = ss_sim_text_id(machine->program, "Float");
	comm.kernel = ss_sim_kernel_index(machine->program, &wish);
	machine->stop = ss_records_add(&machine->program->comms, &comm);
	assert_int_not_equal(machine->stop, SS_NO_ID);
}

void support_machine_close(struct support_machine *machine)
{
	ss_sim_rank_release(&machine->rank);
	ss_sim_program_release(machine->program);
	assert_int_equal(machine->memory.used_bytes, 0);
}

void support_machine_kernel(struct support_machine *machine, int64_t duration_ns,
			    enum ss_sim_stream stream)
{
	const struct ss_sim_kernel_wish wish = { .class = SS_SIM_FILL,
						 .size = { 1000 + machine->kernels++ } };
	struct ss_sim_program *program = machine->program;

	ss_sim_kernel(program, &wish, stream);
	assert_false(program->failed);
	program->kernels[program->code[program->count - 1].what].duration_ns = duration_ns;
}

void support_machine_stop(struct support_machine *machine)
{
	struct ss_sim_instruction *at = ss_sim_add(machine->program, SS_SIM_COLLECT);

	at->what = machine->stop;
	at->stream = STOP_STREAM;
}

static void complete(struct support_machine *machine)
{
	const struct ss_sim_program *program = machine->program;

	assert_false(program->failed);
	machine->programs = (struct ss_sim_programs){
		.plan = &machine->plan,
		.items = machine->items,
		.count = SS_COUNT(machine->items),
		.events_max = program->event_count,
		.slots_max = program->slot_count,
		.sequences_max = program->sequence_count,
	};
}

void support_machine_start(struct support_machine *machine)
{
	complete(machine);
	assert_true(ss_sim_rank_init(&machine->rank, &machine->programs, 0, &machine->memory));
}

struct support_moment support_machine_next(struct support_machine *machine)
{
	struct ss_sim_rank *rank = &machine->rank;
	struct support_moment at;

	ss_sim_rank_run(rank);
	assert_int_equal(rank->state, SS_SIM_WAITING);
	at.now_ns = rank->call_start_ns;
	at.go_ns = rank->now_ns[rank->thread];
	at.start_ns = support_machine_start_of(machine, 1);
	memcpy(at.ready_ns, rank->ready_ns, sizeof(at.ready_ns));
	ss_sim_rank_resume(rank, rank->arrival_ns + 1);
	return at;
}

int64_t support_machine_start_of(const struct support_machine *machine, uint32_t back)
{
	const struct ss_sim_rank *rank = &machine->rank;

	return rank->launch_count <= back
		       ? 0
		       : rank->queue[(rank->launch_count - 1 - back) % SS_SIM_QUEUE];
}

void support_machine_run(struct support_machine *machine, struct ss_sim_outcome *out)
{
	struct ss_error err = { 0 };
	enum ss_status status;

	complete(machine);
	status = ss_sim_outcome_open(out, &machine->programs, &machine->memory, true, &err);
	support_check(status == SS_OK, "a run", "%s", err.text);
}

void support_check_cost(const char *what, int64_t found_ns, int64_t cost_ns)
{
	support_check(found_ns >= cost_ns - cost_ns * 15 / 100 &&
			      found_ns <= cost_ns + cost_ns * 15 / 100,
		      what, "takes %lld, not about %lld", (long long)found_ns, (long long)cost_ns);
}
