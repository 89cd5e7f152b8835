/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_figures.c - tables whose figures can be: within their bounds, and sums that agree.
 *
 * The same rules hold for real traces (tests/invariants.py); here they hold for whatever the
 * fuzzer makes of a job.
 */
#include <math.h>
#include <string.h>

#include "api/request/query.h"
#include "check.h"
#include "view/arrange.h"
#include "view/view.h"

/* Sums stop at what fits: beyond this they need not agree. */
#define SUM_MAX (INT64_MAX / 8)
#define ROUNDING 1e-6

/* Differences, offsets and moments: below zero by design. */
static const char *const is_signed[] = {
	"streams/kernel_wait_ns",
	"steps/file_start_ns",
	"steps/file_end_ns",
	"tracks/first_ns",
	"tracks/last_ns",
	"memory/net_bytes",
	"memory/gap_bytes",
	"memory-steps/growth_bytes",
	"memory-steps/net_bytes",
	"memory-steps/min_bytes",
	"memory-steps/peak_bytes",
	"memory-steps/start_bytes",
	"memory-steps/end_bytes",
	"memory-ops/size_increase_bytes",
	"memory-ops/self_increase_bytes",
	"memory-curve/min_bytes",
	"memory-curve/max_bytes",
	"memory-curve/allocated_percent",
	"clocks/offset_ns",
};

/* Shares of another thing than the whole. */
static const char *const is_above[] = {
	"roofline/peak_percent",   "roofline/mfu_percent",     "imbalance/excess_percent",
	"imbalance/calls_percent", "collectives/best_percent", "stragglers/step_percent",
};

/* One sum: a column of the table of a view and group; NULL: of the first. */
struct sum {
	const char *view, *group, *column;
};

/* Sums of the same thing, made in different ways. */
static const struct {
	struct sum a, b;
} equal_sums[] = {
	{ { "breakdown", "part", "total_ns" }, { "breakdown", "step", "dur_ns" } },
	{ { "budget", "part", "total_ns" }, { "budget", "step", "dur_ns" } },
	{ { "budget", "step", "idle_ns" }, { "gaps", "cause", "idle_ns" } },
	{ { "gaps", "cause", "idle_ns" }, { "gaps", "gap", "idle_ns" } },
	{ { "gaps", "cause", "idle_ns" }, { "gaps", "op", "idle_ns" } },
	{ { "gaps", "cause", "idle_ns" }, { "gaps", "line", "idle_ns" } },
	{ { "kernels", "kernel", "total_ns" }, { "kernels", "op", "total_ns" } },
	{ { "kernels", "kernel", "total_ns" }, { "kernels", "category", "total_ns" } },
	{ { "kernels", "kernel", "total_ns" }, { "kernels", "stream", "total_ns" } },
	{ { "kernels", "kernel", "total_ns" }, { "kernels", "launch", "total_ns" } },
	{ { "kernels", "kernel", "total_ns" }, { "durations", "all", "total_ns" } },
	{ { "kernels", "kernel", "calls" }, { "durations", "category", "calls" } },
	{ { "kernels", "kernel", "calls" }, { "devices", NULL, "kernels" } },
	{ { "operators", "name", "calls" }, { "operators", "shapes", "calls" } },
	{ { "operators", "name", "host_self_ns" }, { "operators", "line", "host_self_ns" } },
	{ { "operators", "name", "host_total_ns" }, { "operators", "module", "host_total_ns" } },
	{ { "operators", "name", "device_self_ns" },
	  { "operators", "category", "device_self_ns" } },
	{ { "operators", "name", "device_total_ns" }, { "operators", "line", "device_total_ns" } },
	{ { "copies", "kind", "total_ns" }, { "copies", "op", "total_ns" } },
	{ { "copies", "kind", "moved_bytes" }, { "copies", "line", "moved_bytes" } },
	{ { "communication", "collective", "total_ns" }, { "communication", "kind", "total_ns" } },
	{ { "communication", "collective", "exposed_ns" },
	  { "communication", "group", "exposed_ns" } },
	{ { "launches", "call", "call_ns" }, { "launches", "thread", "call_ns" } },
	{ { "launches", "call", "device_events" }, { "launches", "op", "device_events" } },
	{ { "stacks", "device", "time_ns" }, { "stacks", "tree", "self_ns" } },
};

