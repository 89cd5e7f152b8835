/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_bubble.c - rule: too few micro-batches for the stages of a pipeline.
 *
 * Until the first micro-batch has passed all stages, and while the last one does, most stages are
 * idle: with p stages and m micro-batches for (p - 1) / m of the work. More, smaller
 * micro-batches of the same batch shorten that. Stages are ranks that sends and receives connect.
 * Their idle time is measured; the number of micro-batches follows from how often the first stage
 * meets its neighbour.
 *
 * No task contains the waiting. The fix is replayed as if all stages but the busiest computed
 * less, in proportion to the smaller micro-batch: the busiest stage waits for one micro-batch of
 * theirs.
 */
#include "analyze/host/step_phase.h"
#include "diagnose/diagnose.h"

/* 1F1B schedules are run at this share of idle time: more micro-batches bring little. */
#define BUBBLE_SHARE 0.1

/*
 * Each kernel of a further micro-batch costs a gap of 1 us, and about 2 us until it fills the
 * device and has left it.
 */
#define KERNEL_NS 3000

/*
 * Stages that differ by less compute alike, but for noise. The last of them never waits between
 * two micro-batches: with its work as it is, the replay has the waiting where it will be.
 */
#define ALIKE 1.05

/* Fewer stages are no pipeline; nobody uses more micro-batches. */
#define STAGES_MIN 2
#define MICRO_MAX 1024

struct pipelines {
	struct ss_judgement *judgement;
	struct ss_arena arena;
	uint32_t *stage_of; /* per rank: some rank of its pipeline, itself at first */
	uint32_t *pairs;    /* per rank: sends and receives in its steps */
	uint32_t *partners; /* per rank: neighbours, at most 2 are counted */
	uint32_t *partner;  /* per rank: the first of them */
};

/* What one pipeline does in its steps, all together. */
struct pipeline {
	uint32_t stages, steps;
	double pairs; /* a step, of the first stage: it has one neighbour, and more than the last */
	int64_t span_ns;    /* from the first work of a step to the last but the optimizer's */
	int64_t work_ns;    /* of the stage that computes most */
	uint32_t busiest;   /* its rank; of stages that compute alike the one nearest the end */
	int64_t busy_ns;    /* what that one computes */
	uint32_t kernels;   /* of it */
	double turns;       /* a step, of the stage that goes back and forth most often */
	double micro, more; /* micro-batches: as it is, and as it should be */
};

static uint32_t root_of(struct pipelines *all, uint32_t rank)
{
	while (all->stage_of[rank] != rank) {
		all->stage_of[rank] = all->stage_of[all->stage_of[rank]];
		rank = all->stage_of[rank];
	}
	return rank;
}

static void meet(struct pipelines *all, uint32_t a, uint32_t b)
{
	uint32_t x = root_of(all, a), y = root_of(all, b);

	all->stage_of[x > y ? x : y] = x > y ? y : x;
	all->pairs[a]++;
	if (!all->partners[a]) {
		all->partners[a] = 1;
		all->partner[a] = b;
	} else if (all->partner[a] != b) {
		all->partners[a] = 2;
	}
}

static bool find_stages(struct pipelines *all)
{
	const struct ss_joined *joined = all->judgement->joined;
	size_t room = (size_t)joined->rank_count + 1;

	all->stage_of = SS_ARENA_NEW(&all->arena, uint32_t, room);
	all->pairs = SS_ARENA_NEW(&all->arena, uint32_t, room);
	all->partners = SS_ARENA_NEW(&all->arena, uint32_t, room);
	all->partner = SS_ARENA_NEW(&all->arena, uint32_t, room);
	if (!all->stage_of || !all->pairs || !all->partners || !all->partner)
		return false;
	for (uint32_t i = 0; i < joined->rank_count; i++)
		all->stage_of[i] = i;
	for (uint32_t i = 0; i < joined->meeting_count; i++) {
		const struct ss_meeting *meeting = &joined->meetings[i];
		const struct ss_member *members = &joined->members[meeting->first];

		if (meeting->kind < SS_COLLECTIVE_SEND_RECV || meeting->count != 2 ||
		    meeting->step == SS_NO_ROW)
			continue;
		meet(all, members[0].rank, members[1].rank);
		meet(all, members[1].rank, members[0].rank);
	}
	return true;
}

/* --- one pipeline ---------------------------------------------------------------------------- */

static bool is_passing(const struct ss_task *task)
{
	return task->kind == SS_TASK_KERNEL && task->step != SS_NO_STEP &&
	       task->phase != SS_PHASE_OPTIMIZER;
}

