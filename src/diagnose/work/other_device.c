/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_device.c - scales the device work of all ranks, and replays it.
 */
#include "diagnose/work/other_device.h"

#include <stdio.h>

#include "base/text.h"

/* Of what a good kernel takes: a slower one may be limited by something else. */
#define OTHER_LIMIT 1.5

/*
 * How well the ratio of two devices is known. Best rates of one device differ by up to 8 % between
 * sources (MI300X 654 to 708, A100 256 to 271 TFLOP/s), and products of 2,048 or 4,096 reach 86 to
 * 89 % of the best on A100, 73 to 88 % on H100 (Azure's table by size).
 */
#define RATIO_SURE 1.15

/* What a rank needs to scale its work. */
struct device_change {
	struct ss_diagnosis *diagnosis;
	const struct ss_trace *trace;
	struct ss_reachable here, there;
	const struct ss_works *works;
	struct ss_edits edits[3]; /* expected, low, high */
	double steps;
	uint32_t rank;
	bool is_too_slow;
};

const char *ss_diagnosis_device_part(enum ss_device_part part)
{
	if (part == SS_DEVICE_COLLECTIVES)
		return "collectives";
	if (part == SS_DEVICE_COPIES)
		return "copies over the bus";
	return part == SS_DEVICE_UNKNOWN ? "unknown" : ss_limit_name((enum ss_limit)part);
}

/* --- a piece of work ------------------------------------------------------------------ */

/* Scales: expected, low (slower), high. */
struct work_scale {
	double scale[3];
	enum ss_device_part part;
};

static double smaller_of(double a, double b)
{
	return a < b ? a : b;
}

static double larger_of(double a, double b)
{
	return a > b ? a : b;
}

/* By rates: how much longer the same takes there; 1 where one is unknown. */
static double rate_scale(double here, double there)
{
	return here > 0 && there > 0 ? here / there : 1;
}

/* Work of unknown size: as its name says at best, else any of the rates, or none. */
static struct work_scale scale_unknown(const struct device_change *change, bool is_product)
{
	const double rates[] = {
		rate_scale(change->here.products[SS_DTYPE_BF16][1],
			   change->there.products[SS_DTYPE_BF16][1]),
		rate_scale(change->here.products[SS_DTYPE_FP16][1],
			   change->there.products[SS_DTYPE_FP16][1]),
		rate_scale(change->here.products[SS_DTYPE_FP32][0],
			   change->there.products[SS_DTYPE_FP32][0]),
		rate_scale(change->here.memory, change->there.memory),
	};
	struct work_scale out = { .scale = { is_product ? rates[0] : rates[3], 1, 1 } };

	for (size_t i = 0; i < SS_COUNT(rates); i++) {
		out.scale[1] = larger_of(out.scale[1], rates[i] * RATIO_SURE);
		out.scale[2] = smaller_of(out.scale[2], rates[i] / RATIO_SURE);
	}
	return out;
}

static struct work_scale scale_known(const struct ss_reach *here, const struct ss_reach *there,
				     double now_ns)
{
	double roof = larger_of(there->compute_ns, there->memory_ns) /
		      larger_of(here->compute_ns, here->memory_ns);
	double model = there->ns / here->ns, memory = there->memory_ns / here->memory_ns;
	double beyond = now_ns > here->ns ? now_ns - here->ns : 0;
	double kept = (there->ns + beyond) / (now_ns > here->ns ? now_ns : here->ns);
	struct work_scale out = { .scale = { model, larger_of(model, kept),
					     smaller_of(model, roof) },
				  .part = (enum ss_device_part)here->limit };

	if (now_ns > OTHER_LIMIT * here->ns) {
		out.scale[2] = smaller_of(out.scale[2], memory);
		if (here->compute_ns > 0)
			out.scale[2] = smaller_of(out.scale[2],
						  there->compute_ns / here->compute_ns);
	}
	out.scale[1] = larger_of(out.scale[1], roof) * RATIO_SURE;
	out.scale[2] /= RATIO_SURE;
	return out;
}

