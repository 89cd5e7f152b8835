/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - a verdict for programs. An interface: documented in
 * docs/formats/json.md and kept stable.
 */
#include <inttypes.h>

#include "diagnose/work/other_device.h"
#include "render/render.h"
#include "render/verdict/diagnosis.h"

static void verdict_json_add_rank(struct ss_text *out, int64_t rank)
{
	if (rank < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, rank);
}

static void verdict_json_add_ranks(const struct ss_diagnosis *diagnosis,
				   const struct ss_finding *finding, struct ss_text *out)
{
	ss_text_add_string(out, "\"rank\":");
	verdict_json_add_rank(out,
			      finding->rank == SS_NO_ROW ? -1 : diagnosis->ranks[finding->rank]);
	ss_text_add_string(out, ",\"ranks\":[");
	for (uint32_t i = 0; i < finding->rank_count; i++) {
		ss_text_add_string(out, i ? "," : "");
		verdict_json_add_rank(out, diagnosis->ranks[finding->ranks[i]]);
	}
	ss_text_add_string(out, "]");
}

static void verdict_json_add_cost(const struct ss_diagnosis *diagnosis,
				  const struct ss_finding *finding, struct ss_text *out)
{
	if (!ss_finding_has_cost(finding)) {
		ss_text_add_string(out, "\"cost_ns\":null,\"cost_low_ns\":null,\"cost_high_ns\":"
					"null,\"alone_ns\":null,\"share_percent\":null");
		return;
	}
	ss_text_addf(out,
		     "\"cost_ns\":%" PRId64 ",\"cost_low_ns\":%" PRId64 ",\"cost_high_ns\":%" PRId64
		     ",\"alone_ns\":%" PRId64 ",\"share_percent\":",
		     finding->cost_ns, finding->low_ns, finding->high_ns, finding->alone_ns);
	ss_text_add_number(out, 100 * (double)finding->cost_ns / (double)diagnosis->step_ns);
	if (finding->is_start_up && diagnosis->start_up_ns)
		ss_text_add_string(out, ",\"is_start_up\":true");
}

/* Only if a memory snapshot shows it. */
static void verdict_json_add_bytes(const struct ss_finding *finding, struct ss_text *out)
{
	if (finding->bytes < 0)
		return;
	ss_text_addf(out, "\"bytes\":%" PRId64 ",", finding->bytes);
	ss_render_text_member(out, "bytes_are", finding->rule->bytes_are);
	ss_text_add_string(out, ",\n   ");
}

static void verdict_json_add_evidence(const struct ss_finding *finding, struct ss_text *out)
{
	ss_text_add_string(out, "\"evidence\":[");
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		const struct ss_evidence *evidence = &finding->evidence[i];

		ss_text_add_string(out, i ? ",\n    {" : "\n    {");
		ss_render_text_member(out, "text", evidence->text);
		ss_text_add_string(out, ",");
		ss_render_text_member(out, "line", evidence->line);
		ss_text_add_string(out, ",");
		ss_render_ns_member(out, "weight_ns", evidence->weight_ns,
				    evidence->weight_ns != 0);
		if (evidence->snapshot)
			ss_text_addf(out, ",\"snapshot\":%" PRIu32 ",\"device\":%" PRId32,
				     evidence->snapshot - 1, evidence->device);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
}

static void verdict_json_add_finding(const struct ss_diagnosis *diagnosis,
				     const struct ss_finding *finding, struct ss_text *out)
{
	ss_render_text_member(out, "rule", finding->rule->name);
	ss_text_add_string(out, finding->is_warning ? ",\"level\":\"warning\","
						    : ",\"level\":\"info\",");
	ss_render_text_member(out, "title", finding->title);
	ss_text_add_string(out, ",\n   ");
	verdict_json_add_ranks(diagnosis, finding, out);
	ss_text_add_string(out, ",\n   ");
	verdict_json_add_cost(diagnosis, finding, out);
	ss_text_add_string(out, ",\n   ");
	verdict_json_add_bytes(finding, out);
	ss_render_text_member(out, "confidence", ss_confidence_name(finding->confidence));
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "reason", finding->reason);
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "beyond_evidence", finding->beyond);
	ss_text_add_string(out, ",\n   ");
	verdict_json_add_evidence(finding, out);
	ss_text_add_string(out, ",\n   ");
	ss_render_text_member(out, "fix", finding->fix);
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "surer", finding->to_record);
}

