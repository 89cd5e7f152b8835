/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that repeat: joined where they are frequent, and nowhere else.
 */
#include "analyze/host/repeats.h"

#include "support/support.h"

struct repeat_case {
	const char *what;
	const char *text; /* a symbol a letter; '|' parts */
	uint32_t longest;
	uint64_t least;
	const char *expected; /* runs in brackets */
};

static const struct repeat_case cases[] = {
	{ "nothing", "", 8, 2, "" },
	{ "one symbol", "a", 8, 2, "a" },
	{ "nothing repeats", "abcd", 8, 2, "abcd" },
	{ "a pair", "abxab", 8, 2, "(ab)x(ab)" },
	{ "too few", "abxab", 8, 3, "abxab" },
	{ "three symbols", "abcxabcyabcz", 8, 3, "(abc)x(abc)y(abc)z" },
	{ "not longer than allowed", "abcxabcyabcz", 2, 3, "(ab)cx(ab)cy(ab)cz" },
	{ "not across parts", "ab|ab|a|b", 8, 2, "(ab)(ab)ab" },
	{ "parts keep a run apart that would be one", "a|ba|ba|b", 8, 2, "a(ba)(ba)b" },
	{ "the more frequent pair wins", "abcbcabcbc", 8, 3, "a(bc)(bc)a(bc)(bc)" },
	{ "of equal symbols each counts once", "aaa", 8, 2, "aaa" },
	{ "and four are two pairs", "aaaa", 2, 2, "(aa)(aa)" },
	{ "what a longer run left of a shorter one stays joined", "abcxabcyabcabz", 8, 3,
	  "(abc)x(abc)y(abc)(ab)z" },
	{ "what others left too few of stays apart", "abcxabcyabdbcbc", 8, 3,
	  "a(bc)xa(bc)yabd(bc)(bc)" },
	{ "pairs that overlap themselves are not overrated", "baaaxbaaaybaaaz", 2, 3,
	  "(ba)(aa)x(ba)(aa)y(ba)(aa)z" },
};

static void check(const struct repeat_case *test)
{
	struct ss_memory memory;
	struct ss_repeats repeats = { .memory = &memory };
	char symbols[64], found[128];
	size_t count = 0, length = 0;
	bool starts = true;

	ss_memory_init(&memory, 0);
	for (const char *at = test->text; *at; at++) {
		if (*at == '|') {
			starts = true;
			continue;
		}
		assert_true(ss_repeats_add(&repeats, (uint32_t)*at, starts));
		symbols[count++] = *at;
		starts = false;
	}
	assert_true(ss_repeats_find(&repeats, 256, test->longest, test->least));
	for (uint32_t i = 0; i < repeats.count; i++) {
		const struct ss_repeat_run *run = &repeats.runs[i];

		if (run->length > 1)
			found[length++] = '(';
		memcpy(found + length, symbols + run->first, run->length);
		length += run->length;
		if (run->length > 1)
			found[length++] = ')';
	}
	found[length] = '\0';
	support_check(strcmp(found, test->expected) == 0, test->what, "found %s", found);
	ss_repeats_release(&repeats);
	assert_int_equal(memory.used_bytes, 0);
}

static void test_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		check(&cases[i]);
}

/* Every symbol once, in order, whatever is joined; no run is longer than allowed. */
static void test_random(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct ss_memory memory;
		struct ss_repeats repeats = { .memory = &memory };
		uint32_t count = support_random(&random, 200), next = 0;

		ss_memory_init(&memory, 0);
		for (uint32_t i = 0; i < count; i++)
			assert_true(ss_repeats_add(&repeats, support_random(&random, 3),
						   support_random(&random, 20) == 0));
		assert_true(ss_repeats_find(&repeats, 3, 8, 3));
		for (uint32_t i = 0; i < repeats.count; i++) {
			assert_int_equal(repeats.runs[i].first, next);
			assert_true(repeats.runs[i].length >= 1 && repeats.runs[i].length <= 8);
			next += repeats.runs[i].length;
		}
		assert_int_equal(next, count);
		ss_repeats_release(&repeats);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
