/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What limits the step: the critical path says it, unless the account of the step knows better.
 */
#include "diagnose/bottleneck.h"

#include <string.h>

#include "support/support.h"

struct settled {
	const char *what;
	bool on_device;
	struct ss_account account;
	const char *path, *wanted;
	int64_t start_up_ns;
};

/* Of 100 ns. */
static const struct settled cases[] = {
	{ "the path of a device counts",
	  true,
	  { 100, .compute_ns = 60, .host_ns = 40 },
	  "host (70 % of the critical path)",
	  "host (70 % of the critical path)",
	  0 },
	{ "but not where the device is always busy",
	  true,
	  { 100, .compute_ns = 95, .host_ns = 5 },
	  "host (70 % of the critical path)",
	  "compute (95 % of it)",
	  0 },
	{ "a path that does not know is settled by the account",
	  true,
	  { 100, .warnings_ns = 20, .host_ns = 60, .compute_ns = 12, .unexplained_ns = 8 },
	  "unexplained (59 % of the critical path)",
	  "host (75 % of it)",
	  0 },
	{ "which may not know either",
	  true,
	  { 100, .host_ns = 20, .compute_ns = 30, .unexplained_ns = 50 },
	  "unexplained (59 % of the critical path)",
	  "unexplained (59 % of the critical path)",
	  0 },
	{ "without a device all of the path is on the host",
	  false,
	  { 100, .compute_ns = 80, .host_ns = 15, .unexplained_ns = 5 },
	  "host (100 % of the critical path)",
	  "compute (80 % of it)",
	  0 },
	{ "and may be what limits",
	  false,
	  { 100, .compute_ns = 10, .host_ns = 90 },
	  "host (100 % of the critical path)",
	  "host (100 % of the critical path)",
	  0 },
	{ "a path over the host does not explain what is done there",
	  true,
	  { 100, .compute_ns = 2, .host_ns = 10, .unexplained_ns = 88 },
	  "host (95 % of the critical path)",
	  "unexplained (88 % of it)",
	  0 },
	{ "most of the step is start-up",
	  true,
	  { 100, .host_ns = 96, .compute_ns = 4 },
	  "allocator (64 % of the critical path)",
	  NULL,
	  51 },
	{ "half of it is",
	  true,
	  { 100, .host_ns = 96, .compute_ns = 4 },
	  "allocator (64 % of the critical path)",
	  "allocator (64 % of the critical path)",
	  50 },
	{ "no path, no sentence", true, { 100, .host_ns = 100 }, NULL, NULL, 0 },
	{ "nothing is left",
	  true,
	  { 100, .warnings_ns = 100 },
	  "unexplained (59 % of the critical path)",
	  "unexplained (59 % of the critical path)",
	  0 },
};

static void test_settle(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_diagnosis diagnosis = { .on_device = cases[i].on_device,
						  .account = cases[i].account,
						  .start_up_ns = cases[i].start_up_ns,
						  .next = cases[i].path };
		struct ss_memory memory;

		print_message("%s\n", cases[i].what);
		ss_memory_init(&memory, 0);
		ss_arena_init(&diagnosis.chosen_arena, &memory);
		assert_true(ss_bottleneck_settle(&diagnosis));
		if (cases[i].wanted)
			assert_string_equal(diagnosis.next, cases[i].wanted);
		else
			assert_null(diagnosis.next);
		ss_arena_release(&diagnosis.chosen_arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_settle) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
