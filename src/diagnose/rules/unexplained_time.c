/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unexplained_time.c - rule: time that no other rule claims.
 *
 * It runs last, on what the other rules leave. On a rank with a device that is idle time of the
 * device: what did the thread do whose launch ended the gap? Without a device it is what of the
 * training thread exceeds the normal (attribute/attribute.h). It claims nothing; the account
 * (account.h) decides whether it is reported.
 */
#include <stdio.h>
#include <string.h>

#include "diagnose/diagnose.h"
#include "diagnose/evidence/claimed_time.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"

/* A launch takes 5 to 20 us; the first launch of a kernel loads its code and takes this long. */
#define LOADING_NS 1000000

/* Two consecutive kernels need a shorter gap than this, which is the device's own latency. */
#define LATENCY_NS 30000

/* Sites with less than a tenth of the time are not worth a sentence. */
#define SITE_SHARE 10

/* Figures that `judge` reads; the account reads the first (ss_rule.claims_rest). */
enum { REST_NS, LOADING_SUM_NS, QUEUED_NS, EARLY_NS, UNSEEN_NS, CALLS_NS, BLIND, LINES, FIGURES };

static const char loading_fix[] = "# first launches load their kernels: start recording later\n"
				  "schedule = torch.profiler.schedule(wait=1, warmup=3, active=3)";

static const char queued_fix[] = "nvidia-smi   # is another process on this GPU? rocm-smi on AMD\n"
				 "# record that process as well, or give the job GPUs of its own";

static const char early_fix[] =
	"# the recording begins while the GPU is busy: let some steps pass first\n"
	"schedule = torch.profiler.schedule(wait=1, warmup=3, active=3)";

static const char calls_fix[] =
	"# the file does not show what the call waits for: another process, the\n"
	"# driver, pinned memory; Nsight Systems and rocprof record the driver";

/* Stacks are recorded, but name nothing that takes the time. */
static const char range_fix[] = "# name the parts of the loop, to see which one takes the time:\n"
				"with torch.profiler.record_function(\"part of the loop\"):\n"
				"    ...";

static const char blind_fix[] = "# the host launches work, but the file has no GPU events:\n"
				"profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])";

struct unexplained_rest {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	struct ss_cover taken; /* claimed time of threads, sorted */
	uint32_t taken_at;     /* the first of them that has not ended */
	bool on_device;
	struct ss_code_places *moments;
	uint32_t *first; /* per name: row of its first call */
	int64_t sums[FIGURES];
	int64_t loads;
};

/* --- what a thread did ---------------------------------------------------------------- */

/*
 * A call that sets something up: a launch that loads its kernel, or the first call of its name in
 * the file, which may start the driver. Waits and copies take as long as the device needs.
 */
static bool rest_is_first_use(const struct unexplained_rest *rest, uint32_t row)
{
	const struct ss_slices *slices = &rest->trace->slices;
	uint32_t flags = ss_slice_flags(rest->trace, row);

	if (!ss_kind_is_call(slices->kind[row]) || slices->dur_ns[row] < LOADING_NS)
		return false;
	return (flags & (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH)) ||
	       (!(flags & (SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL)) &&
		rest->first[slices->name[row]] == row);
}

/* Adds a piece of time to what the thread was doing: nothing recorded, a first use, a row. */
static void rest_add_moment(void *context, uint32_t row, int64_t from_ns, int64_t to_ns)
{
	struct unexplained_rest *rest = context;
	const struct ss_slices *slices = &rest->trace->slices;
	int64_t ns = to_ns - from_ns;

	if (row == SS_NO_ROW ||
	    (ss_slice_flags(rest->trace, row) & (SS_NAME_STEP | SS_NAME_STEP_LIKE))) {
		rest->sums[UNSEEN_NS] = ss_ns_sum(rest->sums[UNSEEN_NS], ns);
		return;
	}
	if (rest_is_first_use(rest, row)) {
		rest->sums[LOADING_SUM_NS] = ss_ns_sum(rest->sums[LOADING_SUM_NS], ns);
		rest->loads++;
		return;
	}
	if (ss_kind_is_call(slices->kind[row]))
		rest->sums[CALLS_NS] = ss_ns_sum(rest->sums[CALLS_NS], ns);
	ss_code_places_add(rest->moments, slices->name[row], row, ns);
}

