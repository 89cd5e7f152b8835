/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_buckets.c - rule: gradients are all-reduced in many small buckets.
 *
 * DDP fills buckets (25 MB by default) and all-reduces each when it is full. Every all-reduce,
 * however small, pays the latency of synchronizing the ranks. Fewer buckets move the same bytes
 * and pay that latency less often.
 *
 * The share of a transfer that depends on its bytes follows from how long smaller and larger ones
 * take, if sizes are recorded and differ. Jobs without devices copy gradients out of buckets on
 * their own thread: if sizes are not recorded, the time of these copies bounds what was moved.
 */
#include <string.h>

#include "base/sort.h"
#include "diagnose/diagnose.h"
#include "diagnose/rank_findings.h"
#include "diagnose/evidence/gradients.h"
#include "trace/outward.h"

/* DDP's default: bucket_cap_mb=25. A bucket with as many bytes or more is full. */
#define BUCKET_BYTES (INT64_C(25) << 20)

/*
 * The first bucket has 1 MB, the last one is not full, and each gradient type has its own buckets:
 * with two types that makes three more than the bytes need.
 */
#define SURPLUS_MIN 4
#define TIMES_TOO_MANY 2

/*
 * The size at which bytes and latency take the same time. NCCL in one host has it at 1 to 4 MB,
 * over networks higher, gloo at about 1 MB (1 GB/s, 1 ms).
 */
#define HALF_BYTES (INT64_C(1) << 20)

/* No thread copies faster than this, so its copy time bounds the bytes. */
#define COPY_BYTES_PER_NS 20

/* Sizes must differ by this factor for times to differ. */
#define SPREAD 4

#define COPY_BACK "torch.distributed.ddp.reducer::copy_bucket_to_grad"

enum bucket_figure { FIGURE_COUNT, FIGURE_BYTES };

/* --- one rank ------------------------------------------------------------------------------ */

struct bucket_search {
	struct ss_rule_context *context;
	const struct ss_gradients *gradients;
	int64_t bytes; /* of a pass, at most; -1: unknown */
};

static uint32_t buckets_count_reduces(const struct bucket_search *buckets,
				      const struct ss_gradient_pass *pass)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pass->count; i++)
		count += !buckets->gradients->items[pass->first + i].is_integer;
	return count;
}

/*
 * Bound on the bytes of a pass, from its copies; of the fastest pass, since load adds time. -1: not
 * known. False: no memory.
 */
static bool buckets_bound_bytes(struct bucket_search *buckets)
{
	const struct ss_trace *trace = buckets->context->trace;
	const struct ss_gradients *gradients = buckets->gradients;
	uint32_t name = ss_strings_find(&trace->names, COPY_BACK, strlen(COPY_BACK)), pass = 0;
	int64_t least_ns = INT64_MAX, *spent_ns;

	buckets->bytes = -1;
	if (name == SS_NO_ID || buckets->context->graph->main == SS_NO_ROW)
		return true;
	if (!SS_ALLOC(buckets->context->scratch, spent_ns, (size_t)gradients->pass_count + 1))
		return false;
	for (uint32_t i = 0; i < trace->tracks[buckets->context->graph->main].row_count; i++) {
		uint32_t row = trace->tracks[buckets->context->graph->main].first_row + i;

		if (trace->slices.name[row] != name)
			continue;
		while (pass + 1 < gradients->pass_count &&
		       gradients->passes[pass + 1].forward_ns <= trace->slices.start_ns[row])
			pass++;
		spent_ns[pass] = ss_ns_sum(spent_ns[pass], trace->slices.dur_ns[row]);
	}
	for (uint32_t i = 0; i < gradients->pass_count; i++)
		if (spent_ns[i] > 0 && spent_ns[i] < least_ns)
			least_ns = spent_ns[i];
	if (least_ns < INT64_MAX / COPY_BYTES_PER_NS)
		buckets->bytes = least_ns * COPY_BYTES_PER_NS;
	return true;
}

