/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.c - what the formats of a verdict share.
 */
#include "render/verdict/diagnosis.h"

#include <inttypes.h>

#include "diagnose/findings_table.h"

#define DOT " \xc2\xb7 "

uint32_t ss_render_verdict_rows(const struct ss_diagnosis *diagnosis,
				const struct ss_render_options *options)
{
	return options->top && options->top < diagnosis->finding_count ? options->top
								       : diagnosis->finding_count;
}

static void verdict_add_count(uint64_t count, const char *one, const char *many,
			      struct ss_text *out)
{
	ss_render_count((int64_t)count, out);
	ss_text_addf(out, " %s", count == 1 ? one : many);
}

static void verdict_add_snapshots(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	if (!diagnosis->snapshot_count)
		return;
	verdict_add_count(diagnosis->snapshot_count, "memory snapshot", "memory snapshots", out);
	if (diagnosis->cut_snapshots && diagnosis->snapshot_count == 1)
		ss_text_add_string(out, " (truncated)");
	else if (diagnosis->cut_snapshots)
		ss_text_addf(out, " (%u of them truncated)", diagnosis->cut_snapshots);
	ss_text_add_string(out, DOT);
}

void ss_render_verdict_job(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	if (diagnosis->rank_count) {
		verdict_add_count(diagnosis->rank_count, "rank", "ranks", out);
		ss_text_add_string(out, DOT);
		if (diagnosis->steps_least != diagnosis->steps_most)
			ss_text_addf(out, "%u to ", diagnosis->steps_least);
		verdict_add_count(diagnosis->steps_most, "step", "steps", out);
		/* a GPU of the machine that the steps do not use is not theirs */
		if (diagnosis->device && (diagnosis->on_device ||
					  ss_doubts_have(&diagnosis->doubts, SS_DOUBT_NO_DEVICE)))
			ss_text_addf(out, DOT "%s", diagnosis->device);
		ss_text_add_string(out, DOT);
	}
	verdict_add_snapshots(diagnosis, out);
	ss_render_verdict_dumps(diagnosis, out);
	ss_render_bytes((int64_t)diagnosis->bytes, out);
	ss_text_addf(out, " in %.2f s\n", diagnosis->seconds);
}

static double verdict_speedup(int64_t before_ns, int64_t after_ns)
{
	return after_ns > 0 ? (double)before_ns / (double)after_ns : 0;
}

/* Leaves out a factor that rounds to 1.00. */
static void verdict_add_faster(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	double faster = verdict_speedup(diagnosis->step_ns, diagnosis->fixed_ns);

	if (faster >= 1.005)
		ss_text_addf(out, ", %.2f\xc3\x97 faster", faster);
	else if (diagnosis->step_ns - diagnosis->fixed_ns <= diagnosis->step_ns / 2000)
		ss_text_add_string(out, ", as long as now");
}

/* How long a step would take with the chosen fixes, as one figure or as a range. */
static void verdict_add_what_if(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	int64_t scale = ss_render_scale(diagnosis->step_ns);

	if (!diagnosis->finding_count) {
		ss_text_add_string(out, diagnosis->other_device.name && !diagnosis->not_found
						? "\n"
						: " None of the chosen findings is in this job, so "
						  "the step time does not change.\n");
		return;
	}
	ss_text_add_string(out, " With the fixes below it would take ");
	if (!diagnosis->is_bounded)
		ss_render_ns_in(diagnosis->fixed_ns, scale, out);
	if (diagnosis->is_bounded || diagnosis->fixed_low_ns != diagnosis->fixed_high_ns) {
		ss_text_add_string(out, diagnosis->is_bounded ? "" : " (");
		ss_render_ns_range(diagnosis->fixed_high_ns, diagnosis->fixed_low_ns, scale, out);
		ss_text_add_string(out, diagnosis->is_bounded ? "" : ")");
	}
	if (!diagnosis->is_bounded)
		verdict_add_faster(diagnosis, out);
	ss_text_add_string(out, ".\n");
}

