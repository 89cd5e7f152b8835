/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - gauges in the text format of Prometheus, events as JSON lines.
 *
 * All series of a gauge stand together, behind its help. Times are seconds, as Prometheus wants
 * them.
 */
#include "api/write/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "diagnose/findings_table.h"

static void metric_begin(struct ss_text *out, const char *name, const char *about)
{
	ss_text_addf(out, "# HELP stepscope_%s %s\n# TYPE stepscope_%s gauge\n", name, about, name);
}

/* A label, in braces or behind others. */
static void metric_add_label(struct ss_text *out, const char *name, const char *value,
			     bool is_first)
{
	ss_text_addf(out, "%s%s=\"", is_first ? "{" : ",", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			ss_text_add_string(out, "\\");
		if (*value == '\n')
			ss_text_add_string(out, "\\n");
		else
			ss_text_add(out, value, 1);
	}
	ss_text_add_string(out, "\"");
}

static void metric_add_value(struct ss_text *out, double value)
{
	ss_text_addf(out, "} %.15g\n", value);
}

static double ns_seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

/* --- live numbers ---------------------------------------------------------------------------- */

static const struct {
	const char *name, *about;
	enum ss_live_part part;
} rank_metrics[] = {
	{ "rank_step_seconds", "Median of the last 128 steps of a rank.", SS_LIVE_STEP },
	{ "rank_data_wait_seconds", "Waiting for data in these steps, median.", SS_LIVE_DATA },
	{ "rank_gc_seconds", "Collecting garbage in these steps, mean.", SS_LIVE_GC },
	{ "rank_optimizer_seconds", "optimizer.step() on the host, median.", SS_LIVE_OPTIMIZER },
	{ "rank_gpu_step_seconds", "From step to step on the GPU's clock, median.", SS_LIVE_GPU },
};

static void metric_add_rank(const struct ss_live_rank *rank, const char *job, const char *name,
			    double value, struct ss_text *out)
{
	char number[24];

	ss_text_addf(out, "stepscope_%s", name);
	metric_add_label(out, "job", job, true);
	metric_add_label(out, "host", rank->file->host, false);
	snprintf(number, sizeof(number), "%" PRId64, rank->file->rank);
	metric_add_label(out, "rank", number, false);
	metric_add_value(out, value);
}

static void metrics_add_ranks(const struct ss_metrics_live *jobs, uint32_t count,
			      struct ss_text *out)
{
	for (size_t i = 0; i < SS_COUNT(rank_metrics); i++) {
		metric_begin(out, rank_metrics[i].name, rank_metrics[i].about);
		for (uint32_t j = 0; j < count; j++)
			for (uint32_t k = 0; k < jobs[j].live->rank_count; k++) {
				const struct ss_live_rank *rank = &jobs[j].live->ranks[k];
				int64_t ns = rank->ns[rank_metrics[i].part];

				if (ns >= 0)
					metric_add_rank(rank, jobs[j].job, rank_metrics[i].name,
							ns_seconds(ns), out);
			}
	}
	metric_begin(out, "rank_step", "Number of the last step of a rank.");
	for (uint32_t j = 0; j < count; j++)
		for (uint32_t k = 0; k < jobs[j].live->rank_count; k++) {
			const struct ss_live_rank *rank = &jobs[j].live->ranks[k];

			metric_add_rank(rank, jobs[j].job, "rank_step",
					rank->file->rows[rank->file->row_count - 1].step, out);
		}
}

static void metric_add_job(const char *name, const char *job, double value, struct ss_text *out)
{
	ss_text_addf(out, "stepscope_%s", name);
	metric_add_label(out, "job", job, true);
	metric_add_value(out, value);
}

/* The last 128 steps: their median, or the longest but one in twenty. */
static double live_recent_seconds(const struct ss_live *live, bool is_late)
{
	int64_t values[SS_LIVE_RECENT];
	uint32_t count = 0,
		 from = live->step_count > SS_LIVE_RECENT ? live->step_count - SS_LIVE_RECENT : 0;

	for (uint32_t i = from; i < live->step_count; i++)
		values[count++] = live->steps[i].us[SS_LIVE_STEP];
	return (double)(is_late ? ss_nth_smallest(values, count, (count - 1) * 19 / 20)
				: ss_median(values, count)) /
	       1e6;
}

enum job_metric {
	OF_RANKS,
	OF_STEP,
	OF_LATE_STEP,
	OF_LAST_STEP,
	OF_ENDED,
	OF_CHANGES,
	OF_LAST_CHANGE,
};

