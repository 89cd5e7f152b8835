/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - what calls and device work do to the clocks of a rank.
 */
#include "sim/machine/machine_parts.h"
#include "sim/noise.h"
#include "sim/machine/recorder.h"

#define KERNEL_DEVIATION_PPM 7000 /* kernels hardly differ from run to run, */
#define HOST_DEVIATION_PPM 40000  /* the host does */
#define COPY_BASE_NS 1400
#define MEMSET_BASE_NS 1100

/* --- time ------------------------------------------------------------------ */

uint32_t ss_sim_odd_permille(const struct ss_sim_rank *rank, const struct ss_sim_odd_rank *odd)
{
	if (odd->rank < 0 || !odd->permille)
		return 1000;
	if (odd->rotates)
		return rank->step % rank->plan->rank_count == rank->rank ? odd->permille : 1000;
	return (uint32_t)odd->rank == rank->rank ? odd->permille : 1000;
}

#define STRETCHED 8u   /* one of N pieces of CPU time waits for a core */
#define STRETCH_MEAN 7 /* of what host_stretch_tail() gives, in halves */

/* Powers of two up to 32, each half as frequent as the one before: a heavy tail. */
static int64_t host_stretch_tail(uint64_t random)
{
	int64_t power = 1;

	while (power < 32 && random & 1) {
		power *= 2;
		random >>= 1;
	}
	return power;
}

/* Time that a piece of CPU work waits for a core: none for most pieces, much for some. */
static int64_t host_stretch_ns(const struct ss_sim_rank *rank, int64_t cost_ns, uint32_t key)
{
	const struct ss_sim_plan *plan = rank->plan;
	uint64_t random = ss_sim_random(plan->seed, rank->rank, rank->step, key,
					SS_SIM_NOISE_CORES);
	int64_t mean_ns = cost_ns * plan->stretch_permille / 1000;

	if (random % STRETCHED)
		return 0;
	return mean_ns * STRETCHED * 2 / STRETCH_MEAN * host_stretch_tail(random >> 16);
}

int64_t ss_sim_host_time(struct ss_sim_rank *rank, int64_t cost_ns, uint32_t key)
{
	const struct ss_sim_plan *plan = rank->plan;
	uint32_t permille = ss_sim_odd_permille(rank, &plan->slow_host);
	int64_t ppm = rank->host_ppm;

	if (key)
		ppm += ss_sim_ppm(ss_sim_random(plan->seed, rank->rank, rank->step, key,
						SS_SIM_NOISE_HOST),
				  HOST_DEVIATION_PPM);
	if (plan->host_permille != 1000)
		permille = permille * plan->host_permille / 1000;
	cost_ns = ss_sim_scale(cost_ns, permille, ppm);
	if (plan->stretch_permille && key)
		cost_ns += host_stretch_ns(rank, cost_ns, key);
	if (rank->step >= SS_SIM_WARMUP_STEPS && rank->thread != SS_SIM_WATCHDOG)
		rank->host_busy_ns += cost_ns;
	return cost_ns;
}

static int64_t kernel_time(const struct ss_sim_rank *rank, int64_t duration_ns, uint32_t key)
{
	const struct ss_sim_plan *plan = rank->plan;
	int64_t ppm = ss_sim_ppm(ss_sim_random(plan->seed, rank->rank, rank->step, key,
					       SS_SIM_NOISE_KERNEL),
				 KERNEL_DEVIATION_PPM);

	return ss_sim_scale(duration_ns, ss_sim_odd_permille(rank, &plan->slow_device),
			    ppm + rank->rank_ppm);
}

int64_t ss_sim_device_ready(const struct ss_sim_rank *rank)
{
	int64_t ready_ns = 0;

	for (int i = 0; i < SS_SIM_STREAMS; i++)
		ready_ns = ss_sim_later(ready_ns,
					ss_sim_later(rank->ready_ns[i], rank->waited_ns[i]));
	return ready_ns;
}

/* --- calls and tasks -------------------------------------------------------- */