/* What the fixes save: one figure, or a range where that is wide or the replay gives no more. */
static void verdict_add_gain(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	int64_t step_ns = diagnosis->step_ns, low_ns = step_ns - diagnosis->fixed_low_ns;
	int64_t high_ns = step_ns - diagnosis->fixed_high_ns, scale = ss_render_scale(step_ns);

	ss_text_add_string(out, " The fixes below would save ");
	if (diagnosis->is_bounded || ss_finding_range_is_wide(low_ns, high_ns)) {
		ss_render_ns_range(low_ns, high_ns, scale, out);
		ss_text_add_string(out, " per step (");
		if (low_ns > 0)
			ss_text_addf(out, "%.2f",
				     verdict_speedup(step_ns, diagnosis->fixed_low_ns));
		ss_text_addf(out, "%sto %.2f\xc3\x97 faster).\n", low_ns > 0 ? " " : "up ",
			     verdict_speedup(step_ns, diagnosis->fixed_high_ns));
		return;
	}
	ss_render_ns_in(step_ns - diagnosis->fixed_ns, scale, out);
	ss_text_addf(out, " per step (%.2f\xc3\x97 faster).\n",
		     verdict_speedup(step_ns, diagnosis->fixed_ns));
}

const struct ss_finding *ss_render_verdict_rest(const struct ss_diagnosis *diagnosis)
{
	for (uint32_t i = 0; i < diagnosis->finding_count; i++)
		if (diagnosis->findings[i]->has_no_cost)
			return diagnosis->findings[i];
	return NULL;
}

/* The GPU probably works on what was launched before the recording: it only seems to be idle. */
static bool verdict_starts_late(const struct ss_diagnosis *diagnosis)
{
	const struct ss_finding *rest = ss_render_verdict_rest(diagnosis);

	return rest && rest->is_early;
}

/* --- how busy the GPUs are ----------------------------------------------------------- */

/* One digit behind the point where it matters: "0.2 %", "42 %", "99.8 %". */
static void gpu_add_share(double share, struct ss_text *out)
{
	double percent = 100 * share;
	bool is_end = percent < 0.05 || percent >= 99.95;

	if (share > 0 && percent < 0.05) {
		ss_text_add_string(out, "less than 0.1 %");
		return;
	}
	ss_text_addf(out, "%.*f %%", !is_end && (percent < 9.95 || percent >= 99) ? 1 : 0, percent);
}

static void gpu_add_use(const char **between, const char *name, double share, struct ss_text *out)
{
	/* less than this is not worth its place on the line */
	if (share < 0.01)
		return;
	ss_text_addf(out, "%s%s ", *between, name);
	gpu_add_share(share, out);
	*between = ", ";
}

/* Why no GPU use can be stated. */
static const char *gpu_use_unknown(const struct ss_diagnosis *diagnosis)
{
	if (!diagnosis->rank_count && !diagnosis->snapshot_count)
		return ""; /* of dumps, nobody expects it */
	if (!diagnosis->rank_count)
		return "GPU use is unknown: a memory snapshot has no times.\n";
	if (ss_doubts_have(&diagnosis->doubts, SS_DOUBT_NO_DEVICE))
		return "GPU use is unknown: the trace has no GPU events.\n";
	if (diagnosis->on_device)
		return "GPU use is unknown: the trace has no steps.\n";
	/* profilers write the events of GPUs last */
	if (ss_doubts_have(&diagnosis->doubts, SS_DOUBT_CUT))
		return "GPU use is unknown: GPU events may be in the part that is missing.\n";
	/* a GPU of the machine may be idle, or not be recorded: nothing tells */
	if (diagnosis->device)
		return "No GPU events in this trace: the steps run on the CPU, or "
		       "ProfilerActivity.CUDA is missing.\n";
	if (!diagnosis->events && diagnosis->step_ns <= 0)
		return "GPU use is unknown: the trace has no events.\n";
	return "No GPU in this trace: the steps run on the CPU.\n";
}

/* What other kernels compute changes MFU by less than steps differ. */
#define MFU_KNOWN 0.95

/* Savings of findings that are no warnings, below this share of the step together, are small. */
#define SMALL_SHARE 0.05

/* Model FLOPs utilization; with recomputation, if that differs. */
static void gpu_add_mfu(const struct ss_mfu *mfu, struct ss_text *out)
{
	/* a lower bound of nothing says nothing */
	if (mfu->mfu <= 0 || (mfu->mfu < 0.0005 && mfu->known < MFU_KNOWN))
		return;
	if (mfu->mfu < 0.0005)
		ss_text_add_string(out, " MFU is less than 0.1 %");
	else
		ss_text_addf(out, " MFU is %s%.1f %%", mfu->known < MFU_KNOWN ? "at least " : "",
			     100 * mfu->mfu);
	if (mfu->hfu > mfu->mfu)
		ss_text_addf(out, ", HFU %.1f %%", 100 * mfu->hfu);
	if (mfu->known < MFU_KNOWN)
		ss_text_addf(out, " (FLOPs of %.0f %% of the kernel time are not known)",
			     100 - 100 * mfu->known);
	ss_text_add_string(out, ".");
}

