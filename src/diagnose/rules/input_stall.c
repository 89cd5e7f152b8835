/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_stall.c - rule: the training thread waits for its next batch.
 *
 * It measures the time in the DataLoader's __next__ on the thread that runs the steps. If the
 * loader keeps up, the batch is ready and __next__ takes as long as the fastest one in this file.
 * A loader that prepares batches in __next__ itself needs workers; recorded frames name the
 * functions that take its time.
 *
 * Programs without a DataLoader prepare their batches in a function of their own. The rule knows
 * it by its name (get_batch, tokenize, preprocess; checkpoints_and_logging.h) and by what it does
 * not contain: training, and work for the device.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/evidence/input_functions.h"
#include "diagnose/rule.h"

/*
 * What it takes to get a batch that is ready: a queue between processes, unpickling, handles of
 * shared memory. Measured: 0.1 to 0.3 ms if workers keep up.
 */
#define READY_NS 200000

/*
 * Large batches take longer, and so do loaded machines: the fastest call of the file says how long,
 * unless it is more than this share of the step, or this long: then all calls wait.
 */
#define READY_STEP_SHARE 0.05
#define READY_MAX_NS 2000000

/* Without a device workers compete with training for the cores: a batch costs about this much. */
#define READY_CPU_NS 1000000

/* Share of the time in __next__: a function with less is not worth a sentence. */
#define INNER_SHARE 0.2

static const char own_fix[] =
	"# prepare batches in the background, in workers or in a thread\n"
	"DataLoader(..., num_workers=8, persistent_workers=True)\n"
	"next_batch = pool.submit(get_batch)   # ThreadPoolExecutor(1), one ahead";

static const char few_workers_fix[] =
	"DataLoader(..., num_workers=2 * current_number, prefetch_factor=4,\n"
	"           persistent_workers=True)\n"
	"# no more workers than cores: then cheaper or cached transforms";

static const char sampler_fix[] =
	"# the sampler runs in the training process, num_workers does not help:\n"
	"# draw the indices of many steps at once, e.g.\n"
	"indices = torch.multinomial(weights, steps * batch, replacement=True)";

static const char cpu_fix[] =
	"DataLoader(..., num_workers=2, persistent_workers=True)\n"
	"# now the training process prepares batches itself (num_workers=0);\n"
	"# workers take cores from training: leave it as many threads as remain";

struct input_stall {
	struct ss_rule_context *context;
	uint32_t main;    /* track of the thread that runs the steps; SS_NO_ROW: not known */
	int64_t ready_ns; /* what remains of a __next__ */
	int64_t mean_ns;  /* of a step */
	int64_t calls, total_ns, claimed_ns;
	uint32_t longest; /* row */
	int64_t longest_ns;
	bool in_process;
	int64_t own_ns;           /* claimed of functions that are no DataLoader */
	int64_t index_ns;         /* of __next__: drawing indices */
	uint32_t index_row;       /* the longest of it */
	const uint8_t *side_work; /* enum ss_side_work, per name */
	struct ss_function_times inner;
	struct ss_code_places *sites;
};

static bool input_is_loader_call(const struct input_stall *input, uint32_t row)
{
	const struct ss_trace *trace = input->context->trace;
	uint32_t parent = trace->slices.parent[row];

	return (ss_slice_flags(trace, row) & SS_NAME_DATALOADER) &&
	       (input->main == SS_NO_ROW || trace->slices.track[row] == input->main) &&
	       (parent == SS_NO_ROW || !(ss_slice_flags(trace, parent) & SS_NAME_DATALOADER)) &&
	       ss_step_at(trace, trace->slices.start_ns[row]) != SS_NO_ROW;
}

static bool input_is_in_process(const struct ss_trace *trace, uint32_t row)
{
	return strstr(ss_strings_text(&trace->names, trace->slices.name[row]), "SingleProcess");
}

