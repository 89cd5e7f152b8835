/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.c - values over time with a tree of extents.
 */
#include <float.h>
#include <math.h>

#include "timeline/rows/series.h"

#include "base/search.h"

void ss_series_init(struct ss_series *series, float before, struct ss_memory *memory)
{
	*series = (struct ss_series){ .memory = memory, .before = before };
}

void ss_series_release(struct ss_series *series)
{
	if (!series->memory)
		return;
	ss_memory_free(series->memory, series->at_ns, series->at_capacity * sizeof(*series->at_ns));
	ss_memory_free(series->memory, series->value,
		       series->value_capacity * sizeof(*series->value));
	ss_memory_free(series->memory, series->nodes,
		       ((size_t)series->node_count + 1) * sizeof(*series->nodes));
	*series = (struct ss_series){ 0 };
}

bool ss_series_add(struct ss_series *series, int64_t at_ns, double value)
{
	size_t room = (size_t)series->count + 1;

	if (!ss_memory_reserve(series->memory, (void **)&series->at_ns, &series->at_capacity, room,
			       sizeof(*series->at_ns)) ||
	    !ss_memory_reserve(series->memory, (void **)&series->value, &series->value_capacity,
			       room, sizeof(*series->value)))
		return false;
	/* counters come from files */
	if (value > FLT_MAX)
		value = FLT_MAX;
	if (value < -FLT_MAX)
		value = -FLT_MAX;
	series->at_ns[series->count] = at_ns;
	series->value[series->count++] = (float)value;
	return true;
}

/* NAN on one side is left out. */
static void extent_widen(struct ss_extent *extent, struct ss_extent by)
{
	extent->low = fminf(extent->low, by.low);
	extent->high = fmaxf(extent->high, by.high);
}

static void extents_sum_level(struct ss_extent *to, const struct ss_extent *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (i % SS_SERIES_FAN == 0)
			to[i / SS_SERIES_FAN] = from[i];
		else
			extent_widen(&to[i / SS_SERIES_FAN], from[i]);
}

bool ss_series_finish(struct ss_series *series)
{
	uint64_t nodes = 0;
	uint32_t count = series->count;
	struct ss_extent *level;

	while (count > 1) {
		count = (count - 1) / SS_SERIES_FAN + 1;
		nodes += count;
	}
	series->nodes = ss_memory_resize(series->memory, NULL, 0,
					 (size_t)(nodes + 1) * sizeof(*series->nodes));
	if (!series->nodes)
		return false;
	series->node_count = (uint32_t)nodes;
	for (uint32_t i = 0; i < series->count; i++) {
		struct ss_extent own = { series->value[i], series->value[i] };

		if (i % SS_SERIES_FAN == 0)
			series->nodes[i / SS_SERIES_FAN] = own;
		else
			extent_widen(&series->nodes[i / SS_SERIES_FAN], own);
	}
	level = series->nodes;
	for (count = series->count ? (series->count - 1) / SS_SERIES_FAN + 1 : 0; count > 1;
	     count = (count - 1) / SS_SERIES_FAN + 1) {
		extents_sum_level(level + count, level, count);
		level += count;
	}
	return true;
}

uint32_t ss_series_find(const struct ss_series *series, int64_t moment_ns, uint32_t near)
{
	uint32_t low = near, step = 1, high;

	if (low > series->count || (low && series->at_ns[low - 1] >= moment_ns))
		low = 0;
	/* pixels come one after the other: the next is not far */
	while (series->count - low > step && series->at_ns[low + step] < moment_ns) {
		low += step;
		step = step < 1u << 30 ? step * 2 : step;
	}
	high = series->count - low > step ? low + step : series->count;
	SS_SEARCH(low, high, at, series->at_ns[at] < moment_ns);
	return low;
}

struct ss_extent ss_series_extent(const struct ss_series *series, uint32_t from, uint32_t to)
{
	float holds = from ? series->value[from - 1] : series->before;
	struct ss_extent extent = { holds, holds };
	const struct ss_extent *level = series->nodes;
	uint32_t count = series->count;

	while (from < to && (from % SS_SERIES_FAN || to - from < SS_SERIES_FAN)) {
		extent_widen(&extent,
			     (struct ss_extent){ series->value[from], series->value[from] });
		from++;
	}
	for (; to % SS_SERIES_FAN && from < to; to--)
		extent_widen(&extent,
			     (struct ss_extent){ series->value[to - 1], series->value[to - 1] });
	while (from < to) {
		from /= SS_SERIES_FAN;
		to /= SS_SERIES_FAN;
		count = (count - 1) / SS_SERIES_FAN + 1;
		while (from < to && (from % SS_SERIES_FAN || to - from < SS_SERIES_FAN))
			extent_widen(&extent, level[from++]);
		for (; to % SS_SERIES_FAN && from < to; to--)
			extent_widen(&extent, level[to - 1]);
		level += count;
	}
	return extent;
}
