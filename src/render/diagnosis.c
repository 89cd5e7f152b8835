/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.c - sentences that the verdict uses in both text and Markdown.
 */
#include "render/diagnosis.h"

#include <inttypes.h>

#define DOT " \xc2\xb7 "

uint32_t ss_diagnosis_rows(const struct ss_diagnosis *diagnosis,
			   const struct ss_render_options *options)
{
	return options->top && options->top < diagnosis->finding_count ? options->top
								       : diagnosis->finding_count;
}

static void add_count(uint64_t count, const char *one, const char *many, struct ss_text *out)
{
	ss_render_count((int64_t)count, out);
	ss_text_addf(out, " %s", count == 1 ? one : many);
}

static void add_snapshots(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	if (!diagnosis->snapshot_count)
		return;
	add_count(diagnosis->snapshot_count, "memory snapshot", "memory snapshots", out);
	if (diagnosis->cut_snapshots && diagnosis->snapshot_count == 1)
		ss_text_add_string(out, " (truncated)");
	else if (diagnosis->cut_snapshots)
		ss_text_addf(out, " (%u of them truncated)", diagnosis->cut_snapshots);
	ss_text_add_string(out, DOT);
}

void ss_diagnosis_job(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	if (diagnosis->rank_count) {
		add_count(diagnosis->rank_count, "rank", "ranks", out);
		ss_text_add_string(out, DOT);
		if (diagnosis->steps_least != diagnosis->steps_most)
			ss_text_addf(out, "%u to ", diagnosis->steps_least);
		add_count(diagnosis->steps_most, "step", "steps", out);
		if (diagnosis->device)
			ss_text_addf(out, DOT "%s", diagnosis->device);
		ss_text_add_string(out, DOT);
	}
	add_snapshots(diagnosis, out);
	ss_render_bytes((int64_t)diagnosis->bytes, out);
	ss_text_addf(out, " in %.2f s\n", diagnosis->seconds);
}

static double times(int64_t before_ns, int64_t after_ns)
{
	return after_ns > 0 ? (double)before_ns / (double)after_ns : 0;
}

static void add_what_if(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	if (!diagnosis->finding_count) {
		ss_text_add_string(out, " None of the chosen findings is in this job, so the step "
					"time does not change.\n");
		return;
	}
	ss_text_add_string(out, " With the fixes below it would take ");
	if (!diagnosis->is_bounded)
		ss_render_ns(diagnosis->fixed_ns, out);
	if (diagnosis->is_bounded || diagnosis->fixed_low_ns != diagnosis->fixed_high_ns) {
		ss_text_add_string(out, diagnosis->is_bounded ? "" : " (");
		ss_render_ns_range(diagnosis->fixed_high_ns, diagnosis->fixed_low_ns, out);
		ss_text_add_string(out, diagnosis->is_bounded ? "" : ")");
	}
	if (!diagnosis->is_bounded)
		ss_text_addf(out, ", %.2f\xc3\x97 faster",
			     times(diagnosis->step_ns, diagnosis->fixed_ns));
	ss_text_add_string(out, ".\n");
}

/* What the fixes save: one figure, or a range where that is wide or the replay gives no more. */
static void add_gain(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	int64_t step_ns = diagnosis->step_ns, low_ns = step_ns - diagnosis->fixed_low_ns;
	int64_t high_ns = step_ns - diagnosis->fixed_high_ns;

	ss_text_add_string(out, " The fixes below would save ");
	if (diagnosis->is_bounded || ss_is_wide(low_ns, high_ns)) {
		ss_render_ns_range(low_ns, high_ns, out);
		ss_text_addf(out, " per step (%.2f to %.2f\xc3\x97 faster).\n",
			     times(step_ns, diagnosis->fixed_low_ns),
			     times(step_ns, diagnosis->fixed_high_ns));
		return;
	}
	ss_render_ns(step_ns - diagnosis->fixed_ns, out);
	ss_text_addf(out, " per step (%.2f\xc3\x97 faster).\n",
		     times(step_ns, diagnosis->fixed_ns));
}

/* One part of the account with its share of the step; less than half a percent is left out. */
static void add_part(const struct ss_account *account, const char *name, int64_t part_ns,
		     const char **between, struct ss_text *out)
{
	double percent = 100 * (double)part_ns / (double)account->step_ns;

	if (percent < 0.5)
		return;
	ss_text_addf(out, "%s%s ", *between, name);
	ss_render_ns(part_ns, out);
	ss_text_addf(out, " (%.0f %%)", percent);
	*between = DOT;
}

void ss_diagnosis_account(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_account *account = &diagnosis->account;
	const char *between = "";

	if (account->step_ns <= 0)
		return;
	ss_text_add_string(out, "Account: ");
	add_part(account, "explained", account->warnings_ns + account->smaller_ns, &between, out);
	add_part(account, "compute", account->compute_ns, &between, out);
	add_part(account, "communication", account->communication_ns, &between, out);
	add_part(account, "copies", account->copies_ns, &between, out);
	add_part(account, "host", account->host_ns, &between, out);
	add_part(account, "unexplained", account->unexplained_ns, &between, out);
	ss_text_add_string(out, "\n");
}

void ss_diagnosis_open(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_account *account = &diagnosis->account;

	ss_render_ns(account->unexplained_ns, out);
	ss_text_addf(out, " (%.0f %%) unexplained",
		     100 * (double)account->unexplained_ns / (double)account->step_ns);
}

