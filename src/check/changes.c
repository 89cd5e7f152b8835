/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - what is different in a run: findings, parts of the step, phases, kernels and
 * collectives, those that changed most first.
 */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "check/check.h"

/* A finding is the cause if it grew by this share of the step's change; else the part is. */
#define CAUSE_SHARE 0.25

/* Changes below this share of the step are not worth a line. */
#define SHOWN_SHARE 0.002

/* How many of each kind are shown. */
#define FINDINGS_SHOWN 3
#define PARTS_SHOWN 2
#define PHASES_SHOWN 1
#define KERNELS_SHOWN 3
#define COLLECTIVES_SHOWN 1

struct change_list {
	struct ss_check_change *items;
	uint32_t count;
};

static double change_ns(const struct ss_check_change *change)
{
	return change->after_ns - change->before_ns;
}

/* What a rule explains comes before what none does. */
static int change_compare_growth(const void *a, const void *b)
{
	const struct ss_check_change *x = a, *y = b;

	if (x->is_rest != y->is_rest)
		return x->is_rest ? 1 : -1;
	return change_ns(x) > change_ns(y) ? -1 : change_ns(x) < change_ns(y);
}

static int change_compare_shrinking(const void *a, const void *b)
{
	const struct ss_check_change *x = a, *y = b;

	return x->is_rest == y->is_rest ? change_compare_growth(b, a) : change_compare_growth(a, b);
}

/* Appends those that changed most in the direction of the step. */
static void changes_keep_largest(struct ss_check *check, struct change_list *list, uint32_t most)
{
	bool grows = check->noise.mean.change >= 0;
	double least = SHOWN_SHARE * check->noise.mean.before_ns;

	SS_SORT(list->items, list->count, grows ? change_compare_growth : change_compare_shrinking);
	for (uint32_t i = 0; i < list->count && i < most; i++)
		if ((grows ? 1 : -1) * change_ns(&list->items[i]) >= least &&
		    check->change_count < SS_CHECK_CHANGES_MAX)
			check->changes[check->change_count++] = list->items[i];
}

/* --- findings --------------------------------------------------------------------------- */

static struct ss_check_change *changes_find_finding(struct change_list *list,
						    const struct ss_check_finding *finding)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct ss_check_change *item = &list->items[i];

		if (item->name == finding->rule->name &&
		    (!item->rank || !finding->rank || item->rank == finding->rank))
			return item;
	}
	list->items[list->count] = (struct ss_check_change){ .kind = SS_CHECK_FINDING,
							     .name = finding->rule->name,
							     .is_rest = finding->rule->claims_rest,
							     .is_timeless = finding->is_timeless,
							     .rank = finding->rank };
	return &list->items[list->count++];
}

/*
 * Adds up the findings of each rule, by the rank that causes them; the title is that of the first
 * one, of the new run if it has one.
 */
static void changes_add_findings(struct change_list *list, const struct ss_check_run *run,
				 double weight, bool is_after)
{
	for (uint32_t i = 0; i < run->finding_count; i++) {
		struct ss_check_change *change = changes_find_finding(list, &run->findings[i]);

		if (!change->title)
			change->title = run->findings[i].title;
		change->is_warning |= run->findings[i].is_warning;
		*(is_after ? &change->after_ns : &change->before_ns) += weight *
									run->findings[i].cost_ns;
		*(is_after ? &change->is_after : &change->is_before) = true;
	}
}

/* --- the rest --------------------------------------------------------------------------- */

/* Parts or phases of the step, in the run and in the mean of the baseline. */
static void changes_add_figures(struct change_list *list, const struct ss_check *check,
				enum ss_check_kind kind)
{
	int count = kind == SS_CHECK_PART ? (int)SS_STEP_PARTS : (int)SS_PHASE_COUNT;

	for (int i = 0; i < count; i++) {
		struct ss_check_change change = { .kind = kind };
		bool is_part = kind == SS_CHECK_PART;

		change.name = is_part ? ss_job_step_part_name(i) : ss_phase_name((enum ss_phase)i);
		change.after_ns = is_part ? check->after.part_ns[i] : check->after.phase_ns[i];
		for (uint32_t k = 0; k < check->before_count; k++)
			change.before_ns += (is_part ? check->before[k].part_ns[i]
						     : check->before[k].phase_ns[i]) /
					    check->before_count;
		list->items[list->count++] = change;
	}
}

static const struct ss_check_items *changes_items_of(const struct ss_check_run *run,
						     enum ss_check_kind kind)
{
	return kind == SS_CHECK_KERNEL ? &run->kernels : &run->collectives;
}

SS_COMPARATOR(change_compare_name, struct ss_check_change, SS_ORDERED(strcmp, name))

