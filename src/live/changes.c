/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - where steps began to take longer, or less, for good, and which rank's part did.
 *
 * Steps are taken in blocks, and only the median of a block counts: checkpoints, logging and other
 * steps that come at times do not move it.
 */
#include "base/change_points.h"
#include "base/median.h"
#include "base/text.h"
#include "live/joining.h"
#include "trace/trace.h"

/* Smaller changes are not told: they come and go with the machine. The recorder has the same. */
#define LEAST_SHARE 0.05

/* A part of a rank is named if it explains this share of the change. */
#define PART_SHARE 0.5

/* Blocks on either side of a change that parts are compared in. */
#define PART_BLOCKS 4

struct live_blocks {
	uint32_t *first; /* index of the first step of each block, and behind the last */
	double *medians; /* us */
	uint32_t count;
};

/* Blocks of steps that were not recorded: a profiler makes them slower. */
static void live_make_blocks(const struct ss_live *live, struct live_blocks *out)
{
	double values[SS_LIVE_BLOCK];
	uint32_t count = 0;

	for (uint32_t i = 0; i < live->step_count; i++) {
		if (live->steps[i].step <= SS_LIVE_SKIPPED || live->steps[i].is_recorded ||
		    live->steps[i].us[SS_LIVE_STEP] == SS_LIVE_UNKNOWN)
			continue;
		if (!count)
			out->first[out->count] = i;
		values[count++] = live->steps[i].us[SS_LIVE_STEP];
		if (count < SS_LIVE_BLOCK)
			continue;
		out->medians[out->count++] = ss_median_double(values, count);
		out->first[out->count] = i + 1;
		count = 0;
	}
}

/* --- whose part changed ---------------------------------------------------------------------- */

/* The first row of a rank at or behind a step. */
static uint32_t file_row_at(const struct ss_live_file *file, uint32_t step)
{
	uint32_t low = 0, high = file->row_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (file->rows[middle].step < step)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The mean of a part of a rank in the steps [from, to); -1: not recorded. */
static int64_t file_mean_ns(const struct ss_live_file *file, enum ss_live_part part, uint32_t from,
			    uint32_t to)
{
	int64_t sum_us = 0, known = 0;

	for (uint32_t i = file_row_at(file, from); i < file->row_count && file->rows[i].step < to;
	     i++)
		if (file->rows[i].us[part] != SS_LIVE_UNKNOWN) {
			sum_us += file->rows[i].us[part];
			known++;
		}
	return known ? sum_us * 1000 / known : -1;
}

/* Compares a part of all ranks before and behind the change; keeps it if it changed most. */
static void change_try_part(const struct ss_live *live, enum ss_live_part part,
			    const uint32_t steps[4], int64_t *grown, struct ss_live_change *change)
{
	int64_t most_ns = 0, sign = change->after_ns > change->before_ns ? 1 : -1;
	uint32_t known = 0, rank = 0;

	for (uint32_t i = 0; i < live->rank_count; i++) {
		const struct ss_live_file *file = live->ranks[i].file;
		int64_t before_ns = file_mean_ns(file, part, steps[0], steps[1]);
		int64_t after_ns = file_mean_ns(file, part, steps[2], steps[3]);

		if (before_ns < 0 || after_ns < 0)
			continue;
		grown[known] = (after_ns - before_ns) * sign;
		if (grown[known] > most_ns) {
			most_ns = grown[known];
			rank = i;
			change->part_before_ns = before_ns;
			change->part_after_ns = after_ns;
		}
		known++;
	}
	if (!known || (double)most_ns < PART_SHARE *
						(double)(change->after_ns - change->before_ns) *
						(double)sign)
		return;
	change->has_part = true;
	change->part = part;
	change->rank = rank;
	change->is_all = known > 1 && 2 * ss_median(grown, known) >= most_ns;
}

/* The parts that hosts measure; a part that waits inside another is tried after it. */
static void change_find_part(const struct ss_live *live, const struct live_blocks *blocks,
			     uint32_t block, int64_t *grown, struct ss_live_change *change)
{
	static const enum ss_live_part parts[] = { SS_LIVE_GC, SS_LIVE_DATA, SS_LIVE_OPTIMIZER };
	uint32_t from = block > PART_BLOCKS ? block - PART_BLOCKS : 0;
	uint32_t to = block + PART_BLOCKS < blocks->count ? block + PART_BLOCKS : blocks->count;
	const struct ss_live_step *steps = live->steps;
	/* one of the blocks on either side may have steps of both levels */
	uint32_t before = block > from + 1 ? steps[blocks->first[block - 1]].step : change->number;
	uint32_t after = to > block + 1 ? steps[blocks->first[block + 1]].step : change->number;
	const uint32_t range[4] = { steps[blocks->first[from]].step, before, after,
				    steps[blocks->first[to] - 1].step + 1 };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !change->has_part; i++)
		change_try_part(live, parts[i], range, grown, change);
}

