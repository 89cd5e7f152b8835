/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - runs programs: what each instruction does to the clocks of a rank.
 */
#include <string.h>

#include "sim/machine/machine_parts.h"
#include "sim/noise.h"
#include "sim/machine/recorder.h"

const struct ss_sim_timing ss_sim_timing = {
	.launch_latency = 5200,
	.kernel_gap = 900,
	.graph_gap = 450,
	.event_gap = 1300,
	.copy_gap = 600,
	.sync_return = 2100,
	.wake_up = 9000,
	.queue_depth = SS_SIM_QUEUE,
	.launch = 4700,
	.launch_graph = 48000,
	.copy = 5200,
	.memset = 3300,
	.record = 800,
	.wait = 900,
	.sync = 1700,
	.network_base = 9000,
	.network_hop = 3500,
};

#define INPUT_DEVIATION_PPM 30000
#define RANK_DEVIATION_PPM 1500

#define FIRST_NS 1000000 /* the job begins; 0 means "never" below */
#define PROFILER_START_NS 250000
#define STEP_GAP_NS 18000    /* profiler.step() between two steps */
#define INPUT_QUEUE_NS 42000 /* taking a ready batch from the workers' queue */
#define MALLOC_NS 190000
#define FREE_NS 240000
#define PREFETCH 2u /* batches a worker works ahead; torch's default */

bool ss_sim_rank_init(struct ss_sim_rank *rank, const struct ss_sim_programs *programs,
		      uint32_t number, struct ss_memory *memory)
{
	const struct ss_sim_plan *plan = programs->plan;
	size_t event_bytes = (programs->events_max + 1) * sizeof(*rank->events);
	size_t slot_bytes = (programs->slots_max + 1) * sizeof(*rank->slots);

	*rank = (struct ss_sim_rank){
		.plan = plan, .programs = programs, .memory = memory, .rank = number
	};
	ss_sim_pool_init(&rank->pool, memory, plan->device->memory_bytes / 100 * 95);
	rank->events = ss_memory_resize(memory, NULL, 0, event_bytes);
	rank->slots = ss_memory_resize(memory, NULL, 0, slot_bytes);
	if (!rank->events || !rank->slots) {
		ss_sim_rank_release(rank);
		return false;
	}
	memset(rank->events, 0, event_bytes);
	memset(rank->slots, 0, slot_bytes);
	for (int i = 0; i < SS_SIM_THREADS; i++)
		rank->now_ns[i] = FIRST_NS;
	rank->program_index = ss_sim_program_at(programs, number, 0);
	rank->program = &programs->items[rank->program_index];
	rank->rank_ppm = ss_sim_ppm(ss_sim_random(plan->seed, number, 0, 0, SS_SIM_NOISE_RANK),
				    RANK_DEVIATION_PPM);
	rank->rank_ppm += ss_sim_run_ppm(plan->seed, plan->run_noise_ppm, SS_SIM_NOISE_KERNEL);
	rank->host_ppm = ss_sim_run_ppm(plan->seed, plan->run_noise_ppm, SS_SIM_NOISE_HOST);
	return true;
}

void ss_sim_rank_release(struct ss_sim_rank *rank)
{
	if (!rank->programs)
		return;
	SS_FREE(rank->memory, rank->events, rank->programs->events_max + 1);
	SS_FREE(rank->memory, rank->slots, rank->programs->slots_max + 1);
	ss_sim_pool_release(&rank->pool);
	*rank = (struct ss_sim_rank){ 0 };
}

/* Each worker makes every n-th batch, and begins one when an earlier one of its own was taken. */
static void rank_run_input(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	const struct ss_sim_plan *plan = rank->plan;
	uint32_t workers = plan->loader_workers, batch = rank->batch_count++;
	int64_t *worker_ns = &rank->worker_ns[batch % workers];
	int64_t *taken_ns = &rank->taken_ns[batch % (PREFETCH * workers)];
	int64_t ppm = ss_sim_ppm(ss_sim_random(plan->seed, rank->rank, batch, 0,
					       SS_SIM_NOISE_INPUT),
				 INPUT_DEVIATION_PPM);

	*worker_ns = ss_sim_later(*worker_ns, ss_sim_later(*taken_ns, FIRST_NS)) +
		     ss_sim_scale(plan->fetch_ns, ss_sim_odd_permille(rank, &plan->slow_host),
				  ppm + rank->host_ppm);
	ss_sim_advance_to(rank,
			  ss_sim_later(ss_sim_now(rank) +
					       ss_sim_host_time(rank, INPUT_QUEUE_NS, at->key),
				       *worker_ns + ss_sim_timing.wake_up));
	*taken_ns = ss_sim_now(rank);
}