static void verdict_json_add_quality(const struct ss_diagnosis *diagnosis,
				     const struct ss_render_options *options, struct ss_text *out)
{
	const struct ss_diagnosis_trust *trust = &diagnosis->trust;

	ss_text_addf(out, "\"only_bounds\":%s,\"clock_error_ns\":",
		     diagnosis->is_bounded ? "true" : "false");
	if (trust->clock_error_ns < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, trust->clock_error_ns);
	ss_text_addf(out,
		     ",\"missing_ranks\":%" PRId64 ",\"unaligned_ranks\":%" PRIu32
		     ",\"unmatched_collectives\":%" PRIu64 ",\"recorded_waits\":%" PRIu64
		     ",\"inferred_waits\":%" PRIu64 ",\n",
		     trust->missing.count, trust->unaligned_ranks, trust->unmatched,
		     trust->recorded_waits, trust->inferred_waits);
	ss_render_run_member(&options->run, out);
	ss_render_trust(&options->trust, out);
}

/* `of_X` has the parts of `X`; the others add up to the step. */
static void verdict_json_add_account(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_account *account = &diagnosis->account;

	if (!account->step_ns) {
		ss_text_add_string(out, "\"account\":null,\n");
		return;
	}
	ss_text_addf(out,
		     "\"account\":{\"step_ns\":%" PRId64 ",\"explained_ns\":%" PRId64
		     ",\"compute_ns\":%" PRId64 ",\"communication_ns\":%" PRId64
		     ",\"copies_ns\":%" PRId64 ",\"host_ns\":%" PRId64
		     ",\"unexplained_ns\":%" PRId64 ",\"of_explained\":{\"warnings_ns\":%" PRId64
		     ",\"smaller_ns\":%" PRId64 "},\"of_communication\":{\"transfers_ns\":%" PRId64
		     ",\"waiting_for_stages_ns\":%" PRId64
		     "},\"of_unexplained\":{\"idle_ns\":%" PRId64
		     ",\"waiting_for_ranks_ns\":%" PRId64 "}},\n",
		     account->step_ns, account->warnings_ns + account->smaller_ns,
		     account->compute_ns, account->communication_ns, account->copies_ns,
		     account->host_ns, account->unexplained_ns, account->warnings_ns,
		     account->smaller_ns, account->communication_ns - account->stages_ns,
		     account->stages_ns, account->unexplained_ns - account->peers_ns,
		     account->peers_ns);
}

/* Sentences of the command, without the line's end; null where it says nothing. */
static void verdict_json_add_lines(struct ss_text *out, const char *key, struct ss_text *lines)
{
	if (lines->length && lines->data[lines->length - 1] == '\n')
		lines->data[--lines->length] = '\0';
	ss_render_text_member(out, key, lines->length ? lines->data : NULL);
	ss_text_end(lines, out);
}

static void verdict_json_add_runs(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	struct ss_text lines = { 0 };

	ss_text_add_string(out, ",\n\"runs\":");
	ss_render_recorded_runs(diagnosis->recorded_runs, diagnosis->run_count,
				diagnosis->chosen_run, out);
	ss_text_add_string(out, ",");
	ss_job_add_runs(diagnosis->recorded_runs, diagnosis->run_count, diagnosis->chosen_run,
			&lines);
	verdict_json_add_lines(out, "runs_text", &lines);
}