/* What a batch costs that is ready: the fastest call, or what is usual if all calls wait. */
static int64_t input_ready_ns(const struct input_stall *input, int64_t fastest_ns)
{
	const struct ss_trace *trace = input->context->trace;

	if (input->calls && input_is_in_process(trace, input->longest))
		return input->context->digest->device < 0 ? READY_CPU_NS : READY_NS;
	if (fastest_ns > READY_NS &&
	    (fastest_ns > READY_MAX_NS ||
	     (double)fastest_ns > READY_STEP_SHARE * (double)input->mean_ns))
		return READY_NS;
	return fastest_ns;
}

static void input_count_calls(struct input_stall *input)
{
	const struct ss_trace *trace = input->context->trace;
	int64_t fastest_ns = INT64_MAX;
	bool any = ss_cpu_has_name(trace, SS_NAME_DATALOADER);

	for (uint32_t row = 0; any && row < trace->device_from; row++) {
		int64_t dur_ns = trace->slices.dur_ns[row];

		if (!input_is_loader_call(input, row))
			continue;
		input->calls++;
		input->total_ns = ss_ns_sum(input->total_ns, dur_ns);
		if (dur_ns < fastest_ns)
			fastest_ns = dur_ns;
		if (input->longest == SS_NO_ROW || dur_ns > input->longest_ns) {
			input->longest_ns = dur_ns;
			input->longest = row;
		}
	}
	input->ready_ns = input_ready_ns(input, fastest_ns);
}

/* Adds the time of a __next__ in which the training process draws indices, and returns it. */
static int64_t input_add_indices(struct input_stall *input, uint32_t loader)
{
	const struct ss_trace *trace = input->context->trace;
	uint32_t end = ss_cpu_row_end(trace, loader);
	int64_t sum_ns = 0;

	for (uint32_t row = loader + 1; row < end; row++) {
		const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

		if (trace->slices.kind[row] != SS_KIND_PYTHON || !strstr(name, "): _next_index"))
			continue;
		ss_ns_add(&sum_ns, trace->slices.dur_ns[row]);
		if (input->index_row == SS_NO_ROW ||
		    trace->slices.dur_ns[row] > trace->slices.dur_ns[input->index_row])
			input->index_row = row;
	}
	ss_ns_add(&input->index_ns, sum_ns);
	return sum_ns;
}

/* Claims the time in __next__ beyond what a ready batch takes. */
static void input_claim_loader(struct input_stall *input)
{
	const struct ss_trace *trace = input->context->trace;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		int64_t dur_ns = trace->slices.dur_ns[row], index_ns;
		struct ss_stretch stretch;

		if (!input_is_loader_call(input, row) || dur_ns <= input->ready_ns)
			continue;
		index_ns = input_add_indices(input, row);
		stretch = (struct ss_stretch){
			.track = trace->slices.track[row],
			.from_ns = trace->slices.start_ns[row],
			.to_ns = ss_slice_end(&trace->slices, row),
			.keep_ns = input->ready_ns,
			/*
			 * a loader that is only twice as fast hides as much as the rest of the
			 * step takes
			 */
			.low_keep_ns = dur_ns / 2 - (input->mean_ns - dur_ns),
		};
		/* indices that are drawn at once cost a small part of it */
		if (2 * index_ns > dur_ns)
			stretch.low_keep_ns = dur_ns - index_ns * 7 / 8;
		input->claimed_ns = ss_ns_sum(input->claimed_ns,
					      ss_rule_claim_time(input->context, stretch));
		if (input_is_in_process(trace, row))
			ss_function_times_add(&input->inner, row);
	}
}

/* --- functions of the program ------------------------------------------------------------- */