static bool lists(const char *const *list, size_t count, const struct ss_view *view,
		  const struct ss_column *column)
{
	size_t length = strlen(view->name);

	for (size_t i = 0; i < count; i++)
		if (strncmp(list[i], view->name, length) == 0 && list[i][length] == '/' &&
		    strcmp(list[i] + length + 1, column->name) == 0)
			return true;
	return false;
}

static void complain(const struct ss_table *table, const struct ss_column *column, double value)
{
	fprintf(stderr, "ERROR: %s of %s/%s is %.17g\n", column->name, table->view->name,
		table->group ? table->group : "", value);
	abort();
}

static void check_cell(const struct ss_table *table, const struct ss_column *column,
		       const struct ss_cell *cell)
{
	const struct ss_view *view = table->view;
	bool below = lists(is_signed, SS_COUNT(is_signed), view, column);

	if (cell->is_null)
		return;
	if (column->type == SS_COLUMN_TEXT) {
		CHECK(cell->value.text && cell->length);
	} else if (ss_column_has_fraction(column)) {
		double value = cell->value.number;

		bool is_share = column->type == SS_COLUMN_PERCENT;
		bool above = lists(is_above, SS_COUNT(is_above), view, column);

		if (!isfinite(value) || (is_share && !below && value < -ROUNDING) ||
		    (is_share && !above && value > 100 + ROUNDING))
			complain(table, column, value);
	} else if (column->type != SS_COLUMN_ID && !below && cell->value.integer < 0) {
		complain(table, column, (double)cell->value.integer);
	}
}

/* Every cell is what its column says. */
static void check_table(const struct ss_table *table)
{
	uint32_t width = table->view->column_count;

	for (uint32_t row = 0; row < table->row_count; row++)
		for (uint32_t i = 0; i < width; i++) {
			struct ss_cell cell = ss_table_cell(table, row, i);

			check_cell(table, &table->view->columns[i], &cell);
		}
}

/* The table is query->tables[0]; the query is to be ended. */
static void make_table(struct ss_session *session, const char *view, const char *group,
		       struct ss_query *query)
{
	static const struct ss_wanted everything = { 0 };
	struct ss_error err = { 0 };

	if (ss_query_side(query, session, &everything, view, group, &err) == SS_OK)
		return;
	fprintf(stderr, "ERROR: %s/%s: %s\n", view, group ? group : "", err.text);
	abort();
}

static int64_t sum_of(struct ss_session *session, const struct sum *sum)
{
	const struct ss_view *view = ss_view_find(sum->view);
	struct ss_query query;
	const struct ss_table *table = &query.tables[0];
	uint32_t column = 0;
	int64_t found = 0;

	CHECK(view);
	while (column < view->column_count && strcmp(view->columns[column].name, sum->column) != 0)
		column++;
	CHECK(column < view->column_count);
	make_table(session, sum->view, sum->group, &query);
	for (uint32_t row = 0; row < table->row_count; row++)
		if (!ss_table_is_null(table, row, column) &&
		    __builtin_add_overflow(found, ss_table_int(table, row, column), &found))
			found = INT64_MAX;
	ss_query_end(&query);
	return found;
}

static void check_sums(struct ss_session *session, size_t index)
{
	const struct sum *a = &equal_sums[index].a, *b = &equal_sums[index].b;
	int64_t sum_a = sum_of(session, a), sum_b = sum_of(session, b);

	if (sum_a == sum_b || sum_a > SUM_MAX || sum_b > SUM_MAX)
		return;
	fprintf(stderr, "ERROR: %s/%s sums %s to %lld, %s/%s sums %s to %lld\n", a->view,
		a->group ? a->group : "", a->column, (long long)sum_a, b->view,
		b->group ? b->group : "", b->column, (long long)sum_b);
	abort();
}

void check_figures(struct ss_session *session, uint64_t seed)
{
	for (size_t i = 0; i < ss_view_count; i++) {
		const struct ss_view *view = ss_views[i];

		for (size_t group = 0; group == 0 || view->groups[group]; group++) {
			struct ss_query query;

			if (!check_chooses(seed + group, i))
				continue;
			make_table(session, view->name, view->groups[group], &query);
			check_table(&query.tables[0]);
			check_arrow(&query.tables[0]);
			ss_query_end(&query);
		}
	}
	for (size_t i = 0; i < SS_COUNT(equal_sums); i++)
		if (check_chooses(~seed, i))
			check_sums(session, i);
}
