/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_bound.c - rule: the device runs out of work before the host launches more.
 *
 * Every idle gap that host work before a launch explains (analyze/time/idle.h) leads to a stretch
 * of a thread: from the previous launch to the late one. Other rules own their parts of it
 * (input, host syncs, compiling ...). With CUDA graphs or torch.compile the rest shrinks to a
 * microsecond per launch. Runs of elementwise kernels that are shorter than their launches become
 * one kernel, whether the host is late for them or just in time.
 */
#include <string.h>

#include "analyze/kernel/category.h"
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/stragglers/compared.h"
#include "diagnose/stragglers/slow_hosts.h"

/* What a kernel in a CUDA graph costs the host: at most 1 us. */
#define LAUNCH_NS 1000

/* A launch takes 5 to 20 us; the first launch of a kernel loads its code and takes this long. */
#define LOADING_NS 1000000

/*
 * In eager mode a launch follows the one before after 5 to 50 us, or about 100 us if the profiler
 * records stacks. In 5 ms the host could have launched a hundred kernels: the program pauses.
 */
#define PAUSE_NS 5000000

/* In a file with a single step, fewer late launches may be start-up. */
#define LATE_MIN 16

/* Operators with less than a tenth of the idle time are not worth a sentence. */
#define SITE_SHARE 10

static const char pause_fix[] =
	"# the host does other work before it launches: move it out of the step\n"
	"# or to a thread\n"
	"# with_stack=True shows which work";

static const char starved_fix[] =
	"# hosts pause between launches: too few cores, or a thread holds the GIL\n"
	"export OMP_NUM_THREADS=4   # cores of the machine / ranks, or less\n"
	"cat /sys/fs/cgroup/cpu.stat; taskset -cp PID; py-spy dump --pid PID\n"
	"# fewer launches: torch.compile(model, mode=\"reduce-overhead\")";

static const char serving_fix[] = "# fuses kernels and uses CUDA graphs:\n"
				  "model = torch.compile(model, mode=\"reduce-overhead\")\n"
				  "# vLLM: no --enforce-eager; SGLang: no --disable-cuda-graph\n"
				  "# or larger batches: more work for the same number of launches";

/* --- runs of tiny kernels --------------------------------------------------------------- */

/* A kernel that takes less than its launch (5 us at best) cannot keep the device busy. */
#define TINY_NS 5000

/* A run of this length is a formula of several operators, which compiling fuses into one. */
#define ROW_MIN 4

struct tiny_kernels {
	uint8_t *is_merged; /* per host row: its kernel merges into the one before it */
	int64_t count, ns;  /* of these kernels */
};

static bool kernel_is_tiny(struct ss_rule_context *context, const struct ss_kernel_name *names,
			   uint32_t index)
{
	const struct ss_task *task = &context->graph->tasks[index];
	const struct ss_slices *slices = &context->trace->slices;

	return task->kind == SS_TASK_KERNEL && task->step != SS_NO_STEP && task->own_ns < TINY_NS &&
	       names[slices->name[task->row]].category == SS_KERNEL_ELEMENTWISE &&
	       ss_slice_launch(slices, task->row) < context->trace->device_from &&
	       ss_rule_can_claim(context, index);
}

/* Claims all but the first kernel of a run. */
static void tiny_kernels_merge(struct tiny_kernels *rows, struct ss_rule_context *context,
			       uint32_t from, uint32_t to)
{
	if (to - from < ROW_MIN)
		return;
	for (uint32_t i = from + 1; i < to; i++) {
		const struct ss_task *task = &context->graph->tasks[i];
		uint32_t call = ss_slice_launch(&context->trace->slices, task->row);

		/* CUDA graphs alone fuse nothing */
		ss_rule_claim(context, (struct ss_claim){
					       .task = i, .low_ns = task->own_ns, .merges = true });
		rows->is_merged[ss_cpu_outer_call(context->trace, call)] = true;
		rows->count++;
		rows->ns = ss_ns_sum(rows->ns, task->own_ns);
	}
}

/* Claims all but the first kernel of each run: compilers fuse a run into one kernel. */
static enum ss_status tiny_kernels_claim(struct tiny_kernels *rows, struct ss_rule_context *context,
					 struct ss_error *err)
{
	const struct ss_kernel_name *names;
	const struct ss_graph *graph = context->graph;
	struct ss_task_range kernels = graph->of_kind[SS_TASK_KERNEL];
	uint32_t from = kernels.from;