enum ss_status ss_live_find_changes(struct ss_live *live, struct ss_error *err)
{
	SS_SCRATCH(scratch, live->memory);
	size_t room = live->step_count / SS_LIVE_BLOCK + 1;
	struct live_blocks blocks = { 0 };
	struct ss_change_points points = { 0 };
	int64_t *grown;

	if (!SS_ALLOC(&scratch, blocks.first, room + 1) ||
	    !SS_ALLOC(&scratch, blocks.medians, room) ||
	    !SS_ALLOC(&scratch, grown, (size_t)live->rank_count + 1))
		return ss_fail_memory(err, "the changes");
	live_make_blocks(live, &blocks);
	if (!ss_change_points_find(&points, blocks.medians, blocks.count, LEAST_SHARE, &scratch) ||
	    !SS_ALLOC(&live->arena, live->changes, (size_t)points.count + 1))
		return ss_fail_memory(err, "the changes");
	for (uint32_t i = 0; i < points.count; i++) {
		struct ss_live_change *change = &live->changes[live->change_count++];
		uint32_t block = points.items[i].at;

		*change = (struct ss_live_change){
			.step = blocks.first[block],
			.number = live->steps[blocks.first[block]].step,
			.before_ns = (int64_t)(points.items[i].before * 1000),
			.after_ns = (int64_t)(points.items[i].after * 1000),
		};
		change_find_part(live, &blocks, block, grown, change);
	}
	return SS_OK;
}

/* --- words ----------------------------------------------------------------------------------- */

const char *ss_live_part_words(enum ss_live_part part)
{
	static const char *const words[SS_LIVE_PARTS] = { "the step", "waiting for data",
							  "collecting garbage", "optimizer.step()",
							  "the GPU" };

	return words[part];
}

uint32_t ss_live_odd_rank(const struct ss_live *live, enum ss_live_part part, int64_t *usual_ns)
{
	int64_t most_ns = -1, others_ns = 0, step_ns = 0;
	uint32_t odd = SS_NO_ROW, known = 0;

	for (uint32_t i = 0; i < live->rank_count; i++) {
		int64_t ns = live->ranks[i].ns[part];

		if (ns < 0)
			continue;
		known++;
		others_ns += ns;
		step_ns += live->ranks[i].ns[SS_LIVE_STEP];
		if (ns > most_ns) {
			most_ns = ns;
			odd = i;
		}
	}
	if (known < 2)
		return SS_NO_ROW;
	*usual_ns = (others_ns - most_ns) / (known - 1);
	return (double)(most_ns - *usual_ns) >= LEAST_SHARE * (double)(step_ns / known) ? odd
											: SS_NO_ROW;
}

static double ns_ms(int64_t ns)
{
	return (double)ns / 1e6;
}

void ss_live_add_change(const struct ss_live *live, const struct ss_live_change *change,
			struct ss_text *out)
{
	ss_text_addf(out, "From step %u on a step takes %.4g ms instead of %.4g ms", change->number,
		     ns_ms(change->after_ns), ns_ms(change->before_ns));
	if (!change->has_part) {
		ss_text_add_string(out, ".");
		return;
	}
	ss_text_addf(out, ": %s takes %.4g ms instead of %.4g ms", ss_live_part_words(change->part),
		     ns_ms(change->part_after_ns), ns_ms(change->part_before_ns));
	if (change->is_all)
		ss_text_add_string(out, " on most ranks.");
	else
		ss_text_addf(out, " on rank %lld.",
			     (long long)live->ranks[change->rank].file->rank);
}