/* Adds a stage: when its passes begin and end in each step, and how long they compute. */
static void add_stage(const struct pipelines *all, uint32_t rank, struct pipeline *out,
		      int64_t *from_ns, int64_t *to_ns)
{
	const struct ss_graph *graph = &all->judgement->graphs[rank];
	int64_t offset_ns = all->judgement->replay->offset_ns[rank], work_ns = 0;
	uint32_t kernels = 0, turns = 0, before = SS_PHASE_OTHER;

	for (uint32_t i = 0; i < graph->task_count; i++) {
		const struct ss_task *task = &graph->tasks[i];

		if (!is_passing(task) || task->step >= out->steps)
			continue;
		if (task->start_ns + offset_ns < from_ns[task->step])
			from_ns[task->step] = task->start_ns + offset_ns;
		if (ss_task_end(task) + offset_ns > to_ns[task->step])
			to_ns[task->step] = ss_task_end(task) + offset_ns;
		work_ns = ss_ns_sum(work_ns, task->own_ns);
		kernels++;
		turns += task->phase == SS_PHASE_BACKWARD && before == SS_PHASE_FORWARD;
		if (task->phase == SS_PHASE_FORWARD || task->phase == SS_PHASE_BACKWARD)
			before = task->phase;
	}
	if (work_ns > out->work_ns)
		out->work_ns = work_ns;
	if ((double)work_ns > (double)out->busy_ns * ALIKE ||
	    ((double)work_ns * ALIKE >= (double)out->busy_ns &&
	     (double)turns / out->steps >= out->turns)) {
		out->busy_ns = work_ns;
		out->busiest = rank;
		out->kernels = kernels;
	}
	if ((double)turns / out->steps > out->turns)
		out->turns = (double)turns / out->steps;
	if (all->partners[rank] == 1 && (double)all->pairs[rank] / out->steps > out->pairs)
		out->pairs = (double)all->pairs[rank] / out->steps;
	out->stages++;
}

static bool measure(struct pipelines *all, uint32_t root, struct pipeline *out)
{
	const struct ss_judgement *judgement = all->judgement;
	int64_t *from_ns, *to_ns;

	*out = (struct pipeline){ .steps = judgement->graphs[root].step_count };
	for (uint32_t r = 0; r < judgement->rank_count; r++)
		if (root_of(all, r) == root && judgement->graphs[r].step_count < out->steps)
			out->steps = judgement->graphs[r].step_count;
	from_ns = SS_ARENA_NEW(&all->arena, int64_t, (size_t)out->steps + 1);
	to_ns = SS_ARENA_NEW(&all->arena, int64_t, (size_t)out->steps + 1);
	if (!from_ns || !to_ns)
		return false;
	for (uint32_t i = 0; i < out->steps; i++) {
		from_ns[i] = INT64_MAX;
		to_ns[i] = INT64_MIN;
	}
	for (uint32_t r = 0; r < judgement->rank_count && out->steps; r++)
		if (root_of(all, r) == root)
			add_stage(all, r, out, from_ns, to_ns);
	for (uint32_t i = 0; i < out->steps; i++)
		if (to_ns[i] > from_ns[i])
			out->span_ns = ss_ns_sum(out->span_ns, to_ns[i] - from_ns[i]);
	return true;
}

/*
 * In a 1F1B schedule the last stage goes from forward to backward once a micro-batch. Where
 * stages go back but once (GPipe), the first one meets its neighbour once a micro-batch and
 * direction. Where phases are not recorded what comes back is taken to be exchanged for what
 * goes out: p - 1 times more often than there are micro-batches.
 */
static void count_micro(struct pipeline *own)
{
	double behind = own->stages - 1;

	if (own->turns > 1.5)
		own->micro = own->turns;
	else
		own->micro = own->turns > 0 ? own->pairs / 2 : own->pairs - behind;
	own->more = own->micro;
	while (own->more >= 1 && own->more < MICRO_MAX &&
	       behind / (own->more + behind) > BUBBLE_SHARE)
		own->more *= 2;
}

/* What a stage's kernels take longer when they are more and smaller. */
static double cost_of_more(const struct pipeline *own)
{
	return own->kernels * (own->more / own->micro - 1) * KERNEL_NS;
}

/* Whether more micro-batches make the passes shorter: the busiest stage waits less. */
static bool is_worth_it(const struct pipeline *own)
{
	return (double)(own->span_ns - own->work_ns) * (1 - own->micro / own->more) >
	       cost_of_more(own);
}

/*
 * What the time of a stage is multiplied by. The busiest one computes all the time but while the
 * first micro-batch comes to it and the last one goes on from it: so long as the others take for
 * one micro-batch. Its own work stays, with the cost of more kernels; that of the others is
 * as much less as a micro-batch becomes smaller.
 */
