/*
 * ranks.c - view: the ranks side by side: computing, communication, what of it is
 * exposed and what is waiting for others.
 */
#include "job/many.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "host", SS_COLUMN_TEXT, "name of the machine", SS_COLUMN_DETAIL },
	{ "steps", SS_COLUMN_COUNT, "steps that count", SS_COLUMN_CONTEXT },
	{ "step_ns", SS_COLUMN_NS, "mean time of a step", 0 },
	{ "compute_ns", SS_COLUMN_NS, "a compute kernel ran, mean of a step", 0 },
	{ "comm_ns", SS_COLUMN_NS, "communication ran, mean of a step", 0 },
	{ "overlap_percent", SS_COLUMN_PERCENT, "of the communication, beside compute kernels", 0 },
	{ "exposed_ns", SS_COLUMN_NS, "communication beside no compute kernel, mean of a step", 0 },
	{ "wait_ns", SS_COLUMN_NS,
	  "in collectives, waiting for those that came later, mean of a step", 0 },
	{ "lateness_ns", SS_COLUMN_NS,
	  "how long the first one waited for it, sum over collectives, mean of a step", 0 },
	{ "last", SS_COLUMN_COUNT, "how often it was the last to come", 0 },
	{ "of", SS_COLUMN_COUNT, "collectives in which that can be told", SS_COLUMN_CONTEXT },
	{ "idle_ns", SS_COLUMN_NS, "nothing ran on its device, mean of a step", SS_COLUMN_DETAIL },
};

struct sums {
	int64_t step_ns, compute_ns, comm_ns, overlap_ns, exposed_ns, idle_ns;
	int64_t wait_ns, lateness_ns, last, told;
};

static void add_steps(const struct ss_digest *rank, struct sums *sums)
{
	for (uint32_t i = 0; i < rank->step_count; i++) {
		const struct ss_rank_step *step = &rank->steps[i];

		sums->step_ns += step->end_ns - step->start_ns;
		sums->compute_ns += step->compute_ns;
		sums->comm_ns += step->comm_ns;
		sums->overlap_ns += step->overlap_ns;
		sums->exposed_ns += step->exposed_comm_ns;
		for (int k = 0; k < SS_IDLE_CAUSES; k++)
			sums->idle_ns += step->idle_ns[k];
	}
}

static void add_meetings(const struct ss_many *many, uint32_t r, struct sums *sums)
{
	for (uint32_t i = 0; i < many->ranks[r].arrival_count; i++) {
		const struct ss_arrival *arrival = &many->ranks[r].arrivals[i];
		const struct ss_meeting *meeting;
		int64_t dur_ns = arrival->end_ns - arrival->start_ns;

		if (many->meeting_of[r][i] == SS_NO_MEETING)
			continue;
		meeting = &many->meetings[many->meeting_of[r][i]];
		if (!meeting->is_symmetric)
			continue;
		/* means of a step are of what lies in steps */
		if (arrival->step != UINT32_MAX) {
			sums->wait_ns = ss_ns_sum(sums->wait_ns, dur_ns - meeting->transfer_ns);
			sums->lateness_ns = ss_ns_sum(sums->lateness_ns,
						      meeting->longest_ns - dur_ns);
		}
		sums->told += meeting->last_rank != SS_NO_ROW;
		sums->last += meeting->last_rank == r;
	}
}

static void add_mean(struct ss_table *out, int64_t sum_ns, uint32_t count)
{
	ss_row_int_known(out, count ? sum_ns / count : -1);
}

static enum ss_status ranks_run(const struct ss_many *many, uint32_t group, struct ss_table *out,
				struct ss_error *err)
{
	(void)group;
	(void)err;
	for (uint32_t r = 0; r < many->rank_count; r++) {
		const struct ss_digest *rank = &many->ranks[r];
		struct sums sums = { 0 };

		add_steps(rank, &sums);
		add_meetings(many, r, &sums);
		out->rank = rank->rank;
		ss_row_begin(out);
		ss_row_text(out, ss_strings_text(&rank->texts, rank->host));
		ss_row_int(out, rank->step_count);
		add_mean(out, sums.step_ns, rank->step_count);
		add_mean(out, sums.compute_ns, rank->step_count);
		add_mean(out, sums.comm_ns, rank->step_count);
		ss_row_share(out, (double)sums.overlap_ns, (double)sums.comm_ns);
		add_mean(out, sums.exposed_ns, rank->step_count);
		add_mean(out, sums.wait_ns, rank->step_count);
		add_mean(out, sums.lateness_ns, rank->step_count);
		ss_row_int(out, sums.last);
		ss_row_int(out, sums.told);
		add_mean(out, sums.idle_ns, rank->step_count);
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_view_ranks = {
	.name = "ranks",
	.summary = "The ranks side by side: computing, communicating, waiting, late",
	.empty = "No ranks.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run_job = ranks_run,
};
