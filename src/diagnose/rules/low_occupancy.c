/* SPDX-License-Identifier: Apache-2.0 */
/*
 * low_occupancy.c - rule: kernels with far fewer blocks than the device has multiprocessors.
 *
 * A block runs on one multiprocessor (SM, compute unit). With fewer blocks the other
 * multiprocessors have nothing to do, however long the kernel takes. Spread over all of them the
 * same work would take proportionally less time, but no less than good kernels take for its FLOPs
 * and bytes.
 */
#include "analyze/inference_steps.h"
#include "base/sort.h"
#include "base/search.h"
#include "base/text.h"
#include "diagnose/work/slow_work.h"

/* A third of the device is idle; the last wave of most kernels leaves less than that idle. */
#define BLOCKS_FEW (2.0 / 3)

/* GEMM libraries choose their grids: fewer blocks may be faster, but not that few. */
#define BLOCKS_CHOSEN 0.25

/* Shorter kernels are bound by latency: starting and draining takes 5 us, whatever the grid. */
#define KERNEL_NS 20000
#define FLOOR_NS 5000

/* --- kernels that run alone ----------------------------------------------------------- */

/* What is sorted; everything else is in the task. */
struct exclusive_kernel {
	int64_t start_ns;
	int64_t device;
	uint32_t task;
};

SS_COMPARATOR(kernel_compare_start, struct exclusive_kernel,
	      SS_ASCENDING(device) SS_ASCENDING(start_ns) SS_ASCENDING(task))

/*
 * The kernel that ends last so far, and the one that ends last on any other stream: for every
 * kernel, one of the two is the latest kernel of another stream.
 */
struct latest_kernels {
	const struct ss_task *first, *second;
};

static void latest_kernels_advance(struct latest_kernels *latest, const struct ss_task *kernel)
{
	int64_t end_ns = ss_task_end(kernel);

	if (!latest->first || end_ns >= ss_task_end(latest->first)) {
		if (latest->first && latest->first->track != kernel->track)
			latest->second = latest->first;
		latest->first = kernel;
	} else if (kernel->track != latest->first->track &&
		   (!latest->second || end_ns > ss_task_end(latest->second))) {
		latest->second = kernel;
	}
}

static const struct ss_task *latest_kernel_of_other(const struct latest_kernels *latest,
						    uint32_t track)
{
	return latest->first && latest->first->track != track ? latest->first : latest->second;
}

static void exclusive_sweep(const struct ss_graph *graph, const struct exclusive_kernel *kernels,
			    uint32_t count, uint8_t *alone)
{
	struct latest_kernels latest = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		const struct ss_task *task = &graph->tasks[kernels[i].task], *other;

		if (i && kernels[i - 1].device != kernels[i].device)
			latest = (struct latest_kernels){ 0 };
		other = latest_kernel_of_other(&latest, task->track);
		if (other && ss_task_end(other) > task->start_ns)
			alone[other - graph->tasks] = alone[kernels[i].task] = false;
		latest_kernels_advance(&latest, task);
	}
}

/* Collects the kernels of the graph, each marked as alone; returns how many. */
static uint32_t exclusive_collect_kernels(const struct ss_graph *graph,
					  const struct ss_trace *trace,
					  struct exclusive_kernel *kernels, uint8_t *alone)
{
	struct ss_task_range range = graph->of_kind[SS_TASK_KERNEL];
	uint32_t count = 0;

	for (uint32_t i = range.from; i < range.to; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (task->kind != SS_TASK_KERNEL)
			continue;
		alone[i] = true;
		kernels[count++] = (struct exclusive_kernel){ task->start_ns,
							      trace->tracks[task->track].pid, i };
	}
	return count;
}

/*
 * Per task: true for kernels during which no other kernel of their device ran; kernels of
 * collectives do not count. One pass in order of their starts: kernels that started earlier and
 * have not ended run at the same time. Kernels of one stream follow each other, so only other
 * streams count. NULL: no memory.
 */
static uint8_t *exclusive_kernels_find(const struct ss_graph *graph, const struct ss_trace *trace,
				       struct ss_arena *arena)
{
	uint8_t *alone = SS_ARENA_NEW(arena, uint8_t, (size_t)graph->task_count + 1);
	struct exclusive_kernel *kernels;
	struct ss_task_range range = graph->of_kind[SS_TASK_KERNEL];
	size_t bytes = sizeof(*kernels);
	uint32_t count;
	bool whole;

