/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stragglers_view.c - view: ranks that delay the others, how often, and why.
 */
#include "diagnose/stragglers/own_work.h"

#include <stdio.h>
#include <string.h>

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "pattern", SS_COLUMN_TEXT,
	  "persistent: in nearly all steps; transient: in some; rotating: a different rank in "
	  "each step",
	  0 },
	{ "late_ns", SS_COLUMN_NS,
	  "lateness at collectives that it causes itself, behind the first rank, per step", 0 },
	{ "step_percent", SS_COLUMN_PERCENT, "share of the mean step time", SS_COLUMN_BAR },
	{ "steps", SS_COLUMN_COUNT, "steps in which it stands out", 0 },
	{ "of_steps", SS_COLUMN_COUNT, "steps that can be compared", 0 },
	{ "inherited_ns", SS_COLUMN_NS,
	  "additional lateness per step because it waited in other groups", SS_COLUMN_DETAIL },
	{ "last_by_ns", SS_COLUMN_NS,
	  "by how much it alone arrives last, per step; the saving of its finding differs: it "
	  "counts other ranks that are late, too, and fixes that come first",
	  0 },
	{ "lost_ns", SS_COLUMN_NS, "GPU time per step that the other ranks lose waiting for it",
	  0 },
	{ "cause", SS_COLUMN_TEXT, "what makes it late", SS_COLUMN_WRAP },
	{ "host", SS_COLUMN_TEXT, "host name", SS_COLUMN_DETAIL },
};

static const char *stragglers_host_text(enum ss_idle_cause cause)
{
	switch (cause) {
	case SS_IDLE_INPUT:
		return "waits for input";
	case SS_IDLE_SYNC:
		return "waits for the GPU and launches late";
	case SS_IDLE_GC:
		return "runs Python garbage collection";
	case SS_IDLE_ALLOCATOR:
		return "allocates memory";
	case SS_IDLE_COMPILE:
		return "compiles";
	case SS_IDLE_DEPENDENCY:
		return "launches in time, but its GPU waits for another one";
	case SS_IDLE_LATENCY:
		return "launches in time, but its GPU starts late";
	default:
		return "launches late";
	}
}

static const char *stragglers_link_text(const struct ss_joined *joined,
					const struct ss_slow_link *link, struct ss_table *out)
{
	char ranks[SS_COUNT(link->ranks) * 24] = "";

	if (link->of_group)
		return ss_table_print(
			out,
			"a slow link of one rank in its group, or of all: large collectives move "
			"%.0f GB/s, where such devices reach %.0f on one host",
			link->reached, link->usual);
	if (link->count == 1)
		return ss_table_print(out,
				      "its link: collectives of its %u group%s take %.2f times "
				      "as long as those of other groups of the same size",
				      link->groups, link->groups == 1 ? "" : "s", link->ratio);
	for (uint32_t i = 0; i < link->count; i++) {
		size_t length = strlen(ranks);
		const char *gap = !i ? "" : i + 1 < link->count ? ", " : " or ";

		snprintf(ranks + length, sizeof(ranks) - length, "%s%lld", gap,
			 (long long)joined->ranks[link->ranks[i]].rank);
	}
	return ss_table_print(out,
			      "a link of rank %s: their collectives take %.2f times as long as "
			      "those of other groups of the same size",
			      ranks, link->ratio);
}

/* As the verdict says it: what the host was in, if one thing explains most of it. */
static const char *stragglers_host_cause(const struct ss_digest *rank,
					 const struct ss_straggler *straggler, struct ss_table *out)
{
	int64_t step_ns;
	uint32_t host = rank->device < 0 ? 0
					 : ss_straggler_host_place(rank, straggler->excess_ns,
								   out->arena->memory, &step_ns);

	return ss_table_print(out, "its host %s%s%s (%d %% of the lateness)",
			      stragglers_host_text(straggler->idle_cause), host ? ", in " : "",
			      host ? ss_strings_text(&rank->texts, host) : "",
			      straggler->cause_percent);
}

static const char *stragglers_cause_text(const struct ss_joined *joined,
					 const struct ss_straggler *straggler,
					 const struct ss_slow_link *link, struct ss_table *out)
{
	bool on_host = straggler->rank != SS_NO_ROW && joined->ranks[straggler->rank].device < 0;

	if (straggler->pattern == SS_PATTERN_ROTATING)
		return "a different rank is late in each step: the amount of work varies";
	switch (straggler->cause) {
	case SS_LATE_KERNELS:
		return ss_table_print(out,
				      "its kernels take %.2f times as long as those of the median "
				      "rank, all by the same factor: a slower GPU",
				      straggler->kernel_ratio);
	case SS_LATE_WORK:
		if (straggler->phase == SS_PHASE_OTHER)
			return "more work: its kernels take longer, by different factors";
		return ss_table_print(out,
				      "more work in %s: %.2f times the time and %.2f times the "
				      "%s of the median rank",
				      ss_phase_name(straggler->phase), straggler->work_ratio,
				      straggler->call_ratio, on_host ? "operators" : "kernels");
	case SS_LATE_LINK:
		return stragglers_link_text(joined, link, out);
	case SS_LATE_COPIES:
		return "its copies take longer";
	case SS_LATE_HOST:
		return stragglers_host_cause(&joined->ranks[straggler->rank], straggler, out);
	case SS_LATE_SHARED:
		return ss_table_print(out,
				      "another process uses its GPU: %u gaps of %.2f ms each "
				      "while its own work is queued",
				      straggler->slices.count,
				      (double)straggler->slices.slice_ns / 1e6);
	default:
		return "unknown: nothing in the trace explains most of it";
	}
}

