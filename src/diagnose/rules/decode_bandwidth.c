/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_bandwidth.c - rule: decoding is limited by reading the weights.
 *
 * A decode step multiplies a few rows with every weight of the model: it reads the weights once,
 * however many sequences share the step. If the products already read at most of the memory
 * bandwidth, no kernel makes them much faster; fewer bytes or more sequences per step do. The
 * rule reports that and claims no time.
 */
#include "analyze/inference_steps.h"
#include "analyze/work/peaks.h"
#include "diagnose/rule.h"

/* Share of the peak memory bandwidth: good kernels reach 60 to 90 %. */
#define RATE_PART 0.5

/* Share of the decode kernels' time: with less, something else needs attention first. */
#define PRODUCTS_PART 0.5

struct decode_sums {
	int64_t passes, busy_ns, product_ns;
	double bytes;
};

static bool decode_has_passes(const struct ss_inference_steps *passes)
{
	for (uint32_t i = 0; i < passes->count; i++)
		if (passes->items[i].kind == SS_INFERENCE_DECODE)
			return true;
	return false;
}

/* Sums time and bytes of the matmuls in decode steps. */
static struct decode_sums decode_measure(const struct ss_inference_steps *passes,
					 const struct ss_works *works)
{
	const struct ss_slices *slices = &works->ops->trace->slices;
	struct decode_sums decode = { 0 };

	for (uint32_t i = 0; i < passes->count; i++)
		if (passes->items[i].kind == SS_INFERENCE_DECODE) {
			decode.passes++;
			decode.busy_ns = ss_ns_sum(decode.busy_ns, passes->items[i].busy_ns);
		}
	for (uint32_t i = 0; i < works->worker_count; i++) {
		const struct ss_worker *worker = &works->workers[i];
		const struct ss_work *work = ss_works_item(works, worker);
		const struct ss_inference_step *pass;

		if (!work || work->kind != SS_WORK_MATMUL || !work->has_bytes ||
		    worker->device_ns <= 0)
			continue;
		pass = ss_inference_step_at(passes, slices->start_ns[worker->row]);
		if (!pass || pass->kind != SS_INFERENCE_DECODE)
			continue;
		decode.product_ns = ss_ns_sum(decode.product_ns, worker->device_ns);
		decode.bytes += work->moved_bytes;
	}
	return decode;
}

static const struct ss_peaks *decode_device_peaks(const struct ss_rule_context *context)
{
	const struct ss_trace_info *info = &context->trace->info;

	for (uint32_t i = info->device_count; i-- > 0;)
		if (i == 0 || info->devices[i].id == context->digest->device)
			return ss_peaks_find(
				ss_strings_text(&context->trace->texts, info->devices[i].name));
	return NULL;
}

static enum ss_status decode_bandwidth_look(struct ss_rule_context *context, struct ss_error *err)
{
	const struct ss_peaks *peaks = decode_device_peaks(context);
	struct ss_inference_steps passes = { 0 };
	const struct ss_works *works;
	struct decode_sums decode;

	if (!peaks || peaks->gb_per_s <= 0)
		return SS_OK;
	SS_TRY(ss_inference_steps_find(context->subject->facts, context->scratch, &passes, err));
	if (!decode_has_passes(&passes))
		return SS_OK;
	SS_TRY(ss_facts_works(context->subject->facts, &works, err));
	decode = decode_measure(&passes, works);
	if (decode.product_ns <= 0 ||
	    (double)decode.product_ns < PRODUCTS_PART * (double)decode.busy_ns ||
	    decode.bytes / (double)decode.product_ns < RATE_PART * peaks->gb_per_s)
		return SS_OK;
	ss_rule_add_evidence(context,
			     (struct ss_fact){ decode.product_ns, (double)decode.passes,
					       SS_NO_ROW },
			     "decode products read memory at more than half of the peak bandwidth: "
			     "{time} per step");
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "computed from the sizes and the GPU's peak rates");
	return SS_OK;
}

const struct ss_rule ss_rule_decode_bandwidth = {
	.name = "decode-bandwidth",
	.title = "Decoding is limited by reading the weights",
	.summary = "Decode steps whose products run at memory bandwidth",
	.fix = "# fewer bytes: weights in fp8 or int4 (quantization=...)\n"
	       "# more sequences per step: a larger batch (max_num_seqs)\n"
	       "# fewer steps: speculative decoding",
	.to_record = "record_shapes=True records the sizes; CUDA graphs hide the operators",
	.views = "inference roofline",
	.warn_share = 0,
	.silent_share = 0,
	.why = "nothing is wrong: the finding says what is worth trying",
	.is_timeless = true,
	.rare_facts = SS_FACT_WORKS,
	.needs_device = true,
	.look = decode_bandwidth_look,
};
