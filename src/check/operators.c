/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.c - operators or kernels that a run calls more or less often than its baseline: that is
 * no noise. How long those take that are called equally often shows what the machine changed.
 */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "check/check.h"

/* Fewer operators that are called equally often do not show what all changed. */
#define OPERATORS_MIN 10

/* Of the time of all: shorter ones vary most. */
#define OPERATOR_SHARE_MIN 0.002

/* Equal programs call an operator equally often; a step that was cut changes that by less. */
#define CALLS_SHARE 0.1

struct operator_pair {
	const char *name;
	struct ss_check_item before, after; /* means over runs; calls 0: not there */
	double ratio;                       /* logarithm */
	double weight;
};

SS_COMPARATOR(operator_compare_name, struct operator_pair, SS_ORDERED(strcmp, name))
SS_COMPARATOR(operator_compare_ratio, struct operator_pair, SS_ASCENDING(ratio))

static void operators_add(struct operator_pair *pairs, uint32_t *count,
			  const struct ss_check_items *items, double weight, bool is_after)
{
	for (uint32_t i = 0; i < items->count; i++) {
		struct operator_pair *pair = &pairs[(*count)++];
		struct ss_check_item *side = is_after ? &pair->after : &pair->before;

		pair->name = items->items[i].name;
		side->ns = weight * items->items[i].ns;
		side->calls = weight * items->items[i].calls;
	}
}

/* One pair per name; returns how many. */
static uint32_t operators_join(struct operator_pair *pairs, uint32_t count)
{
	uint32_t used = 0;

	SS_SORT(pairs, count, operator_compare_name);
	for (uint32_t i = 0; i < count; i++) {
		struct operator_pair *last = used ? &pairs[used - 1] : NULL;

		if (!last || strcmp(last->name, pairs[i].name) != 0) {
			pairs[used++] = pairs[i];
			continue;
		}
		last->before.ns += pairs[i].before.ns;
		last->before.calls += pairs[i].before.calls;
		last->after.ns += pairs[i].after.ns;
		last->after.calls += pairs[i].after.calls;
	}
	return used;
}

static bool operator_is_called_alike(const struct operator_pair *pair)
{
	return fabs(pair->after.calls - pair->before.calls) <= CALLS_SHARE * pair->before.calls;
}

/* The ratio that half of the time is below; sorts the pairs. */
static double operators_middle(struct operator_pair *pairs, uint32_t count)
{
	double all = 0, sum = 0;
	uint32_t at = 0;

	SS_SORT(pairs, count, operator_compare_ratio);
	for (uint32_t i = 0; i < count; i++)
		all += pairs[i].weight;
	while (at + 1 < count && sum + pairs[at].weight < all / 2)
		sum += pairs[at++].weight;
	return pairs[at].ratio;
}

/* Moves the pairs that are called alike to the front; returns how many. */
static uint32_t operators_choose(struct operator_pair *pairs, uint32_t count)
{
	double all = 0;
	uint32_t alike = 0;

	for (uint32_t i = 0; i < count; i++)
		all += pairs[i].before.ns;
	for (uint32_t i = 0; i < count; i++) {
		struct operator_pair pair = pairs[i];

		if (!operator_is_called_alike(&pair) || !(pair.after.ns > 0) ||
		    pair.before.ns < OPERATOR_SHARE_MIN * all)
			continue;
		pair.ratio = log(pair.after.ns / pair.before.ns);
		pair.weight = pair.before.ns;
		pairs[i] = pairs[alike];
		pairs[alike++] = pair;
	}
	return alike;
}

/* Sums what the program changed: how often it calls an operator. */
static void operators_measure(struct ss_check_operators *out, struct operator_pair *pairs,
			      uint32_t count)
{
	uint32_t alike = operators_choose(pairs, count);
	double all, most = 0;

	if (alike < OPERATORS_MIN)
		return;
	all = exp(operators_middle(pairs, alike));
	out->all_share = all - 1;
	for (uint32_t i = alike; i < count; i++) {
		double beyond = pairs[i].after.ns - all * pairs[i].before.ns;

		if (operator_is_called_alike(&pairs[i]))
			continue;
		out->beyond_ns += beyond;
		if (fabs(beyond) <= most)
			continue;
		most = fabs(beyond);
		out->most = pairs[i].name;
		out->most_before = pairs[i].before;
		out->most_after = pairs[i].after;
	}
}

bool ss_check_measure_operators(struct ss_check_operators *out, const struct ss_check *check,
				struct ss_arena *arena)
{
	uint32_t count = 0, capacity = check->after.kernels.count;
	struct operator_pair *pairs;

	*out = (struct ss_check_operators){ 0 };
	for (uint32_t i = 0; i < check->before_count; i++)
		capacity += check->before[i].kernels.count;
	if (!SS_ALLOC(arena, pairs, capacity + 1))
		return false;
	operators_add(pairs, &count, &check->after.kernels, 1, true);
	for (uint32_t i = 0; i < check->before_count; i++) {
		if (check->before[i].has_no_parts) /* of a store, which has no calls */
			return true;
		operators_add(pairs, &count, &check->before[i].kernels, 1.0 / check->before_count,
			      false);
	}
	operators_measure(out, pairs, operators_join(pairs, count));
	return true;
}
