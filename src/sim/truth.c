/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.c - truth.json: the causes in the job, what they cost, and what happened.
 *
 * All moments are true time: nanoseconds since the job began, without the error
 * of any host's clock. Written piece by piece, like the traces.
 */
#include "base/text.h"
#include "sim/plan.h"
#include "sim/job.h"

#define FLUSH_BYTES (UINT64_C(1) << 20)

struct truth_writer {
	const struct ss_sim_job *job;
	const struct ss_sim_sink *sink;
	struct ss_text text;
	enum ss_status status;
	struct ss_error *err;
};

static void truth_flush(struct truth_writer *out, size_t above)
{
	if (out->text.length <= above || out->status != SS_OK)
		return;
	out->status = out->sink->write(out->sink->context, out->text.data, out->text.length,
				       out->err);
	out->text.length = 0;
}

static void truth_add_string(struct truth_writer *out, const char *key, const char *value,
			     const char *after)
{
	if (value)
		ss_text_addf(&out->text, "\"%s\": \"%s\"%s", key, value, after);
	else
		ss_text_addf(&out->text, "\"%s\": null%s", key, after);
}

static void truth_add_int(struct truth_writer *out, const char *key, int64_t value,
			  const char *after)
{
	ss_text_addf(&out->text, "\"%s\": %lld%s", key, (long long)value, after);
}

static void truth_add_machine(struct truth_writer *out)
{
	const struct ss_sim_timing *timing = &ss_sim_timing;

	ss_text_add_string(&out->text, "  \"machine\": {");
	truth_add_int(out, "launch_latency_ns", timing->launch_latency, ", ");
	truth_add_int(out, "kernel_gap_ns", timing->kernel_gap, ", ");
	truth_add_int(out, "graph_gap_ns", timing->graph_gap, ", ");
	truth_add_int(out, "event_gap_ns", timing->event_gap, ", ");
	truth_add_int(out, "copy_gap_ns", timing->copy_gap, ", ");
	truth_add_int(out, "sync_return_ns", timing->sync_return, ", ");
	truth_add_int(out, "queue_depth", timing->queue_depth, "},\n");
}

static bool job_is_healthy(const struct ss_sim_job *job)
{
	for (uint32_t i = 0; i < job->fault_count; i++)
		if (!job->faults[i].left_out)
			return false;
	return true;
}

static void truth_add_head(struct truth_writer *out)
{
	const struct ss_sim_job *job = out->job;
	const struct ss_sim_plan *plan = &job->plan;

	ss_text_add_string(&out->text, "{\n  \"schema\": \"stepscope.sim.truth/1\",\n  ");
	truth_add_string(out, "preset", job->preset.name, ",\n  ");
	truth_add_int(out, "seed", (int64_t)plan->seed, ",\n  ");
	truth_add_string(out, "layout", plan->layout->name, ",\n  ");
	truth_add_string(out, "device", plan->device->name, ",\n  ");
	truth_add_int(out, "ranks", plan->rank_count, ",\n  ");
	truth_add_int(out, "ranks_per_host", plan->host_ranks, ",\n  ");
	truth_add_int(out, "steps_recorded", plan->step_count, ",\n  ");
	ss_text_addf(&out->text, "\"healthy\": %s,\n", job_is_healthy(job) ? "true" : "false");
	truth_add_machine(out);
	ss_text_add_string(&out->text, "  ");
	truth_add_int(out, "mean_step_ns", job->outcome.mean_step_ns, ",\n  ");
	ss_text_add_string(&out->text, "\"memory\": {");
	truth_add_int(out, "allocated_peak_bytes", (int64_t)job->outcome.allocated_peak_bytes,
		      ", ");
	truth_add_int(out, "reserved_peak_bytes", (int64_t)job->outcome.reserved_peak_bytes, ", ");
	truth_add_int(out, "leaked_bytes_per_step", (int64_t)plan->leak_bytes, "},\n");
}

/* "all", or the list of recorded steps that meet the condition. */
static void truth_add_when(struct truth_writer *out, struct ss_sim_condition when)
{
	const char *comma = "";

	if (when.every <= 1) {
		ss_text_add_string(&out->text, "\"steps\": \"all\", ");
		return;
	}
	ss_text_add_string(&out->text, "\"steps\": [");
	for (uint32_t i = 0; i < out->job->plan.step_count; i++)
		if ((i + SS_SIM_WARMUP_STEPS) % when.every == when.at) {
			ss_text_addf(&out->text, "%s%u", comma, i + SS_SIM_WARMUP_STEPS);
			comma = ", ";
		}
	ss_text_add_string(&out->text, "], ");
}

static struct ss_sim_condition condition_every(uint32_t steps, uint32_t step)
{
	return (struct ss_sim_condition){ .rank = -1, .every = steps, .at = step % steps };
}