/* How much steps differ: null where there are too few. */
static void verdict_json_add_spread(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_spread *spread = &diagnosis->spread;
	struct ss_text lines = { 0 };
	uint32_t shown = spread->outlier_count < SS_OUTLIERS_SHOWN ? spread->outlier_count
								   : SS_OUTLIERS_SHOWN;

	if (!spread->median_ns) {
		ss_text_add_string(out, "\"spread\":null");
		return;
	}
	ss_text_addf(out,
		     "\"spread\":{\"uneven\":%s,\"median_ns\":%" PRId64 ",\"p10_ns\":%" PRId64
		     ",\"p90_ns\":%" PRId64 ",\"min_ns\":%" PRId64 ",\"max_ns\":%" PRId64
		     ",\"outlier_count\":%" PRIu32 ",\"outliers\":[",
		     spread->is_uneven ? "true" : "false", spread->median_ns, spread->p10_ns,
		     spread->p90_ns, spread->min_ns, spread->max_ns, spread->outlier_count);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ss_outlier *outlier = &spread->outliers[i];

		ss_text_addf(out,
			     "%s\n  {\"step\":%" PRIu32 ",\"first\":%s,\"step_ns\":%" PRId64
			     ",\"excess_ns\":%" PRId64 ",",
			     i ? "," : "", outlier->step, outlier->is_first ? "true" : "false",
			     outlier->step_ns, outlier->excess_ns);
		ss_render_ns_member(out, "cause_ns", outlier->cause_ns, outlier->cause != NULL);
		ss_text_add_string(out, ",");
		ss_render_text_member(out, "cause", outlier->cause);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "],");
	ss_render_verdict_outliers(diagnosis, &lines);
	verdict_json_add_lines(out, "outliers_text", &lines);
	ss_text_add_string(out, "}");
}

/* Below 0: null. */
static void verdict_json_add_percent(struct ss_text *out, const char *key, double share)
{
	ss_text_addf(out, "\"%s\":", key);
	if (share < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_number(out, 100 * share);
	ss_text_add_string(out, ",");
}

/* How fast the step could become, in words; null where that says little. */
static void verdict_json_add_ceiling(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	struct ss_text sentence = { 0 };

	ss_render_verdict_ceiling(diagnosis, &sentence);
	verdict_json_add_lines(out, "ceiling_text", &sentence);
	ss_text_add_string(out, ",\n");
}

static void verdict_json_add_kernels(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	enum ss_kernel_category kinds[SS_KERNEL_CATEGORIES];
	uint32_t count = ss_render_verdict_kernels(diagnosis, kinds);

	ss_text_add_string(out, ",\"kernels\":[");
	for (uint32_t i = 0; i < count; i++) {
		ss_text_add_string(out, i ? ",{" : "{");
		ss_render_text_member(out, "kind", ss_kernel_category_name(kinds[i]));
		ss_text_add_string(out, ",\"percent\":");
		ss_text_add_number(out, 100 * diagnosis->kernels.share[kinds[i]]);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
}

/* How busy the GPUs are; null where there is none in the steps. */
static void verdict_json_add_gpu(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_gpu_use *gpu = &diagnosis->gpu;
	const struct ss_mfu *mfu = &diagnosis->mfu;
	struct ss_text sentence = { 0 };

	ss_render_verdict_gpu(diagnosis, &sentence);
	verdict_json_add_lines(out, "gpu_text", &sentence);
	ss_text_add_string(out, ",\n");
	if (!gpu->rank_count) {
		ss_text_add_string(out, "\"gpu\":null,\n");
		return;
	}
	ss_text_add_string(out, "\"gpu\":{");
	verdict_json_add_percent(out, "busy_percent", gpu->busy);
	verdict_json_add_percent(out, "compute_percent", gpu->compute);
	verdict_json_add_percent(out, "exposed_communication_percent", gpu->exposed_communication);
	verdict_json_add_percent(out, "exposed_copies_percent", gpu->exposed_copies);
	verdict_json_add_percent(out, "busy_min_percent", gpu->least);
	verdict_json_add_percent(out, "busy_max_percent", gpu->most);
	verdict_json_add_percent(out, "idle_cause_percent", gpu->cause_share);
	ss_render_text_member(out, "idle_cause", ss_idle_name(gpu->cause));
	ss_text_add_string(out, ",");
	verdict_json_add_percent(out, "mfu_percent", mfu->mfu > 0 ? mfu->mfu : -1);
	verdict_json_add_percent(out, "hfu_percent", mfu->mfu > 0 ? mfu->hfu : -1);
	verdict_json_add_percent(out, "flops_known_percent", mfu->mfu > 0 ? mfu->known : -1);
	ss_render_text_member(out, "mfu_unknown", mfu->unknown);
	verdict_json_add_kernels(diagnosis, out);
	ss_text_add_string(out, "},\n");
}

/* What is known of the step; null without steps, as in a run of snapshots only. */
static void verdict_json_add_step(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	bool known = diagnosis->step_ns > 0;

	ss_render_ns_member(out, "step_ns", diagnosis->step_ns, known);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "fixed_step_ns", diagnosis->fixed_ns, known);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "fixed_low_ns", diagnosis->fixed_high_ns, known);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "fixed_high_ns", diagnosis->fixed_low_ns, known);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "ceiling_ns", diagnosis->ceiling_ns, diagnosis->ceiling_ns > 0);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "start_up_ns", diagnosis->start_up_ns, known);
	ss_text_addf(out,
		     ",\n\"steps\":%" PRIu32 ",\"ranks\":%" PRIu32 ",\"snapshots\":%" PRIu32
		     ",\"replay_error_percent\":",
		     diagnosis->steps_most, diagnosis->rank_count, diagnosis->snapshot_count);
	if (known)
		ss_text_add_number(out, diagnosis->error_percent);
	else
		ss_text_add_string(out, "null");
}