	*rows = (struct tiny_kernels){ 0 };
	SS_TRY(ss_facts_kernel_names(context->subject->facts, &names, err));
	if (!SS_ALLOC(context->scratch, rows->is_merged, (size_t)context->trace->device_from + 1))
		return ss_fail_memory(err, "rows of small kernels");
	for (uint32_t i = kernels.from; i < kernels.to; i++) {
		bool tiny = kernel_is_tiny(context, names, i);

		if (!tiny || (i && (graph->tasks[i - 1].track != graph->tasks[i].track ||
				    graph->tasks[i - 1].step != graph->tasks[i].step))) {
			tiny_kernels_merge(rows, context, from, i);
			from = tiny ? i : i + 1;
		}
	}
	tiny_kernels_merge(rows, context, from, kernels.to);
	return SS_OK;
}

/* --- late launches ---------------------------------------------------------------------- */

struct launches {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	const struct ss_graph *graph;
	const struct ss_ops *ops;
	const struct ss_phases *phases;
	struct ss_bitmap starts; /* calls that started something on the device */
	int64_t *idle_ns;        /* for each of them: of the gaps that its launch ended */
	uint8_t *paused;         /* per step: a pause was in it */
	struct ss_code_places *sites;
	struct ss_code_pieces pieces;
	bool with_pauses;    /* three of four steps have them */
	uint32_t late_count; /* launches, without those after a pause */
	int64_t count, total_ns, pause_ns;
	struct tiny_kernels tiny;
	struct launch_stretch *stretches; /* that end with a late launch */
	uint32_t stretch_count, stretch_capacity;
};

/* A stretch of a thread: tasks from..to, of which the last is a launch. */
struct launch_stretch {
	uint32_t from, to;
	int64_t work_ns; /* that could be claimed */
};

static void launch_add_late(struct launches *launches, uint32_t launch, int64_t idle_ns)
{
	uint32_t at = ss_bitmap_find(&launches->starts, ss_cpu_outer_call(launches->trace, launch));

	if (at != SS_NO_ROW)
		launches->idle_ns[at] = ss_ns_sum(launches->idle_ns[at], idle_ns);
}

/* The idle time that a late call ended; 0 if it started nothing on the device. */
static int64_t launch_idle_ns(const struct launches *launches, uint32_t row)
{
	uint32_t at = ss_bitmap_find(&launches->starts, row);

	return at == SS_NO_ROW ? 0 : launches->idle_ns[at];
}

static bool launches_find_starts(struct launches *launches)
{
	const struct ss_trace *trace = launches->trace;

	if (!ss_bitmap_init(&launches->starts, trace->device_from, launches->context->memory))
		return false;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t call = ss_slice_launch(&trace->slices, row);

		if (call < trace->device_from)
			ss_bitmap_add(&launches->starts, ss_cpu_outer_call(trace, call));
	}
	ss_bitmap_finish(&launches->starts);
	return SS_ALLOC(launches->context->scratch, launches->idle_ns,
			(size_t)launches->starts.count + 1);
}

static void launches_find_late(struct launches *launches, const struct ss_idle *idle)
{
	const struct ss_trace *trace = launches->trace;

	for (uint32_t i = 0; i < idle->gap_count; i++) {
		const struct ss_idle_gap *gap = &idle->gaps[i];

		/* after the last work nothing was launched late */
		for (uint32_t k = gap->piece_from; k < gap->piece_to && gap->next != SS_NO_ROW; k++)
			if (idle->pieces[k].cause == SS_IDLE_LAUNCH &&
			    idle->pieces[k].guilty < trace->device_from)
				launch_add_late(launches, idle->pieces[k].guilty,
						idle->pieces[k].ns);
	}
}

/* --- stretches of threads ------------------------------------------------------------- */

static bool launch_is_claimable(const struct launches *launches, uint32_t index)
{
	const struct ss_task *task = &launches->graph->tasks[index];

	return (task->kind == SS_TASK_WORK ||
		(task->kind == SS_TASK_LAUNCH && task->own_ns < LOADING_NS)) &&
	       task->step != SS_NO_STEP && ss_rule_can_claim(launches->context, index);
}

/*
 * The fix removes the end of the stretch, which the device waited for. Earlier work of the device
 * hid the rest: removing that saves nothing. If the kernel itself disappears, so does all of it.
 */