static void stragglers_add_row(const struct ss_joined *joined, const struct ss_straggler *straggler,
			       const struct ss_slow_link *link, struct ss_table *out)
{
	const struct ss_digest *rank = straggler->rank == SS_NO_ROW
					       ? NULL
					       : &joined->ranks[straggler->rank];

	out->rank = rank ? rank->rank : -1;
	ss_row_begin(out);
	ss_row_text(out, ss_straggler_pattern_name(straggler->pattern));
	ss_row_int(out, straggler->late_ns);
	ss_row_share(out, (double)straggler->late_ns, (double)straggler->step_ns);
	ss_row_int(out, straggler->steps);
	ss_row_int(out, straggler->of_steps);
	ss_row_int(out, straggler->inherited_ns);
	ss_row_int(out, straggler->gain_ns);
	ss_row_int(out, straggler->lost_ns);
	ss_row_text(out, stragglers_cause_text(joined, straggler, link, out));
	ss_row_text(out, rank ? ss_strings_text(&rank->texts, rank->host) : NULL);
	ss_row_end(out);
}

/* With its unit: small jobs are late by microseconds. */
static const char *stragglers_time_text(struct ss_table *out, int64_t time_ns)
{
	if (time_ns < 1000000)
		return ss_table_print(out, "%.1f us", (double)time_ns / 1e3);
	return ss_table_print(out, "%.2f ms", (double)time_ns / 1e6);
}

static const char *stragglers_spared_text(enum ss_straggler_spared spared)
{
	switch (spared) {
	case SS_SPARED_ALIKE:
		return "but nothing takes it much longer than the others";
	case SS_SPARED_WAITS:
		return "but it waits for other ranks longer than they do";
	case SS_SPARED_CHEAP:
		return "but the job would be no faster without it";
	case SS_SPARED_HELD:
		return "but its typical operators are as fast as those of the others: other "
		       "processes slow it down";
	case SS_SPARED_NOISE:
		return "but it varies as much from step to step as it differs from the others";
	default:
		return "too few to rule out chance";
	}
}

/* No rank is reported: which one comes closest, and why it is not. */
static void stragglers_note_latest(const struct ss_joined *joined,
				   const struct ss_straggler *latest, struct ss_table *out)
{
	uint32_t steps = latest->of_steps;

	if (!steps || !latest->step_ns)
		return;
	ss_table_note(out,
		      "Of %u ranks, rank %lld is the latest, by %s per step (%.1f %% of it); for "
		      "%s of that it is the last to arrive. It stands out in %u of %u step%s, %s.",
		      joined->rank_count, (long long)joined->ranks[latest->rank].rank,
		      stragglers_time_text(out, latest->late_ns),
		      100 * (double)latest->late_ns / (double)latest->step_ns,
		      stragglers_time_text(out, latest->gain_ns), latest->steps, steps,
		      steps == 1 ? "" : "s", stragglers_spared_text(latest->spared));
}

static enum ss_status stragglers_run(const struct ss_joined *joined, uint32_t group,
				     struct ss_table *out, struct ss_error *err)
{
	struct ss_straggler_verdict verdict;

	(void)group;
	if (!ss_straggler_find(&verdict, joined, out->arena))
		return ss_fail_memory(err, "the lateness of ranks");
	for (uint32_t i = 0; i < verdict.count; i++)
		stragglers_add_row(joined, &verdict.items[i], &verdict.link, out);
	if (verdict.count && verdict.few_steps)
		ss_table_note(out, "There is only one step, so the trace cannot show whether the "
				   "rank is always late.");
	if (joined->rank_count < 2)
		out->empty = "Stragglers are unknown: only one rank of the job is here. Pass the "
			     "folder with all of them.";
	else if (!verdict.count)
		stragglers_note_latest(joined, &verdict.latest, out);
	return SS_OK;
}

const struct ss_view ss_view_stragglers = {
	.name = "stragglers",
	.summary = "Stragglers: ranks that delay the others, how often, and why",
	.empty = "No stragglers: no rank delays the others.",
	SS_TABLE_COLUMNS(columns),
	.basis = SS_BASIS_MEAN,
	.run_job = stragglers_run,
};