/* The bytes of the largest pass; -1: not known. False: no memory. */
static bool buckets_find_bytes(struct bucket_search *buckets)
{
	const struct ss_gradients *gradients = buckets->gradients;

	buckets->bytes = -1;
	for (uint32_t i = 0; i < gradients->pass_count; i++) {
		if (gradients->passes[i].bytes < 0) {
			buckets->bytes = -1;
			return buckets->context->digest->device >= 0 ||
			       buckets_bound_bytes(buckets);
		}
		if (gradients->passes[i].bytes > buckets->bytes)
			buckets->bytes = gradients->passes[i].bytes;
	}
	return true;
}

/* Whether a larger bucket could also hold the next one; `filled` is what it has so far. */
static bool bucket_joins_next(const struct bucket_search *buckets,
			      const struct ss_gradient_pass *pass, uint32_t item, int64_t *filled)
{
	const struct ss_gradient *items = &buckets->gradients->items[pass->first];
	int64_t bytes = items[item].bytes;
	uint32_t next = item + 1;

	while (next < pass->count && items[next].is_integer)
		next++;
	/* if sizes are not recorded, only their sum is known: assume equal sizes */
	if (pass->bytes < 0)
		bytes = buckets->bytes / buckets_count_reduces(buckets, pass);
	*filled = ss_ns_sum(*filled, bytes);
	if (next < pass->count && *filled < BUCKET_BYTES)
		return true;
	*filled = 0;
	return false;
}

static uint32_t buckets_count_excess(const struct bucket_search *buckets,
				     const struct ss_gradient_pass *pass)
{
	uint32_t count = 0;
	int64_t filled = 0;

	for (uint32_t i = 0; i < pass->count; i++)
		if (!buckets->gradients->items[pass->first + i].is_integer)
			count += bucket_joins_next(buckets, pass, i, &filled);
	return count;
}

/* Claims the host's time for requesting an all-reduce, in jobs with a device. */
static void bucket_claim_request(struct ss_rule_context *context, uint32_t launch)
{
	const struct ss_slices *slices = &context->trace->slices;
	uint32_t row = SS_NO_ROW, at = launch;

	for (uint32_t tries = 0; tries < SS_OUTWARD_ALIKE; tries++) {
		at = ss_outward_find(context->trace, at, SS_NAME_COMM_OP);
		if (at == SS_NO_ROW)
			break;
		row = at;
		at = slices->parent[at];
	}
	if (row != SS_NO_ROW && context->digest->device >= 0)
		(void)!ss_rule_claim_time(context, (struct ss_stretch){
							   .track = slices->track[row],
							   .from_ns = slices->start_ns[row],
							   .to_ns = ss_slice_end(slices, row) });
}

/* Claims that change nothing show small_buckets_judge() which all-reduces are unnecessary. */
static uint32_t buckets_mark_pass(struct bucket_search *buckets,
				  const struct ss_gradient_pass *pass)
{
	struct ss_rule_context *context = buckets->context;
	uint32_t marked = 0;
	int64_t filled = 0;

	for (uint32_t i = 0; i < pass->count; i++) {
		const struct ss_gradient *gradient = &buckets->gradients->items[pass->first + i];
		uint32_t task = ss_gradient_task(gradient, context);

		if (gradient->is_integer || !bucket_joins_next(buckets, pass, i, &filled) ||
		    task == SS_NO_TASK)
			continue;
		if (!ss_rule_claim(context, (struct ss_claim){ .task = task,
							       .own_ns = INT64_MAX,
							       .low_ns = INT64_MAX,
							       .high_ns = INT64_MAX }))
			continue;
		bucket_claim_request(context, gradient->launch);
		marked++;
	}
	return marked;
}

/* Marks the passes with too many buckets, and reports how many there would be. */
static void buckets_check_passes(struct bucket_search *buckets)
{
	const struct ss_gradients *gradients = buckets->gradients;
	uint32_t passes = 0, reduces = 0, kept = 0;

	for (uint32_t i = 0; i < gradients->pass_count; i++) {
		const struct ss_gradient_pass *pass = &gradients->passes[i];
		uint32_t count = buckets_count_reduces(buckets, pass),
			 surplus = buckets_count_excess(buckets, pass);

		if (surplus < SURPLUS_MIN || count < TIMES_TOO_MANY * (count - surplus) ||
		    !buckets_mark_pass(buckets, pass))
			continue;
		passes++;
		reduces += count;
		kept += count - surplus;
	}
	if (!passes)
		return;
	ss_rule_add_figure(buckets->context, FIGURE_COUNT, reduces);
	ss_rule_add_figure(buckets->context, FIGURE_BYTES, (double)buckets->bytes * passes);
	ss_rule_add_evidence(
		buckets->context, (struct ss_fact){ .row = SS_NO_ROW },
		"backward sends gradients in %u all-reduces; with buckets of 25 MB it would be %u",
		(reduces + passes / 2) / passes, (kept + passes / 2) / passes);
	ss_rule_set_confidence(
		buckets->context, SS_CONFIDENCE_MEDIUM,
		gradients->passes[0].bytes < 0
			? "sizes are not recorded; copies look like small buckets"
			: "the time of a larger bucket is estimated from the smaller ones");
}