/* A call that takes its CPU time, and longer when it has to wait until `until_ns`. */
uint64_t ss_sim_call_device(struct ss_sim_rank *rank, struct ss_sim_call_note note, int64_t cost_ns,
			    int64_t until_ns)
{
	note.start_ns = ss_sim_now(rank);
	note.end_ns = ss_sim_later(note.start_ns + cost_ns, until_ns);
	rank->call_start_ns = note.start_ns;
	ss_sim_advance_to(rank, note.end_ns);
	return ss_sim_is_recording(rank) ? ss_sim_recorder_call(rank, &note) : 0;
}

/* When the launch queue is full the call waits for the oldest in it to start. */
static int64_t launch_queue_free_ns(const struct ss_sim_rank *rank)
{
	return rank->launch_count < SS_SIM_QUEUE ? 0
						 : rank->queue[rank->launch_count % SS_SIM_QUEUE];
}

static int64_t task_start(struct ss_sim_rank *rank, uint32_t stream)
{
	const struct ss_sim_timing *timing = &ss_sim_timing;
	bool inside = rank->graph_left && !rank->graph_first;
	int64_t gap_ns = inside ? timing->graph_gap : timing->kernel_gap;
	int64_t start_ns = rank->call_start_ns + timing->launch_latency;

	if (rank->ready_ns[stream])
		start_ns = ss_sim_later(start_ns, rank->ready_ns[stream] + gap_ns);
	if (rank->waited_ns[stream])
		start_ns = ss_sim_later(start_ns, rank->waited_ns[stream] + timing->event_gap);
	rank->waited_ns[stream] = 0;
	rank->queue[rank->launch_count++ % SS_SIM_QUEUE] = start_ns;
	return start_ns;
}

static void task_end(struct ss_sim_rank *rank, const struct ss_sim_instruction *at,
		     uint64_t correlation, int64_t start_ns, int64_t end_ns)
{
	rank->ready_ns[at->stream] = end_ns;
	rank->device_end_ns = ss_sim_later(rank->device_end_ns, end_ns);
	if (ss_sim_is_recording(rank))
		ss_sim_recorder_task(rank, at, correlation, start_ns, end_ns);
}

/* The first launch of a kernel loads it; kernels are numbered in the order of first use. */
static int64_t kernel_load_time(struct ss_sim_rank *rank, uint32_t kernel_index)
{
	if (!rank->plan->load_ns || rank->step != SS_SIM_WARMUP_STEPS ||
	    kernel_index < rank->loaded_count)
		return 0;
	rank->loaded_count = kernel_index + 1;
	return ss_sim_host_time(rank, rank->plan->load_ns, kernel_index + 1);
}

/* What is loaded first reaches the device when the call returns. */
static uint64_t kernel_launch(struct ss_sim_rank *rank, uint32_t kernel_index, uint32_t key)
{
	const struct ss_sim_kernel *kernel = &rank->program->kernels[kernel_index];
	int64_t load_ns = kernel_load_time(rank, kernel_index);
	uint64_t correlation =
		ss_sim_call_device(rank,
				   (struct ss_sim_call_note){ .name = kernel->call,
							      .launches = true,
							      .kernel = kernel,
							      .kernel_index = kernel_index },
				   ss_sim_host_time(rank, ss_sim_timing.launch, key) + load_ns,
				   launch_queue_free_ns(rank));

	if (load_ns)
		rank->call_start_ns = ss_sim_now(rank) - ss_sim_timing.launch_latency;
	return correlation;
}

void ss_sim_run_kernel(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	const struct ss_sim_kernel *kernel = &rank->program->kernels[at->what];
	uint64_t correlation;
	int64_t start_ns;

	if (!rank->graph_left)
		correlation = kernel_launch(rank, at->what, at->key);
	else
		correlation = rank->recorder ? rank->recorder->launch_correlation : 0;
	start_ns = task_start(rank, at->stream);
	task_end(rank, at, correlation, start_ns,
		 start_ns + kernel_time(rank, kernel->duration_ns, at->key));
	if (rank->graph_left) {
		rank->graph_left--;
		rank->graph_first = false;
	}
}

