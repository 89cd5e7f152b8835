/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.c - ids, open ranges, and rows as they are closed.
 */
#include "sim/machine/recorder.h"

static struct ss_sim_open_range *recorder_open_range(struct ss_sim_rank *rank)
{
	struct ss_sim_recorder *recorder = rank->recorder;
	uint32_t depth = recorder->depth[rank->thread];

	return depth ? &recorder->open[rank->thread][depth - 1] : NULL;
}

static const struct ss_sim_range *recorder_range_at(const struct ss_sim_rank *rank, uint32_t index)
{
	return ss_records_at(&rank->program->ranges, index);
}

static bool range_is_python(const struct ss_sim_range *range)
{
	return range->kind == SS_SIM_FRAME || range->kind == SS_SIM_MODULE;
}

/* The innermost python range that is open on the thread; 0: none. */
static uint64_t recorder_python_parent(const struct ss_sim_rank *rank)
{
	const struct ss_sim_recorder *recorder = rank->recorder;

	for (uint32_t i = recorder->depth[rank->thread]; i-- > 0;)
		if (recorder->open[rank->thread][i].python_id)
			return recorder->open[rank->thread][i].python_id;
	return 0;
}

/* The innermost open op, which a call belongs to; skips notes. 0: none. */
static uint64_t recorder_external_id(const struct ss_sim_rank *rank)
{
	const struct ss_sim_recorder *recorder = rank->recorder;

	for (uint32_t i = recorder->depth[rank->thread]; i-- > 0;) {
		const struct ss_sim_open_range *open = &recorder->open[rank->thread][i];

		if (open->external_id && recorder_range_at(rank, open->range)->kind != SS_SIM_NOTE)
			return open->external_id;
	}
	return 0;
}

void ss_sim_recorder_begin(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	struct ss_sim_recorder *recorder = rank->recorder;
	const struct ss_sim_range *range = recorder_range_at(rank, at->what);
	struct ss_sim_open_range open = {
		.range = at->what,
		.sequence = at->slot,
		.start_ns = rank->now_ns[rank->thread],
		.event_index = recorder->event_index++,
	};

	assert(recorder->depth[rank->thread] < SS_SIM_DEPTH_MAX);
	if (range_is_python(range)) {
		open.python_parent = recorder_python_parent(rank);
		open.python_id = ++recorder->python_id;
	} else if (range->kind != SS_SIM_OVERHEAD) {
		open.external_id = ++recorder->external_id;
	}
	if (range->kind == SS_SIM_COMMS) {
		const struct ss_sim_comm *comm = ss_records_at(&rank->program->comms,
							       range->comm - 1);

		open.comm_sequence = rank->collective_count[comm->role];
	}
	recorder->open[rank->thread][recorder->depth[rank->thread]++] = open;
}

/* Autograd numbers its nodes through the whole job. */
static uint64_t recorder_sequence(const struct ss_sim_rank *rank, uint32_t slot)
{
	return (uint64_t)rank->step * rank->programs->sequences_max + slot - 1;
}

/* The id of the arrow from the forward op to the node itself, not to the range around it. */
static uint64_t recorder_flow(const struct ss_sim_rank *rank, const struct ss_sim_open_range *open,
			      const struct ss_sim_range *range)
{
	const struct ss_sim_recorder *recorder = rank->recorder;
	uint32_t depth = recorder->depth[rank->thread];

	if (!open->sequence)
		return 0;
	if (range->kind == SS_SIM_BACKWARD &&
	    (depth == 0 || recorder->open[rank->thread][depth - 1].sequence != open->sequence))
		return 0;
	return recorder_sequence(rank, open->sequence) + 1;
}

