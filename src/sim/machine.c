/*
 * machine.c - runs programs: what each instruction does to the clocks of a rank.
 */
#include <string.h>

#include "sim/machine.h"
#include "sim/noise.h"
#include "sim/recorder.h"

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

#define KERNEL_DEVIATION_PPM 7000 /* kernels hardly differ from run to run, */
#define HOST_DEVIATION_PPM 40000  /* the host does */
#define INPUT_DEVIATION_PPM 30000
#define RANK_DEVIATION_PPM 1500

#define FIRST_NS 1000000 /* the job begins; 0 means "never" below */
#define PROFILER_START_NS 250000
#define STEP_GAP_NS 18000 /* profiler.step() between two steps */
#define COPY_BASE_NS 1400
#define MEMSET_BASE_NS 1100
#define INPUT_QUEUE_NS 42000 /* taking a ready batch from the workers' queue */
#define MALLOC_NS 190000
#define FREE_NS 240000
#define PREFETCH 2u /* batches a worker works ahead; torch's default */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

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
	return true;
}

void ss_sim_rank_release(struct ss_sim_rank *rank)
{
	if (!rank->programs)
		return;
	ss_memory_free(rank->memory, rank->events,
		       (rank->programs->events_max + 1) * sizeof(*rank->events));
	ss_memory_free(rank->memory, rank->slots,
		       (rank->programs->slots_max + 1) * sizeof(*rank->slots));
	ss_sim_pool_release(&rank->pool);
	*rank = (struct ss_sim_rank){ 0 };
}

/* --- time ------------------------------------------------------------------ */

static uint32_t odd_permille(const struct ss_sim_rank *rank, const struct ss_sim_odd_rank *odd)
{
	if (odd->rank < 0 || !odd->permille)
		return 1000;
	if (odd->rotates)
		return rank->step % rank->plan->rank_count == rank->rank ? odd->permille : 1000;
	return (uint32_t)odd->rank == rank->rank ? odd->permille : 1000;
}

static int64_t host_time(struct ss_sim_rank *rank, int64_t cost_ns, uint32_t key)
{
	const struct ss_sim_plan *plan = rank->plan;
	uint32_t permille = odd_permille(rank, &plan->slow_host);
	int64_t ppm = 0;

	if (key)
		ppm = ss_sim_ppm(ss_sim_random(plan->seed, rank->rank, rank->step, key,
					       SS_SIM_NOISE_HOST),
				 HOST_DEVIATION_PPM);
	if (plan->host_permille != 1000)
		permille = permille * plan->host_permille / 1000;
	cost_ns = ss_sim_scale(cost_ns, permille, ppm);
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

	return ss_sim_scale(duration_ns, odd_permille(rank, &plan->slow_device),
			    ppm + rank->rank_ppm);
}

static int64_t now(const struct ss_sim_rank *rank)
{
	return rank->now_ns[rank->thread];
}

static void advance_to(struct ss_sim_rank *rank, int64_t moment_ns)
{
	assert(moment_ns >= now(rank));
	rank->now_ns[rank->thread] = moment_ns;
}

static int64_t device_ready(const struct ss_sim_rank *rank)
{
	int64_t ready_ns = 0;

	for (int i = 0; i < SS_SIM_STREAMS; i++)
		ready_ns = later(ready_ns, later(rank->ready_ns[i], rank->waited_ns[i]));
	return ready_ns;
}

static bool is_recording(const struct ss_sim_rank *rank)
{
	return rank->recorder && rank->recorder->on;
}

/* --- calls and tasks -------------------------------------------------------- */

/* A call that takes its CPU time, and longer when it has to wait until `until_ns`. */
static uint64_t call(struct ss_sim_rank *rank, struct ss_sim_call_note note, int64_t cost_ns,
		     int64_t until_ns)
{
	note.start_ns = now(rank);
	note.end_ns = later(note.start_ns + cost_ns, until_ns);
	rank->call_start_ns = note.start_ns;
	advance_to(rank, note.end_ns);
	return is_recording(rank) ? ss_sim_recorder_call(rank, &note) : 0;
}

/* When the launch queue is full the call waits for the oldest in it to start. */
static int64_t queue_free(const struct ss_sim_rank *rank)
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
		start_ns = later(start_ns, rank->ready_ns[stream] + gap_ns);
	if (rank->waited_ns[stream])
		start_ns = later(start_ns, rank->waited_ns[stream] + timing->event_gap);
	rank->waited_ns[stream] = 0;
	rank->queue[rank->launch_count++ % SS_SIM_QUEUE] = start_ns;
	return start_ns;
}

