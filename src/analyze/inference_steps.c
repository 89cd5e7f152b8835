/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inference_steps.c - names of engines' ranges, then the ranges, then the devices.
 */
#include <string.h>

#include "analyze/host/step_phase.h"
#include "analyze/inference_steps.h"
#include "analyze/time/cover.h"
#include "analyze/time/moment.h"
#include "analyze/time/roles.h"
#include "base/search.h"
#include "base/sort.h"

static const char *const inference_kind_names[] = {
	[SS_INFERENCE_PREFILL] = "prefill",
	[SS_INFERENCE_DECODE] = "decode",
	[SS_INFERENCE_MIXED] = "mixed",
	[SS_INFERENCE_UNKNOWN] = "unknown",
};

const char *ss_inference_kind_name(enum ss_inference_kind kind)
{
	return inference_kind_names[kind];
}

/* --- names -------------------------------------------------------------------- */

/* The number at the text, or -1; more than a step can have counts as none. */
static int64_t step_number_at(const char *text)
{
	int64_t value = 0;

	if (*text < '0' || *text > '9')
		return -1;
	for (; *text >= '0' && *text <= '9'; text++) {
		value = 10 * value + (*text - '0');
		if (value > INT32_MAX)
			return -1;
	}
	return value;
}

/* The number after the mark, or -1. */
static int64_t step_number_after(const char *name, const char *mark)
{
	const char *at = strstr(name, mark);

	return at ? step_number_at(at + strlen(mark)) : -1;
}

/*
 * "context_2(16)", "context_1(888_788544)", "context_15(sq15360sk15360...)": requests
 * and, first in the brackets, their tokens.
 */
static bool vllm_read_requests(const char *name, const char *mark, int64_t *requests,
			       int64_t *tokens)
{
	const char *at = strstr(name, mark);

	if (!at)
		return false;
	at += strlen(mark);
	*requests = step_number_at(at);
	at += strspn(at, "0123456789");
	if (strncmp(at, "(sq", 3) == 0)
		*tokens = step_number_at(at + 3);
	else
		*tokens = *at == '(' ? step_number_at(at + 1) : -1;
	return *requests >= 0;
}

static void vllm_read_step(const char *name, struct ss_inference_step *out)
{
	int64_t contexts, generations, context_tokens, generated_tokens;

	if (!vllm_read_requests(name, "context_", &contexts, &context_tokens) ||
	    !vllm_read_requests(name, "generation_", &generations, &generated_tokens))
		return;
	out->batch = contexts + generations;
	out->context_tokens = context_tokens;
	out->generated_tokens = generated_tokens;
	if (contexts && generations)
		out->kind = SS_INFERENCE_MIXED;
	else if (contexts || generations)
		out->kind = contexts ? SS_INFERENCE_PREFILL : SS_INFERENCE_DECODE;
}

/* "step[EXTEND bs=15 toks=15360]": by the names of SGLang's forward modes. */
static void sglang_read_step(const char *name, struct ss_inference_step *out)
{
	int64_t tokens = step_number_after(name, "toks=");
	const char *mode = name + strlen("step[");

	out->batch = step_number_after(name, "bs=");
	if (strncmp(mode, "DECODE", 6) == 0) {
		out->kind = SS_INFERENCE_DECODE;
		/* one token per request in this mode; speculative decoding has its own modes */
		out->generated_tokens = tokens >= 0 ? tokens : out->batch;
	} else if (strncmp(mode, "EXTEND", 6) == 0 || strncmp(mode, "PREFILL", 7) == 0) {
		out->kind = SS_INFERENCE_PREFILL;
		out->context_tokens = tokens;
	} else if (strncmp(mode, "MIXED", 5) == 0) {
		/* prefill and decode; the name does not say how many tokens of each */
		out->kind = SS_INFERENCE_MIXED;
	}
}

bool ss_inference_step_read(const char *name, struct ss_inference_step *out)
{
	*out = (struct ss_inference_step){ .kind = SS_INFERENCE_UNKNOWN,
					   .batch = -1,
					   .context_tokens = -1,
					   .generated_tokens = -1,
					   .kernels = -1,
					   .graph_launches = -1,
					   .busy_ns = -1,
					   .gap_ns = -1 };
	if (strncmp(name, "step[", 5) == 0)
		sglang_read_step(name, out);
	else if (strncmp(name, "execute_", 8) == 0)
		vllm_read_step(name, out);
	else
		return false;
	return true;
}

/* --- ranges ------------------------------------------------------------------- */

