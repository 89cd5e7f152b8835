/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inference.c - view: inference steps: prefill and decode, batch, tokens, duration, busy
 * time, and the gaps between steps.
 *
 * Steps are the ranges of inference engines: "step[DECODE bs=32]" of SGLang,
 * "execute_context_2(16)_generation_62(62)" of vLLM and its forks; without them, the
 * profiler's steps of a file without training. A step ends with the last work launched in
 * it and begins no earlier than the end of the previous step.
 */

#include "analyze/inference_steps.h"
#include "base/median.h"
#include "view/view.h"

enum { GROUP_STEP, GROUP_KIND };

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the inference step in the file, from 0", 0 },
	{ "kind", SS_COLUMN_TEXT, "prefill, decode or mixed; unknown if no range shows it", 0 },
	{ "steps", SS_COLUMN_COUNT, "steps of this kind", 0 },
	{ "batch", SS_COLUMN_COUNT, "number of requests in the step", 0 },
	{ "batch_mean", SS_COLUMN_NUMBER, "mean number of requests per step", 0 },
	{ "tokens", SS_COLUMN_COUNT, "tokens processed: prompt tokens and generated tokens", 0 },
	{ "context_tokens", SS_COLUMN_COUNT, "prompt tokens", SS_COLUMN_DETAIL },
	{ "generated_tokens", SS_COLUMN_COUNT, "generated tokens", SS_COLUMN_DETAIL },
	{ "tokens_per_s", SS_COLUMN_NUMBER, "tokens per second of step time", 0 },
	{ "dur_ns", SS_COLUMN_NS, "effective duration of the step", SS_COLUMN_LENGTH },
	{ "total_ns", SS_COLUMN_NS, "sum of the durations", SS_COLUMN_DETAIL },
	{ "mean_ns", SS_COLUMN_NS, "mean duration", SS_COLUMN_DETAIL },
	{ "median_ns", SS_COLUMN_NS, "half of the steps are at most this long", 0 },
	{ "p99_ns", SS_COLUMN_NS, "99 % of the steps are at most this long", 0 },
	{ "busy_ns", SS_COLUMN_NS, "time in which at least one device was busy", SS_COLUMN_DETAIL },
	{ "idle_ns", SS_COLUMN_NS,
	  "time in which no device was busy; busy_ns and idle_ns add up to the duration",
	  SS_COLUMN_DETAIL },
	{ "busy_percent", SS_COLUMN_PERCENT, "share of the duration in which a device was busy",
	  SS_COLUMN_BAR },
	{ "gap_before_ns", SS_COLUMN_NS,
	  "time between the previous step and this one in which no device was busy", 0 },
	{ "kernels", SS_COLUMN_COUNT, "kernels launched in the step", SS_COLUMN_DETAIL },
	{ "graph_launches", SS_COLUMN_COUNT, "CUDA or HIP graph launches in the step",
	  SS_COLUMN_DETAIL },
	{ "start_ns", SS_COLUMN_NS, "effective start, from the first event of the file",
	  SS_COLUMN_DETAIL | SS_COLUMN_MOMENT },
	{ "name", SS_COLUMN_TEXT, "name of the range in the trace",
	  SS_COLUMN_DETAIL | SS_COLUMN_SLICES },
};

/* One kind of step. */
struct inference_tally {
	int64_t steps, batched, batch, tokens, context, generated;
	int64_t dur_ns, busy_ns, gap_ns, kernels, graphs;
	int64_t token_ns; /* of steps whose tokens are known */
};

static void inference_skip_columns(struct ss_table *out, int count)
{
	while (count--)
		ss_row_null(out);
}

/* Adds a known value; a sum is unknown (-1) until it has one. */
static void add_if_known(int64_t *sum, int64_t value)
{
	if (value >= 0)
		*sum = (*sum < 0 ? 0 : *sum) + value;
}

static void inference_add_busy(struct ss_table *out, int64_t dur_ns, int64_t busy_ns)
{
	if (busy_ns < 0) {
		inference_skip_columns(out, 3);
		return;
	}
	ss_row_int(out, busy_ns);
	ss_row_int(out, dur_ns - busy_ns);
	ss_row_share(out, (double)busy_ns, (double)dur_ns);
}

static void inference_add_rate(struct ss_table *out, int64_t tokens, int64_t dur_ns)
{
	if (tokens < 0)
		ss_row_null(out);
	else
		ss_row_rate(out, (double)tokens * 1e9, (double)dur_ns);
}

static void inference_add_step(const struct ss_trace *trace, uint32_t step,
			       const struct ss_inference_step *pass, struct ss_table *out)
{
	int64_t dur_ns = pass->end_ns - pass->start_ns;
	int64_t tokens = -1;

	add_if_known(&tokens, pass->context_tokens);
	add_if_known(&tokens, pass->generated_tokens);
	ss_row_begin(out);
	ss_row_int(out, step);
	ss_row_text(out, ss_inference_kind_name(pass->kind));
	ss_row_null(out);
	ss_row_int_known(out, pass->batch);
	ss_row_null(out);
	ss_row_int_known(out, tokens);
	ss_row_int_known(out, pass->context_tokens);
	ss_row_int_known(out, pass->generated_tokens);
	inference_add_rate(out, tokens, dur_ns);
	ss_row_int(out, dur_ns);
	inference_skip_columns(out, 4);
	inference_add_busy(out, dur_ns, pass->busy_ns);
	ss_row_int_known(out, pass->gap_ns);
	ss_row_int_known(out, pass->kernels);
	ss_row_int_known(out, pass->graph_launches);
	ss_row_int(out, pass->start_ns);
	ss_row_text(out, ss_strings_text(&trace->names, pass->name));
	ss_row_end(out);
}