void ss_render_verdict_gpu(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_gpu_use *gpu = &diagnosis->gpu;
	const char *between = " (";

	if (!gpu->rank_count) {
		ss_text_add_string(out, gpu_use_unknown(diagnosis));
		return;
	}
	ss_text_addf(out, "The GPU%s busy %s", gpu->rank_count > 1 ? "s are" : " is",
		     verdict_starts_late(diagnosis) ? "at least " : "");
	gpu_add_share(gpu->busy, out);
	ss_text_add_string(out, " of the step");
	/* the rest of it is compute */
	gpu_add_use(&between, "communication alone", gpu->exposed_communication, out);
	gpu_add_use(&between, "copies alone", gpu->exposed_copies, out);
	ss_text_addf(out, "%s.", *between == ',' ? ")" : "");
	gpu_add_mfu(&diagnosis->mfu, out);
	ss_text_add_string(out, "\n");
}

/* The unit of a saving, which is that of the evidence below it. */
static int64_t finding_time_scale(const struct ss_finding *finding)
{
	return finding->in_seconds ? 1000000000 : 1000000;
}

void ss_render_verdict_unexplained(const struct ss_diagnosis *diagnosis,
				   const struct ss_finding *finding, struct ss_text *out)
{
	const struct ss_account *account = &diagnosis->account;

	ss_render_ns_in(account->unexplained_ns, finding_time_scale(finding), out);
	ss_text_addf(out, " (%.0f %%) unexplained",
		     100 * (double)account->unexplained_ns / (double)account->step_ns);
}

/* The verdict on snapshots without a trace. */
static void verdict_add_memory(const struct ss_diagnosis *diagnosis, struct ss_text *out)
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
		ss_text_addf(
			out,
			"%u memory problem%s. A snapshot has no timing, so the cost in time is "
			"unknown.\n",
			count, count == 1 ? "" : "s");
}

/* Why the GPU is idle: what the unexplained time says, else the largest cause of gaps. */
static void verdict_add_idle_cause(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	static const char idle[] = "The GPU is idle ";
	const struct ss_finding *rest = ss_render_verdict_rest(diagnosis);
	const char *title = rest ? rest->title : "";

	if (strncmp(title, idle, sizeof(idle) - 1) == 0)
		ss_text_addf(out, " of it, mostly %s.", title + sizeof(idle) - 1);
	else
		ss_text_addf(out, " of it: %s.", ss_idle_about(diagnosis->gpu.cause));
}

/* What to say if no fix would save time: why, or what the time is. */
static void verdict_add_nothing(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_account *account = &diagnosis->account;

	if (ss_render_verdict_blind(diagnosis)) {
		ss_text_addf(out, " %s\n", ss_render_verdict_blind(diagnosis));
	} else if (ss_account_is_open(account) && 2 * account->peers_ns > account->unexplained_ns) {
		ss_text_addf(out,
			     " For %.0f %% of it ranks wait for each other, and no rule explains "
			     "why.\n",
			     100 * (double)account->peers_ns / (double)account->step_ns);
	} else if (ss_account_is_open(account) && verdict_starts_late(diagnosis)) {
		ss_text_addf(out,
			     " For %.0f %% of it the recorded work waits, probably for work that "
			     "was launched before the recording.\n",
			     100 * (double)account->unexplained_ns / (double)account->step_ns);
	} else if (ss_account_is_open(account) && diagnosis->gpu.rank_count) {
		ss_text_addf(out, " The GPU%s idle ",
			     diagnosis->gpu.rank_count > 1 ? "s are" : " is");
		gpu_add_share(1 - diagnosis->gpu.busy, out);
		verdict_add_idle_cause(diagnosis, out);
		ss_text_add_string(out, " No rule covers it yet; see 'stepscope gaps' below.\n");
	} else if (ss_account_is_open(account)) {
		ss_text_addf(out, " No rule explains %.0f %% of it.\n",
			     100 * (double)account->unexplained_ns / (double)account->step_ns);
	} else if (diagnosis->warning_count) {
		ss_text_add_string(out, " The findings below cost no time.\n");
	} else if ((double)account->smaller_ns >= SMALL_SHARE * (double)diagnosis->step_ns) {
		ss_text_add_string(out, " No fix stands out; those below may save up to ");
		ss_render_ns(account->smaller_ns, out);
		ss_text_addf(out, " (%.0f %%).\n",
			     100 * (double)account->smaller_ns / (double)diagnosis->step_ns);
	} else if (200 * account->smaller_ns >= diagnosis->step_ns) {
		ss_text_add_string(out, " Only small savings were found.\n");
	} else {
		ss_text_add_string(out, " Nothing was found that would make it faster.\n");
	}
}