/* By start, the outer range before the inner. */
SS_COMPARATOR(inference_step_compare, struct ss_inference_step,
	      SS_ASCENDING(host_start_ns) SS_DESCENDING(host_end_ns) SS_ASCENDING(name))

/* If the outer range does not say its kind, the inner one may. */
static void step_adopt_inner(struct ss_inference_step *outer, const struct ss_inference_step *inner)
{
	struct ss_inference_step whole = *inner;

	if (outer->kind != SS_INFERENCE_UNKNOWN || inner->kind == SS_INFERENCE_UNKNOWN)
		return;
	whole.host_start_ns = whole.start_ns = outer->host_start_ns;
	whole.host_end_ns = whole.end_ns = outer->host_end_ns;
	*outer = whole;
}

/* The outermost ranges of engines; ranges inside them only say what the outer ones do not. */
static bool engine_ranges_find(const struct ss_trace *trace, struct ss_arena *arena,
			       struct ss_inference_steps *out)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t most = 0, kept = 0;

	for (uint32_t row = 0; row < trace->device_from; row++)
		most += slices->kind[row] == SS_KIND_ANNOTATION &&
			(ss_slice_flags(trace, row) & SS_NAME_STEP_LIKE);
	if (!SS_ALLOC(arena, out->items, (size_t)most + trace->steps.count + 1))
		return false;
	for (uint32_t row = 0; most && row < trace->device_from; row++) {
		struct ss_inference_step *pass = &out->items[out->count];

		if (slices->kind[row] != SS_KIND_ANNOTATION ||
		    !(ss_slice_flags(trace, row) & SS_NAME_STEP_LIKE) ||
		    !ss_inference_step_read(ss_strings_text(&trace->names, slices->name[row]),
					    pass))
			continue;
		pass->name = slices->name[row];
		pass->start_ns = pass->host_start_ns = slices->start_ns[row];
		pass->end_ns = pass->host_end_ns = ss_slice_end(slices, row);
		out->count++;
	}
	SS_SORT(out->items, out->count, inference_step_compare);
	for (uint32_t i = 0; i < out->count; i++) {
		if (kept && out->items[i].host_end_ns <= out->items[kept - 1].host_end_ns)
			step_adopt_inner(&out->items[kept - 1], &out->items[i]);
		else
			out->items[kept++] = out->items[i];
	}
	out->count = kept;
	out->by_engine = kept;
	return true;
}

/* Whether an operator that computes ran in a measured step. */
static bool operators_run_in_steps(const struct ss_phases *phases)
{
	const struct ss_trace *trace = phases->trace;

	for (uint32_t row = 0; row < phases->row_count; row++)
		if (trace->slices.kind[row] == SS_KIND_OP &&
		    phases->phase[row] == SS_PHASE_FORWARD &&
		    !(ss_slice_flags(trace, row) & (SS_NAME_COMM_OP | SS_NAME_COMM_RANGE)) &&
		    ss_step_at(trace, trace->slices.start_ns[row]) != SS_NO_ROW)
			return true;
	return false;
}

/* The steps of the profiler, if operators ran in them and nothing was trained. */
static enum ss_status profiler_steps_find(struct ss_facts *facts, struct ss_inference_steps *out,
					  struct ss_error *err)
{
	const struct ss_trace *trace = facts->trace;
	const struct ss_phases *phases;
	bool trains, works;

	if (trace->steps.anchor != SS_STEPS_PROFILER)
		return SS_OK;
	SS_TRY(ss_facts_phases(facts, &phases, err));
	trains = phases->has[SS_PHASE_BACKWARD] || phases->has[SS_PHASE_OPTIMIZER];
	works = !trains && operators_run_in_steps(phases);
	for (uint32_t i = 0; works && i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];
		struct ss_inference_step *pass = &out->items[out->count];

		if (step->dropped)
			continue;
		(void)ss_inference_step_read("", pass);
		pass->name = step->name;
		pass->start_ns = step->start_ns;
		pass->end_ns = step->end_ns;
		pass->host_start_ns = step->host_start_ns;
		pass->host_end_ns = step->host_end_ns;
		out->count++;
	}
	return SS_OK;
}

/* --- devices ------------------------------------------------------------------ */

struct ss_inference_step *ss_inference_step_at(const struct ss_inference_steps *passes,
					       int64_t host_ns)
{
	uint32_t low = 0, high = passes->count;

	SS_SEARCH(low, high, at, passes->items[at].host_start_ns <= host_ns);
	return low && passes->items[low - 1].host_end_ns > host_ns ? &passes->items[low - 1] : NULL;
}

