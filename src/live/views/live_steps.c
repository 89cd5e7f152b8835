/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_steps.c - view: the steps of a running job, by minute, one by one, or by rank and minute.
 */
#include "base/median.h"
#include "base/system/clock.h"
#include "live/live.h"
#include "view/view.h"

#define MINUTE_US 60000000

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "time", SS_COLUMN_TEXT, "when the step, or the last of them, ended, UTC",
	  SS_COLUMN_FILLED },
	{ "step", SS_COLUMN_ID, "number of the first step of the row", SS_COLUMN_FILLED },
	{ "steps", SS_COLUMN_COUNT, "how many steps these are", SS_COLUMN_FILLED },
	{ "ranks", SS_COLUMN_COUNT, "ranks that they are known of: the fewest",
	  SS_COLUMN_FILLED | SS_COLUMN_CONTEXT },
	{ "step_ns", SS_COLUMN_NS, "length: median over ranks, then over steps", SS_COLUMN_FILLED },
	{ "longest_ns", SS_COLUMN_NS, "the longest of all", SS_COLUMN_FILLED },
	{ "longest_rank", SS_COLUMN_ID, "whose it is; ranks that wait are as long", 0 },
	{ "data_ns", SS_COLUMN_NS, "waiting for data, likewise a median", 0 },
	{ "longest_data_ns", SS_COLUMN_NS, "the longest wait", 0 },
	{ "longest_data_rank", SS_COLUMN_ID, "whose it is", 0 },
	{ "gc_ns", SS_COLUMN_NS, "collecting garbage: the longest", 0 },
	{ "gpu_ns", SS_COLUMN_NS, "from step to step on the GPU's clock, a median", 0 },
	{ "recorded", SS_COLUMN_COUNT, "steps in which the profiler was on", SS_COLUMN_DETAIL },
};

enum { GROUP_MINUTE, GROUP_STEP, GROUP_RANK };

/* What is collected for a row. */
struct live_sum {
	int64_t *values[SS_LIVE_PARTS]; /* us */
	uint32_t known[SS_LIVE_PARTS];
	uint32_t longest_us[SS_LIVE_PARTS];
	int64_t longest_rank[SS_LIVE_PARTS];
	int64_t end_us;
	uint32_t first, steps, ranks, recorded;
};

static bool sum_init(struct live_sum *sum, uint32_t room, struct ss_arena *arena)
{
	*sum = (struct live_sum){ 0 };
	for (int part = 0; part < SS_LIVE_PARTS; part++)
		if (!SS_ALLOC(arena, sum->values[part], (size_t)room + 1))
			return false;
	return true;
}

static void sum_add_part(struct live_sum *sum, int part, uint32_t us, uint32_t longest_us,
			 int64_t rank)
{
	if (us == SS_LIVE_UNKNOWN)
		return;
	if (!sum->known[part] || longest_us > sum->longest_us[part]) {
		sum->longest_us[part] = longest_us;
		sum->longest_rank[part] = rank;
	}
	sum->values[part][sum->known[part]++] = us;
}

static void sum_add_step(struct live_sum *sum, uint32_t step, int64_t end_us, uint32_t ranks,
			 bool is_recorded)
{
	if (!sum->steps || ranks < sum->ranks)
		sum->ranks = ranks;
	if (!sum->steps)
		sum->first = step;
	if (end_us > sum->end_us)
		sum->end_us = end_us;
	sum->steps++;
	sum->recorded += is_recorded;
}

static int64_t sum_median_ns(struct live_sum *sum, int part)
{
	return sum->known[part] ? ss_median(sum->values[part], sum->known[part]) * 1000 : -1;
}

static int64_t sum_longest_ns(const struct live_sum *sum, int part)
{
	return sum->known[part] ? (int64_t)sum->longest_us[part] * 1000 : -1;
}

static int64_t sum_longest_rank(const struct live_sum *sum, int part)
{
	return sum->known[part] ? sum->longest_rank[part] : -1;
}