void ss_sim_run_graph(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint64_t correlation = ss_sim_call_device(
		rank, (struct ss_sim_call_note){ .name = "cudaGraphLaunch", .launches = true },
		ss_sim_host_time(rank, ss_sim_timing.launch_graph, at->key),
		launch_queue_free_ns(rank));

	rank->graph_left = at->slot;
	rank->graph_first = true;
	if (rank->recorder)
		rank->recorder->launch_correlation = correlation;
}

static int64_t copy_time(const struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	const struct ss_sim_device *device = rank->plan->device;
	double rate = device->pinned_rate;

	if (at->what == SS_SIM_HTOD_PAGEABLE || at->what == SS_SIM_DTOH_PAGEABLE)
		rate = device->pageable_rate;
	else if (at->what == SS_SIM_DTOD)
		rate = device->memory_rate / 2;
	return kernel_time(rank, COPY_BASE_NS + (int64_t)((double)at->bytes * 1e9 / rate), at->key);
}

void ss_sim_run_copy(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	bool blocks = at->what == SS_SIM_HTOD_PAGEABLE || at->what == SS_SIM_DTOH_PAGEABLE;
	bool up = at->what == SS_SIM_HTOD_PINNED || at->what == SS_SIM_HTOD_PAGEABLE;
	int64_t cost_ns = ss_sim_host_time(rank, ss_sim_timing.copy, at->key);
	int64_t start_ns, end_ns, until_ns = launch_queue_free_ns(rank);
	uint64_t correlation;

	rank->call_start_ns = ss_sim_now(rank);
	start_ns = task_start(rank, at->stream);
	if (at->what != SS_SIM_DTOD && rank->engine_ns[up])
		start_ns = ss_sim_later(start_ns, rank->engine_ns[up] + ss_sim_timing.copy_gap);
	rank->queue[(rank->launch_count - 1) % SS_SIM_QUEUE] = start_ns;
	end_ns = start_ns + copy_time(rank, at);
	if (at->what != SS_SIM_DTOD)
		rank->engine_ns[up] = end_ns;
	if (blocks)
		until_ns = ss_sim_later(until_ns, end_ns + ss_sim_timing.sync_return);
	correlation = ss_sim_call_device(rank,
					 (struct ss_sim_call_note){
						 .name = "cudaMemcpyAsync",
						 .launches = true,
						 .copy = (enum ss_sim_copy_kind)at->what,
						 .bytes = at->bytes },
					 cost_ns, until_ns);
	task_end(rank, at, correlation, start_ns, end_ns);
}

void ss_sim_run_memset(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint64_t correlation = ss_sim_call_device(
		rank,
		(struct ss_sim_call_note){
			.name = "cudaMemsetAsync", .launches = true, .bytes = at->bytes },
		ss_sim_host_time(rank, ss_sim_timing.memset, at->key), launch_queue_free_ns(rank));
	int64_t start_ns = task_start(rank, at->stream);
	double seconds = (double)at->bytes / rank->plan->device->memory_rate;

	task_end(rank, at, correlation, start_ns,
		 start_ns + kernel_time(rank, MEMSET_BASE_NS + (int64_t)(seconds * 1e9), at->key));
}

/* Stops here; ss_sim_rank_resume() goes on. */
void ss_sim_run_collect(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	const struct ss_sim_comm *comm = ss_records_at(&rank->program->comms, at->what);
	uint64_t correlation = kernel_launch(rank, comm->kernel, at->key);

	if (rank->recorder)
		rank->recorder->launch_correlation = correlation;
	rank->arrival_ns = task_start(rank, at->stream);
	rank->state = SS_SIM_WAITING;
}

const struct ss_sim_comm *ss_sim_rank_comm(const struct ss_sim_rank *rank)
{
	assert(rank->state == SS_SIM_WAITING);
	return ss_records_at(&rank->program->comms, rank->program->code[rank->at].what);
}