/* The steps in which a cause acts: plants it alone and looks at which period it set. */
static struct ss_sim_condition fault_condition(const struct ss_sim_job *job,
					       const struct ss_sim_planted_fault *fault)
{
	struct ss_sim_plan plan = job->plan;
	struct ss_sim_fault alone = fault->fault;

	plan.pause_every = 0;
	plan.recompile_every = 0;
	plan.validate_every = 0;
	plan.restart_ns = 0;
	plan.lone_step = 0;
	plan.load_ns = 0;
	alone.fixed = false;
	alone.base = &job->base;
	fault->cause->plant(&plan, &alone);
	if (plan.pause_every)
		return condition_every(plan.pause_every, 0);
	if (plan.recompile_every)
		return condition_every(plan.recompile_every, 0);
	if (plan.validate_every)
		return condition_every(plan.validate_every, SS_SIM_WARMUP_STEPS);
	if (plan.restart_ns)
		return condition_every(plan.epoch_steps, SS_SIM_WARMUP_STEPS);
	if (plan.lone_step)
		return condition_every(UINT32_MAX, plan.lone_step);
	return plan.load_ns ? condition_every(UINT32_MAX, SS_SIM_WARMUP_STEPS)
			    : condition_every(1, 0);
}

static void truth_add_causes(struct truth_writer *out)
{
	const struct ss_sim_job *job = out->job;
	const char *comma = "";

	ss_text_add_string(&out->text, "  \"causes\": [");
	for (uint32_t i = 0; i < job->fault_count; i++) {
		const struct ss_sim_planted_fault *fault = &job->faults[i];
		const struct ss_sim_cause *cause = fault->cause;

		if (fault->left_out)
			continue;
		ss_text_addf(&out->text, "%s\n    {", comma);
		comma = ",";
		truth_add_string(out, "name", cause->name, ", ");
		ss_text_addf(&out->text, "\"severity\": %u.%03u, ", fault->fault.permille / 1000,
			     fault->fault.permille % 1000);
		if (cause->has_rank)
			truth_add_int(out, "rank", fault->fault.rank, ", ");
		else
			truth_add_string(out, "rank", NULL, ", ");
		truth_add_string(out, "op", cause->op, ", ");
		truth_add_string(out, "line", cause->line, ", ");
		truth_add_when(out, fault_condition(job, fault));
		truth_add_int(out, "mean_step_ns_without", fault->step_ns_without, ", ");
		truth_add_int(out, "cost_ns", job->outcome.mean_step_ns - fault->step_ns_without,
			      "}");
	}
	ss_text_addf(&out->text, "%s],\n", *comma ? "\n  " : "");
}

static void truth_add_subsets(struct truth_writer *out)
{
	const struct ss_sim_job *job = out->job;
	const char *comma = "";

	ss_text_add_string(&out->text, "  \"subsets\": [");
	for (uint32_t mask = 0; mask < 1u << job->fault_count; mask++) {
		const char *between = "";

		if (!job->subset_step_ns[mask])
			continue; /* has causes that were left out */
		ss_text_addf(&out->text, "%s\n    {\"causes\": [", comma);
		for (uint32_t i = 0; i < job->fault_count; i++)
			if (mask >> i & 1) {
				ss_text_addf(&out->text, "%s\"%s\"", between,
					     job->faults[i].cause->name);
				between = ", ";
			}
		ss_text_add_string(&out->text, "], ");
		truth_add_int(out, "mean_step_ns", job->subset_step_ns[mask], "}");
		comma = ",";
	}
	ss_text_add_string(&out->text, "\n  ],\n");
}

static void truth_add_steps(struct truth_writer *out)
{
	const struct ss_sim_plan *plan = &out->job->plan;

	ss_text_add_string(&out->text, "  \"steps\": [");
	for (uint32_t i = 0; i < plan->step_count; i++) {
		ss_text_addf(&out->text, "%s\n    {\"index\": %u, ", i ? "," : "",
			     i + SS_SIM_WARMUP_STEPS);
		ss_text_addf(&out->text, "\"name\": \"ProfilerStep#%u\", ",
			     i + SS_SIM_WARMUP_STEPS);
		ss_text_add_string(&out->text, "\"ranks\": [");
		for (uint32_t rank = 0; rank < plan->rank_count; rank++) {
			const struct ss_sim_span *span =
				&out->job->outcome.spans[(size_t)rank * plan->step_count + i];

			ss_text_addf(&out->text, "%s{\"rank\": %u, ", rank ? ", " : "", rank);
			truth_add_int(out, "start_ns", span->start_ns, ", ");
			truth_add_int(out, "end_ns", span->end_ns, "}");
			truth_flush(out, FLUSH_BYTES);
		}
		ss_text_add_string(&out->text, "]}");
	}
	ss_text_add_string(&out->text, "\n  ],\n");
}

static void truth_add_clocks(struct truth_writer *out)
{
	const struct ss_sim_plan *plan = &out->job->plan;

	ss_text_add_string(&out->text, "  \"clocks\": [");
	for (uint32_t rank = 0; rank < plan->rank_count; rank++) {
		struct ss_sim_clock clock = ss_sim_clock_of(plan, rank);

		ss_text_addf(&out->text, "%s\n    {\"rank\": %u, \"host\": %u, ", rank ? "," : "",
			     rank, rank / plan->host_ranks);
		truth_add_int(out, "offset_ns", clock.offset_ns, ", ");
		truth_add_int(out, "drift_ppb", clock.drift_ppb, "}");
		truth_flush(out, FLUSH_BYTES);
	}
	ss_text_add_string(&out->text, "\n  ],\n");
}