/* Of snapshots without a trace. */
static void add_memory_verdict(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	uint32_t count = diagnosis->warning_count;

	if (diagnosis->is_what_if)
		ss_text_add_string(out, "There is no trace, only memory snapshots: they have no "
					"steps to measure a saving by.\n");
	else if (!diagnosis->memory_devices && diagnosis->cut_snapshots)
		ss_text_add_string(out, "The readable part has no allocator events, so no rule can "
					"judge the memory: the file is truncated.\n");
	else if (!diagnosis->memory_devices)
		ss_text_add_string(out, "There are no allocator events, so no rule can judge the "
					"memory. Call torch.cuda.memory._record_memory_history() "
					"before the run to record them.\n");
	else if (!diagnosis->finding_count)
		ss_text_add_string(out, "Nothing stands out in the recorded memory.\n");
	else if (!count)
		ss_text_add_string(out, "Nothing is wrong with the recorded memory.\n");
	else
		ss_text_addf(out,
			     "%u thing%s wrong with the memory. Only a trace can show what it "
			     "costs in time.\n",
			     count, count == 1 ? " is" : "s are");
}

void ss_diagnosis_verdict(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	if (!diagnosis->rank_count && diagnosis->snapshot_count) {
		add_memory_verdict(diagnosis, out);
		return;
	}
	if (diagnosis->step_ns <= 0) {
		ss_text_add_string(out, "No steps were found, so no saving can be measured. Call "
					"prof.step() at the end of each step: it marks them as "
					"ProfilerStep#N.\n");
		return;
	}
	ss_text_add_string(out, "A step takes ");
	ss_render_ns(diagnosis->step_ns, out);
	ss_diagnosis_spread(diagnosis, out);
	ss_text_add_string(out, ".");
	if (diagnosis->is_what_if) {
		add_what_if(diagnosis, out);
		return;
	}
	if (diagnosis->fixed_ns < diagnosis->step_ns) {
		add_gain(diagnosis, out);
		return;
	}
	if (ss_diagnosis_blind(diagnosis))
		ss_text_add_string(out, ss_diagnosis_blind(diagnosis));
	else if (ss_account_is_open(&diagnosis->account))
		ss_text_addf(out, " No rule explains %.0f %% of it.\n",
			     100 * (double)diagnosis->account.unexplained_ns /
				     (double)diagnosis->account.step_ns);
	else if (10 * diagnosis->account.host_ns >= diagnosis->step_ns)
		ss_text_add_string(out, " Only small savings were found; after them the host "
					"limits the step.\n");
	else
		ss_text_add_string(out,
				   diagnosis->warning_count
					   ? " The findings below cost no time.\n"
					   : " Nothing was found that would make it faster.\n");
}

void ss_diagnosis_cost(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		       struct ss_text *out)
{
	/* what only a snapshot shows may bring no time */
	if (!ss_finding_has_cost(finding) || (finding->has_memory && !finding->high_ns))
		return;
	ss_text_add_string(out, "saves ");
	if (diagnosis->is_bounded || ss_is_wide(finding->low_ns, finding->high_ns)) {
		ss_render_ns_range(finding->low_ns, finding->high_ns, out);
		return;
	}
	ss_render_ns(finding->cost_ns, out);
	ss_text_addf(out, " (%.*f %%)", 100 * finding->cost_ns < 10 * diagnosis->step_ns ? 1 : 0,
		     100 * (double)finding->cost_ns / (double)diagnosis->step_ns);
}

void ss_diagnosis_bytes(const struct ss_finding *finding, struct ss_text *out)
{
	if (finding->bytes < 0)
		return;
	ss_render_bytes(finding->bytes, out);
	ss_text_addf(out, " %s", finding->rule->bytes_are);
}

bool ss_diagnosis_shows(const struct ss_finding *finding, uint32_t i)
{
	uint32_t before = 0;

	for (uint32_t k = 0; k < i; k++)
		before += !finding->evidence[k].snapshot == !finding->evidence[i].snapshot;
	return before < SS_EVIDENCE_SHOWN;
}

void ss_diagnosis_evidence(const struct ss_evidence *evidence, struct ss_text *out)
{
	ss_text_add_string(out, evidence->text);
	if (evidence->line)
		ss_text_addf(out, evidence->snapshot ? ", at %s" : " (%s)", evidence->line);
}

void ss_diagnosis_quality(const struct ss_diagnosis *diagnosis,
			  const struct ss_render_options *options, struct ss_text *out)
{
	const struct ss_trust *trust = &options->trust;

	ss_text_addf(out, "the replay of the recorded step is off by %.1f %%",
		     diagnosis->error_percent < 0 ? -diagnosis->error_percent
						  : diagnosis->error_percent);
	if (diagnosis->is_bounded)
		ss_text_addf(out, " (above %.0f %%: only bounds are given)", SS_REPLAY_ERROR_MAX);
	if (diagnosis->trust.clock_error_ns >= 0) {
		ss_text_add_string(out, "; clocks aligned to \xc2\xb1");
		ss_render_ns(diagnosis->trust.clock_error_ns, out);
	}
	if (diagnosis->trust.unaligned_ranks)
		ss_text_addf(out, "; clocks of %u ranks cannot be compared",
			     diagnosis->trust.unaligned_ranks);
	if (diagnosis->trust.inferred_waits) {
		ss_text_add_string(out, "; ");
		ss_render_count((int64_t)diagnosis->trust.inferred_waits, out);
		ss_text_add_string(out, " stream waits inferred, ");
		ss_render_count((int64_t)diagnosis->trust.recorded_waits, out);
		ss_text_add_string(out, " recorded");
	}
	if (trust->unreadable_files)
		ss_text_addf(out, "; %" PRIu64 " of %" PRIu64 " files unreadable",
			     trust->unreadable_files, trust->files);
	if (trust->lost) {
		ss_text_add_string(out, "; ");
		ss_render_count((int64_t)trust->lost, out);
		ss_text_add_string(out, " of ");
		ss_render_count((int64_t)diagnosis->events, out);
		ss_text_add_string(out, " events skipped");
	}
}