/* Adds the items of all runs, summed by name. */
static void changes_add_items(struct change_list *list, const struct ss_check *check,
			      enum ss_check_kind kind)
{
	const struct ss_check_items *own = changes_items_of(&check->after, kind);
	uint32_t used = 0;

	for (uint32_t i = 0; i < own->count; i++)
		list->items[list->count++] = (struct ss_check_change){
			.kind = kind, .name = own->items[i].name, .after_ns = own->items[i].ns
		};
	for (uint32_t k = 0; k < check->before_count; k++) {
		own = changes_items_of(&check->before[k], kind);
		for (uint32_t i = 0; i < own->count; i++)
			list->items[list->count++] = (struct ss_check_change){
				.kind = kind,
				.name = own->items[i].name,
				.before_ns = own->items[i].ns / check->before_count
			};
	}
	SS_SORT(list->items, list->count, change_compare_name);
	for (uint32_t i = 0; i < list->count; i++) {
		struct ss_check_change *last = used ? &list->items[used - 1] : NULL;

		if (!last || strcmp(last->name, list->items[i].name) != 0) {
			list->items[used++] = list->items[i];
			continue;
		}
		last->before_ns += list->items[i].before_ns;
		last->after_ns += list->items[i].after_ns;
	}
	list->count = used;
}

/* Enough for any list but that of the findings. */
static size_t changes_capacity(const struct ss_check *check)
{
	size_t capacity = (size_t)SS_STEP_PARTS + SS_PHASE_COUNT + check->after.kernels.count +
			  check->after.collectives.count;

	for (uint32_t i = 0; i < check->before_count; i++)
		capacity += check->before[i].kernels.count + check->before[i].collectives.count;
	return capacity;
}

/* The first finding that explains the change leads; without one the part of the step does. */
static void changes_choose_cause(struct ss_check *check, uint32_t first_part)
{
	double step = check->noise.mean.after_ns - check->noise.mean.before_ns;
	struct ss_check_change cause;
	uint32_t at = 0;

	while (at < first_part && change_ns(&check->changes[at]) / step < CAUSE_SHARE)
		at++;
	check->has_cause = at < first_part;
	if (at >= check->change_count)
		return;
	cause = check->changes[at];
	memmove(&check->changes[1], &check->changes[0], at * sizeof(cause));
	check->changes[0] = cause;
}

/* What a rule explains comes first, then what changed most. */
static int change_compare_size(const void *a, const void *b)
{
	const struct ss_check_change *x = a, *y = b;
	double first = fabs(change_ns(x)), second = fabs(change_ns(y));

	if (x->is_rest != y->is_rest)
		return x->is_rest ? 1 : -1;
	return first > second ? -1 : first < second;
}

/* Lists the findings of all runs. False: no memory. */
static bool changes_list_findings(struct ss_check *check, struct ss_arena *arena)
{
	struct change_list list = { 0 };
	size_t capacity = (size_t)check->after.finding_count + 1;

	for (uint32_t i = 0; i < check->before_count; i++)
		capacity += check->before[i].finding_count;
	if (!SS_ALLOC(arena, list.items, capacity))
		return false;
	changes_add_findings(&list, &check->after, 1, true);
	for (uint32_t i = 0; i < check->before_count; i++)
		changes_add_findings(&list, &check->before[i], 1.0 / check->before_count, false);
	changes_keep_largest(check, &list, FINDINGS_SHOWN);
	SS_SORT(list.items, list.count, change_compare_size);
	check->findings = list.items;
	check->finding_count = list.count;
	return true;
}

enum ss_status ss_check_find_changes(struct ss_check *check, struct ss_arena *arena,
				     struct ss_error *err)
{
	struct change_list list = { .items = SS_ARENA_NEW(arena, struct ss_check_change,
							  changes_capacity(check)) };
	uint32_t first_part;

	check->change_count = 0;
	if (!list.items || !changes_list_findings(check, arena))
		return ss_fail_memory(err, "the changes");
	first_part = check->change_count;
	if (!check->before[0].has_no_parts) {
		changes_add_figures(&list, check, SS_CHECK_PART);
		changes_keep_largest(check, &list, PARTS_SHOWN);
		list.count = 0;
		changes_add_figures(&list, check, SS_CHECK_PHASE);
		changes_keep_largest(check, &list, PHASES_SHOWN);
	}
	list.count = 0;
	changes_add_items(&list, check, SS_CHECK_KERNEL);
	changes_keep_largest(check, &list, KERNELS_SHOWN);
	list.count = 0;
	changes_add_items(&list, check, SS_CHECK_COLLECTIVE);
	changes_keep_largest(check, &list, COLLECTIVES_SHOWN);
	changes_choose_cause(check, first_part);
	return SS_OK;
}