	for (uint32_t i = range.from; i < range.to; i++)
		bytes += graph->tasks[i].kind == SS_TASK_KERNEL ? sizeof(*kernels) : 0;
	kernels = ss_memory_resize(arena->memory, NULL, 0, bytes);
	whole = alone && kernels;
	if (whole) {
		count = exclusive_collect_kernels(graph, trace, kernels, alone);
		whole = ss_sort_runs(kernels, count, sizeof(*kernels), kernel_compare_start,
				     arena->memory);
	}
	if (whole)
		exclusive_sweep(graph, kernels, count, alone);
	ss_memory_free(arena->memory, kernels, bytes);
	return whole ? alone : NULL;
}

/* --- grids ----------------------------------------------------------------------------- */

struct small_grids {
	struct ss_rule_context *context;
	struct ss_reachable reachable;
	int32_t multiprocessors; /* 0: not known */
	const struct ss_kernel_name *names;
	struct ss_inference_steps passes;
	uint8_t *alone; /* per task */
	struct ss_slow_places places;
};

static double grid_count_blocks(const struct ss_kernel_args *args)
{
	return args->grid[0] > 0 && args->grid[1] > 0 && args->grid[2] > 0
		       ? (double)args->grid[0] * args->grid[1] * args->grid[2]
		       : 0;
}

/* Blocks for each multiprocessor; 0: not recorded. */
static double grid_blocks_per_sm(const struct small_grids *grids, uint32_t row)
{
	const struct ss_trace *trace = grids->context->trace;
	const struct ss_kernel_args *args;
	uint32_t number = trace->slices.args[row];

	if (number == SS_NO_ARGS)
		return 0;
	args = ss_records_at(&trace->kernel_args, number);
	if (args->blocks_per_sm > 0)
		return args->blocks_per_sm;
	return grids->multiprocessors > 0 ? grid_count_blocks(args) / grids->multiprocessors : 0;
}

/*
 * Kernels whose grid no fix changes: collectives in all but name; the backward of CUTLASS
 * attention, with one block per head and sample, where only a larger batch helps; and gradients of
 * a convolution's weights, with one block per tile of the weights, whatever the batch.
 */
static bool grid_is_by_design(const char *name)
{
	static const char *const parts[] = { "fmha_cutlassB", "all_reduce",      "allreduce",
					     "all_gather",    "allgather",       "reduce_scatter",
					     "all_to_all",    "nvshmem",         "barrier",
					     "wgrad",         "backward_weights" };

	return ss_string_has_one_of(name, parts, SS_COUNT(parts));
}

/* Decoding a single sequence never fills a device: nothing is wrong with the program. */
static bool grid_is_single_decode(const struct small_grids *grids, int64_t moment_ns)
{
	const struct ss_inference_steps *passes = &grids->passes;
	uint32_t low = 0, high = passes->count;

	SS_SEARCH(low, high, at, passes->items[at].start_ns <= moment_ns);
	return low && passes->items[low - 1].kind == SS_INFERENCE_DECODE &&
	       passes->items[low - 1].batch >= 0 && passes->items[low - 1].batch <= 1;
}

/*
 * Which part of the blocks that it could have a kernel has. Batch norm has at most one for each
 * channel, whatever the batch: what it takes beyond good kernels then is for slow_memory_work.c.
 */
static double grid_filled_part(const struct small_grids *grids, uint32_t row, double per_sm,
			       const struct ss_work *work)
{
	const struct ss_trace *trace = grids->context->trace;
	double blocks = grid_count_blocks(
		ss_records_at(&trace->kernel_args, trace->slices.args[row]));
	double part = work && work->kind == SS_WORK_NORM && work->depth > 0 ? blocks / work->depth
									    : 0;

	return part > per_sm ? part : per_sm;
}

/* Whether a kernel of this name leaves most of the device idle with so few blocks. */
static bool blocks_are_few(const struct small_grids *grids, double blocks, uint32_t name)
{
	enum ss_kernel_category category = grids->names[name].category;
	bool is_chosen = category == SS_KERNEL_GEMM || category == SS_KERNEL_CONVOLUTION;

	return blocks > 0 && blocks < (is_chosen ? BLOCKS_CHOSEN : BLOCKS_FEW) &&
	       !grids->names[name].is_comm &&
	       !grid_is_by_design(ss_strings_text(&grids->context->trace->names, name));
}