/* The shortest duration that `percent` of the durations do not exceed. */
static int64_t duration_percentile(int64_t *durations, int64_t count, int64_t percent)
{
	return ss_nth_smallest(durations, (size_t)count,
			       (size_t)((count * percent + 99) / 100 - 1));
}

/* Adds a step to its kind; what is not recorded stays -1 until one step has it. */
static void inference_tally_step(struct inference_tally *tally,
				 const struct ss_inference_step *pass)
{
	int64_t dur_ns = pass->end_ns - pass->start_ns;

	tally->steps++;
	tally->batched += pass->batch >= 0;
	add_if_known(&tally->batch, pass->batch);
	add_if_known(&tally->context, pass->context_tokens);
	add_if_known(&tally->generated, pass->generated_tokens);
	add_if_known(&tally->tokens, pass->context_tokens);
	add_if_known(&tally->tokens, pass->generated_tokens);
	if (pass->context_tokens >= 0 || pass->generated_tokens >= 0)
		ss_ns_add(&tally->token_ns, dur_ns);
	ss_ns_add(&tally->dur_ns, dur_ns);
	add_if_known(&tally->busy_ns, pass->busy_ns);
	add_if_known(&tally->gap_ns, pass->gap_ns);
	add_if_known(&tally->kernels, pass->kernels);
	add_if_known(&tally->graphs, pass->graph_launches);
}

static void inference_add_kind(const struct ss_inference_steps *passes, enum ss_inference_kind kind,
			       int64_t *durations, struct ss_table *out)
{
	struct inference_tally tally = { .batch = -1,
					 .tokens = -1,
					 .context = -1,
					 .generated = -1,
					 .busy_ns = -1,
					 .gap_ns = -1,
					 .kernels = -1,
					 .graphs = -1 };

	for (uint32_t i = 0; i < passes->count; i++) {
		const struct ss_inference_step *pass = &passes->items[i];

		if (pass->kind != kind)
			continue;
		durations[tally.steps] = pass->end_ns - pass->start_ns;
		inference_tally_step(&tally, pass);
	}
	if (!tally.steps)
		return;
	ss_row_begin(out);
	ss_row_null(out);
	ss_row_text(out, ss_inference_kind_name(kind));
	ss_row_int(out, tally.steps);
	ss_row_null(out);
	ss_row_rate(out, (double)tally.batch, (double)tally.batched);
	ss_row_int_known(out, tally.tokens);
	ss_row_int_known(out, tally.context);
	ss_row_int_known(out, tally.generated);
	inference_add_rate(out, tally.tokens, tally.token_ns);
	ss_row_null(out);
	ss_row_int(out, tally.dur_ns);
	ss_row_int(out, (tally.dur_ns + tally.steps / 2) / tally.steps);
	ss_row_int(out, duration_percentile(durations, tally.steps, 50));
	ss_row_int(out, duration_percentile(durations, tally.steps, 99));
	inference_add_busy(out, tally.dur_ns, tally.busy_ns);
	ss_row_int_known(out, tally.gap_ns);
	ss_row_int_known(out, tally.kernels);
	ss_row_int_known(out, tally.graphs);
	inference_skip_columns(out, 2);
	ss_row_end(out);
}

static enum ss_status inference_run(const struct ss_subject *subject, struct ss_table *out,
				    struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct ss_inference_steps passes;
	int64_t *durations;

	SS_TRY(ss_inference_steps_find(subject->facts, out->arena, &passes, err));
	if (!SS_ALLOC(out->arena, durations, (size_t)passes.count + 1))
		return ss_fail_memory(err, "the inference steps");
	if (subject->group == GROUP_KIND)
		for (int kind = 0; kind < SS_INFERENCE_KINDS; kind++)
			inference_add_kind(&passes, (enum ss_inference_kind)kind, durations, out);
	for (uint32_t i = 0; subject->group == GROUP_STEP && i < passes.count; i++)
		inference_add_step(trace, i, &passes.items[i], out);
	if (passes.count && !passes.by_engine)
		ss_table_note(out, "The file has no ranges of an inference engine. The steps are "
				   "those of the profiler, without backward and optimizer; batch "
				   "and tokens are not recorded.");
	return SS_OK;
}

const struct ss_view ss_view_inference = {
	.name = "inference",
	.summary = "Inference: prefill and decode steps, batch, tokens, busy time",
	.empty = "No inference steps: no vLLM or SGLang ranges; the run trains or has no "
		 "ProfilerStep.",
	SS_TABLE_COLUMNS(columns),
	.sums = "steps tokens context_tokens generated_tokens dur_ns total_ns "
		"busy_ns idle_ns kernels graph_launches",
	.basis = SS_BASIS_STEP,
	.bases = { [GROUP_KIND] = SS_BASIS_FILE },
	.groups = { "step", "kind" },
	.run = inference_run,
};