const char *ss_render_verdict_steps(const struct ss_diagnosis *diagnosis)
{
	switch (diagnosis->step_anchor) {
	case SS_STEPS_OPTIMIZER:
		return "No step is marked: each runs from one optimizer step to the next.";
	case SS_STEPS_COLLECTIVES:
		return "No step is marked: they are inferred from collectives that repeat.";
	case SS_STEPS_KERNELS:
		return "No step is marked: they are inferred from kernels that repeat.";
	case SS_STEPS_HOST_SPAN:
	case SS_STEPS_DEVICE_SPAN:
		return "No step is marked: the whole file counts as one.";
	default:
		return NULL;
	}
}

void ss_render_verdict_sentence(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	ss_render_verdict_waits(diagnosis, out);
	if (diagnosis->hang && !diagnosis->rank_count && !diagnosis->snapshot_count)
		return;
	if (!diagnosis->rank_count && diagnosis->snapshot_count) {
		verdict_add_memory(diagnosis, out);
		return;
	}
	if (diagnosis->step_ns <= 0 && !diagnosis->events) {
		ss_text_add_string(out, "The trace is empty: it has no events.\n");
		return;
	}
	if (diagnosis->step_ns <= 0) {
		ss_text_add_string(out, "No steps were found, so no saving can be measured. Call "
					"prof.step() at the end of each step: it marks them as "
					"ProfilerStep#N.\n");
		return;
	}
	if (ss_render_verdict_steps(diagnosis))
		ss_text_addf(out, "%s ", ss_render_verdict_steps(diagnosis));
	ss_text_add_string(out, "A step takes ");
	ss_render_ns(diagnosis->step_ns, out);
	ss_render_verdict_spread(diagnosis, out);
	ss_text_add_string(out, diagnosis->start_up_ns ? ". " : ".");
	if (diagnosis->start_up_ns) {
		ss_render_ns_in(diagnosis->start_up_ns, ss_render_scale(diagnosis->step_ns), out);
		ss_text_add_string(out, " of it is start-up, which a steady step does not have.");
	}
	if (diagnosis->is_what_if)
		verdict_add_what_if(diagnosis, out);
	else if (diagnosis->fixed_ns < diagnosis->step_ns)
		verdict_add_gain(diagnosis, out);
	else if (diagnosis->start_up_ns)
		ss_text_add_string(out, "\n");
	else
		verdict_add_nothing(diagnosis, out);
}

void ss_render_verdict_cost(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
			    struct ss_text *out)
{
	bool is_part = finding->is_start_up && !diagnosis->is_what_if; /* no fix saves it */
	int64_t scale = finding_time_scale(finding);

	/* a finding that only a snapshot shows may save no time */
	if (!ss_finding_has_cost(finding) || (finding->has_memory && !finding->high_ns))
		return;
	ss_text_add_string(out, is_part ? "" : "saves ");
	if (!is_part && (diagnosis->is_bounded ||
			 ss_finding_range_is_wide(finding->low_ns, finding->high_ns))) {
		ss_render_ns_range(finding->low_ns, finding->high_ns, scale, out);
		return;
	}
	ss_render_ns_in(finding->cost_ns, scale, out);
	ss_text_addf(out, " (%.*f %%)", 100 * finding->cost_ns < 10 * diagnosis->step_ns ? 1 : 0,
		     100 * (double)finding->cost_ns / (double)diagnosis->step_ns);
}

void ss_render_verdict_bytes(const struct ss_finding *finding, struct ss_text *out)
{
	if (finding->bytes < 0)
		return;
	ss_render_bytes(finding->bytes, out);
	ss_text_addf(out, " %s", finding->rule->bytes_are);
}

