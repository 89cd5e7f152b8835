/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps of one length with work queued: the device is shared.
 */
#include "support/support.h"

#include "diagnose/stragglers/verdict.h"

#define GAPS_MAX 16

/* Lengths in us; letters are causes: d waits though launched, s sync, l launches. */
struct gaps {
	const char *what;
	int64_t lengths_us[GAPS_MAX];
	const char *causes;
	uint32_t count; /* expected */
	int64_t slice_us;
};

static const struct gaps cases[] = {
	{ "eight slices", { 2400, 2410, 2390, 2400, 2405, 2420, 2400, 2398 }, "dddddsss", 8, 2400 },
	{ "slices among short waits",
	  { 2400, 10, 2410, 20, 2390, 2400, 50, 2405, 2420 },
	  "ddddddddd",
	  6,
	  2400 },
	{ "all different", { 1000, 1400, 1900, 2600, 3500, 4700, 6000, 8000 }, "dddddddd", 0, 0 },
	{ "five are too few", { 2400, 2410, 2390, 2400, 2405 }, "ddddd", 0, 0 },
	{ "equal waits for what is not recorded, but short",
	  { 200, 201, 199, 200, 200, 201, 200, 200 },
	  "dddddddd",
	  0,
	  0 },
	{ "nothing was queued: the loop stops as long each time",
	  { 2400, 2410, 2390, 2400, 2405, 2420, 2400, 2398 },
	  "llllllll",
	  0,
	  0 },
	{ "the host waited in most of them",
	  { 2400, 2410, 2390, 2400, 2405, 2420, 2400, 2398 },
	  "ddssssss",
	  0,
	  0 },
	{ "one long gap is most of it",
	  { 2400, 2410, 2390, 2400, 2405, 2420, 50000 },
	  "ddddddd",
	  0,
	  0 },
	{ "none", { 0 }, "", 0, 0 },
};

static void test_gaps(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_rank_gap items[GAPS_MAX];
		int64_t scratch[GAPS_MAX], at_ns = 0;
		struct ss_digest rank = { .gaps = items };
		struct ss_time_slices found;

		for (; cases[i].causes[rank.gap_count]; rank.gap_count++) {
			char cause = cases[i].causes[rank.gap_count];
			int64_t length_ns = cases[i].lengths_us[rank.gap_count] * 1000;

			items[rank.gap_count] = (struct ss_rank_gap){ at_ns, at_ns + length_ns,
								      cause == 'd' ? SS_IDLE_UNKNOWN
								      : cause == 's'
									      ? SS_IDLE_SYNC
									      : SS_IDLE_LAUNCH,
								      0 };
			at_ns += length_ns + 100000;
		}
		found = ss_straggler_find_time_slices(&rank, scratch);
		support_check(found.count == cases[i].count, cases[i].what, "%u slices",
			      found.count);
		support_check(found.slice_ns == cases[i].slice_us * 1000, cases[i].what,
			      "slices of %lld ns", (long long)found.slice_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gaps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