/* A new epoch: starting workers takes time, and prefetched batches are gone. */
static void rank_run_epoch(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	int64_t ready_ns = ss_sim_now(rank) + at->cost_ns;

	for (uint32_t i = 0; i < SS_SIM_WORKERS_MAX; i++)
		rank->worker_ns[i] = ready_ns;
	memset(rank->taken_ns, 0, sizeof(rank->taken_ns));
}

/* --- memory -------------------------------------------------------------------- */

static void rank_call_allocator(struct ss_sim_rank *rank, const struct ss_sim_pool_calls *calls)
{
	for (uint32_t i = 0; i < calls->free_count; i++)
		ss_sim_call_device(rank, (struct ss_sim_call_note){ .name = "cudaFree" },
				   ss_sim_host_time(rank, FREE_NS, i + 1),
				   ss_sim_device_ready(rank) + ss_sim_timing.sync_return);
	for (uint32_t i = 0; i < calls->malloc_count; i++)
		ss_sim_call_device(rank, (struct ss_sim_call_note){ .name = "cudaMalloc" },
				   ss_sim_host_time(rank, MALLOC_NS, i + 1), 0);
}

static void rank_run_alloc(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	const struct ss_sim_plan *plan = rank->plan;
	struct ss_sim_pool_calls calls;
	uint64_t bytes = at->bytes;
	uint32_t block;

	if (plan->fragment_permille && bytes >= plan->fragment_min_bytes)
		bytes += bytes / 1000000 *
			 (ss_sim_random(plan->seed, 0, rank->step, 1, SS_SIM_NOISE_INPUT) %
			  (plan->fragment_permille * 1000));
	block = ss_sim_pool_take(&rank->pool, bytes, &calls);
	rank_call_allocator(rank, &calls);
	rank->slots[at->slot] = block;
	if (ss_sim_is_recording(rank) && !rank->pool.failed)
		ss_sim_recorder_memory(rank, (int64_t)rank->pool.blocks[block].bytes,
				       rank->pool.blocks[block].address);
}

static void rank_run_free(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint32_t block = rank->slots[at->slot];

	if (rank->pool.failed)
		return;
	ss_sim_pool_give(&rank->pool, block);
	if (ss_sim_is_recording(rank))
		ss_sim_recorder_memory(rank, -(int64_t)rank->pool.blocks[block].bytes,
				       rank->pool.blocks[block].address);
}

/* --- ranges and steps ------------------------------------------------------------ */

static void rank_run_begin(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	if (at->what == rank->program->step_range) {
		rank->host_start_ns = ss_sim_now(rank);
		rank->in_step = true;
		rank->step_depth = rank->depth;
		rank->device_end_ns = 0;
	}
	rank->depth++;
	if (ss_sim_is_recording(rank))
		ss_sim_recorder_begin(rank, at);
	ss_sim_advance_to(rank, ss_sim_now(rank) + ss_sim_host_time(rank, at->cost_ns, at->key));
}

static void rank_run_end(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	struct ss_sim_span span;

	ss_sim_advance_to(rank, ss_sim_now(rank) + ss_sim_host_time(rank, at->cost_ns, 0));
	if (ss_sim_is_recording(rank))
		ss_sim_recorder_end(rank);
	if (--rank->depth != rank->step_depth || !rank->in_step || rank->thread != SS_SIM_MAIN)
		return;
	rank->in_step = false;
	span.start_ns = ss_sim_later(rank->last_end_ns, rank->host_start_ns);
	span.end_ns = ss_sim_later(ss_sim_now(rank), rank->device_end_ns);
	rank->last_end_ns = span.end_ns;
	if (rank->spans && rank->step >= SS_SIM_WARMUP_STEPS)
		rank->spans[rank->step - SS_SIM_WARMUP_STEPS] = span;
}

