/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - the programs of a job, and its first run, in which the ranks take turns.
 *
 * The order in which ranks take turns does not matter: a rank's clock depends on
 * others only through the ends of collectives, and those only on the latest
 * arrival. Members of a channel run collectives in the same order, so only one
 * collective of a channel is open at a time.
 */
#include <string.h>

#include "sim/plan.h"
#include "sim/machine/run.h"
#include "sim/noise.h"

#define NETWORK_DEVIATION_PPM 12000

/* --- the network ------------------------------------------------------------ */

static uint32_t network_hops(uint32_t members)
{
	uint32_t count = 0;

	while (UINT32_C(1) << count < members)
		count++;
	return count;
}

/* The bus bandwidth of the group in bytes/s, from the links of its members. */
static double network_bus_rate(const struct ss_sim_plan *plan, const struct ss_sim_ranks *ranks)
{
	const struct ss_sim_device *device = plan->device;
	uint32_t last = ranks->first + ranks->stride * (ranks->count - 1);
	uint32_t on_host = plan->host_ranks > ranks->stride ? plan->host_ranks / ranks->stride : 1;
	double rate = device->network_rate * on_host;

	if (ranks->first / plan->host_ranks == last / plan->host_ranks || rate > device->link_rate)
		rate = device->link_rate;
	return plan->link_rate && rate > (double)plan->link_rate ? (double)plan->link_rate : rate;
}

static bool ranks_have(const struct ss_sim_ranks *ranks, int32_t rank)
{
	uint32_t past = (uint32_t)rank - ranks->first;

	return rank >= 0 && (uint32_t)rank >= ranks->first && past % ranks->stride == 0 &&
	       past / ranks->stride < ranks->count;
}

static int64_t network_transfer_time(const struct ss_sim_plan *plan, uint32_t channel,
				     uint32_t index, const struct ss_sim_comm *comm)
{
	struct ss_sim_ranks ranks = ss_sim_channel_ranks(plan, channel);
	double count = ranks.count, bytes = (double)comm->bytes;
	uint64_t random = ss_sim_random(plan->seed, channel, index, comm->kernel,
					SS_SIM_NOISE_NETWORK);
	uint32_t permille = 1000;
	int64_t ns;

	if (ranks_have(&ranks, plan->slow_link.rank) && plan->slow_link.permille)
		permille = plan->slow_link.permille;
	/* the factors of nccl-tests: what each link carries of the message */
	if (comm->kind == SS_SIM_NCCL_ALL_REDUCE)
		bytes *= 2 * (count - 1) / count;
	else if (comm->kind != SS_SIM_NCCL_SEND_RECV && comm->kind != SS_SIM_NCCL_BROADCAST)
		bytes *= (count - 1) / count;
	ns = ss_sim_timing.network_base + ss_sim_timing.network_hop * network_hops(ranks.count);
	ns += plan->link_latency_ns + (int64_t)(bytes * 1e9 / network_bus_rate(plan, &ranks));
	return ss_sim_scale(ns, permille,
			    ss_sim_ppm(random, NETWORK_DEVIATION_PPM) +
				    ss_sim_run_ppm(plan->seed, plan->run_noise_ppm,
						   SS_SIM_NOISE_NETWORK));
}

/* --- collectives ---------------------------------------------------------------- */

struct run_turns {
	struct ss_sim_outcome *outcome;
	const struct ss_sim_programs *programs;
	struct ss_sim_rank *ranks;
	uint32_t *queue; /* ranks that can go on */
	uint32_t queued;
	bool with_details;
	bool failed;
};

static bool array_grow(struct ss_memory *memory, void **items, uint32_t *capacity, size_t count,
		       size_t bytes)
{
	return ss_memory_reserve(memory, items, capacity, count, bytes);
}