/* `worker` NULL: nobody knows who launched it. */
static struct work_scale scale_kernel(const struct device_change *change,
				      const struct ss_worker *worker)
{
	struct ss_reach here = { 0 }, there = { 0 };

	if (worker && ss_works_item(change->works, worker)) {
		here = ss_reach_of(&change->here, worker);
		there = ss_reach_of(&change->there, worker);
	}
	if (here.limit == SS_LIMIT_UNKNOWN || there.limit == SS_LIMIT_UNKNOWN)
		return scale_unknown(
			change,
			worker &&
				change->works->name_kind[change->trace->slices.name[worker->row]] >=
					SS_WORK_MATMUL);
	return scale_known(&here, &there, (double)worker->device_ns);
}

static struct work_scale scale_task(const struct device_change *change, const struct ss_task *task)
{
	double rate = rate_scale(change->here.memory, change->there.memory);
	enum ss_device_part part = (enum ss_device_part)SS_LIMIT_MEMORY;
	uint32_t op = task->row == SS_NO_ROW ? SS_NO_ROW
					     : ss_ops_launcher(change->works->ops, task->row);
	const struct ss_worker *worker = op == SS_NO_ROW ? NULL
							 : ss_works_worker(change->works, op);

	if (task->kind == SS_TASK_KERNEL)
		return scale_kernel(change, worker);
	if (task->kind == SS_TASK_TRANSFER) {
		rate = rate_scale(change->here.peaks->bus.ring, change->there.peaks->bus.ring);
		return (struct work_scale){ { 1, larger_of(rate, 1), smaller_of(rate, 1) },
					    SS_DEVICE_COLLECTIVES };
	}
	if (task->kind == SS_TASK_COPY && (!worker || worker->across)) {
		part = SS_DEVICE_COPIES;
		rate = 1;
	}
	return (struct work_scale){ { rate, larger_of(rate, 1), smaller_of(rate, 1) }, part };
}

/* --- ranks ---------------------------------------------------------------------------- */

static bool change_add_task(struct device_change *change, uint32_t number,
			    const struct ss_task *task)
{
	struct work_scale work = scale_task(change, task);
	struct ss_other_device *out = &change->diagnosis->other_device;
	struct ss_device_time *part = &out->parts[work.part];
	double *const times[] = { &part->then_ns, &part->low_ns, &part->high_ns };
	double weight = (double)task->own_ns / change->steps / change->diagnosis->rank_count;

	part->now_ns += weight;
	for (int i = 0; i < 3; i++) {
		*times[i] += weight * work.scale[i];
		if (work.scale[i] > SS_EDIT_SCALE_MAX)
			change->is_too_slow = true;
		else if (!ss_edits_add(&change->edits[i],
				       (struct ss_edit){ .task = number,
							 .rank = change->rank,
							 .own_ns = task->own_ns,
							 .scale = (float)work.scale[i] }))
			return false;
	}
	return true;
}

/* A graph of the rank is made again: it knows the rows of its tasks, which the packed one lacks. */
static enum ss_status change_scale_graph(struct device_change *change,
					 const struct ss_subject *subject, struct ss_error *err)
{
	struct ss_graph graph = { 0 };
	enum ss_status status = ss_replay_graph_make(&graph, subject, change->diagnosis->memory,
						     err);

	change->steps = graph.step_count ? graph.step_count : 1;
	for (uint32_t i = 0; i < graph.task_count && status == SS_OK; i++) {
		const struct ss_task *task = &graph.tasks[i];

		if ((ss_task_on_device((enum ss_task_kind)task->kind) ||
		     task->kind == SS_TASK_TRANSFER) &&
		    task->step != SS_NO_STEP && !change_add_task(change, i, task))
			status = ss_fail_memory(err, "the work of another device");
	}
	ss_replay_graph_release(&graph);
	return status;
}

static enum ss_status change_scale_rank(struct device_change *change, struct ss_job *job,
					struct ss_job_file *file, const struct ss_peaks *there,
					struct ss_error *err)
{
	struct ss_subject subject = file->subject;
	struct ss_facts facts;
	enum ss_status status;
	uint32_t devices;
	const char *name;