static bool condition_is_met(const struct ss_sim_rank *rank,
			     const struct ss_sim_condition *condition)
{
	if (condition->rank >= 0 && (uint32_t)condition->rank != rank->rank)
		return false;
	return condition->every <= 1 || rank->step % condition->every == condition->at;
}

/* The profiler starts and stops with an idle device. */
static void rank_next_step(struct ss_sim_rank *rank)
{
	static const struct ss_sim_instruction drain = { .code = SS_SIM_SYNC,
							 .what = SS_SIM_SYNC_DEVICE };
	uint32_t last = SS_SIM_WARMUP_STEPS + rank->plan->step_count;

	rank->step++;
	rank->at = 0;
	rank->now_ns[SS_SIM_MAIN] += STEP_GAP_NS;
	if (rank->step == SS_SIM_WARMUP_STEPS) {
		ss_sim_run_sync(rank, &drain);
		rank->window_start_ns = ss_sim_now(rank);
		rank->last_end_ns = 0;
		rank->now_ns[SS_SIM_MAIN] += PROFILER_START_NS;
		if (rank->recorder)
			rank->recorder->on = true;
	}
	if (rank->step == last) {
		ss_sim_run_sync(rank, &drain);
		rank->state = SS_SIM_FINISHED;
		return;
	}
	rank->program_index = ss_sim_program_at(rank->programs, rank->rank, rank->step);
	rank->program = &rank->programs->items[rank->program_index];
	if (rank->recorder)
		ss_sim_writer_use(rank->recorder->writer,
				  rank->recorder->phrases[rank->program_index]);
}

static void rank_run_instruction(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	switch ((enum ss_sim_code)at->code) {
	case SS_SIM_BEGIN:
		rank_run_begin(rank, at);
		break;
	case SS_SIM_END:
		rank_run_end(rank, at);
		break;
	case SS_SIM_WORK:
		ss_sim_advance_to(rank,
				  ss_sim_now(rank) + ss_sim_host_time(rank, at->cost_ns, at->key));
		break;
	case SS_SIM_KERNEL:
		ss_sim_run_kernel(rank, at);
		break;
	case SS_SIM_COLLECT:
		ss_sim_run_collect(rank, at);
		break;
	case SS_SIM_COPY_TASK:
		ss_sim_run_copy(rank, at);
		break;
	case SS_SIM_MEMSET:
		ss_sim_run_memset(rank, at);
		break;
	case SS_SIM_GRAPH:
		ss_sim_run_graph(rank, at);
		break;
	case SS_SIM_RECORD:
		ss_sim_run_record(rank, at);
		break;
	case SS_SIM_WAIT:
		ss_sim_run_wait(rank, at);
		break;
	case SS_SIM_SYNC:
		ss_sim_run_sync(rank, at);
		break;
	case SS_SIM_CALL:
		ss_sim_run_call(rank, at);
		break;
	case SS_SIM_SWITCH:
		ss_sim_run_switch(rank, at);
		break;
	case SS_SIM_ALLOC:
		rank_run_alloc(rank, at);
		break;
	case SS_SIM_FREE:
		rank_run_free(rank, at);
		break;
	case SS_SIM_INPUT:
		rank_run_input(rank, at);
		break;
	case SS_SIM_EPOCH:
		rank_run_epoch(rank, at);
		break;
	case SS_SIM_WHEN:
		if (!condition_is_met(rank, &rank->program->conditions[at->what]))
			rank->at += at->slot;
		break;
	}
}

void ss_sim_rank_run(struct ss_sim_rank *rank)
{
	while (rank->state == SS_SIM_RUNNING) {
		if (rank->at == rank->program->count) {
			rank_next_step(rank);
			continue;
		}
		rank_run_instruction(rank, &rank->program->code[rank->at]);
		if (rank->state == SS_SIM_RUNNING)
			rank->at++;
	}
}