static enum ss_status small_buckets_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct bucket_search buckets = { .context = context };

	SS_TRY(ss_rule_gradients(context, &buckets.gradients, err));
	if (!buckets.gradients->pass_count)
		return SS_OK;
	if (!buckets_find_bytes(&buckets))
		return ss_fail_memory(err, "the sizes of buckets");
	if (buckets.bytes >= 0)
		buckets_check_passes(&buckets);
	return SS_OK;
}

/* --- all ranks ----------------------------------------------------------------------------- */

struct bucket_sample {
	int64_t bytes, own_ns;
	uint32_t rank, task;
};

struct bucket_fit {
	struct ss_judgement *judgement;
	struct bucket_sample *samples; /* by size */
	uint32_t count;
	double ns_per_byte; /* below 0: sizes do not show it */
};

SS_COMPARATOR(sample_compare_bytes, struct bucket_sample,
	      SS_ASCENDING(bytes) SS_ASCENDING(own_ns) SS_ASCENDING(rank) SS_ASCENDING(task))

/* The median time of some samples; `scratch` has a place for each. */
static double sample_median_ns(const struct bucket_sample *samples, uint32_t count,
			       int64_t *scratch)
{
	for (uint32_t i = 0; i < count; i++)
		scratch[i] = samples[i].own_ns;
	SS_SORT(scratch, count, ss_sort_compare_int64);
	return (double)scratch[count / 2];
}

/* Adds the marked transfers of a rank, with the sizes of their collectives. False: no memory. */
static bool bucket_add_samples(struct bucket_fit *fit, uint32_t rank)
{
	const struct ss_judgement *judgement = fit->judgement;
	const struct ss_rank_findings *findings = judgement->rank_findings[rank];
	const struct ss_found_part *part = &findings->parts[judgement->number];
	const struct ss_packed *graph = &judgement->graphs[rank];
	const struct ss_digest *digest = judgement->joined ? &judgement->joined->ranks[rank] : NULL;
	SS_SCRATCH(scratch, fit->judgement->diagnosis->memory);
	int64_t *bytes;

	if (!SS_ALLOC(&scratch, bytes, (size_t)graph->task_count + 1))
		return false;
	for (uint32_t i = 0; digest && i < digest->arrival_count; i++) {
		uint32_t task = ss_packed_comm_of(graph, digest->arrivals[i].row);

		if (task != SS_NO_TASK)
			bytes[task + 1] = digest->arrivals[i].bytes;
	}
	for (uint32_t i = part->claim_from; i < part->claim_to; i++) {
		uint32_t task = findings->claims[i].task;

		if (ss_packed_kind(graph, task) != SS_TASK_TRANSFER)
			continue;
		fit->samples[fit->count++] = (struct bucket_sample){ .bytes = bytes[task],
								     .own_ns = ss_packed_own(graph,
											     task),
								     .rank = rank,
								     .task = task };
	}
	return true;
}

/* Compares the medians of the larger and the smaller third: no single time decides. */
static bool bucket_fit_rate(struct bucket_fit *fit, struct ss_arena *arena)
{
	uint32_t third = fit->count / 3;
	const struct bucket_sample *small = fit->samples,
				   *large = fit->samples + fit->count - third;
	int64_t *scratch = SS_ARENA_NEW(arena, int64_t, (size_t)third + 1);
	double bytes;

	fit->ns_per_byte = -1;
	if (!scratch)
		return false;
	SS_SORT(fit->samples, fit->count, sample_compare_bytes);
	if (!third || small[0].bytes <= 0 ||
	    large[third / 2].bytes < SPREAD * small[third / 2].bytes)
		return true;
	bytes = (double)(large[third / 2].bytes - small[third / 2].bytes);
	fit->ns_per_byte = (sample_median_ns(large, third, scratch) -
			    sample_median_ns(small, third, scratch)) /
			   bytes;
	if (fit->ns_per_byte < 0)
		fit->ns_per_byte = 0;
	return true;
}

