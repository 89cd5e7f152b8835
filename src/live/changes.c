/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - where steps began to take longer, or less, for good, and which rank's part did.
 *
 * Steps are taken in blocks, and only the median of a block counts: checkpoints, logging and other
 * steps that come at times do not move it. A block of long steps has fewer. The level has changed
 * when every block of the last seconds is beyond what was usual, on the same side, by more than a
 * share of it and by more than the usual noise. The recorder (stepscope/torch/_detect.py) decides
 * in the same way while the job runs, with the same figures, and records when steps have become
 * slower.
 */
#include <math.h>

#include "base/median.h"
#include "base/text.h"
#include "live/joining.h"
#include "trace/trace.h"

/* With this many steps a block is complete when it covers this time. */
#define BLOCK_MIN 12u
#define BLOCK_US 10e6

/* Smaller changes do not count: they come and go with the machine. */
#define LEAST_SHARE 0.05

/* Median absolute deviations of blocks that are noise. */
#define NOISE 6

/* Blocks that say what is usual; with fewer there is no change. */
#define USUAL_MAX 64u
#define USUAL_MIN 4u

/* Blocks that confirm a change, and the time that they cover, at least. */
#define SURE_BLOCKS 3u
#define SURE_US 20e6

/* A part of a rank is named if it explains this share of the change. */
#define PART_SHARE 0.5

/* Blocks on either side of a change that parts are compared in. */
#define PART_BLOCKS 4

struct live_blocks {
	uint32_t *first;        /* index of the first step of each block, and behind the last */
	double *medians, *sums; /* us */
	uint32_t count;
};

/* What is usual, and what is not, after some blocks. */
struct live_levels {
	double usual[USUAL_MAX]; /* the latest, by turns */
	uint32_t usual_count, usual_next;
	uint32_t odd_count; /* the last blocks that are beyond it, on one side */
	double odd_us;
	int side;
};

/* Blocks of steps that were not recorded: a profiler makes them slower. */
static void live_make_blocks(const struct ss_live *live, struct live_blocks *out)
{
	double values[SS_LIVE_BLOCK], sum = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < live->step_count; i++) {
		if (live->steps[i].step <= SS_LIVE_SKIPPED || live->steps[i].is_recorded ||
		    live->steps[i].us[SS_LIVE_STEP] == SS_LIVE_UNKNOWN)
			continue;
		if (!count)
			out->first[out->count] = i;
		sum = (count ? sum : 0) + live->steps[i].us[SS_LIVE_STEP];
		values[count++] = live->steps[i].us[SS_LIVE_STEP];
		if (count < (sum >= BLOCK_US ? BLOCK_MIN : SS_LIVE_BLOCK))
			continue;
		out->sums[out->count] = sum;
		out->medians[out->count++] = ss_median_double(values, count);
		out->first[out->count] = i + 1;
		count = 0;
	}
}

/* 1: slower than usual, -1: faster, 0: as usual, or that is not known yet. */
static int levels_side_of(const struct live_levels *levels, double us, double *usual)
{
	double values[USUAL_MAX], most;
	uint32_t count = levels->usual_count;

	if (count < USUAL_MIN)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		values[i] = levels->usual[i];
	*usual = ss_median_double(values, count);
	for (uint32_t i = 0; i < count; i++)
		values[i] = fabs(levels->usual[i] - *usual);
	most = *usual * LEAST_SHARE + NOISE * ss_median_double(values, count);
	return (us > *usual + most) - (us < *usual - most);
}

static void levels_add_usual(struct live_levels *levels, double us)
{
	levels->usual[levels->usual_next] = us;
	levels->usual_next = (levels->usual_next + 1) % USUAL_MAX;
	levels->usual_count += levels->usual_count < USUAL_MAX;
}

/* Takes the next block; true: with it the level has changed, odd_count blocks ago. */
static bool levels_take(struct live_levels *levels, const struct live_blocks *blocks, uint32_t at,
			double *before)
{
	int side = levels_side_of(levels, blocks->medians[at], before);

	if (side != levels->side) {
		levels->odd_count = 0;
		levels->odd_us = 0;
		levels->side = side;
	}
	if (!side) {
		levels_add_usual(levels, blocks->medians[at]);
		return false;
	}
	levels->odd_count++;
	levels->odd_us += blocks->sums[at];
	return levels->odd_count >= SURE_BLOCKS && levels->odd_us >= SURE_US;
}

/* From now on the new level is the usual one; returns its median. */
static double levels_change(struct live_levels *levels, const struct live_blocks *blocks,
			    uint32_t from, uint32_t to, double *scratch)
{
	*levels = (struct live_levels){ .usual_count = 0 };
	for (uint32_t i = from; i < to; i++) {
		scratch[i - from] = blocks->medians[i];
		levels_add_usual(levels, blocks->medians[i]);
	}
	return ss_median_double(scratch, to - from);
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

/* The changes of the level, with scratch memory for `room` blocks. */
static enum ss_status live_find_levels(struct ss_live *live, const struct live_blocks *blocks,
				       double *scratch, int64_t *grown, struct ss_error *err)
{
	struct live_levels levels = { .usual_count = 0 };
	double before;

	if (!SS_ALLOC(&live->arena, live->changes, (size_t)blocks->count / SURE_BLOCKS + 1))
		return ss_fail_memory(err, "the changes");
	for (uint32_t i = 0; i < blocks->count; i++) {
		struct ss_live_change *change;
		uint32_t block;
		double after;

		if (!levels_take(&levels, blocks, i, &before))
			continue;
		block = i + 1 - levels.odd_count;
		after = levels_change(&levels, blocks, block, i + 1, scratch);
		change = &live->changes[live->change_count++];
		*change = (struct ss_live_change){
			.step = blocks->first[block],
			.number = live->steps[blocks->first[block]].step,
			.before_ns = (int64_t)(before * 1000),
			.after_ns = (int64_t)(after * 1000),
		};
		change_find_part(live, blocks, block, grown, change);
	}
	return SS_OK;
}

enum ss_status ss_live_find_changes(struct ss_live *live, struct ss_error *err)
{
	SS_SCRATCH(scratch, live->memory);
	size_t room = live->step_count / BLOCK_MIN + 1;
	struct live_blocks blocks = { 0 };
	double *values;
	int64_t *grown;

	if (!SS_ALLOC(&scratch, blocks.first, room + 1) ||
	    !SS_ALLOC(&scratch, blocks.medians, room) || !SS_ALLOC(&scratch, blocks.sums, room) ||
	    !SS_ALLOC(&scratch, values, room) ||
	    !SS_ALLOC(&scratch, grown, (size_t)live->rank_count + 1))
		return ss_fail_memory(err, "the changes");
	live_make_blocks(live, &blocks);
	live->is_compared = blocks.count >= USUAL_MIN + SURE_BLOCKS;
	return live_find_levels(live, &blocks, values, grown, err);
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