/* Adds a stretch of a thread that no rule claims. */
static void rest_add_stretch(struct unexplained_rest *rest, uint32_t track,
			     struct ss_interval stretch)
{
	int64_t ns = stretch.end_ns - stretch.start_ns;

	if (ns <= 0)
		return;
	rest->sums[REST_NS] = ss_ns_sum(rest->sums[REST_NS], ns);
	if (track == SS_NO_ROW) {
		rest->sums[UNSEEN_NS] = ss_ns_sum(rest->sums[UNSEEN_NS], ns);
		return;
	}
	ss_cpu_visit_time(rest->trace, track, stretch,
			  &(struct ss_cpu_visitor){ .add = rest_add_moment, .context = rest });
}

/* Adds the parts of the stretch that no rule claims; call it in order of time. */
static void rest_add_unclaimed(struct unexplained_rest *rest, uint32_t track,
			       struct ss_interval stretch)
{
	const struct ss_cover *taken = &rest->taken;

	while (rest->taken_at < taken->count &&
	       taken->items[rest->taken_at].end_ns <= stretch.start_ns)
		rest->taken_at++;
	for (uint32_t i = rest->taken_at; i < taken->count; i++) {
		const struct ss_interval *item = &taken->items[i];

		if (item->start_ns >= stretch.end_ns)
			break;
		rest_add_stretch(rest, track,
				 (struct ss_interval){ stretch.start_ns, item->start_ns });
		stretch.start_ns = item->end_ns;
	}
	rest_add_stretch(rest, track, stretch);
}

/* --- with a device -------------------------------------------------------------------- */

/* Whether a claim covers the stretch as a whole; they come in the order of time. */
static bool rest_is_released(struct unexplained_rest *rest, struct ss_interval stretch)
{
	const struct ss_cover *taken = &rest->taken;

	while (rest->taken_at < taken->count &&
	       taken->items[rest->taken_at].end_ns <= stretch.start_ns)
		rest->taken_at++;
	return rest->taken_at < taken->count &&
	       taken->items[rest->taken_at].start_ns <= stretch.start_ns &&
	       taken->items[rest->taken_at].end_ns >= stretch.end_ns;
}

/* Work was launched, and nothing ran; at the start of its stream, what was launched before did. */
static void rest_add_queued(struct unexplained_rest *rest, uint32_t next,
			    struct ss_interval stretch)
{
	const struct ss_trace *trace = rest->trace;
	bool is_early = next == trace->tracks[trace->slices.track[next]].first_row;
	int64_t ns = stretch.end_ns - stretch.start_ns;

	if (ns <= LATENCY_NS || (!is_early && rest_is_released(rest, stretch)))
		return;
	ss_ns_add(&rest->sums[is_early ? EARLY_NS : QUEUED_NS], ns);
	ss_ns_add(&rest->sums[REST_NS], ns);
}

/* Adds an idle gap of the device, as far as nobody claims it. */
static void rest_add_gap(struct unexplained_rest *rest, const struct ss_idle_gap *gap)
{
	const struct ss_slices *slices = &rest->trace->slices;
	struct ss_interval stretch = { gap->start_ns, gap->end_ns }, queued = stretch;
	uint32_t launch = gap->next == SS_NO_ROW ? SS_NO_ROW : ss_slice_launch(slices, gap->next);
	uint32_t track = rest->context->graph->main;

	if (launch >= rest->trace->device_from)
		launch = SS_NO_ROW;
	if (launch != SS_NO_ROW) {
		track = slices->track[launch];
		if (ss_slice_end(slices, launch) > queued.start_ns)
			queued.start_ns = ss_slice_end(slices, launch);
		if (queued.start_ns == stretch.start_ns ||
		    queued.end_ns - queued.start_ns > LATENCY_NS)
			stretch.end_ns = queued.start_ns;
	}
	rest_add_unclaimed(rest, track, stretch);
	if (stretch.end_ns < gap->end_ns)
		rest_add_queued(rest, gap->next, queued);
}