/* Stores when each member arrived, in the order of the members. */
static bool channel_keep_arrivals(struct run_turns *turns, struct ss_sim_channel *channel,
				  const struct ss_sim_ranks *members,
				  const struct ss_sim_rank *rank, int64_t transfer_ns)
{
	struct ss_memory *memory = turns->outcome->memory;

	if (!array_grow(memory, (void **)&channel->details, &channel->detail_capacity,
			(size_t)channel->detail_count + 1, sizeof(*channel->details)) ||
	    !array_grow(memory, (void **)&channel->arrivals_ns, &channel->arrival_capacity,
			(size_t)channel->arrival_count + members->count,
			sizeof(*channel->arrivals_ns)))
		return false;
	channel->details[channel->detail_count++] = (struct ss_sim_collective_run){
		.step = rank->step,
		.program = rank->program_index,
		.comm = rank->program->code[rank->at].what,
		.transfer_ns = transfer_ns,
	};
	for (uint32_t i = 0; i < members->count; i++)
		channel->arrivals_ns[channel->arrival_count++] =
			turns->ranks[members->first + i * members->stride].arrival_ns;
	return true;
}

/* All members have arrived: ends the collective and resumes them. */
static void turns_end_collective(struct run_turns *turns, uint32_t index,
				 const struct ss_sim_rank *rank)
{
	const struct ss_sim_plan *plan = turns->outcome->plan;
	struct ss_sim_channel *channel = &turns->outcome->channels[index];
	struct ss_sim_ranks members = ss_sim_channel_ranks(plan, index);
	const struct ss_sim_comm *comm = ss_sim_rank_comm(rank);
	int64_t transfer_ns = network_transfer_time(plan, index, channel->count, comm);
	bool recorded = rank->step >= SS_SIM_WARMUP_STEPS;

	if (!array_grow(turns->outcome->memory, (void **)&channel->ends_ns, &channel->capacity,
			(size_t)channel->count + 1, sizeof(*channel->ends_ns)) ||
	    (recorded && turns->with_details &&
	     !channel_keep_arrivals(turns, channel, &members, rank, transfer_ns))) {
		turns->failed = true;
		return;
	}
	if (recorded)
		channel->transfer_ns += transfer_ns;
	else
		channel->first_recorded = channel->count + 1;
	channel->ends_ns[channel->count++] = channel->last_ns + transfer_ns;
	for (uint32_t i = 0; i < members.count; i++) {
		uint32_t member = members.first + i * members.stride;

		ss_sim_rank_resume(&turns->ranks[member], channel->ends_ns[channel->count - 1]);
		turns->queue[turns->queued++] = member;
	}
	channel->arrived = 0;
	channel->last_ns = 0;
}

static void turns_arrive(struct run_turns *turns, const struct ss_sim_rank *rank)
{
	const struct ss_sim_plan *plan = turns->outcome->plan;
	uint32_t index = ss_sim_channel_of(plan, rank->rank,
					   (enum ss_sim_group_role)ss_sim_rank_comm(rank)->role);
	struct ss_sim_channel *channel = &turns->outcome->channels[index];

	if (rank->arrival_ns > channel->last_ns)
		channel->last_ns = rank->arrival_ns;
	if (++channel->arrived == ss_sim_channel_ranks(plan, index).count)
		turns_end_collective(turns, index, rank);
}

int64_t ss_sim_outcome_end(const struct ss_sim_outcome *outcome, const struct ss_sim_rank *rank)
{
	enum ss_sim_group_role role = (enum ss_sim_group_role)ss_sim_rank_comm(rank)->role;
	const struct ss_sim_channel *channel =
		&outcome->channels[ss_sim_channel_of(outcome->plan, rank->rank, role)];

	assert(rank->collective_count[role] < channel->count);
	return channel->ends_ns[rank->collective_count[role]];
}

/* --- the run ------------------------------------------------------------------- */

static void outcome_add_rank(struct ss_sim_outcome *outcome, const struct ss_sim_rank *rank)
{
	if (!rank->rank)
		outcome->host_step_ns = rank->host_busy_ns / outcome->plan->step_count;
	if (rank->pool.allocated_peak_bytes > outcome->allocated_peak_bytes)
		outcome->allocated_peak_bytes = rank->pool.allocated_peak_bytes;
	if (rank->pool.reserved_peak_bytes > outcome->reserved_peak_bytes)
		outcome->reserved_peak_bytes = rank->pool.reserved_peak_bytes;
}