	if (!subject.trace)
		return ss_fail(
			err, SS_ERR_MISSING,
			"'device' needs the traces: digests do not keep the work of kernels");
	SS_TRY(ss_job_need(job, file, SS_COLUMNS_ALL, err));
	name = ss_reach_device_name(subject.trace, &devices);
	ss_facts_init(&facts, subject.trace, change->diagnosis->memory);
	subject.facts = &facts;
	change->trace = subject.trace;
	status = ss_facts_works(&facts, &change->works, err);
	if (status == SS_OK) {
		ss_reachable_init(&change->here, change->works, name);
		if (!change->here.peaks || change->here.peaks->gb_per_s <= 0)
			status = ss_fail(err, SS_ERR_MISSING,
					 "the rates of the GPU of these files are not known (%s)",
					 *name ? name : "its name is not recorded");
	}
	if (status == SS_OK) {
		/* both by the table, not by what the file reaches */
		ss_reachable_move(&change->here, &change->here, change->here.peaks);
		ss_reachable_move(&change->there, &change->here, there);
		status = change_scale_graph(change, &subject, err);
	}
	ss_facts_release(&facts);
	return status;
}

/* --- the step ------------------------------------------------------------------------- */

/* The step with the device's edits on top of all fixes; which: expected, low, high. */
static int64_t change_replay(struct device_change *change, const struct ss_edits **fixes, int which)
{
	struct ss_diagnosis *diagnosis = change->diagnosis;
	uint32_t count = 0;

	for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];

		if (!finding->is_warning || finding->is_timeless)
			continue;
		fixes[count++] = which == 1 && finding->has_range  ? &finding->low
				 : which == 2 && finding->has_high ? &finding->high
								   : &finding->edits;
	}
	fixes[count++] = &change->edits[which];
	return ss_replay_run(&diagnosis->replay, fixes, count) + diagnosis->start_up_ns;
}

static enum ss_status fail_unknown_device(const char *name, struct ss_error *err)
{
	char list[256] = "";
	uint32_t number = 0;

	for (const char *found; (found = ss_peaks_next(name, &number)) != NULL;) {
		char plain[32];

		snprintf(plain, sizeof(plain), "%.*s", (int)ss_peaks_name_length(found), found);
		ss_text_list(list, sizeof(list), plain);
	}
	if (*list)
		return ss_fail(err, SS_ERR_USAGE, "'%.60s' may be several devices: %s", name, list);
	return ss_fail(err, SS_ERR_USAGE,
		       "the rates of '%.60s' are not known; names are as PyTorch has them, such as "
		       "'H200' or 'A100-SXM4-80GB'",
		       name);
}

enum ss_status ss_diagnosis_change_device(struct ss_diagnosis *diagnosis, struct ss_job *job,
					  const char *name, struct ss_error *err)
{
	const struct ss_peaks *there = *name ? ss_peaks_find(name) : NULL;
	struct device_change change = { .diagnosis = diagnosis };
	struct ss_other_device *out = &diagnosis->other_device;
	enum ss_status status = SS_OK;
	const struct ss_edits **fixes;

	if (!there || there->gb_per_s <= 0)
		return fail_unknown_device(name, err);
	if (!SS_ALLOC(&diagnosis->chosen_arena, fixes, (size_t)diagnosis->finding_count + 1))
		return ss_fail_memory(err, "the findings");
	for (int i = 0; i < 3; i++)
		ss_edits_init(&change.edits[i], diagnosis->memory);
	for (; change.rank < diagnosis->rank_count && status == SS_OK; change.rank++)
		status = change_scale_rank(&change, job, &job->files[diagnosis->files[change.rank]],
					   there, err);
	if (status == SS_OK && change.is_too_slow)
		status = ss_fail(err, SS_ERR_USAGE,
				 "kernels would take more than %d times as long on '%.60s'",
				 SS_EDIT_SCALE_MAX, name);
	if (status == SS_OK) {
		out->name = ss_arena_copy(&diagnosis->chosen_arena, there->pattern,
					  ss_peaks_name_length(there->pattern));
		if (!out->name)
			status = ss_fail_memory(err, "the name of a device");
		out->step_ns = change_replay(&change, fixes, 0);
		out->low_ns = change_replay(&change, fixes, 1);
		out->high_ns = change_replay(&change, fixes, 2);
		out->low_ns = out->low_ns > out->step_ns ? out->low_ns : out->step_ns;
		out->high_ns = out->high_ns < out->step_ns ? out->high_ns : out->step_ns;
	}
	for (int i = 0; i < 3; i++)
		ss_edits_release(&change.edits[i]);
	return status;
}