static enum ss_status rest_add_gaps(struct unexplained_rest *rest, struct ss_error *err)
{
	const struct ss_idle *idle;

	SS_TRY(ss_facts_idle(rest->context->subject->facts, &idle, err));
	if (!ss_rule_claimed_time(rest->context, SS_NO_ROW, idle, &rest->taken))
		return ss_fail_memory(err, "unexplained time");
	for (uint32_t i = 0; i < idle->device_count; i++) {
		if (idle->devices[i].device != rest->context->digest->device)
			continue;
		for (uint32_t k = idle->devices[i].gap_from; k < idle->devices[i].gap_to; k++)
			rest_add_gap(rest, &idle->gaps[k]);
	}
	return SS_OK;
}

/* --- without a device ----------------------------------------------------------------- */

/* Work is launched, but the file has no device events. */
static void rest_note_blind(struct unexplained_rest *rest)
{
	const struct ss_graph *graph = rest->context->graph;
	struct ss_task_range calls = graph->of_kind[SS_TASK_LAUNCH];
	int64_t launches = 0;

	for (uint32_t i = calls.from; i < calls.to; i++)
		launches += graph->tasks[i].kind == SS_TASK_LAUNCH;
	if (!launches)
		return;
	rest->sums[BLIND] = 1;
	ss_rule_add_evidence(rest->context, (struct ss_fact){ 0, (double)launches, SS_NO_ROW },
			     "the host makes {count} launch{?|es} per step, but the file has "
			     "no GPU events");
}

/* Adds what exceeds the normal at a place. */
static void rest_add_excess(void *context, const struct ss_attribution_moment *moment)
{
	struct unexplained_rest *rest = context;

	if (moment->excess_ns <= 0)
		return;
	ss_ns_add(&rest->sums[REST_NS], moment->excess_ns);
	if (moment->row == SS_NO_ROW)
		ss_ns_add(&rest->sums[UNSEEN_NS], moment->excess_ns);
	else
		ss_code_places_add(rest->moments, rest->trace->slices.name[moment->row],
				   moment->row, moment->excess_ns);
}

/* Adds what of the training thread exceeds the normal, and nobody claims; without a device. */
static enum ss_status rest_add_host(struct unexplained_rest *rest, struct ss_error *err)
{
	struct ss_unclaimed *unclaimed;

	SS_TRY(ss_rule_unclaimed(rest->context, 0, &unclaimed, err));
	if (unclaimed)
		ss_attribution_walk(&unclaimed->attribution, unclaimed->options.taken,
				    rest_add_excess, rest);
	return unclaimed && unclaimed->attribution.failed ? ss_fail_memory(err, "unexplained time")
							  : SS_OK;
}

/* --- the rank ------------------------------------------------------------------------- */

/* Longer names are cut. */
#define LABEL_MAX 160

/*
 * The name of a function for a sentence that ends with its line in parentheses: without the file
 * and line, and without addresses, which differ from rank to rank.
 */
static void rest_format_label(const struct unexplained_rest *rest, const struct ss_code_place *site,
			      char *out)
{
	const struct ss_places *places = rest->moments->places;
	const char *name = ss_strings_text(&rest->trace->names, site->name);
	const char *line = site->line ? ss_strings_text(&places->lines, site->line) : "";
	const char *function = strstr(name, "): "), *address = strstr(name, " object at 0x");
	static const char built_in[] = "<built-in method ";

	if (function && strcmp(line, name) == 0)
		name = function + 3;
	if (strncmp(name, built_in, sizeof(built_in) - 1) == 0)
		name += sizeof(built_in) - 1;
	snprintf(out, LABEL_MAX, "%.*s", address > name ? (int)(address - name) : LABEL_MAX - 1,
		 name);
}