static const struct {
	const char *name, *about;
} job_metrics[] = {
	[OF_RANKS] = { "ranks", "Ranks with live numbers here." },
	[OF_STEP] = { "step_seconds", "Median of the last 128 steps." },
	[OF_LATE_STEP] = { "step_p95_seconds", "95th percentile of the last 128 steps." },
	[OF_LAST_STEP] = { "last_step_timestamp_seconds", "When the last step ended." },
	[OF_ENDED] = { "ended", "1: the program is through on all ranks with live numbers here." },
	[OF_CHANGES] = { "changes", "Changes of the level of step times." },
	[OF_LAST_CHANGE] = { "last_change_ratio", "Step time behind the last change over before." },
};

static double live_value(const struct ss_live *live, enum job_metric metric)
{
	const struct ss_live_change *last = live->change_count
						    ? &live->changes[live->change_count - 1]
						    : NULL;

	switch (metric) {
	case OF_RANKS:
		return live->rank_count;
	case OF_STEP:
	case OF_LATE_STEP:
		return live_recent_seconds(live, metric == OF_LATE_STEP);
	case OF_LAST_STEP:
		return (double)live->steps[live->step_count - 1].end_us / 1e6;
	case OF_ENDED:
		return live->has_ended;
	case OF_CHANGES:
		return live->change_count;
	case OF_LAST_CHANGE:
		break;
	}
	return last ? (double)last->after_ns / (double)last->before_ns : 1;
}

void ss_metrics_add_lives(const struct ss_metrics_live *jobs, uint32_t count, struct ss_text *out)
{
	uint32_t ranks = 0;

	if (!count)
		return;
	for (size_t i = 0; i < SS_COUNT(job_metrics); i++) {
		metric_begin(out, job_metrics[i].name, job_metrics[i].about);
		for (uint32_t j = 0; j < count; j++)
			metric_add_job(job_metrics[i].name, jobs[j].job,
				       live_value(jobs[j].live, (enum job_metric)i), out);
	}
	for (uint32_t j = 0; j < count; j++)
		ranks += jobs[j].live->rank_count;
	if (ranks <= (count == 1 ? SS_METRICS_RANKS : SS_METRICS_RANKS_OF_JOBS))
		metrics_add_ranks(jobs, count, out);
}

/* --- verdicts -------------------------------------------------------------------------------- */

void ss_metrics_take_verdict(const struct ss_diagnosis *verdict, struct ss_metrics_verdict *out)
{
	out->step_s = verdict->step_ns > 0 ? ns_seconds(verdict->step_ns) : 0;
	out->count = 0;
	for (uint32_t i = 0; i < verdict->warning_count && out->count < SS_METRICS_FINDINGS; i++) {
		const struct ss_finding *finding = verdict->findings[i];

		if (out->step_s <= 0 || !ss_finding_has_cost(finding))
			continue;
		out->rules[out->count] = finding->rule->name;
		out->shares[out->count++] = (double)finding->cost_ns / (double)verdict->step_ns;
	}
}

void ss_metrics_add_verdicts(const struct ss_metrics_verdict *verdicts, uint32_t count,
			     struct ss_text *out)
{
	uint32_t most = count == 1 ? SS_METRICS_FINDINGS : SS_METRICS_FINDINGS_OF_JOBS;

	if (!count)
		return;
	metric_begin(out, "recorded_step_seconds", "Mean step of the last recording.");
	for (uint32_t i = 0; i < count; i++)
		if (verdicts[i].step_s > 0)
			metric_add_job("recorded_step_seconds", verdicts[i].job, verdicts[i].step_s,
				       out);
	metric_begin(out, "finding_share",
		     "What the fix of a finding saves of the step of the last recording, of 1.");
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < verdicts[i].count && k < most; k++) {
			ss_text_add_string(out, "stepscope_finding_share");
			metric_add_label(out, "job", verdicts[i].job, true);
			metric_add_label(out, "rule", verdicts[i].rules[k], false);
			metric_add_value(out, verdicts[i].shares[k]);
		}
}

/* --- events ---------------------------------------------------------------------------------- */

/* What every event says; the members that are not known are null. */
struct event_head {
	const char *event, *job, *run, *host, *ranks;
	int64_t rank, step; /* -1: no single one; not recorded */
};

static void event_begin(const struct event_head *head, struct ss_text *out)
{
	ss_text_addf(out, "{\"event\":\"%s\",", head->event);
	ss_render_text_member(out, "job", head->job);
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "run", head->run);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "step", head->step, head->step >= 0);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "rank", head->rank, head->rank >= 0);
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "ranks", head->ranks);
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "host", head->host);
	ss_text_add_string(out, ",");
}

static void event_end(const struct ss_text *sentence, struct ss_text *out)
{
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "sentence", sentence->data);
	ss_text_add_string(out, "}\n");
}