void ss_sim_rank_resume(struct ss_sim_rank *rank, int64_t end_ns)
{
	const struct ss_sim_instruction *at = &rank->program->code[rank->at];
	const struct ss_sim_comm *comm = ss_sim_rank_comm(rank);

	assert(end_ns > rank->arrival_ns);
	task_end(rank, at, rank->recorder ? rank->recorder->launch_correlation : 0,
		 rank->arrival_ns, end_ns);
	rank->collective_count[comm->role]++;
	rank->state = SS_SIM_RUNNING;
	rank->at++;
}

/* --- waiting ------------------------------------------------------------------ */

void ss_sim_run_record(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint64_t correlation =
		ss_sim_call_device(rank, (struct ss_sim_call_note){ .name = "cudaEventRecord" },
				   ss_sim_host_time(rank, ss_sim_timing.record, 0), 0);

	rank->events[at->slot] = ss_sim_later(rank->ready_ns[at->stream],
					      rank->waited_ns[at->stream]);
	if (rank->recorder) {
		rank->recorder->record_correlations[at->slot] = correlation;
		rank->recorder->record_streams[at->slot] = at->stream;
	}
}

void ss_sim_run_wait(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint64_t correlation =
		ss_sim_call_device(rank, (struct ss_sim_call_note){ .name = "cudaStreamWaitEvent" },
				   ss_sim_host_time(rank, ss_sim_timing.wait, 0), 0);
	int64_t *waited_ns = &rank->waited_ns[at->stream];

	*waited_ns = ss_sim_later(*waited_ns, rank->events[at->slot]);
	if (ss_sim_is_recording(rank))
		ss_sim_recorder_sync(rank, "Stream Wait Event", correlation,
				     (enum ss_sim_stream)at->stream, at->slot, rank->call_start_ns,
				     ss_sim_now(rank));
}

void ss_sim_run_sync(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	static const char *const calls[] = { "cudaStreamSynchronize", "cudaDeviceSynchronize",
					     "cudaEventSynchronize" };
	static const char *const rows[] = { "Stream Sync", "Context Sync", "Event Sync" };
	int64_t target_ns = ss_sim_device_ready(rank);
	uint64_t correlation;

	if (at->what == SS_SIM_SYNC_STREAM)
		target_ns = ss_sim_later(rank->ready_ns[at->stream], rank->waited_ns[at->stream]);
	else if (at->what == SS_SIM_SYNC_EVENT)
		target_ns = rank->events[at->slot];
	correlation = ss_sim_call_device(rank, (struct ss_sim_call_note){ .name = calls[at->what] },
					 ss_sim_host_time(rank, ss_sim_timing.sync, 0),
					 target_ns + ss_sim_timing.sync_return);
	if (ss_sim_is_recording(rank))
		ss_sim_recorder_sync(rank, rows[at->what], correlation,
				     (enum ss_sim_stream)at->stream, at->slot, rank->call_start_ns,
				     ss_sim_now(rank));
}

void ss_sim_run_call(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	static const char *const names[] = { "cudaMalloc", "cudaFree", "cudaStreamIsCapturing",
					     "cudaFuncSetAttribute", "cudaEventQuery" };
	bool frees = at->what == SS_SIM_CALL_FREE;

	ss_sim_call_device(rank, (struct ss_sim_call_note){ .name = names[at->what] },
			   ss_sim_host_time(rank, at->cost_ns, at->key),
			   frees ? ss_sim_device_ready(rank) + ss_sim_timing.sync_return : 0);
}

/* Other threads hand over and wait; the watchdog runs beside them. */
void ss_sim_run_switch(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	enum ss_sim_thread to = (enum ss_sim_thread)at->what;
	int64_t from_ns = ss_sim_now(rank);

	if (to == SS_SIM_WATCHDOG)
		rank->now_ns[to] = ss_sim_later(rank->now_ns[to], from_ns);
	else if (rank->thread != SS_SIM_WATCHDOG)
		rank->now_ns[to] = ss_sim_later(rank->now_ns[to],
						from_ns + ss_sim_host_time(rank,
									   ss_sim_timing.wake_up,
									   at->key));
	rank->thread = to;
}