static void rest_report_sites(struct unexplained_rest *rest)
{
	ss_code_places_sort(rest->moments);
	for (uint32_t i = 0; i < rest->moments->count && i < 3; i++) {
		const struct ss_code_place *site = &rest->moments->items[i];
		struct ss_fact fact = { site->weight_ns, 0, site->row };
		char label[LABEL_MAX];

		if (site->weight_ns < rest->sums[REST_NS] / SITE_SHARE)
			break;
		rest_format_label(rest, site, label);
		if (rest->on_device)
			ss_rule_add_evidence(
				rest->context, fact,
				"the GPU is idle for {time} per step while the host is in %s",
				label);
		else
			ss_rule_add_evidence(rest->context, fact,
					     "{time} per step are more than normal in %s", label);
	}
}

static void rest_report(struct unexplained_rest *rest)
{
	struct ss_rule_context *context = rest->context;
	struct ss_fact loading = { rest->sums[LOADING_SUM_NS], (double)rest->loads, SS_NO_ROW };
	struct ss_fact queued = { rest->sums[QUEUED_NS], 0, SS_NO_ROW };
	struct ss_fact early = { rest->sums[EARLY_NS], 0, SS_NO_ROW };
	struct ss_fact unseen = { rest->sums[UNSEEN_NS], 0, SS_NO_ROW };
	int64_t least_ns = rest->sums[REST_NS] / SITE_SHARE;

	rest_report_sites(rest);
	if (loading.weight_ns > 0 && loading.weight_ns >= least_ns)
		ss_rule_add_evidence(
			context, loading,
			"first calls take {time} per step ({count} call{?|s}): the first launch of "
			"a kernel loads it, the very first call starts the driver");
	if (queued.weight_ns > 0 && queued.weight_ns >= least_ns)
		ss_rule_add_evidence(
			context, queued,
			"the GPU runs nothing for {time} per step although work is queued; the "
			"file does not show why: another process may use the GPU");
	if (early.weight_ns > 0 && early.weight_ns >= least_ns)
		ss_rule_add_evidence(
			context, early,
			"the first work of a stream starts {time} per step after its launch, and "
			"nothing in the file runs before it: probably what was launched before "
			"the recording");
	if (unseen.weight_ns > 0 && unseen.weight_ns >= least_ns)
		ss_rule_add_evidence(
			context, unseen,
			rest->on_device ? "the GPU is idle for {time} per step while nothing is "
					  "recorded on the host"
					: "{time} per step pass outside of all recorded events");
}

static bool rest_find_first_calls(struct unexplained_rest *rest)
{
	const struct ss_trace *trace = rest->trace;

	rest->first = SS_ARENA_NEW(rest->context->scratch, uint32_t,
				   (size_t)trace->names.count + 1);
	for (uint32_t row = trace->device_from; rest->first && row-- > 0;)
		if (ss_kind_is_call(trace->slices.kind[row]))
			rest->first[trace->slices.name[row]] = row;
	return rest->first != NULL;
}

static enum ss_status rest_find(struct unexplained_rest *rest, struct ss_error *err)
{
	struct ss_rule_context *context = rest->context;

	SS_TRY(ss_code_places_make(&rest->moments, context, err));
	if (!rest_find_first_calls(rest))
		return ss_fail_memory(err, "unexplained time");
	if (rest->on_device) {
		SS_TRY(rest_add_gaps(rest, err));
	} else {
		rest_note_blind(rest);
		SS_TRY(rest_add_host(rest, err));
	}
	for (uint32_t i = 0; i < FIGURES; i++)
		ss_rule_add_figure(context, i, (double)rest->sums[i]);
	ss_rule_add_figure(context, LINES, rest->moments->places->has_lines);
	if (!rest->sums[REST_NS])
		return SS_OK;
	rest_report(rest);
	return SS_OK;
}

static enum ss_status unexplained_time_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct unexplained_rest rest = { .context = context,
					 .trace = context->trace,
					 .on_device = context->digest->device >= 0 };
	enum ss_status status;

	if (context->graph->main == SS_NO_ROW)
		return SS_OK;
	status = rest_find(&rest, err);
	ss_cover_release(&rest.taken);
	return status;
}