static void truth_add_ranks(struct truth_writer *out, const struct ss_sim_ranks *ranks)
{
	ss_text_add_string(&out->text, "\"ranks\": [");
	for (uint32_t i = 0; i < ranks->count; i++)
		ss_text_addf(&out->text, "%s%u", i ? ", " : "", ranks->first + i * ranks->stride);
	ss_text_add_string(&out->text, "]");
}

/* Each group once: its first member reports it. */
static void truth_add_groups(struct truth_writer *out)
{
	const struct ss_sim_plan *plan = &out->job->plan;
	struct ss_sim_group groups[SS_SIM_RANK_GROUPS_MAX];
	const char *comma = "";

	ss_text_add_string(&out->text, "  \"groups\": [");
	for (uint32_t rank = 0; plan->rank_count > 1 && rank < plan->rank_count; rank++) {
		uint32_t count = ss_sim_groups_of(plan, rank, groups);

		for (uint32_t i = 0; i < count; i++) {
			if (groups[i].ranks.first != rank)
				continue;
			ss_text_addf(&out->text, "%s\n    {\"name\": \"%u\", ", comma,
				     groups[i].id);
			truth_add_string(out, "description", groups[i].description, ", ");
			truth_add_ranks(out, &groups[i].ranks);
			ss_text_add_string(&out->text, "}");
			comma = ",";
			truth_flush(out, FLUSH_BYTES);
		}
	}
	ss_text_addf(&out->text, "%s],\n", *comma ? "\n  " : "");
}

static void truth_add_collective(struct truth_writer *out, uint32_t channel, uint32_t index,
				 bool first)
{
	const struct ss_sim_job *job = out->job;
	const struct ss_sim_channel *collectives = &job->outcome.channels[channel];
	const struct ss_sim_collective_run *collective = &collectives->details[index];
	const struct ss_sim_program *program = &job->programs.items[collective->program];
	const struct ss_sim_comm *comm = ss_records_at(&program->comms, collective->comm);
	struct ss_sim_ranks ranks = ss_sim_channel_ranks(&job->plan, channel);
	const int64_t *arrivals = collectives->arrivals_ns + (size_t)index * ranks.count;
	int64_t end_ns = collectives->ends_ns[collectives->first_recorded + index];
	struct ss_sim_group group = ss_sim_group_of(&job->plan, ranks.first,
						    (enum ss_sim_group_role)comm->role);

	ss_text_addf(&out->text, "%s\n    {\"group\": \"%u\", \"index\": %u, ", first ? "" : ",",
		     group.id, collectives->first_recorded + index);
	truth_add_int(out, "step", collective->step, ", ");
	truth_add_string(out, "kind", ss_strings_text(&program->texts, comm->name), ", ");
	truth_add_int(out, "bytes", (int64_t)comm->bytes, ", ");
	truth_add_int(out, "transfer_ns", collective->transfer_ns, ", ");
	truth_add_int(out, "end_ns", end_ns, ", ");
	truth_add_ranks(out, &ranks);
	ss_text_add_string(&out->text, ", \"arrival_ns\": [");
	for (uint32_t i = 0; i < ranks.count; i++)
		ss_text_addf(&out->text, "%s%lld", i ? ", " : "", (long long)arrivals[i]);
	ss_text_add_string(&out->text, "], \"wait_ns\": [");
	for (uint32_t i = 0; i < ranks.count; i++)
		ss_text_addf(&out->text, "%s%lld", i ? ", " : "",
			     (long long)(end_ns - collective->transfer_ns - arrivals[i]));
	ss_text_add_string(&out->text, "]}");
	truth_flush(out, FLUSH_BYTES);
}

static void truth_add_collectives(struct truth_writer *out)
{
	const struct ss_sim_outcome *outcome = &out->job->outcome;
	bool first = true;

	ss_text_add_string(&out->text, "  \"collectives\": [");
	for (uint32_t i = 0; i < outcome->channel_count; i++)
		for (uint32_t k = 0; k < outcome->channels[i].detail_count; k++) {
			truth_add_collective(out, i, k, first);
			first = false;
		}
	ss_text_addf(&out->text, "%s]\n}\n", first ? "" : "\n  ");
}

enum ss_status ss_sim_job_truth(const struct ss_sim_job *job, const struct ss_sim_sink *sink,
				struct ss_error *err)
{
	struct truth_writer out = { .job = job, .sink = sink, .err = err };

	truth_add_head(&out);
	truth_add_causes(&out);
	truth_add_subsets(&out);
	truth_add_steps(&out);
	truth_add_clocks(&out);
	truth_add_groups(&out);
	truth_add_collectives(&out);
	truth_flush(&out, 0);
	if (out.status == SS_OK && ss_text_failed(&out.text))
		out.status = ss_fail_memory(err, "the truth of a simulated job");
	ss_text_release(&out.text);
	return out.status;
}
