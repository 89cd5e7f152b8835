/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - from a request to a plan, from a plan to all of its runs.
 */
#include <string.h>

#include "sim/job.h"
#include "sim/machine/recorder.h"
#include "sim/noise.h"
#include "sim/plan.h"

/* --- the request -------------------------------------------------------------- */

/* "0.25" -> 250; -1: not a number from 0.001 to 1 */
static int32_t read_permille(const char *text, size_t length)
{
	int32_t value = 0, scale = 1000;
	bool dot = false;

	if (!length)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.' && !dot) {
			dot = true;
		} else if (text[i] == '0' && scale < 10) {
			continue; /* zeros beyond thousandths change nothing */
		} else if (text[i] >= '0' && text[i] <= '9' && scale >= 10) {
			value = value * 10 + (text[i] - '0');
			scale = dot ? scale / 10 : scale;
		} else {
			return -1;
		}
		if (value > 1000)
			return -1;
	}
	value *= scale;
	return value >= 1 && value <= 1000 ? value : -1;
}

/* One of "input-in-process=0.3,straggler"; the name goes into `name`. */
static size_t list_next_item(const char *list, char *name, size_t room, const char **value,
			     size_t *value_length)
{
	size_t length = strcspn(list, ","), equals = strcspn(list, "=,");
	size_t copied = equals < room - 1 ? equals : room - 1;

	memcpy(name, list, copied);
	name[copied] = '\0';
	*value = equals < length ? list + equals + 1 : NULL;
	*value_length = equals < length ? length - equals - 1 : 0;
	return length + (list[length] == ',');
}

#define DEFAULT_PERMILLE 500
#define DRIFT_PPB_MAX 1000000u
#define OFFSET_NS_MAX INT64_C(3600000000000)

static enum ss_status preset_add_causes(struct ss_sim_job *job, const char *list,
					struct ss_error *err)
{
	struct ss_sim_preset *preset = &job->preset;
	char name[SS_SIM_PRESET_NAME_MAX];
	const char *value;
	size_t length;

	while (list && *list) {
		const struct ss_sim_cause *cause;
		int32_t permille = DEFAULT_PERMILLE;

		list += list_next_item(list, name, sizeof(name), &value, &length);
		cause = ss_sim_cause_find(name);
		if (!cause)
			return ss_fail(err, SS_ERR_USAGE,
				       "no cause called '%s'; option 'list-causes' lists them",
				       name);
		if (!ss_sim_cause_fits(cause, preset->layout))
			return ss_fail(err, SS_ERR_USAGE,
				       "the layout '%s' cannot have the cause '%s'",
				       preset->layout->name, name);
		if (value)
			permille = read_permille(value, length);
		if (permille < 0)
			return ss_fail(err, SS_ERR_USAGE,
				       "the severity of '%s' must be a number from 0.001 to 1",
				       name);
		for (uint32_t i = 0; i < preset->cause_count; i++)
			if (!ss_sim_causes_agree(preset->causes[i].cause, cause))
				return ss_fail(err, SS_ERR_USAGE,
					       "a job cannot have both '%s' and '%s'",
					       preset->causes[i].cause->name, name);
		if (preset->cause_count == SS_SIM_CAUSES_MAX)
			return ss_fail(err, SS_ERR_USAGE, "a job can have at most %u causes",
				       SS_SIM_CAUSES_MAX);
		preset->causes[preset->cause_count++] =
			(struct ss_sim_planted){ cause, (uint32_t)permille };
	}
	return SS_OK;
}

static enum ss_status preset_from_request(struct ss_sim_job *job,
					  const struct ss_sim_request *request,
					  struct ss_error *err)
{
	struct ss_sim_preset *preset = &job->preset;