/* --- all ranks ------------------------------------------------------------------------ */

static const char early_title[] =
	"The first recorded work waits, probably for what was launched before";

static const char *rest_title(const double *sums, bool on_device)
{
	if (sums[BLIND] > 0)
		return "The GPU was not recorded";
	if (!on_device)
		return 2 * sums[UNSEEN_NS] >= sums[REST_NS]
			       ? "Time passes outside of everything that is recorded"
			       : "Several places of the step take more than is normal";
	if (2 * sums[QUEUED_NS] >= sums[REST_NS])
		return "The GPU is idle although work is queued";
	if (2 * sums[EARLY_NS] >= sums[REST_NS])
		return early_title;
	if (2 * sums[LOADING_SUM_NS] >= sums[REST_NS])
		return "The GPU is idle while kernels are loaded for the first time";
	if (2 * sums[CALLS_NS] >= sums[REST_NS])
		return "The GPU is idle while the host waits for a call to return";
	if (2 * sums[UNSEEN_NS] >= sums[REST_NS])
		return "The GPU is idle while nothing is recorded on the host";
	return "The GPU is idle while the host is in many places";
}

static const char *rest_fix(const double *sums, bool has_lines)
{
	if (sums[BLIND] > 0)
		return blind_fix;
	if (2 * sums[QUEUED_NS] >= sums[REST_NS])
		return queued_fix;
	if (2 * sums[EARLY_NS] >= sums[REST_NS])
		return early_fix;
	if (2 * sums[LOADING_SUM_NS] >= sums[REST_NS])
		return loading_fix;
	if (2 * sums[CALLS_NS] >= sums[REST_NS])
		return calls_fix;
	return has_lines ? range_fix : NULL;
}

static enum ss_status unexplained_time_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	double sums[FIGURES] = { 0 };
	bool on_device = judgement->diagnosis->on_device, has_lines;
	struct ss_finding *finding;

	(void)err;
	for (uint32_t i = 0; i < judgement->rank_count; i++)
		for (uint32_t k = 0; k < FIGURES; k++)
			sums[k] += ss_judgement_figure(judgement, i, k);
	finding = judgement->rank_count ? ss_judgement_add(judgement, SS_NO_ROW, "%s",
							   rest_title(sums, on_device))
					: NULL;
	if (!finding)
		return SS_OK;
	finding->is_rest = true;
	finding->is_early = rest_title(sums, on_device) == early_title;
	finding->confidence = SS_CONFIDENCE_LOW;
	for (uint32_t i = 0; i < judgement->rank_count; i++)
		if (ss_judgement_figure(judgement, i, REST_NS) > 0)
			ss_judgement_take_rank(judgement, finding, i);
	has_lines = sums[LINES] >= judgement->rank_count;
	if (rest_fix(sums, has_lines))
		finding->fix = rest_fix(sums, has_lines);
	if (!finding->reason)
		finding->reason = "the file shows where the time goes, not why";
	/* ask only for what the files lack */
	if (has_lines || sums[BLIND] > 0)
		finding->to_record = NULL;
	return SS_OK;
}

const struct ss_rule ss_rule_unexplained_time = {
	.name = "unexplained-time",
	.title = "Part of the step is not explained",
	.summary = "Idle time that no other rule explains, and what the host did meanwhile",
	.fix = "# with_stack=True names the functions; or name parts of the loop:\n"
	       "with torch.profiler.record_function(\"part of the loop\"):\n"
	       "    ...",
	.to_record = "with_stack=True records the Python functions",
	.views = "gaps breakdown stacks",
	.warn_share = SS_UNEXPLAINED_SHARE,
	.silent_share = SS_UNEXPLAINED_SHARE,
	.why = "steps of a healthy job differ by a few percent, and every step has some launches "
	       "and Python, so 10 % is more than chance",
	.claims_rest = true,
	.look = unexplained_time_look,
	.judge = unexplained_time_judge,
};