/* A function that prepares batches: its name says so, and it contains nothing of the model. */
static bool input_is_own_function(const struct input_stall *input,
				  const struct ss_training *training,
				  const struct ss_places *places, uint32_t row)
{
	const struct ss_trace *trace = input->context->trace;
	uint32_t end;

	if (!ss_cpu_row_is_named(trace, row) ||
	    input->side_work[trace->slices.name[row]] != SS_SIDE_WORK_LOADS ||
	    ss_places_module(places, row) != SS_NO_ROW ||
	    ss_step_at(trace, trace->slices.start_ns[row]) == SS_NO_ROW)
		return false;
	end = ss_cpu_row_end(trace, row);
	if (ss_training_in(training, row, end) ||
	    (trace->device_event_count && ss_training_computes(training, row, end)))
		return false;
	for (; row < end; row++)
		if ((ss_slice_flags(trace, row) & (SS_NAME_DATALOADER | SS_NAME_MODULE)) != 0)
			return false;
	return true;
}

/* Claims functions of the program that prepare batches on the training thread. */
static enum ss_status input_claim_own(struct input_stall *input, struct ss_error *err)
{
	const struct ss_trace *trace = input->context->trace;
	const struct ss_slices *slices = &trace->slices;
	const struct ss_training *training;
	const struct ss_places *places;
	uint32_t row, end, next;

	if (input->main == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_facts_training(input->context->subject->facts, &training, err));
	SS_TRY(ss_facts_places(input->context->subject->facts, &places, err));
	row = trace->tracks[input->main].first_row;
	end = row + trace->tracks[input->main].row_count;
	for (; row < end; row = next) {
		int64_t gone_ns;

		next = row + 1;
		if (ss_slice_flags(trace, row) & SS_NAME_DATALOADER) {
			next = ss_cpu_row_end(trace, row);
			next = next > row ? next : row + 1;
			continue;
		}
		if (!input_is_own_function(input, training, places, row))
			continue;
		gone_ns = ss_rule_claim_time(input->context,
					     (struct ss_stretch){
						     .track = input->main,
						     .from_ns = slices->start_ns[row],
						     .to_ns = ss_slice_end(slices, row),
						     .keep_ns = READY_NS,
						     .low_keep_ns = slices->dur_ns[row] / 2 -
								    (input->mean_ns -
								     slices->dur_ns[row]),
					     });
		if (!gone_ns)
			continue;
		input->own_ns = ss_ns_sum(input->own_ns, gone_ns);
		ss_function_times_add(&input->inner, row);
		ss_code_places_add(input->sites, slices->name[row], row, slices->dur_ns[row]);
		next = ss_cpu_row_end(trace, row);
		next = next > row ? next : row + 1;
	}
	return SS_OK;
}

/* --- evidence ------------------------------------------------------------------------------- */

/* How long the devices were idle because of input. */
static enum ss_status input_idle_ns(const struct ss_rule_context *context, int64_t *out,
				    struct ss_error *err)
{
	const struct ss_idle *idle;

	*out = 0;
	SS_TRY(ss_facts_idle(context->subject->facts, &idle, err));
	for (uint32_t i = 0; i < idle->piece_count; i++)
		if (idle->pieces[i].cause == SS_IDLE_INPUT)
			*out = ss_ns_sum(*out, idle->pieces[i].ns);
	return SS_OK;
}

static enum ss_status input_report_loader(struct input_stall *input, struct ss_error *err)
{
	struct ss_rule_context *context = input->context;
	const struct ss_trace *trace = context->trace;
	const char *name = ss_strings_text(&trace->names, trace->slices.name[input->longest]);
	struct ss_fact fact = { input->total_ns, (double)input->calls, SS_NO_ROW };
	const struct ss_places *places;
	int64_t idle_ns;

	SS_TRY(input_idle_ns(context, &idle_ns, err));
	SS_TRY(ss_facts_places(context->subject->facts, &places, err));
	fact.row = ss_places_lined_row(places, input->longest);
	input->in_process = input_is_in_process(trace, input->longest);
	ss_rule_add_evidence(context, fact, "%s blocks the training thread for {time} per step",
			     name);
	if (!input->in_process)
		ss_rule_set_fix(context, few_workers_fix);
	else if (context->digest->device < 0)
		ss_rule_set_fix(context, cpu_fix);
	if (context->digest->device < 0)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the thread that computes is the thread that waits");
	/* half of it: queued work may hide the rest */
	else if (idle_ns >= input->claimed_ns / 2)
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the GPU is idle while it waits for the next batch");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "the GPU has queued work for part of that time");
	return SS_OK;
}