static void launch_claim_tasks(struct launches *launches, const struct launch_stretch *stretch,
			       int64_t late_ns)
{
	const struct ss_graph *graph = launches->graph;
	bool merged = launches->tiny.is_merged[graph->tasks[stretch->to].row];

	for (uint32_t i = stretch->to + 1; i-- > stretch->from && (late_ns > 0 || merged);) {
		int64_t own_ns = graph->tasks[i].own_ns, left_ns = 0;

		if (!launch_is_claimable(launches, i) || !own_ns)
			continue;
		if (!merged)
			left_ns = graph->tasks[i].kind == SS_TASK_LAUNCH ? LAUNCH_NS : 0;
		if (!merged && left_ns < own_ns - late_ns)
			left_ns = own_ns - late_ns;
		if (left_ns > own_ns)
			left_ns = own_ns;
		late_ns -= own_ns - left_ns;
		/* torch.compile without CUDA graphs: about half of the host's work remains */
		ss_rule_claim(launches->context,
			      (struct ss_claim){ .task = i,
						 .own_ns = left_ns,
						 .low_ns = left_ns + (own_ns - left_ns) / 2,
						 .high_ns = left_ns });
	}
}

/* What the host did while the device waited for the end of the stretch. */
static void launch_measure(struct launches *launches, const struct launch_stretch *stretch)
{
	const struct ss_task *last = &launches->graph->tasks[stretch->to];
	int64_t idle_ns = launch_idle_ns(launches, last->row), end_ns = ss_task_end(last);
	int64_t start_ns = launches->graph->tasks[stretch->from].start_ns;

	if (!idle_ns)
		return;
	launches->count++;
	launches->total_ns = ss_ns_sum(launches->total_ns, idle_ns);
	/* the end of the stretch is what the device waited for */
	if (end_ns - idle_ns > start_ns)
		start_ns = end_ns - idle_ns;
	ss_code_pieces_add(&launches->pieces, last->track,
			   (struct ss_interval){ start_ns, end_ns });
}

/* Whether a function that does something else fills the stretch: unexplained-time names it. */
static bool launch_pause_is_function(const struct launches *launches,
				     const struct launch_stretch *stretch)
{
	const struct ss_task *first = &launches->graph->tasks[stretch->from];
	const struct ss_task *last = &launches->graph->tasks[stretch->to];

	return ss_cpu_function(launches->phases, last->track,
			       (struct ss_interval){ first->start_ns, last->start_ns }) !=
	       SS_NO_ROW;
}

/* Keeps a stretch if it ends with a late launch. */
static void launch_add_stretch(struct launches *launches, const struct launch_stretch *stretch)
{
	const struct ss_task *last = &launches->graph->tasks[stretch->to];
	bool is_pause = stretch->work_ns >= PAUSE_NS;

	if (last->step == SS_NO_STEP || !stretch->work_ns ||
	    (!launch_idle_ns(launches, last->row) && !launches->tiny.is_merged[last->row]))
		return;
	launches->paused[last->step] |= is_pause;
	launches->late_count += !is_pause;
	if (SS_GROW(launches->context->memory, launches->stretches, launches->stretch_capacity,
		    launches->stretch_count))
		launches->stretches[launches->stretch_count++] = *stretch;
	else
		launches->context->failed = true;
}

/* Finds the stretches of all threads; the tasks of a thread are in order of time. */
static void launches_find_stretches(struct launches *launches)
{
	const struct ss_graph *graph = launches->graph;
	struct launch_stretch stretch = { 0 };

	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (ss_task_on_device(task->kind))
			break;
		if (i && task->track != graph->tasks[i - 1].track)
			stretch = (struct launch_stretch){ .from = i };
		stretch.to = i;
		if (launch_is_claimable(launches, i))
			stretch.work_ns = ss_ns_sum(stretch.work_ns, task->own_ns);
		if (task->kind != SS_TASK_LAUNCH ||
		    ss_bitmap_find(&launches->starts, task->row) == SS_NO_ROW)
			continue;
		launch_add_stretch(launches, &stretch);
		stretch = (struct launch_stretch){ .from = i + 1 };
	}
}

/* Claims the stretches, and keeps those that it claims. */
static void launches_claim(struct launches *launches)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < launches->stretch_count; i++) {
		const struct launch_stretch *stretch = &launches->stretches[i];
		const struct ss_task *last = &launches->graph->tasks[stretch->to];
		int64_t idle_ns = launch_idle_ns(launches, last->row);
		bool is_pause = stretch->work_ns >= PAUSE_NS;

		/* other threads only run operators: a pause there is missing data */
		if (is_pause && (!launches->with_pauses || last->track != launches->graph->main ||
				 launch_pause_is_function(launches, stretch)))
			continue;
		if (is_pause)
			launches->pause_ns = ss_ns_sum(launches->pause_ns, idle_ns);
		launch_claim_tasks(launches, stretch, idle_ns);
		launches->stretches[kept++] = *stretch;
	}
	launches->stretch_count = kept;
}