static void outcome_set_means(struct ss_sim_outcome *outcome)
{
	size_t count = (size_t)outcome->plan->rank_count * outcome->plan->step_count;
	int64_t sum_us = 0, rest_ns = 0; /* apart: sums of many long steps */

	for (size_t i = 0; i < count; i++) {
		int64_t ns = outcome->spans[i].end_ns - outcome->spans[i].start_ns;

		sum_us += ns / 1000;
		rest_ns += ns % 1000;
	}
	sum_us += rest_ns / 1000;
	for (uint32_t i = 0; i < outcome->channel_count; i++)
		if (outcome->channels[i].transfer_ns / outcome->plan->step_count >
		    outcome->comm_step_ns)
			outcome->comm_step_ns = outcome->channels[i].transfer_ns /
						outcome->plan->step_count;
	outcome->mean_step_ns = sum_us / (int64_t)count * 1000 +
				(sum_us % (int64_t)count * 1000 + rest_ns % 1000) / (int64_t)count;
}

static enum ss_status turns_run(struct run_turns *turns, struct ss_error *err)
{
	uint32_t finished = 0;

	while (turns->queued && !turns->failed) {
		struct ss_sim_rank *rank = &turns->ranks[turns->queue[--turns->queued]];

		ss_sim_rank_run(rank);
		if (rank->pool.failed)
			turns->failed = true;
		else if (rank->state == SS_SIM_WAITING)
			turns_arrive(turns, rank);
		else
			finished++;
		if (rank->state == SS_SIM_FINISHED)
			outcome_add_rank(turns->outcome, rank);
	}
	if (turns->failed)
		return ss_fail_memory(err, "the ranks of a simulated job");
	if (finished != turns->outcome->plan->rank_count)
		return ss_fail(err, SS_ERR_FORMAT,
			       "the simulated job deadlocks: only %u of %u ranks ended", finished,
			       turns->outcome->plan->rank_count);
	return SS_OK;
}

static enum ss_status turns_open_ranks(struct run_turns *turns, struct ss_error *err)
{
	const struct ss_sim_plan *plan = turns->outcome->plan;
	struct ss_memory *memory = turns->outcome->memory;

	turns->ranks = ss_memory_zeroed(memory, plan->rank_count * sizeof(*turns->ranks));
	turns->queue = ss_memory_resize(memory, NULL, 0, plan->rank_count * sizeof(*turns->queue));
	if (!turns->ranks || !turns->queue)
		return ss_fail_memory(err, "the ranks of a simulated job");
	for (uint32_t i = 0; i < plan->rank_count; i++) {
		if (!ss_sim_rank_init(&turns->ranks[i], turns->programs, i, memory))
			return ss_fail_memory(err, "the ranks of a simulated job");
		turns->ranks[i].spans = turns->outcome->spans + (size_t)i * plan->step_count;
		turns->queue[turns->queued++] = i;
	}
	return SS_OK;
}

enum ss_status ss_sim_outcome_open(struct ss_sim_outcome *outcome,
				   const struct ss_sim_programs *programs, struct ss_memory *memory,
				   bool with_details, struct ss_error *err)
{
	const struct ss_sim_plan *plan = programs->plan;
	struct run_turns turns = { .outcome = outcome,
				   .programs = programs,
				   .with_details = with_details };
	size_t spans = (size_t)plan->rank_count * plan->step_count;
	enum ss_status status;

	*outcome = (struct ss_sim_outcome){ .plan = plan,
					    .memory = memory,
					    .channel_count = ss_sim_channel_count(plan) };
	outcome->channels = ss_memory_zeroed(memory,
					     outcome->channel_count * sizeof(*outcome->channels));
	outcome->spans = ss_memory_zeroed(memory, spans * sizeof(*outcome->spans));
	if (!outcome->channels || !outcome->spans)
		return ss_fail_memory(err, "the ranks of a simulated job");
	status = turns_open_ranks(&turns, err);
	if (status == SS_OK)
		status = turns_run(&turns, err);
	if (status == SS_OK)
		outcome_set_means(outcome);
	for (uint32_t i = 0; turns.ranks && i < plan->rank_count; i++)
		ss_sim_rank_release(&turns.ranks[i]);
	SS_FREE(memory, turns.ranks, plan->rank_count);
	SS_FREE(memory, turns.queue, plan->rank_count);
	return status;
}

