/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits come back as they were added, in their order, whatever neighbours share.
 */
#include "replay/edits.h"
#include "support/support.h"

#define SHORT_MAX INT64_C(0xffffffff)

static const struct {
	const char *what;
	struct ss_edit edit;
	uint32_t stretches; /* with this edit */
} cases[] = {
	{ "the first", { .task = 3, .rank = 1, .own_ns = 500 }, 1 },
	{ "shorter than the first", { .task = 4, .rank = 1, .own_ns = 0 }, 1 },
	{ "the longest that fits", { .task = 9, .rank = 1, .own_ns = SHORT_MAX }, 1 },
	{ "longer", { .task = 2, .rank = 1, .own_ns = SHORT_MAX + 1 }, 2 },
	{ "longer than that", { .task = 2, .rank = 1, .own_ns = SHORT_MAX + 2 }, 2 },
	{ "a short one again", { .task = 5, .rank = 1, .own_ns = 7 }, 3 },
	{ "below 0", { .task = 5, .rank = 1, .own_ns = -7 }, 4 },
	{ "the least of all", { .task = 5, .rank = 1, .own_ns = INT64_MIN }, 5 },
	{ "the most of all", { .task = 5, .rank = 1, .own_ns = INT64_MAX }, 6 },
	{ "another rank", { .task = 5, .rank = 2, .own_ns = 7 }, 7 },
	{ "no task", { .task = UINT32_MAX, .rank = 2, .own_ns = 7 }, 7 },
	{ "releases", { .task = 6, .rank = 2, .own_ns = 7, .releases = true }, 8 },
	{ "unlocks", { .task = 7, .rank = 2, .own_ns = 7, .unlocks = true }, 9 },
	{ "merges", { .task = 8, .rank = 2, .own_ns = 7, .merges = true }, 10 },
	{ "subtracts", { .task = 9, .rank = 2, .own_ns = 7, .subtracts = true }, 11 },
	{ "is scaled", { .task = 9, .rank = 2, .own_ns = 7, .scale = 0.5f }, 12 },
	{ "is scaled alike", { .task = 1, .rank = 2, .own_ns = 8, .scale = 0.5f }, 12 },
	{ "is scaled less", { .task = 9, .rank = 2, .own_ns = 7, .scale = 0.75f }, 13 },
};

static void check_edit(const char *what, const struct ss_edit *got, const struct ss_edit *want)
{
	if (got->task != want->task || got->rank != want->rank || got->own_ns != want->own_ns ||
	    got->releases != want->releases || got->unlocks != want->unlocks ||
	    got->merges != want->merges || got->subtracts != want->subtracts ||
	    got->scale < want->scale || got->scale > want->scale)
		fail_msg("%s", what);
}

static void test_order(void **state)
{
	struct ss_edits_visit visit = { 0 };
	struct ss_edits edits;
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_edits_init(&edits, &memory);
	assert_false(ss_edits_next(&edits, &visit));
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		assert_true(ss_edits_add(&edits, cases[i].edit));
		if (edits.stretch_count != cases[i].stretches)
			fail_msg("%s: %u stretches", cases[i].what, edits.stretch_count);
	}
	assert_int_equal(edits.count, SS_COUNT(cases));
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		assert_true(ss_edits_next(&edits, &visit));
		check_edit(cases[i].what, &visit.edit, &cases[i].edit);
	}
	assert_false(ss_edits_next(&edits, &visit));
	ss_edits_release(&edits);
	assert_int_equal(memory.used_bytes, 0);
}

/* More than one chunk has room for, of all lengths that numbers have. */
static void test_many(void **state)
{
	struct ss_edits_visit visit = { 0 };
	struct ss_memory memory;
	struct ss_edits edits;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_edits_init(&edits, &memory);
	for (uint32_t i = 0; i < 100000; i++)
		assert_true(ss_edits_add(&edits,
					 (struct ss_edit){ .task = i * i,
							   .own_ns = i % 3 ? i >> i % 17 : 0 }));
	for (uint32_t i = 0; i < 100000; i++) {
		assert_true(ss_edits_next(&edits, &visit));
		assert_int_equal(visit.edit.task, i * i);
		assert_int_equal(visit.edit.own_ns, i % 3 ? i >> i % 17 : 0);
	}
	assert_false(ss_edits_next(&edits, &visit));
	ss_edits_release(&edits);
	assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order),
					    cmocka_unit_test(test_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