/* Writes the row and begins the next one. */
static void sum_add_row(struct live_sum *sum, int64_t rank, struct ss_table *out)
{
	char time[SS_CLOCK_SHOWN_BYTES];

	if (!sum->steps)
		return;
	out->rank = rank;
	ss_row_begin(out);
	ss_clock_utc(sum->end_us * 1000, SS_CLOCK_SHOWN, time, sizeof(time));
	ss_row_text(out, time);
	ss_row_int(out, sum->first);
	ss_row_int(out, sum->steps);
	ss_row_int(out, sum->ranks);
	ss_row_int_known(out, sum_median_ns(sum, SS_LIVE_STEP));
	ss_row_int_known(out, sum_longest_ns(sum, SS_LIVE_STEP));
	ss_row_int_known(out, sum_longest_rank(sum, SS_LIVE_STEP));
	ss_row_int_known(out, sum_median_ns(sum, SS_LIVE_DATA));
	ss_row_int_known(out, sum_longest_ns(sum, SS_LIVE_DATA));
	ss_row_int_known(out, sum_longest_rank(sum, SS_LIVE_DATA));
	ss_row_int_known(out, sum_longest_ns(sum, SS_LIVE_GC));
	ss_row_int_known(out, sum_median_ns(sum, SS_LIVE_GPU));
	ss_row_int(out, sum->recorded);
	ss_row_end(out);
	for (int part = 0; part < SS_LIVE_PARTS; part++)
		sum->known[part] = 0;
	sum->steps = sum->recorded = 0;
	sum->end_us = 0;
}

static void add_job_steps(const struct ss_live *live, bool by_minute, struct live_sum *sum,
			  struct ss_table *out)
{
	int64_t minute = -1;

	for (uint32_t i = 0; i < live->step_count; i++) {
		const struct ss_live_step *step = &live->steps[i];

		if (!by_minute || step->end_us / MINUTE_US != minute)
			sum_add_row(sum, -1, out);
		minute = step->end_us / MINUTE_US;
		sum_add_step(sum, step->step, step->end_us, step->ranks, step->is_recorded);
		for (int part = 0; part < SS_LIVE_PARTS; part++)
			sum_add_part(sum, part, step->us[part], step->longest_us[part],
				     live->ranks[step->longest_rank[part]].file->rank);
	}
	sum_add_row(sum, -1, out);
}

static void add_rank_minutes(const struct ss_live_file *file, struct live_sum *sum,
			     struct ss_table *out)
{
	int64_t minute = -1;

	for (uint32_t i = 0; i < file->row_count; i++) {
		const struct ss_live_row *row = &file->rows[i];

		if (row->end_us / MINUTE_US != minute)
			sum_add_row(sum, file->rank, out);
		minute = row->end_us / MINUTE_US;
		sum_add_step(sum, row->step, row->end_us, 1, row->flags & SS_LIVE_RECORDED);
		for (int part = 0; part < SS_LIVE_PARTS; part++)
			sum_add_part(sum, part, row->us[part], row->us[part], file->rank);
	}
	sum_add_row(sum, file->rank, out);
}

static enum ss_status live_steps_run(const struct ss_live *live, uint32_t group,
				     struct ss_table *out, struct ss_error *err)
{
	uint32_t room = live->step_count;
	struct live_sum sum;

	for (uint32_t i = 0; i < live->rank_count; i++)
		if (live->ranks[i].file->row_count > room)
			room = live->ranks[i].file->row_count;
	if (!sum_init(&sum, room, out->arena))
		return ss_fail_memory(err, "the table");
	if (group != GROUP_RANK)
		add_job_steps(live, group == GROUP_MINUTE, &sum, out);
	for (uint32_t i = 0; i < live->rank_count && group == GROUP_RANK; i++)
		add_rank_minutes(live->ranks[i].file, &sum, out);
	return SS_OK;
}

const struct ss_view ss_view_live_steps = {
	.name = "live-steps",
	.summary = "Steps of a running job by minute, from live numbers",
	.empty = "The live numbers have no steps yet.",
	SS_TABLE_COLUMNS(columns),
	.groups = { "minute", "step", "rank" },
	.run_live = live_steps_run,
};