/* Claims what a kernel with too few blocks would save on all multiprocessors. */
static void grid_check_kernel(struct small_grids *grids, uint32_t number)
{
	const struct ss_task *task = &grids->context->graph->tasks[number];
	const struct ss_slices *slices = &grids->context->trace->slices;
	struct ss_slow_kernel reach;
	double blocks, ns;
	int64_t own_ns;

	if (task->own_ns < KERNEL_NS || !grids->alone[number])
		return;
	blocks = grid_blocks_per_sm(grids, task->row);
	if (!blocks_are_few(grids, blocks, slices->name[task->row]) ||
	    grid_is_single_decode(grids, task->start_ns))
		return;
	reach = ss_slow_kernel_of(&grids->reachable, task);
	if (!grids->reachable.is_published)
		reach.limit = SS_LIMIT_UNKNOWN;
	blocks = grid_filled_part(grids, task->row, blocks, reach.work);
	if (blocks >= BLOCKS_FEW || ss_slow_kernel_is_good(&reach, task))
		return;
	ns = (double)task->own_ns * blocks;
	if (reach.limit != SS_LIMIT_UNKNOWN && reach.ns > ns)
		ns = reach.ns;
	ns = FLOOR_NS > ns ? FLOOR_NS : ns;
	own_ns = ns < (double)task->own_ns ? (int64_t)ns : task->own_ns;
	/* at worst half of it: a larger grid has costs of its own, such as partial sums */
	if (ss_rule_claim(grids->context,
			  (struct ss_claim){ .task = number,
					     .own_ns = own_ns,
					     .low_ns = own_ns + (task->own_ns - own_ns) / 2,
					     .high_ns = own_ns,
					     .scales = true }))
		ss_slow_places_add(&grids->places, slices->name[task->row], slices->link[task->row],
				   task->own_ns, &reach);
}

static void grids_report(struct small_grids *grids)
{
	struct ss_rule_context *context = grids->context;

	ss_slow_places_report(&grids->places, " has fewer blocks than the GPU has multiprocessors",
			      grids->names);
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "we assume that time shrinks as more of the GPU is used");
}

static enum ss_status low_occupancy_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct small_grids grids = { .context = context };
	const struct ss_works *works;
	const struct ss_trace_info *info = &context->trace->info;
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];

	for (uint32_t i = info->device_count; i-- > 0;)
		if (i == 0 || info->devices[i].id == context->digest->device) {
			grids.multiprocessors = info->devices[i].multiprocessors;
			break;
		}
	SS_TRY(ss_code_places_make(&grids.places.sites, context, err));
	SS_TRY(ss_facts_works(context->subject->facts, &works, err));
	ss_reachable_init(&grids.reachable, works, ss_slow_work_device(context));
	SS_TRY(ss_inference_steps_find(context->subject->facts, context->scratch, &grids.passes,
				       err));
	SS_TRY(ss_facts_kernel_names(context->subject->facts, &grids.names, err));
	grids.alone = exclusive_kernels_find(graph, context->trace, context->scratch);
	if (!grids.alone)
		return ss_fail_memory(err, "the kernels");
	for (uint32_t i = kernels.from; i < kernels.to; i++)
		if (graph->tasks[i].kind == SS_TASK_KERNEL && graph->tasks[i].step != SS_NO_STEP)
			grid_check_kernel(&grids, i);
	if (grids.places.sites->count)
		grids_report(&grids);
	return SS_OK;
}

static const struct ss_rule_fix by_kind[] = {
	{ SS_JOB_SERVED, "# more requests per batch: in vLLM max_num_seqs, in SGLang\n"
			 "# --max-running-requests; or fewer GPUs per replica" },
	{ SS_JOB_COMPILED, "# a larger batch: more work per launch\n"
			   "model = torch.compile(model, mode=\"max-autotune\")   # larger grids" },
	{ SS_JOB_UNFED, "# a larger batch: more work per launch\n"
			"model = torch.compile(model)   # splits reductions and norms\n"
			"# attention: F.scaled_dot_product_attention splits the sequence" },
	{ 0 },
};

const struct ss_rule ss_rule_low_occupancy = {
	.name = "low-occupancy",
	.title = "Kernels with too few blocks leave most of the GPU idle",
	.summary = "Long kernels with far fewer blocks than the GPU has multiprocessors",
	.fix = "DataLoader(..., batch_size=4 * batch_size)   # more work per launch\n"
	       "model = torch.compile(model)   # splits reductions and norms\n"
	       "# attention: F.scaled_dot_product_attention splits the sequence",
	.fixes = by_kind,
	.to_record = "record_shapes=True shows the least time that the work takes",
	.views = "kernels utilization",
	.warn_share = 0.10,
	.silent_share = 0.02,
	.why = "every network has some kernels that do not fill the GPU: 1 to 3 % of the step in "
	       "healthy ones, up to 7 % where the GPU is large for the network",
	.keeps_work = true,
	.facts = SS_FACT_WORKS,
	.needs_device = true,
	.look = low_occupancy_look,
};