/* What remains of a transfer in a larger bucket: the time of its bytes. */
static int64_t bucket_remaining_ns(const struct bucket_fit *fit, const struct bucket_sample *sample)
{
	double count = ss_judgement_figure(fit->judgement, sample->rank, FIGURE_COUNT);
	double bytes = ss_judgement_figure(fit->judgement, sample->rank, FIGURE_BYTES) / count;
	double left_ns = fit->ns_per_byte < 0
				 ? (double)sample->own_ns * bytes / (bytes + HALF_BYTES)
				 : fit->ns_per_byte * (double)sample->bytes;

	return left_ns < (double)sample->own_ns ? (int64_t)left_ns : sample->own_ns;
}

static bool buckets_have_all_ranks(const struct ss_judgement *judgement)
{
	const struct ss_joined *joined = judgement->joined;

	return joined && judgement->rank_count == joined->rank_count &&
	       joined->ranks[0].world_size <= (int64_t)joined->rank_count;
}

/* Claims the latency that larger buckets avoid, and reports it. */
static void buckets_report(struct bucket_fit *fit)
{
	struct ss_judgement *judgement = fit->judgement;
	struct ss_finding *finding = ss_judgement_add(judgement, SS_NO_ROW, NULL);
	int64_t gone_ns = 0, steps = 0;

	for (uint32_t i = 0; finding && i < judgement->rank_count; i++)
		if (ss_judgement_count_claims(judgement, i)) {
			ss_judgement_take_rank(judgement, finding, i);
			steps += judgement->graphs[i].step_count;
		}
	for (uint32_t i = 0; finding && i < fit->count && !judgement->failed; i++) {
		const struct bucket_sample *sample = &fit->samples[i];
		int64_t left_ns = bucket_remaining_ns(fit, sample);
		struct ss_claim claim = { .task = sample->task,
					  .own_ns = left_ns,
					  .low_ns = left_ns + (sample->own_ns - left_ns) / 2,
					  .high_ns = left_ns };

		if (ss_judgement_claim(judgement, finding, sample->rank, claim))
			gone_ns = ss_ns_sum(gone_ns, sample->own_ns - left_ns);
	}
	if (finding && !buckets_have_all_ranks(judgement)) {
		finding->confidence = SS_CONFIDENCE_LOW;
		finding->reason = "one rank alone: waiting looks like latency";
	}
	if (finding && steps)
		ss_judgement_add_evidence(
			judgement, finding, gone_ns / steps,
			"the all-reduces that larger buckets avoid have a latency of "
			"{time} per step and rank");
}

static enum ss_status small_buckets_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	struct bucket_fit fit = { .judgement = judgement };
	size_t count = 0;

	for (uint32_t i = 0; i < judgement->rank_count; i++)
		count += ss_judgement_count_claims(judgement, i);
	if (!count)
		return SS_OK;
	if (!SS_ALLOC(judgement->scratch, fit.samples, count))
		return ss_fail_memory(err, "the buckets");
	for (uint32_t i = 0; i < judgement->rank_count; i++)
		if (ss_judgement_count_claims(judgement, i) && !bucket_add_samples(&fit, i))
			return ss_fail_memory(err, "the buckets");
	if (!bucket_fit_rate(&fit, judgement->scratch))
		return ss_fail_memory(err, "the buckets");
	buckets_report(&fit);
	return SS_OK;
}

const struct ss_rule ss_rule_small_buckets = {
	.name = "small-buckets",
	.title = "Gradients are all-reduced in many small buckets",
	.summary = "More all-reduces per backward than the gradients need: each adds latency",
	.fix = "model = DDP(model, bucket_cap_mb=25)   # the default; slow nets: larger",
	.to_record = NULL,
	.views = "communication collectives",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "one number to change: 3 % is worth that; below 1 % steps differ by more",
	.look = small_buckets_look,
	.judge = small_buckets_judge,
};
