/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting rows: as a plain sort would, equal rows in the order in which they came.
 */
#include "support/support.h"

#include "trace/order.h"

#define ROWS_MAX 3000

static int64_t starts[ROWS_MAX], durs[ROWS_MAX];
static uint32_t ids[ROWS_MAX];

/* The order as its header has it: start, longest first, id, as they came. */
static int reference(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (starts[x] != starts[y])
		return starts[x] < starts[y] ? -1 : 1;
	if (durs[x] != durs[y])
		return durs[x] > durs[y] ? -1 : 1;
	if (ids[x] != ids[y])
		return ids[x] < ids[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static const struct {
	const char *what;
	uint32_t count, times, runs; /* runs: how many sorted pieces; 0: no order at all */
} cases[] = {
	{ "nothing", 0, 1, 1 },
	{ "one row", 1, 1, 1 },
	{ "two rows", 2, 2, 0 },
	{ "all equal", 100, 1, 0 },
	{ "few times, many equal rows", 1000, 5, 0 },
	{ "no order", ROWS_MAX, 1000000, 0 },
	{ "sorted already", ROWS_MAX, 1000000, 1 },
	{ "two streams", ROWS_MAX, 1000000, 2 },
	{ "seven threads", ROWS_MAX, 4000, 7 },
	{ "many short runs", ROWS_MAX, 100000, 500 },
};

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void make_rows(size_t i, uint64_t *random)
{
	uint32_t run = cases[i].runs ? (cases[i].count + cases[i].runs - 1) / cases[i].runs : 0;

	for (uint32_t k = 0; k < cases[i].count; k++) {
		starts[k] = support_random(random, cases[i].times) - (int64_t)cases[i].times / 2;
		durs[k] = support_random(random, 3);
		ids[k] = support_random(random, 2);
	}
	for (uint32_t from = 0; run && from < cases[i].count; from += run)
		qsort(starts + from, cases[i].count - from < run ? cases[i].count - from : run,
		      sizeof(*starts), by_number);
}

static void test_sort(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		for (int round = 0; round < 20; round++) {
			struct ss_order order = { starts, durs, ids };
			static uint32_t rows[ROWS_MAX], spare[ROWS_MAX], expected[ROWS_MAX];
			size_t bytes = cases[i].count * sizeof(*rows);

			make_rows(i, &random);
			for (uint32_t k = 0; k < cases[i].count; k++)
				rows[k] = expected[k] = k;
			if (cases[i].count)
				qsort(expected, cases[i].count, sizeof(*expected), reference);
			ss_order_sort(&order, rows, spare, cases[i].count);
			support_check(memcmp(rows, expected, bytes) == 0, cases[i].what, "round %d",
				      round);
		}
	}
}

static void test_start_only(void **state)
{
	struct ss_order order = { .start_ns = starts };
	uint32_t rows[4] = { 0, 1, 2, 3 }, spare[4];

	(void)state;
	memcpy(starts, (int64_t[]){ 5, 1, 5, 1 }, 4 * sizeof(*starts));
	ss_order_sort(&order, rows, spare, 4);
	assert_memory_equal(rows, ((uint32_t[]){ 1, 3, 0, 2 }), sizeof(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_start_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
