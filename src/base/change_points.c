/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_points.c - binary segmentation of a series with single odd values.
 */
#include "base/change_points.h"

#include <math.h>

#include "base/median.h"

/*
 * The largest score of n splits of normal noise is about sqrt(2 ln n). On top of that: less than
 * one false change in a thousand values, also of noise with heavier tails.
 */
#define SCORE_MARGIN 3.5

/* Values on each side of a split that show a level of their own: two hours of ten minutes. */
#define NEAR 12u

/* Values on each side of the median filter: two outliers in five do not matter. */
#define SMOOTH_REACH 2

/* The least noise, as a share of the level: equal values have none, but clocks are no better. */
#define NOISE_SHARE_MIN 1e-4

struct value_series {
	const double *values;
	double *smooth; /* the median of each value and its neighbours: without outliers */
	double *sums;   /* of smooth, before each index; one more than values */
	double *scratch;
	uint32_t count;
	double noise, least_share, score_min;
	bool *splits; /* per index: a level begins here */
};

static double series_median(const struct value_series *series, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		series->scratch[i - from] = series->values[i];
	return ss_median_double(series->scratch, to - from);
}

/* Smooths the values, and estimates their noise and the score that a change must exceed. */
static void series_prepare(struct value_series *series)
{
	const double *values = series->values;
	uint32_t count = series->count;
	double level;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t reach = i < count - 1 - i ? i : count - 1 - i;

		reach = reach < SMOOTH_REACH ? reach : SMOOTH_REACH;
		series->smooth[i] = series_median(series, i - reach, i + reach + 1);
		series->sums[i + 1] = series->sums[i] + series->smooth[i];
	}
	for (uint32_t i = 0; i + 1 < count; i++)
		series->scratch[i] = fabs(values[i + 1] - values[i]);
	series->noise = 1.4826 / sqrt(2) * ss_median_double(series->scratch, count - 1);
	level = fabs(series_median(series, 0, count));
	series->noise = fmax(series->noise, NOISE_SHARE_MIN * level);
	series->score_min = sqrt(2 * log((double)count)) + SCORE_MARGIN;
}

static double series_score_at(const struct value_series *series, uint32_t from, uint32_t at,
			      uint32_t to)
{
	double left = (series->sums[at] - series->sums[from]) / (at - from);
	double right = (series->sums[to] - series->sums[at]) / (to - at);

	return fabs(right - left) / (series->noise * sqrt(1.0 / (at - from) + 1.0 / (to - at)));
}

/* Where both sides differ most; 0: there are too few values. */
static uint32_t series_best_split(const struct value_series *series, uint32_t from, uint32_t to)
{
	uint32_t best = 0;
	double most = 0;

	for (uint32_t at = from + SS_CHANGE_SIDE_MIN; at + SS_CHANGE_SIDE_MIN <= to; at++) {
		double score = series_score_at(series, from, at, to);

		if (score > most) {
			most = score;
			best = at;
		}
	}
	return best;
}

/* The medians of both sides must differ, not only sums. */
static bool series_is_change(const struct value_series *series, uint32_t from, uint32_t at,
			     uint32_t to, struct ss_change_point *out)
{
	*out = (struct ss_change_point){ .at = at,
					 .before = series_median(series, from, at),
					 .after = series_median(series, at, to),
					 .score = series_score_at(series, from, at, to) };
	return out->score > series->score_min &&
	       fabs(out->after - out->before) >= series->least_share * fabs(out->before);
}

/* The next index at which a level begins, or the end. */
static uint32_t series_next_level(const struct value_series *series, uint32_t at)
{
	do
		at++;
	while (at < series->count && !series->splits[at]);
	return at;
}

/*
 * The same for the values next to the split alone: in a long series the medians of both sides are
 * equal, though a part of one side has another level.
 */
static bool series_is_change_near(const struct value_series *series, uint32_t from, uint32_t at,
				  uint32_t to, struct ss_change_point *out)
{
	uint32_t near_from = at - from > NEAR ? at - NEAR : from;
	uint32_t near_to = to - at > NEAR ? at + NEAR : to;

	return series_is_change(series, near_from, at, near_to, out);
}

/* Splits every level until none has a change any more. */
static void series_split(struct value_series *series)
{
	struct ss_change_point point;

	for (uint32_t from = 0; from < series->count;) {
		uint32_t to = series_next_level(series, from);
		uint32_t at = series_best_split(series, from, to);

		/* a bump in the middle shows only when one side of it is cut off */
		if (at && series_score_at(series, from, at, to) > series->score_min &&
		    (series_is_change(series, from, at, to, &point) ||
		     series_is_change_near(series, from, at, to, &point)))
			series->splits[at] = true;
		else
			from = to;
	}
}

/* Drops splits that are no change between their neighbours, and lists the others. */
static void series_test_again(struct value_series *series, struct ss_change_points *out)
{
	struct ss_change_point point;
	uint32_t from = 0;
	bool drops = true;

	while (drops) {
		drops = false;
		out->count = 0;
		from = 0;
		for (uint32_t at = series_next_level(series, 0); at < series->count && !drops;) {
			uint32_t to = series_next_level(series, at);

			drops = !series_is_change(series, from, at, to, &point);
			series->splits[at] = !drops;
			out->items[out->count++] = point;
			from = at;
			at = to;
		}
	}
}

bool ss_change_points_find(struct ss_change_points *out, const double *values, uint32_t count,
			   double least_share, struct ss_arena *arena)
{
	struct value_series series = { .values = values,
				       .count = count,
				       .least_share = least_share };

	*out = (struct ss_change_points){ 0 };
	if (count < 2 * SS_CHANGE_SIDE_MIN)
		return true;
	if (!SS_ALLOC(arena, series.smooth, count) || !SS_ALLOC(arena, series.sums, count + 1) ||
	    !SS_ALLOC(arena, series.scratch, count) || !SS_ALLOC(arena, series.splits, count) ||
	    !SS_ALLOC(arena, out->items, count))
		return false;
	series_prepare(&series);
	series_split(&series);
	series_test_again(&series, out);
	out->noise = series.noise;
	return true;
}