void ss_metrics_add_change(const struct ss_live *live, const struct ss_live_change *change,
			   const char *job, struct ss_text *out)
{
	const struct ss_live_file *file = change->has_part && !change->is_all
						  ? live->ranks[change->rank].file
						  : NULL;
	struct event_head head = { .event = "change", .job = job, .rank = -1 };
	char ranks[32];
	SS_TEXT(sentence);

	snprintf(ranks, sizeof(ranks), change->is_all ? "most ranks" : "all ranks");
	if (file) {
		snprintf(ranks, sizeof(ranks), "rank %" PRId64, file->rank);
		head.rank = file->rank;
		head.host = file->host;
	}
	head.ranks = ranks;
	head.step = change->number;
	event_begin(&head, out);
	ss_text_addf(out, "\"before_ns\":%" PRId64 ",\"after_ns\":%" PRId64 ",", change->before_ns,
		     change->after_ns);
	ss_render_text_member(out, "part",
			      change->has_part ? ss_live_part_words(change->part) : NULL);
	ss_live_add_change(live, change, &sentence);
	event_end(&sentence, out);
}

/* The first recorded step, as the profiler's marks have it: "ProfilerStep#500". -1: they do not. */
static int64_t recorded_step(const struct ss_job_file *file)
{
	const struct ss_view *view = ss_view_find("steps");
	uint32_t column = 0, all;
	int64_t first = -1;
	SS_SCRATCH(arena, file->tables.memory);
	struct ss_table steps;

	if (!file->tables.length)
		return -1;
	while (strcmp(view->columns[column].name, "name") != 0)
		column++;
	ss_table_init(&steps, view, &arena);
	if (ss_job_tables_show(&file->tables, view, 0, &steps, &all, NULL) != SS_OK || steps.failed)
		steps.row_count = 0;
	for (uint32_t i = 0; i < steps.row_count; i++) {
		const struct ss_cell cell = ss_table_cell(&steps, i, column);
		int length = cell.is_null ? 0 : (int)cell.length;
		char name[64];
		int64_t number;

		/* texts of a column follow each other without an end */
		snprintf(name, sizeof(name), "%.*s", length, length ? cell.value.text : "");
		number = strchr(name, '#') ? strtoll(strrchr(name, '#') + 1, NULL, 10) : 0;
		if (number > 0 && (first < 0 || number < first))
			first = number;
	}
	ss_table_release(&steps);
	return first;
}

static void finding_add_sentence(const struct ss_diagnosis *verdict,
				 const struct ss_finding *finding, const char *ranks,
				 struct ss_text *out)
{
	ss_text_add_string(out, finding->title);
	if (!strstr(finding->title, "rank "))
		ss_text_addf(out, " (%s)", ranks);
	if (ss_finding_has_cost(finding) && verdict->step_ns > 0)
		ss_text_addf(out, ": the fix would save %.4g ms of a step of %.4g ms",
			     (double)finding->cost_ns / 1e6, (double)verdict->step_ns / 1e6);
	ss_text_add_string(out, ".");
}

static void metrics_add_finding(const struct ss_session *session,
				const struct ss_diagnosis *verdict,
				const struct ss_finding *finding, struct event_head *head,
				struct ss_text *out)
{
	uint32_t rank = finding->most_on ? finding->most_on - 1 : finding->rank;
	bool has_cost = ss_finding_has_cost(finding);
	char ranks[64];
	SS_TEXT(sentence);

	ss_finding_ranks(verdict, finding, ranks, sizeof(ranks));
	head->ranks = *ranks ? ranks : "all ranks";
	head->rank = rank != SS_NO_ROW ? verdict->ranks[rank] : -1;
	head->host = NULL;
	if (rank != SS_NO_ROW) {
		const struct ss_job_file *file = &session->job.files[verdict->files[rank]];
		const struct ss_digest *digest = ss_job_file_digest(&session->job, file);

		head->host = digest && digest->host ? ss_strings_text(&digest->texts, digest->host)
						    : NULL;
	}
	event_begin(head, out);
	ss_render_text_member(out, "rule", finding->rule->name);
	ss_text_add_string(out, ",");
	ss_render_text_member(out, "title", finding->title);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "saves_ns", finding->cost_ns, has_cost);
	ss_text_add_string(out, ",");
	ss_render_ns_member(out, "step_ns", verdict->step_ns, verdict->step_ns > 0);
	finding_add_sentence(verdict, finding, head->ranks, &sentence);
	event_end(&sentence, out);
}

void ss_metrics_add_findings(const struct ss_session *session, const struct ss_diagnosis *verdict,
			     const char *job, const char *run, struct ss_text *out)
{
	struct event_head head = { .event = "finding", .job = job, .run = run, .step = -1 };

	if (verdict->rank_count)
		head.step = recorded_step(&session->job.files[verdict->files[0]]);
	for (uint32_t i = 0; i < verdict->warning_count; i++)
		metrics_add_finding(session, verdict, verdict->findings[i], &head, out);
}