static void task_end(struct ss_sim_rank *rank, const struct ss_sim_instruction *at,
		     uint64_t correlation, int64_t start_ns, int64_t end_ns)
{
	rank->ready_ns[at->stream] = end_ns;
	rank->device_end_ns = later(rank->device_end_ns, end_ns);
	if (is_recording(rank))
		ss_sim_recorder_task(rank, at, correlation, start_ns, end_ns);
}

static uint64_t launch(struct ss_sim_rank *rank, uint32_t kernel_index, uint32_t key)
{
	const struct ss_sim_kernel *kernel = &rank->program->kernels[kernel_index];

	return call(rank,
		    (struct ss_sim_call_note){ .name = kernel->call,
					       .launches = true,
					       .kernel = kernel,
					       .kernel_index = kernel_index },
		    host_time(rank, ss_sim_timing.launch, key), queue_free(rank));
}

static void run_kernel(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	const struct ss_sim_kernel *kernel = &rank->program->kernels[at->what];
	uint64_t correlation;
	int64_t start_ns;

	if (!rank->graph_left)
		correlation = launch(rank, at->what, at->key);
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

static void run_graph(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint64_t correlation =
		call(rank, (struct ss_sim_call_note){ .name = "cudaGraphLaunch", .launches = true },
		     host_time(rank, ss_sim_timing.launch_graph, at->key), queue_free(rank));

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

static void run_copy(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	bool blocks = at->what == SS_SIM_HTOD_PAGEABLE || at->what == SS_SIM_DTOH_PAGEABLE;
	bool up = at->what == SS_SIM_HTOD_PINNED || at->what == SS_SIM_HTOD_PAGEABLE;
	int64_t cost_ns = host_time(rank, ss_sim_timing.copy, at->key);
	int64_t start_ns, end_ns, until_ns = queue_free(rank);
	uint64_t correlation;

	rank->call_start_ns = now(rank);
	start_ns = task_start(rank, at->stream);
	if (at->what != SS_SIM_DTOD && rank->engine_ns[up])
		start_ns = later(start_ns, rank->engine_ns[up] + ss_sim_timing.copy_gap);
	end_ns = start_ns + copy_time(rank, at);
	if (at->what != SS_SIM_DTOD)
		rank->engine_ns[up] = end_ns;
	if (blocks)
		until_ns = later(until_ns, end_ns + ss_sim_timing.sync_return);
	correlation = call(rank,
			   (struct ss_sim_call_note){ .name = "cudaMemcpyAsync",
						      .launches = true,
						      .copy = (enum ss_sim_copy_kind)at->what,
						      .bytes = at->bytes },
			   cost_ns, until_ns);
	task_end(rank, at, correlation, start_ns, end_ns);
}

static void run_memset(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint64_t correlation = call(rank,
				    (struct ss_sim_call_note){ .name = "cudaMemsetAsync",
							       .launches = true,
							       .bytes = at->bytes },
				    host_time(rank, ss_sim_timing.memset, at->key),
				    queue_free(rank));
	int64_t start_ns = task_start(rank, at->stream);
	double seconds = (double)at->bytes / rank->plan->device->memory_rate;

	task_end(rank, at, correlation, start_ns,
		 start_ns + kernel_time(rank, MEMSET_BASE_NS + (int64_t)(seconds * 1e9), at->key));
}

/* Stops here; ss_sim_rank_resume() goes on. */
static void run_collect(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	const struct ss_sim_comm *comm = ss_records_at(&rank->program->comms, at->what);
	uint64_t correlation = launch(rank, comm->kernel, at->key);

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
	rank->meeting_count[comm->role]++;
	rank->state = SS_SIM_RUNNING;
	rank->at++;
}

/* --- waiting ------------------------------------------------------------------ */

static void run_record(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint64_t correlation = call(rank, (struct ss_sim_call_note){ .name = "cudaEventRecord" },
				    host_time(rank, ss_sim_timing.record, 0), 0);

	rank->events[at->slot] = later(rank->ready_ns[at->stream], rank->waited_ns[at->stream]);
	if (rank->recorder) {
		rank->recorder->record_correlations[at->slot] = correlation;
		rank->recorder->record_streams[at->slot] = at->stream;
	}
}

static void run_wait(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint64_t correlation = call(rank,
				    (struct ss_sim_call_note){ .name = "cudaStreamWaitEvent" },
				    host_time(rank, ss_sim_timing.wait, 0), 0);
	int64_t *waited_ns = &rank->waited_ns[at->stream];

	*waited_ns = later(*waited_ns, rank->events[at->slot]);
	if (is_recording(rank))
		ss_sim_recorder_sync(rank, "Stream Wait Event", correlation,
				     (enum ss_sim_stream)at->stream, at->slot, rank->call_start_ns,
				     now(rank));
}

static void run_sync(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	static const char *const calls[] = { "cudaStreamSynchronize", "cudaDeviceSynchronize",
					     "cudaEventSynchronize" };
	static const char *const rows[] = { "Stream Sync", "Context Sync", "Event Sync" };
	int64_t target_ns = device_ready(rank);
	uint64_t correlation;

	if (at->what == SS_SIM_SYNC_STREAM)
		target_ns = later(rank->ready_ns[at->stream], rank->waited_ns[at->stream]);
	else if (at->what == SS_SIM_SYNC_EVENT)
		target_ns = rank->events[at->slot];
	correlation = call(rank, (struct ss_sim_call_note){ .name = calls[at->what] },
			   host_time(rank, ss_sim_timing.sync, 0),
			   target_ns + ss_sim_timing.sync_return);
	if (is_recording(rank))
		ss_sim_recorder_sync(rank, rows[at->what], correlation,
				     (enum ss_sim_stream)at->stream, at->slot, rank->call_start_ns,
				     now(rank));
}

static void run_call(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	static const char *const names[] = { "cudaMalloc", "cudaFree", "cudaStreamIsCapturing",
					     "cudaFuncSetAttribute", "cudaEventQuery" };
	bool frees = at->what == SS_SIM_CALL_FREE;

	call(rank, (struct ss_sim_call_note){ .name = names[at->what] },
	     host_time(rank, at->cost_ns, at->key),
	     frees ? device_ready(rank) + ss_sim_timing.sync_return : 0);
}

/* The watchdog looks on; between other threads one hands over and waits. */
static void run_switch(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	enum ss_sim_thread to = (enum ss_sim_thread)at->what;
	int64_t from_ns = now(rank);

	if (to == SS_SIM_WATCHDOG)
		rank->now_ns[to] = later(rank->now_ns[to], from_ns);
	else if (rank->thread != SS_SIM_WATCHDOG)
		rank->now_ns[to] = later(rank->now_ns[to],
					 from_ns + host_time(rank, ss_sim_timing.wake_up, at->key));
	rank->thread = to;
}

/* Each worker makes every n-th batch, and begins it when one of its own was taken. */
static void run_input(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	const struct ss_sim_plan *plan = rank->plan;
	uint32_t workers = plan->loader_workers, batch = rank->batch_count++;
	int64_t *worker_ns = &rank->worker_ns[batch % workers];
	int64_t *taken_ns = &rank->taken_ns[batch % (PREFETCH * workers)];
	int64_t ppm = ss_sim_ppm(ss_sim_random(plan->seed, rank->rank, batch, 0,
					       SS_SIM_NOISE_INPUT),
				 INPUT_DEVIATION_PPM);

	*worker_ns = later(*worker_ns, later(*taken_ns, FIRST_NS)) +
		     ss_sim_scale(plan->fetch_ns, odd_permille(rank, &plan->slow_host), ppm);
	advance_to(rank, later(now(rank) + host_time(rank, INPUT_QUEUE_NS, at->key),
			       *worker_ns + ss_sim_timing.wake_up));
	*taken_ns = now(rank);
}

/* --- memory -------------------------------------------------------------------- */

static void ask_device(struct ss_sim_rank *rank, const struct ss_sim_pool_calls *calls)
{
	for (uint32_t i = 0; i < calls->free_count; i++)
		call(rank, (struct ss_sim_call_note){ .name = "cudaFree" },
		     host_time(rank, FREE_NS, i + 1),
		     device_ready(rank) + ss_sim_timing.sync_return);
	for (uint32_t i = 0; i < calls->malloc_count; i++)
		call(rank, (struct ss_sim_call_note){ .name = "cudaMalloc" },
		     host_time(rank, MALLOC_NS, i + 1), 0);
}

static void run_alloc(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
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
	ask_device(rank, &calls);
	rank->slots[at->slot] = block;
	if (is_recording(rank) && !rank->pool.failed)
		ss_sim_recorder_memory(rank, (int64_t)rank->pool.blocks[block].bytes,
				       rank->pool.blocks[block].address);
}

static void run_free(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	uint32_t block = rank->slots[at->slot];

	if (rank->pool.failed)
		return;
	ss_sim_pool_give(&rank->pool, block);
	if (is_recording(rank))
		ss_sim_recorder_memory(rank, -(int64_t)rank->pool.blocks[block].bytes,
				       rank->pool.blocks[block].address);
}

/* --- ranges and steps ------------------------------------------------------------ */

static void run_begin(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	if (at->what == rank->program->step_range) {
		rank->host_start_ns = now(rank);
		rank->step_depth = rank->depth;
		rank->device_end_ns = 0;
	}
	rank->depth++;
	if (is_recording(rank))
		ss_sim_recorder_begin(rank, at);
	advance_to(rank, now(rank) + host_time(rank, at->cost_ns, at->key));
}

static void run_end(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	struct ss_sim_span span;

	advance_to(rank, now(rank) + host_time(rank, at->cost_ns, 0));
	if (is_recording(rank))
		ss_sim_recorder_end(rank);
	if (--rank->depth != rank->step_depth || rank->thread != SS_SIM_MAIN)
		return;
	span.start_ns = later(rank->last_end_ns, rank->host_start_ns);
	span.end_ns = later(now(rank), rank->device_end_ns);
	rank->last_end_ns = span.end_ns;
	if (rank->spans && rank->step >= SS_SIM_WARMUP_STEPS)
		rank->spans[rank->step - SS_SIM_WARMUP_STEPS] = span;
}

static bool holds(const struct ss_sim_rank *rank, const struct ss_sim_condition *condition)
{
	if (condition->rank >= 0 && (uint32_t)condition->rank != rank->rank)
		return false;
	return condition->every <= 1 || rank->step % condition->every == condition->at;
}

/* The profiler starts and stops with an idle device. */
static void next_step(struct ss_sim_rank *rank)
{
	static const struct ss_sim_instruction drain = { .code = SS_SIM_SYNC,
							 .what = SS_SIM_SYNC_DEVICE };
	uint32_t last = SS_SIM_WARMUP_STEPS + rank->plan->step_count;

	rank->step++;
	rank->at = 0;
	rank->now_ns[SS_SIM_MAIN] += STEP_GAP_NS;
	if (rank->step == SS_SIM_WARMUP_STEPS) {
		run_sync(rank, &drain);
		rank->window_start_ns = now(rank);
		rank->last_end_ns = 0;
		rank->now_ns[SS_SIM_MAIN] += PROFILER_START_NS;
		if (rank->recorder)
			rank->recorder->on = true;
	}
	if (rank->step == last) {
		run_sync(rank, &drain);
		rank->state = SS_SIM_FINISHED;
		return;
	}
	rank->program_index = ss_sim_program_at(rank->programs, rank->rank, rank->step);
	rank->program = &rank->programs->items[rank->program_index];
	if (rank->recorder)
		ss_sim_writer_use(rank->recorder->writer,
				  rank->recorder->phrases[rank->program_index]);
}

static void run_one(struct ss_sim_rank *rank, const struct ss_sim_instruction *at)
{
	switch ((enum ss_sim_code)at->code) {
	case SS_SIM_BEGIN:
		run_begin(rank, at);
		break;
	case SS_SIM_END:
		run_end(rank, at);
		break;
	case SS_SIM_WORK:
		advance_to(rank, now(rank) + host_time(rank, at->cost_ns, at->key));
		break;
	case SS_SIM_KERNEL:
		run_kernel(rank, at);
		break;
	case SS_SIM_COLLECT:
		run_collect(rank, at);
		break;
	case SS_SIM_COPY_TASK:
		run_copy(rank, at);
		break;
	case SS_SIM_MEMSET:
		run_memset(rank, at);
		break;
	case SS_SIM_GRAPH:
		run_graph(rank, at);
		break;
	case SS_SIM_RECORD:
		run_record(rank, at);
		break;
	case SS_SIM_WAIT:
		run_wait(rank, at);
		break;
	case SS_SIM_SYNC:
		run_sync(rank, at);
		break;
	case SS_SIM_CALL:
		run_call(rank, at);
		break;
	case SS_SIM_SWITCH:
		run_switch(rank, at);
		break;
	case SS_SIM_ALLOC:
		run_alloc(rank, at);
		break;
	case SS_SIM_FREE:
		run_free(rank, at);
		break;
	case SS_SIM_INPUT:
		run_input(rank, at);
		break;
	case SS_SIM_WHEN:
		if (!holds(rank, &rank->program->conditions[at->what]))
			rank->at += at->slot;
		break;
	}
}

void ss_sim_rank_run(struct ss_sim_rank *rank)
{
	while (rank->state == SS_SIM_RUNNING) {
		if (rank->at == rank->program->count) {
			next_step(rank);
			continue;
		}
		run_one(rank, &rank->program->code[rank->at]);
		if (rank->state == SS_SIM_RUNNING)
			rank->at++;
	}
}