/* What-if: the step on another GPU; its parts are work per step, not parts of the step. */
static void verdict_json_add_device(const struct ss_other_device *device, struct ss_text *out)
{
	const char *between = "\n   {";

	if (!device->name) {
		ss_text_add_string(out, "\"other_gpu\":null,\n");
		return;
	}
	ss_text_add_string(out, "\"other_gpu\":{");
	ss_render_text_member(out, "name", device->name);
	ss_text_addf(out,
		     ",\"step_ns\":%" PRId64 ",\"low_ns\":%" PRId64 ",\"high_ns\":%" PRId64
		     ",\"work\":[",
		     device->step_ns, device->high_ns, device->low_ns);
	for (int i = 0; i < SS_DEVICE_PARTS; i++) {
		const struct ss_device_time *part = &device->parts[i];

		if (part->now_ns <= 0)
			continue;
		ss_text_add_string(out, between);
		ss_render_text_member(out, "limit",
				      ss_diagnosis_device_part((enum ss_device_part)i));
		ss_text_addf(out,
			     ",\"now_ns\":%.0f,\"then_ns\":%.0f,\"low_ns\":%.0f,\"high_ns\":%.0f}",
			     part->now_ns, part->then_ns, part->high_ns, part->low_ns);
		between = ",\n   {";
	}
	ss_text_add_string(out, "]},\n");
}

void ss_render_verdict_json(const struct ss_diagnosis *diagnosis,
			    const struct ss_render_options *options, struct ss_text *out)
{
	uint32_t rows = ss_render_verdict_rows(diagnosis, options);

	ss_text_addf(out, "{\"schema\":\"stepscope.%s/1\",\n",
		     diagnosis->is_what_if ? "what-if" : "diagnose");
	verdict_json_add_step(diagnosis, out);
	ss_text_add_string(out, ",\n\"warnings\":");
	ss_render_doubts(&diagnosis->doubts, out);
	verdict_json_add_runs(diagnosis, out);
	ss_text_add_string(out, ",\n");
	verdict_json_add_spread(diagnosis, out);
	ss_text_add_string(out, ",\n");
	verdict_json_add_account(diagnosis, out);
	verdict_json_add_gpu(diagnosis, out);
	verdict_json_add_ceiling(diagnosis, out);
	verdict_json_add_device(&diagnosis->other_device, out);
	ss_render_text_member(out, "steps_text", ss_render_verdict_steps(diagnosis));
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "blind_text", ss_render_verdict_blind(diagnosis));
	ss_text_add_string(out, ",\n");
	ss_render_text_member(out, "next", diagnosis->next);
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "not_found", diagnosis->not_found);
	ss_text_addf(out, ",\"finding_count\":%" PRIu32 ",\n\"findings\":[",
		     diagnosis->finding_count);
	for (uint32_t i = 0; i < rows; i++) {
		ss_text_add_string(out, i ? ",\n  {" : "\n  {");
		verdict_json_add_finding(diagnosis, diagnosis->findings[i], out);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "],\n");
	verdict_json_add_quality(diagnosis, options, out);
	ss_text_add_string(out, "}\n");
}