void ss_sim_recorder_end(struct ss_sim_rank *rank)
{
	struct ss_sim_recorder *recorder = rank->recorder;
	struct ss_sim_open_range *open = recorder_open_range(rank);
	const struct ss_sim_range *range;
	struct ss_sim_range_row row;

	assert(open);
	range = recorder_range_at(rank, open->range);
	recorder->depth[rank->thread]--;
	row = (struct ss_sim_range_row){
		.range = open->range,
		.thread = rank->thread,
		.start_ns = open->start_ns,
		.end_ns = rank->now_ns[rank->thread],
		.external_id = open->external_id,
		.event_index = open->event_index,
		.sequence = open->sequence ? recorder_sequence(rank, open->sequence)
					   : SS_SIM_NO_SEQUENCE,
		.flow = recorder_flow(rank, open, range),
		.python_id = open->python_id,
		.python_parent = open->python_parent,
		.comm_sequence = open->comm_sequence,
		.number = rank->step,
	};
	ss_sim_write_range(recorder->writer, &row);
	for (int i = 0; range->kind == SS_SIM_NOTE && i < SS_SIM_STREAMS; i++)
		if (open->covered[i].end_ns)
			ss_sim_write_projection(recorder->writer, open->range,
						(enum ss_sim_stream)i, open->covered[i].start_ns,
						open->covered[i].end_ns, open->external_id,
						rank->step);
}

uint64_t ss_sim_recorder_call(struct ss_sim_rank *rank, const struct ss_sim_call_note *call)
{
	struct ss_sim_recorder *recorder = rank->recorder;
	struct ss_sim_call_row row = {
		.name = call->name,
		.thread = rank->thread,
		.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.correlation = ++recorder->correlation,
		.external_id = recorder_external_id(rank),
		.launches = call->launches,
		.kernel = call->kernel,
		.kernel_index = call->kernel_index,
		.bytes = call->bytes,
		.copy = call->copy,
	};

	ss_sim_write_call(recorder->writer, &row);
	return row.correlation;
}

/* Extends the innermost note around the launch by a device row; outer notes stay. */
static void recorder_cover(struct ss_sim_rank *rank, uint32_t stream, int64_t start_ns,
			   int64_t end_ns)
{
	struct ss_sim_recorder *recorder = rank->recorder;

	for (uint32_t i = recorder->depth[rank->thread]; i-- > 0;) {
		struct ss_sim_open_range *open = &recorder->open[rank->thread][i];
		struct ss_sim_span *span = &open->covered[stream];

		if (recorder_range_at(rank, open->range)->kind != SS_SIM_NOTE)
			continue;
		if (!span->end_ns || start_ns < span->start_ns)
			span->start_ns = start_ns;
		if (end_ns > span->end_ns)
			span->end_ns = end_ns;
		return;
	}
}

void ss_sim_recorder_task(struct ss_sim_rank *rank, const struct ss_sim_instruction *at,
			  uint64_t correlation, int64_t start_ns, int64_t end_ns)
{
	struct ss_sim_recorder *recorder = rank->recorder;
	struct ss_sim_task_row row = {
		.code = (enum ss_sim_code)at->code,
		.stream = (enum ss_sim_stream)at->stream,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.correlation = correlation,
		.external_id = recorder_external_id(rank),
		.what = at->what,
		.bytes = at->bytes,
	};

	if (at->code == SS_SIM_COLLECT)
		row.comm_sequence = rank->collective_count[ss_sim_rank_comm(rank)->role];
	if (rank->graph_left)
		row.graph_node = ++recorder->graph_node;
	recorder_cover(rank, at->stream, start_ns, end_ns);
	ss_sim_write_task(recorder->writer, &row);
}

void ss_sim_recorder_memory(struct ss_sim_rank *rank, int64_t bytes, uint64_t address)
{
	struct ss_sim_memory_row row = {
		.thread = rank->thread,
		.at_ns = rank->now_ns[rank->thread],
		.bytes = bytes,
		.address = address,
		.allocated_bytes = rank->pool.allocated_bytes,
		.reserved_bytes = rank->pool.reserved_bytes,
		.event_index = rank->recorder->event_index++,
	};

	if (rank->plan->with_memory)
		ss_sim_write_memory(rank->recorder->writer, &row);
}

void ss_sim_recorder_sync(struct ss_sim_rank *rank, const char *name, uint64_t correlation,
			  enum ss_sim_stream stream, uint32_t event, int64_t start_ns,
			  int64_t end_ns)
{
	const struct ss_sim_recorder *recorder = rank->recorder;
	struct ss_sim_sync_row row = {
		.name = name,
		.stream = stream,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.correlation = correlation,
		.external_id = recorder_external_id(rank),
		.waits_for = (enum ss_sim_stream)recorder->record_streams[event],
		.record_correlation = recorder->record_correlations[event],
		.event = event + 1,
	};

	if (rank->plan->with_sync_rows)
		ss_sim_write_sync(recorder->writer, &row);
}