void ss_sim_outcome_close(struct ss_sim_outcome *outcome)
{
	const struct ss_sim_plan *plan = outcome->plan;
	struct ss_memory *memory = outcome->memory;

	if (!memory)
		return;
	for (uint32_t i = 0; outcome->channels && i < outcome->channel_count; i++) {
		struct ss_sim_channel *channel = &outcome->channels[i];

		SS_FREE(memory, channel->ends_ns, channel->capacity);
		SS_FREE(memory, channel->details, channel->detail_capacity);
		SS_FREE(memory, channel->arrivals_ns, channel->arrival_capacity);
	}
	SS_FREE(memory, outcome->channels, outcome->channel_count);
	ss_memory_free(memory, outcome->spans,
		       (size_t)plan->rank_count * plan->step_count * sizeof(*outcome->spans));
	*outcome = (struct ss_sim_outcome){ 0 };
}

/* --- the programs of a job ----------------------------------------------------------- */

static bool rank_is_odd(const struct ss_sim_odd_rank *odd, const struct ss_sim_plan *plan,
			uint32_t rank, uint32_t step)
{
	if (odd->rank < 0 || !odd->permille)
		return false;
	return odd->rotates ? step % plan->rank_count == rank : (uint32_t)odd->rank == rank;
}

/* Stages, each as it is and with more work, each for decode and for prefill. */
uint32_t ss_sim_program_at(const struct ss_sim_programs *programs, uint32_t rank, uint32_t step)
{
	const struct ss_sim_plan *plan = programs->plan;
	uint32_t index = ss_sim_place_of(plan, rank).stage * 4;

	if (rank_is_odd(&plan->more_work, plan, rank, step))
		index += 2;
	if (plan->prefill_every && step % plan->prefill_every == 0)
		index += 1;
	return index;
}

enum ss_status ss_sim_programs_open(struct ss_sim_programs *programs,
				    const struct ss_sim_plan *plan, struct ss_memory *memory,
				    struct ss_error *err)
{
	uint32_t count = plan->pipe * 4;

	*programs = (struct ss_sim_programs){ .plan = plan };
	if (!SS_MEMORY_NEW(memory, programs->items, count))
		return ss_fail_memory(err, "the programs of a simulated job");
	memset(programs->items, 0, count * sizeof(*programs->items));
	programs->count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct ss_sim_program *program = &programs->items[i];
		struct ss_sim_part part = { .stage = i / 4,
					    .work_permille = 1000,
					    .prefill = i % 2 == 1 };

		if ((i % 2 && !plan->prefill_every) || (i % 4 > 1 && !plan->more_work.permille))
			continue;
		if (i % 4 > 1)
			part.work_permille = plan->more_work.permille;
		if (!ss_sim_program_init(program, memory, plan->device))
			return ss_fail_memory(err, "the programs of a simulated job");
		program->with_stack = plan->with_stack;
		plan->layout->build(plan, &part, program);
		if (program->failed)
			return ss_fail_memory(err, "the programs of a simulated job");
		if (program->event_count > programs->events_max)
			programs->events_max = program->event_count;
		if (program->slot_count > programs->slots_max)
			programs->slots_max = program->slot_count;
		if (program->sequence_count > programs->sequences_max)
			programs->sequences_max = program->sequence_count;
	}
	return SS_OK;
}

void ss_sim_programs_close(struct ss_sim_programs *programs, struct ss_memory *memory)
{
	for (uint32_t i = 0; i < programs->count; i++)
		ss_sim_program_release(&programs->items[i]);
	SS_FREE(memory, programs->items, programs->count);
	*programs = (struct ss_sim_programs){ 0 };
}