	if (request->preset && !ss_sim_preset_find(request->preset, preset))
		return ss_fail(err, SS_ERR_USAGE, "no preset called '%s'; option 'list' lists them",
			       request->preset);
	if (!request->preset)
		*preset = (struct ss_sim_preset){ .name = "custom", .seed = 1 };
	if (request->layout)
		preset->layout = ss_sim_layout_find(request->layout);
	else if (!request->preset)
		preset->layout = ss_sim_layout_find("ddp");
	if (!preset->layout)
		return ss_fail(
			err, SS_ERR_USAGE,
			"no layout called '%s'; there are single, ddp, fsdp, tensor, pipeline, "
			"inference",
			request->layout);
	if (request->device || !preset->device)
		preset->device = ss_sim_device_find(request->device ? request->device : "h100");
	if (!preset->device)
		return ss_fail(err, SS_ERR_USAGE,
			       "no device called '%s'; there are v100, a100, h100, b200, mi300x",
			       request->device);
	if (request->ranks)
		preset->ranks = request->ranks;
	if (!preset->ranks)
		preset->ranks = preset->layout->ranks;
	if (request->seed)
		preset->seed = request->seed;
	for (uint32_t i = 0; i < preset->cause_count; i++)
		if (!ss_sim_cause_fits(preset->causes[i].cause, preset->layout))
			return ss_fail(err, SS_ERR_USAGE,
				       "the layout '%s' cannot have the preset's cause '%s'",
				       preset->layout->name, preset->causes[i].cause->name);
	return preset_add_causes(job, request->causes, err);
}

static bool list_has_item(const char *list, const char *name)
{
	char item[SS_SIM_PRESET_NAME_MAX];
	const char *value;
	size_t length;

	while (list && *list) {
		list += list_next_item(list, item, sizeof(item), &value, &length);
		if (strcmp(item, name) == 0)
			return true;
	}
	return false;
}

/* Refuses to leave out a cause that the job does not have. */
static enum ss_status request_check_without(const struct ss_sim_job *job, const char *list,
					    struct ss_error *err)
{
	char item[SS_SIM_PRESET_NAME_MAX];
	const char *value;
	size_t length;

	while (list && *list) {
		bool found = false;

		list += list_next_item(list, item, sizeof(item), &value, &length);
		for (uint32_t i = 0; i < job->preset.cause_count; i++)
			found |= strcmp(job->preset.causes[i].cause->name, item) == 0;
		if (!found)
			return ss_fail(err, SS_ERR_USAGE,
				       "cannot leave out the cause '%s': the job does not have it",
				       item);
	}
	return SS_OK;
}

static enum ss_status request_check_options(const struct ss_sim_request *request,
					    struct ss_error *err)
{
	if (request->has_clocks && request->drift_ppb > DRIFT_PPB_MAX)
		return ss_fail(err, SS_ERR_USAGE, "clock drift is limited to %u parts per million",
			       DRIFT_PPB_MAX / 1000);
	if (request->has_clocks &&
	    (request->clock_offset_ns < 0 || request->clock_offset_ns > OFFSET_NS_MAX))
		return ss_fail(err, SS_ERR_USAGE, "clock offset is limited to one hour");
	if (request->lost_per_million > 1000000)
		return ss_fail(err, SS_ERR_USAGE, "at most 1000000 events per million can be lost");
	return SS_OK;
}

static void plan_set_options(struct ss_sim_plan *plan, const struct ss_sim_request *request)
{
	if (request->steps)
		plan->step_count = request->steps;
	plan->with_sync_rows = request->sync_rows;
	plan->with_sequence = request->sequence;
	plan->lost_per_million = request->lost_per_million;
	if (request->has_clocks) {
		plan->clock_offset_ns = request->clock_offset_ns;
		plan->drift_ppb = request->drift_ppb;
	}
}

/* --- runs -------------------------------------------------------------------------- */

/* The plan with the causes of `mask` planted and the others fixed. */
static void plan_plant_causes(const struct ss_sim_job *job, const struct ss_sim_plan *healthy,
			      uint32_t mask, const struct ss_sim_base *base,
			      struct ss_sim_plan *out)
{
	*out = *healthy;
	for (uint32_t i = 0; i < job->fault_count; i++) {
		struct ss_sim_fault fault = job->faults[i].fault;

		fault.fixed = !(mask >> i & 1);
		fault.base = base;
		job->faults[i].cause->plant(out, &fault);
	}
}