/* Names the functions that take the time, and the fix for the first of them. */
static void input_report_functions(struct input_stall *input)
{
	const struct ss_strings *names = &input->context->trace->names;
	int64_t whole_ns = ss_ns_sum(input->in_process ? input->total_ns : 0, input->own_ns);
	const char *fix = NULL;

	ss_function_times_sort(&input->inner);
	for (uint32_t i = 0; i < input->inner.count && i < 3; i++) {
		const struct ss_function_time *part = &input->inner.parts[i];
		const char *name = ss_strings_text(names, part->name);
		const char *leaf = ss_strings_text(names, part->leaf);
		const struct ss_input_kind *work = ss_input_kind_of(name, leaf);
		struct ss_fact fact = { part->ns, 0, part->row };

		if ((double)part->ns < INNER_SHARE * (double)whole_ns)
			break;
		if (work)
			ss_rule_add_evidence(input->context, fact,
					     "%s takes {time} of it per step: %s", name,
					     work->text);
		else
			ss_rule_add_evidence(input->context, fact, "%s takes {time} of it per step",
					     name);
		if (!fix && work)
			fix = work->fix;
	}
	if (fix && (input->in_process || !input->claimed_ns))
		ss_rule_set_fix(input->context, fix);
	if (2 * input->index_ns < input->total_ns || !input->index_ns)
		return;
	ss_rule_add_evidence(
		input->context, (struct ss_fact){ input->index_ns, 0, input->index_row },
		"the sampler draws indices for {time} per step, in the training process");
	ss_rule_set_fix(input->context, sampler_fix);
}

static void input_report_own(struct input_stall *input)
{
	struct ss_rule_context *context = input->context;

	ss_code_places_report(input->sites, 3,
			      "%s prepares batches on the training thread: {time} per step");
	if (!input->claimed_ns)
		ss_rule_set_fix(context, own_fix);
	ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
			       "only its name says that the function prepares batches");
}

static enum ss_status input_find(struct input_stall *input, struct ss_error *err)
{
	struct ss_rule_context *context = input->context;

	SS_TRY(ss_code_places_make(&input->sites, context, err));
	input->side_work = ss_rule_side_work(context);
	if (!input->side_work || !ss_function_times_init(&input->inner, context))
		return ss_fail_memory(err, "the input");
	input_count_calls(input);
	if (input->calls)
		input_claim_loader(input);
	SS_TRY(input_claim_own(input, err));
	if (input->claimed_ns)
		SS_TRY(input_report_loader(input, err));
	if (input->own_ns)
		input_report_own(input);
	input_report_functions(input);
	return SS_OK;
}

static enum ss_status input_stall_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct input_stall input = { .context = context,
				     .longest = SS_NO_ROW,
				     .index_row = SS_NO_ROW };
	enum ss_status status;

	input.main = context->graph->main;
	input.mean_ns = context->step_ns / context->steps->count;
	status = input_find(&input, err);
	ss_function_times_release(&input.inner);
	return status;
}

const struct ss_rule ss_rule_input_stall = {
	.name = "input-stall",
	.title = "The training loop waits for input",
	.summary = "The training thread waits for the DataLoader's next batch",
	.fix = "DataLoader(..., num_workers=8, pin_memory=True, persistent_workers=True)\n"
	       "# now the training process prepares batches itself (num_workers=0)",
	.to_record = "with_stack=True names the line in the dataset",
	.views = "phases gaps",
	.warn_share = 0.05,
	.silent_share = 0.01,
	.why = "the TensorBoard plugin recommends workers from 5 % of the step on; below 1 % no "
	       "change of the loader can be measured",
	.facts = SS_FACT_TRAINING,
	.look = input_stall_look,
};