/* --- the rank ------------------------------------------------------------------------- */

static void launches_report(struct launches *launches)
{
	struct ss_rule_context *context = launches->context;
	struct ss_fact all = { launches->total_ns, (double)launches->count, SS_NO_ROW };
	struct ss_fact tiny = { launches->tiny.ns, (double)launches->tiny.count, SS_NO_ROW };

	if (launches->count)
		ss_rule_add_evidence(
			context, all,
			"{count} launch{?|es} per step arrive{?s|} after the GPU has run "
			"out of work; it idles {time}");
	if (launches->tiny.count)
		ss_rule_add_evidence(
			context, tiny,
			"{count} elementwise kernels per step follow each other and are "
			"shorter than their launches: {time}");
	ss_code_places_sort(launches->sites);
	for (uint32_t i = 0; i < launches->sites->count && i < 3; i++) {
		const struct ss_code_place *site = &launches->sites->items[i];

		if (site->weight_ns < launches->total_ns / SITE_SHARE)
			break;
		ss_rule_add_evidence(context, (struct ss_fact){ site->weight_ns, 0, site->row },
				     "the host is in %s for {time} of that per step",
				     ss_strings_text(&launches->trace->names, site->name));
	}
	if (!launches->phases->has[SS_PHASE_BACKWARD])
		ss_rule_set_fix(context, serving_fix);
	if (launches->pause_ns > launches->total_ns / 2)
		ss_rule_set_fix(context, pause_fix);
	if (context->trace->info.with_stack || launches->sites->places->has_lines)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "recording stacks made the host slower than it is");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace has every launch and what the GPU did then");
	ss_rule_add_figure(context, 0, (double)launches->total_ns + (double)launches->tiny.ns);
}

static enum ss_status launches_find(struct launches *launches, struct ss_error *err)
{
	struct ss_facts *facts = launches->context->subject->facts;
	uint32_t steps = launches->graph->step_count, paused = 0;
	const struct ss_idle *idle;

	SS_TRY(ss_facts_idle(facts, &idle, err));
	SS_TRY(ss_facts_ops(facts, &launches->ops, err));
	SS_TRY(ss_facts_phases(facts, &launches->phases, err));
	SS_TRY(ss_code_places_make(&launches->sites, launches->context, err));
	SS_TRY(ss_code_pieces_init(&launches->pieces, launches->sites, err));
	if (!SS_ALLOC(launches->context->scratch, launches->paused, (size_t)steps + 1) ||
	    !launches_find_starts(launches))
		return ss_fail_memory(err, "late launches");
	launches_find_late(launches, idle);
	SS_TRY(tiny_kernels_claim(&launches->tiny, launches->context, err));
	launches_find_stretches(launches);
	for (uint32_t i = 0; i < steps; i++)
		paused += launches->paused[i];
	/* a single step does not show whether pauses recur */
	launches->with_pauses = steps >= 2 && 4 * (uint64_t)paused >= 3 * (uint64_t)steps;
	if (steps < 2 && launches->late_count < LATE_MIN)
		return SS_OK;
	launches_claim(launches);
	ss_rule_end_claims(launches->context);
	for (uint32_t i = 0; i < launches->stretch_count; i++)
		launch_measure(launches, &launches->stretches[i]);
	ss_code_pieces_end(&launches->pieces);
	if (launches->count || launches->tiny.count)
		launches_report(launches);
	return SS_OK;
}

static enum ss_status launch_bound_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct launches launches = { .context = context,
				     .trace = context->trace,
				     .graph = context->graph };
	enum ss_status status;

	status = launches_find(&launches, err);
	ss_bitmap_release(&launches.starts);
	SS_FREE(context->memory, launches.stretches, launches.stretch_capacity);
	return status;
}

/* --- all ranks ------------------------------------------------------------------------ */

static const struct ss_host_limits limits = {
	.loading_ns = LOADING_NS, .pause_ns = PAUSE_NS, .pauses = LATE_MIN, .launch_ns = LAUNCH_NS
};