/* Runs a plan for its figures alone. */
static enum ss_status plan_measure(const struct ss_sim_plan *plan, struct ss_memory *memory,
				   struct ss_sim_base *out, struct ss_error *err)
{
	struct ss_sim_programs programs = { 0 };
	struct ss_sim_outcome outcome = { 0 };
	enum ss_status status = ss_sim_programs_open(&programs, plan, memory, err);

	if (status == SS_OK)
		status = ss_sim_outcome_open(&outcome, &programs, memory, false, err);
	if (status == SS_OK)
		*out = (struct ss_sim_base){ outcome.mean_step_ns, outcome.host_step_ns,
					     outcome.comm_step_ns };
	ss_sim_outcome_close(&outcome);
	ss_sim_programs_close(&programs, memory);
	return status;
}

/*
 * Severities are shares of the job without faults. Its circumstances depend on these figures too,
 * so they are measured twice: without and then with the circumstances.
 */
static enum ss_status job_find_base(struct ss_sim_job *job, const struct ss_sim_plan *healthy,
				    struct ss_error *err)
{
	struct ss_sim_base first;
	struct ss_sim_plan plan;

	if (!job->fault_count)
		return SS_OK;
	SS_TRY(plan_measure(healthy, job->memory, &first, err));
	plan_plant_causes(job, healthy, 0, &first, &plan);
	return plan_measure(&plan, job->memory, &job->base, err);
}

static enum ss_status job_run_subsets(struct ss_sim_job *job, const struct ss_sim_plan *healthy,
				      uint32_t without, struct ss_error *err)
{
	uint32_t all = (1u << job->fault_count) - 1, here = all & ~without;

	for (uint32_t mask = 0; mask <= all; mask++) {
		struct ss_sim_base figures;
		struct ss_sim_plan plan;

		if (mask == here || (mask & without))
			continue;
		plan_plant_causes(job, healthy, mask, &job->base, &plan);
		SS_TRY(plan_measure(&plan, job->memory, &figures, err));
		job->subset_step_ns[mask] = figures.step_ns;
	}
	plan_plant_causes(job, healthy, here, &job->base, &job->plan);
	SS_TRY(ss_sim_programs_open(&job->programs, &job->plan, job->memory, err));
	SS_TRY(ss_sim_outcome_open(&job->outcome, &job->programs, job->memory, true, err));
	job->subset_step_ns[here] = job->outcome.mean_step_ns;
	for (uint32_t i = 0; i < job->fault_count; i++)
		job->faults[i].step_ns_without = job->subset_step_ns[here & ~(1u << i)];
	return SS_OK;
}

static enum ss_status job_open_phrases(struct ss_sim_job *job, struct ss_error *err)
{
	uint32_t count = job->programs.count;

	if (!SS_MEMORY_NEW(job->memory, job->phrases, count))
		return ss_fail_memory(err, "the texts of a simulated job");
	memset(job->phrases, 0, count * sizeof(*job->phrases));
	for (uint32_t i = 0; i < count; i++)
		if (job->programs.items[i].count)
			SS_TRY(ss_sim_phrases_open(&job->plan, &job->programs.items[i], job->memory,
						   &job->phrases[i], err));
	return SS_OK;
}

static enum ss_status job_open(struct ss_sim_job *job, const struct ss_sim_request *request,
			       struct ss_error *err)
{
	struct ss_sim_plan healthy;
	uint32_t without = 0;

	SS_TRY(request_check_options(request, err));
	SS_TRY(preset_from_request(job, request, err));
	SS_TRY(request_check_without(job, request->without, err));
	SS_TRY(ss_sim_preset_plan(&job->preset, &healthy, err));
	SS_TRY(ss_sim_settings_apply(&healthy, request->settings, err));
	plan_set_options(&healthy, request);
	SS_TRY(ss_sim_plan_check(&healthy, err));
	for (uint32_t i = 0; i < job->preset.cause_count; i++) {
		const struct ss_sim_planted *planted = &job->preset.causes[i];
		uint64_t random = ss_sim_random(healthy.seed, i, 0, 1, SS_SIM_NOISE_RANK);

		job->faults[job->fault_count++] = (struct ss_sim_planted_fault){
			.cause = planted->cause,
			.fault = { .permille = planted->permille,
				   .rank = (uint32_t)(random % healthy.rank_count),
				   .base = &job->base },
		};
		if (list_has_item(request->without, planted->cause->name)) {
			job->faults[i].left_out = true;
			without |= 1u << i;
		}
	}
	SS_TRY(job_find_base(job, &healthy, err));
	SS_TRY(job_run_subsets(job, &healthy, without, err));
	SS_TRY(ss_sim_plan_check(&job->plan, err));
	return job_open_phrases(job, err);
}