/*
 * Counts what each step launched, extends the ranges of engines to the end of that work, and
 * lets each begin no earlier than the one before ends. Steps of the profiler already do.
 */
static void inference_count_launches(const struct ss_trace *trace,
				     struct ss_inference_steps *passes)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t i = 0; i < passes->count; i++)
		passes->items[i].graph_launches = 0;
	for (uint32_t i = 0; i < passes->count && trace->has_launches; i++)
		passes->items[i].kernels = 0;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = slices->link[row];
		struct ss_inference_step *pass;

		if (!ss_kind_on_device(slices->kind[row]) || launch == SS_NO_ROW)
			continue;
		pass = ss_inference_step_at(passes, slices->start_ns[launch]);
		if (!pass)
			continue;
		pass->kernels += ss_kind_is_kernel(slices->kind[row]);
		if (passes->by_engine && ss_slice_end(slices, row) > pass->end_ns)
			pass->end_ns = ss_slice_end(slices, row);
	}
	for (uint32_t row = 0; row < trace->device_from; row++) {
		struct ss_inference_step *pass;

		if (!ss_kind_is_call(slices->kind[row]) ||
		    !(ss_slice_flags(trace, row) & SS_NAME_GRAPH_LAUNCH))
			continue;
		pass = ss_inference_step_at(passes, slices->start_ns[row]);
		if (pass)
			pass->graph_launches++;
	}
	for (uint32_t i = 1; i < passes->count; i++) {
		struct ss_inference_step *pass = &passes->items[i];

		if (pass->start_ns < pass[-1].end_ns)
			pass->start_ns = pass[-1].end_ns;
		if (pass->end_ns < pass->start_ns)
			pass->end_ns = pass->start_ns;
	}
}

/* Moments in which at least one device was busy. */
static bool any_device_busy(const struct ss_trace *trace, struct ss_cover *busy)
{
	struct ss_cover_pile pile = { 0 };
	int64_t device = INT64_MIN;

	while (ss_device_next(trace, device, &device)) {
		struct ss_device_cover own;

		if (!ss_device_cover_init(&own, trace, device, busy->memory))
			busy->failed = true;
		ss_cover_pile_add(&pile, &own.compute);
		ss_cover_pile_add(&pile, &own.comm);
		ss_cover_pile_add(&pile, &own.copies);
		ss_device_cover_release(&own);
	}
	ss_cover_pile_finish(&pile, busy);
	return !busy->failed;
}

/* Splits the busy time over steps and the gaps between them: gap 0, step 0, gap 1, ... */
static bool inference_split_busy(const struct ss_cover *busy, struct ss_arena *arena,
				 struct ss_inference_steps *passes)
{
	size_t size = 2 * (size_t)passes->count + 1;
	struct ss_cover parts = { .items = SS_ARENA_NEW(arena, struct ss_interval, size) };
	int64_t *sums = SS_ARENA_NEW(arena, int64_t, size);

	if (!parts.items || !sums)
		return false;
	for (uint32_t i = 0; i < passes->count; i++) {
		const struct ss_inference_step *pass = &passes->items[i];
		int64_t before_ns = i ? pass[-1].end_ns : pass->start_ns;

		parts.items[parts.count++] = (struct ss_interval){ before_ns, pass->start_ns };
		parts.items[parts.count++] = (struct ss_interval){ pass->start_ns, pass->end_ns };
	}
	ss_cover_share(busy, &parts, sums);
	for (uint32_t i = 0; i < passes->count; i++) {
		struct ss_inference_step *pass = &passes->items[i];

		pass->busy_ns = sums[2 * (size_t)i + 1];
		if (i)
			pass->gap_ns = pass->start_ns - pass[-1].end_ns - sums[2 * (size_t)i];
	}
	return true;
}

enum ss_status ss_inference_steps_find(struct ss_facts *facts, struct ss_arena *arena,
				       struct ss_inference_steps *out, struct ss_error *err)
{
	const struct ss_trace *trace = facts->trace;
	struct ss_cover busy;
	bool whole = true;

	*out = (struct ss_inference_steps){ 0 };
	if (!engine_ranges_find(trace, arena, out))
		return ss_fail_memory(err, "the inference steps");
	if (!out->count)
		SS_TRY(profiler_steps_find(facts, out, err));
	if (!out->count || trace->device_from == trace->device_to)
		return SS_OK;
	inference_count_launches(trace, out);
	ss_cover_init(&busy, arena->memory);
	whole = any_device_busy(trace, &busy) && inference_split_busy(&busy, arena, out);
	ss_cover_release(&busy);
	return whole ? SS_OK : ss_fail_memory(err, "the inference steps");
}