/* "folder/file.py(3): function" without the folders. */
static const char *line_without_folders(const char *line)
{
	const char *name = line;

	for (const char *at = line; *at && *at != '(' && *at != ':'; at++)
		if (*at == '/' || *at == '\\')
			name = at + 1;
	return name;
}

void ss_render_verdict_evidence(const struct ss_evidence *evidence, bool brief, struct ss_text *out)
{
	const char *line = evidence->line, *name = line ? line_without_folders(line) : "";
	const char *found = line ? strstr(evidence->text, line) : NULL;

	/* a sentence that names the line itself */
	if (found && brief) {
		ss_text_add(out, evidence->text, (size_t)(found - evidence->text));
		ss_text_add_string(out, found + (name - line));
		return;
	}
	ss_text_add_string(out, evidence->text);
	if (line && !found)
		ss_text_addf(out, evidence->snapshot ? ", at %s" : " (%s)", brief ? name : line);
}

/* Adds a clause to the line about the quality of the data. */
static struct ss_text *quality_begin_clause(struct ss_text *out)
{
	ss_text_add_string(out, out->length ? "; " : "Data quality: ");
	return out;
}

/* How exact the figures are, for --verbose. */
static void quality_add_exactness(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_diagnosis_trust *trust = &diagnosis->trust;

	if (trust->clock_error_ns > 0) {
		ss_text_add_string(quality_begin_clause(out), "clocks aligned to \xc2\xb1");
		ss_render_ns(trust->clock_error_ns, out);
	}
	if (trust->inferred_waits) {
		ss_render_count((int64_t)trust->inferred_waits, quality_begin_clause(out));
		ss_text_add_string(out, " stream waits inferred");
	}
	if (trust->recorded_waits) {
		ss_render_count((int64_t)trust->recorded_waits, quality_begin_clause(out));
		ss_text_add_string(out, " stream waits recorded");
	}
}

void ss_render_verdict_quality(const struct ss_diagnosis *diagnosis,
			       const struct ss_render_options *options, struct ss_text *out)
{
	const struct ss_trust *trust = &options->trust;
	struct ss_text line = { 0 };
	double error = diagnosis->error_percent < 0 ? -diagnosis->error_percent
						    : diagnosis->error_percent;

	if (diagnosis->is_bounded || (options->verbose && error >= 0.05))
		ss_text_addf(quality_begin_clause(&line),
			     "the replay of the recorded step is off by %.1f %%", error);
	if (diagnosis->is_bounded)
		ss_text_addf(&line, " (above %.0f %%: only bounds are given)", SS_REPLAY_ERROR_MAX);
	if (diagnosis->trust.missing.count)
		ss_joined_format_missing(&diagnosis->trust.missing, quality_begin_clause(&line));
	if (diagnosis->trust.unaligned_ranks)
		ss_text_addf(quality_begin_clause(&line), "clocks of %u rank%s cannot be compared",
			     diagnosis->trust.unaligned_ranks,
			     diagnosis->trust.unaligned_ranks == 1 ? "" : "s");
	if (options->verbose)
		quality_add_exactness(diagnosis, &line);
	if (trust->unreadable_files)
		ss_text_addf(quality_begin_clause(&line),
			     "%" PRIu64 " of %" PRIu64 " files unreadable", trust->unreadable_files,
			     trust->files);
	if (trust->lost) {
		ss_render_count((int64_t)trust->lost, quality_begin_clause(&line));
		ss_text_add_string(&line, " of ");
		ss_render_count((int64_t)diagnosis->events, &line);
		ss_text_add_string(&line, " events skipped");
	}
	if (line.length)
		ss_text_addf(out, "%s\n", line.data);
	ss_text_end(&line, out);
}

/* --- formats that have only rows: one finding per row --------------------------------- */

void ss_render_findings(const struct ss_diagnosis *diagnosis,
			const struct ss_render_options *options,
			void (*view)(const struct ss_table *table,
				     const struct ss_render_options *options, struct ss_text *out),
			struct ss_text *out)
{
	SS_SCRATCH(scratch, diagnosis->memory);
	struct ss_table table;

	if (ss_diagnosis_table(diagnosis, &scratch, &table))
		view(&table, options, out);
	else
		ss_text_fail(out);
	ss_table_release(&table);
}