/* Which of them is last: the view stragglers names it, and it is no contradiction. */
static void launch_report_latest(struct ss_judgement *judgement, struct ss_finding *finding)
{
	const struct ss_straggler_comparison *compared = ss_straggler_compare(judgement);

	for (uint32_t i = 0; compared && i < compared->verdict.count; i++) {
		const struct ss_straggler *item = &compared->verdict.items[i];

		if (item->cause != SS_LATE_HOST || item->pattern == SS_PATTERN_ROTATING)
			continue;
		ss_judgement_add_evidence(
			judgement, finding, item->late_ns,
			"rank %lld arrives last, {time} per step after the first rank, in %u of %u "
			"steps; without it the other hosts would be late themselves",
			(long long)judgement->joined->ranks[item->rank].rank, item->steps,
			item->of_steps);
	}
}

static void launch_report_hosts(struct ss_judgement *judgement, struct ss_finding *finding,
				const struct ss_slow_hosts *hosts)
{
	ss_judgement_add_evidence(judgement, finding, hosts->host_ns,
				  "a host spends {time} per step on its launches");
	ss_judgement_add_evidence(
		judgement, finding, hosts->device_ns,
		"a GPU computes and moves data for {time} per step; otherwise it waits "
		"for its host, or in collectives for other hosts");
	if (hosts->with_pauses) {
		ss_judgement_add_counted(judgement, finding, hosts->pause_ns, hosts->pauses,
					 "a host launches nothing for 5 ms or longer {count} "
					 "times per step: {time} in total");
		finding->fix = starved_fix;
	}
	launch_report_latest(judgement, finding);
	finding->confidence = SS_CONFIDENCE_MEDIUM;
	finding->reason = "recording slows hosts; GPUs also wait for other ranks";
}

/*
 * The devices of the other ranks only wait in collectives for those that launch late. If most
 * hosts need longer than their devices, they would be late themselves even then: fixing a few of
 * them saves nothing, so the work of all of them is claimed.
 */
static enum ss_status launch_judge_hosts(struct ss_judgement *judgement, struct ss_error *err)
{
	struct ss_finding *finding = NULL;
	struct ss_slow_hosts hosts;
	bool whole;

	whole = ss_slow_hosts_find(&hosts, judgement, &limits, judgement->scratch);
	if (whole && 2 * hosts.count >= judgement->rank_count)
		finding = ss_judgement_add(judgement, SS_NO_ROW,
					   "The hosts take longer to launch the work than the GPUs "
					   "to do it");
	for (uint32_t i = 0; finding && i < judgement->rank_count; i++)
		if (hosts.is_slow[i]) {
			ss_judgement_take_rank(judgement, finding, i);
			ss_slow_hosts_claim(&hosts, judgement, finding, i, &limits);
		}
	if (finding)
		launch_report_hosts(judgement, finding, &hosts);
	return whole ? SS_OK : ss_fail_memory(err, "late launches");
}

/*
 * If only a few ranks launch late, these ranks are slow, and the rule straggler reports them. So
 * half of the ranks must lose at least half of what the worst rank loses.
 */
static enum ss_status launch_bound_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	double most = 0;
	uint32_t late = 0;

	for (uint32_t i = 0; i < judgement->rank_count; i++)
		if (ss_judgement_figure(judgement, i, 0) > most)
			most = ss_judgement_figure(judgement, i, 0);
	for (uint32_t i = 0; i < judgement->rank_count; i++)
		late += ss_judgement_figure(judgement, i, 0) >= most / 2;
	if (most <= 0)
		return SS_OK;
	if (2 * late < judgement->rank_count)
		return judgement->replay->is_together ? launch_judge_hosts(judgement, err) : SS_OK;
	(void)ss_judgement_take_all(judgement);
	return SS_OK;
}

const struct ss_rule ss_rule_launch_bound = {
	.name = "launch-bound",
	.title = "The GPU waits for the host to launch work",
	.summary = "Kernels end before the host has launched the next ones",
	.fix = "# fuses kernels and uses CUDA graphs:\n"
	       "model = torch.compile(model, mode=\"reduce-overhead\")\n"
	       "# shapes that change: torch.compile(model, dynamic=True), no CUDA graphs\n"
	       "# or larger batches: more work for the same number of launches",
	.to_record = "compare with the step time without the profiler",
	.views = "launches gaps",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "compiling or CUDA graphs take some days of work: 5 % is worth it; below 2 % every "
	       "loop has gaps where it synchronizes or reads its input",
	.facts = SS_FACT_OPS,
	.needs_device = true,
	.look = launch_bound_look,
	.judge = launch_bound_judge,
};