static double scale_of_rank(const struct pipeline *own, uint32_t rank)
{
	if (rank != own->busiest)
		return own->micro / own->more;
	return own->busy_ns > 0 ? 1 + cost_of_more(own) / (double)own->busy_ns : 1;
}

static void claim(struct pipelines *all, struct ss_finding *finding, uint32_t root,
		  const struct pipeline *pipeline)
{
	struct ss_judgement *judgement = all->judgement;

	for (uint32_t r = 0; r < judgement->rank_count; r++) {
		const struct ss_graph *graph = &judgement->graphs[r];
		double scale = scale_of_rank(pipeline, r);

		if (root_of(all, r) != root)
			continue;
		for (uint32_t i = 0; i < graph->task_count && !judgement->failed; i++) {
			const struct ss_task *task = &graph->tasks[i];
			struct ss_claim own = { .task = i,
						.own_ns = task->own_ns,
						.low_ns = task->own_ns,
						.high_ns = task->own_ns,
						.scale = (float)scale };

			if (is_passing(task))
				ss_judge_overrule(judgement, finding, r, own, false);
		}
	}
}

static void tell(struct pipelines *all, struct ss_finding *finding, const struct pipeline *own)
{
	struct ss_judgement *judgement = all->judgement;

	ss_judge_evidence(judgement, finding, (own->span_ns - own->work_ns) / own->steps,
			  "%u stages pass %.0f micro-batches per step, and the busiest stage is "
			  "idle for {time}",
			  own->stages, own->micro);
	ss_judge_evidence(
		judgement, finding, 0,
		"%.0f micro-batches would leave %.0f %% of the time idle; %.0f leave %.0f %%",
		own->more, 100 * (own->stages - 1) / (own->more + own->stages - 1), own->micro,
		100 * (own->stages - 1) / (own->micro + own->stages - 1));
	finding->confidence = SS_CONFIDENCE_MEDIUM;
	finding->reason = "the saving follows from the schedule";
}

static enum ss_status judge(struct pipelines *all, struct ss_error *err)
{
	struct ss_judgement *judgement = all->judgement;
	struct ss_finding *finding = NULL;

	if (!find_stages(all))
		return ss_fail_memory(err, "the stages of the pipeline");
	for (uint32_t r = 0; r < judgement->rank_count && !judgement->failed; r++) {
		struct pipeline own;
		bool is_first = !finding;

		if (root_of(all, r) != r || !all->pairs[r])
			continue;
		if (!measure(all, r, &own))
			return ss_fail_memory(err, "the stages of the pipeline");
		if (own.stages < STAGES_MIN || own.pairs < 2 || own.span_ns <= own.work_ns)
			continue;
		count_micro(&own);
		if (own.micro < 1 || own.more <= own.micro || !is_worth_it(&own))
			continue;
		if (!finding)
			finding = ss_judge_add(judgement, SS_NO_ROW, NULL);
		if (!finding)
			break;
		claim(all, finding, r, &own);
		if (is_first)
			tell(all, finding, &own);
	}
	return SS_OK;
}

static enum ss_status judge_ranks(struct ss_judgement *judgement, struct ss_error *err)
{
	struct pipelines all = { .judgement = judgement };
	enum ss_status status;

	if (!judgement->joined || judgement->rank_count < STAGES_MIN ||
	    judgement->rank_count != judgement->joined->rank_count)
		return SS_OK;
	ss_arena_init(&all.arena, judgement->diagnosis->memory);
	status = judge(&all, err);
	ss_arena_release(&all.arena);
	return status;
}

/* Ranks are only compared. */
static enum ss_status look_at_rank(struct ss_look *look, struct ss_error *err)
{
	(void)look;
	(void)err;
	return SS_OK;
}

const struct ss_rule ss_rule_pipeline_bubble = {
	.name = "pipeline-bubble",
	.title = "Pipeline stages are idle while the pipeline fills and drains",
	.summary = "Too few micro-batches for the number of pipeline stages",
	.fix = "# ten times as many micro-batches as stages, or several stages per rank\n"
	       "schedule = Schedule1F1B(stage, n_microbatches=32, loss_fn=loss_fn)\n"
	       "# torch: ScheduleInterleaved1F1B; Megatron: --micro-batch-size 1,\n"
	       "# --num-layers-per-virtual-pipeline-stage",
	.surer = NULL,
	.views = "ranks gaps",
	.warn_share = 0.05,
	.silent_share = 0.02,
	.why = "1F1B schedules run with 5 to 10 % idle time; a gain below 2 % is lost again "
	       "to smaller kernels",
	.look = look_at_rank,
	.judge = judge_ranks,
};