enum ss_status ss_sim_job_open(struct ss_sim_job *job, const struct ss_sim_request *request,
			       struct ss_memory *memory, struct ss_error *err)
{
	enum ss_status status;

	*job = (struct ss_sim_job){ .memory = memory };
	status = job_open(job, request, err);
	if (status != SS_OK)
		ss_sim_job_close(job);
	return status;
}

void ss_sim_job_close(struct ss_sim_job *job)
{
	if (!job->memory)
		return;
	for (uint32_t i = 0; job->phrases && i < job->programs.count; i++)
		ss_sim_phrases_close(job->phrases[i]);
	SS_FREE(job->memory, job->phrases, job->programs.count);
	ss_sim_outcome_close(&job->outcome);
	ss_sim_programs_close(&job->programs, job->memory);
	*job = (struct ss_sim_job){ 0 };
}

/* --- files -------------------------------------------------------------------------- */

/* What a rank needs to be recorded. */
struct rank_recording {
	struct ss_sim_rank rank;
	struct ss_sim_recorder recorder;
};

static void rank_run_recorded(const struct ss_sim_job *job, struct ss_sim_rank *rank)
{
	while (rank->state != SS_SIM_FINISHED && !rank->pool.failed) {
		ss_sim_rank_run(rank);
		if (rank->state == SS_SIM_WAITING)
			ss_sim_rank_resume(rank, ss_sim_outcome_end(&job->outcome, rank));
	}
}

static enum ss_status rank_record(const struct ss_sim_job *job, struct rank_recording *at,
				  uint32_t rank, const struct ss_sim_sink *sink, uint64_t *rows,
				  struct ss_error *err)
{
	enum ss_status status;

	if (!ss_sim_rank_init(&at->rank, &job->programs, rank, job->memory))
		return ss_fail_memory(err, "a simulated rank");
	status = ss_sim_writer_open(&job->plan, rank, job->memory, sink, &at->recorder.writer, err);
	if (status == SS_OK) {
		at->rank.recorder = &at->recorder;
		at->recorder.phrases = job->phrases;
		ss_sim_writer_use(at->recorder.writer, job->phrases[at->rank.program_index]);
		rank_run_recorded(job, &at->rank);
		status = ss_sim_writer_close(at->recorder.writer, at->rank.window_start_ns,
					     at->rank.now_ns[SS_SIM_MAIN], rows, err);
	}
	if (status == SS_OK && at->rank.pool.failed)
		status = ss_fail_memory(err, "a simulated rank");
	ss_sim_rank_release(&at->rank);
	return status;
}

enum ss_status ss_sim_job_write(const struct ss_sim_job *job, uint32_t rank,
				const struct ss_sim_sink *sink, uint64_t *rows,
				struct ss_error *err)
{
	size_t events = job->programs.events_max + 1;
	struct rank_recording *at = ss_memory_zeroed(job->memory, sizeof(*at));
	uint64_t *correlations = ss_memory_zeroed(job->memory, events * sizeof(*correlations));
	uint8_t *streams = ss_memory_zeroed(job->memory, events * sizeof(*streams));
	enum ss_status status;

	if (at && correlations && streams) {
		at->recorder.record_correlations = correlations;
		at->recorder.record_streams = streams;
		status = rank_record(job, at, rank, sink, rows, err);
	} else {
		status = ss_fail_memory(err, "a simulated rank");
	}
	SS_FREE(job->memory, streams, events);
	SS_FREE(job->memory, correlations, events);
	ss_memory_free(job->memory, at, sizeof(*at));
	return status;
}
