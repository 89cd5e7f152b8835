/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peaks of the curve, by hand: which there are, and what lies before and after an event.
 */
#include "memory/history/history.h"

#include "support/make/snapshot.h"

static const struct {
	const char *what, *script;
	const char *tells; /* events of peaks */
} cases[] = {
	{ "up and down", "alloc 1 100 fwd; alloc 2 100 fwd; free 2 100; free 1 100", "1" },
	{ "two hills",
	  "alloc 1 100 fwd; free 1 100; alloc 2 60 fwd; alloc 3 60 fwd; free 3 60; free 2 60",
	  "0 3" },
	{ "the end of a rise", "alloc 1 100 fwd; free 1 100; alloc 2 60 fwd", "0 2" },
	{ "a ripple below a twentieth is none",
	  "alloc 1 1000 fwd; free 2 10; alloc 3 10 fwd; free 3 10; alloc 4 1000 fwd; free 4 1000",
	  "4" },
	{ "a twentieth is one",
	  "alloc 1 900 fwd; alloc 2 100 fwd; free 2 100; alloc 3 50 fwd; free 3 50", "1 3" },
	{ "of a plateau its first event",
	  "alloc 1 100 fwd; alloc 2 3 fwd; free 2 3; alloc 3 3 fwd; free 3 3; free 1 100", "1" },
	{ "what was there before is no event", "free 1 100; free 2 100; alloc 3 50 fwd", "2" },
	{ "a slow fall, and up from its lowest point",
	  "free 1 900; alloc 2 30 fwd; free 2 30; alloc 3 46 fwd; free 3 46", "3" },
	{ "nothing changes", "oom 5 5 fwd", "" },
};

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_snapshot snapshot;
		struct ss_text forth = { 0 };
		const struct ss_device_memory *device;
		struct ss_summits found;
		int64_t at = -1;
		uint32_t number = 0;

		support_snapshot_open(&snapshot, cases[i].script);
		device = &snapshot.history.devices[0];
		ss_text_add_string(&forth, "");
		for (ss_summits_find(&snapshot.history, device, at, &found); found.after >= 0;
		     ss_summits_find(&snapshot.history, device, at, &found)) {
			ss_text_addf(&forth, number ? " %lld" : "%lld", (long long)found.after);
			at = found.after;
			number++;
			ss_summits_find(&snapshot.history, device, at, &found);
			assert_int_equal(found.number, number);
		}
		assert_int_equal(found.count, number);
		support_check(strcmp(forth.data, cases[i].tells) == 0, cases[i].what, "%s",
			      forth.data);
		/* back the same way */
		at = device->count;
		for (ss_summits_find(&snapshot.history, device, at, &found); found.before >= 0;
		     ss_summits_find(&snapshot.history, device, at, &found)) {
			assert_true(found.before < at);
			at = found.before;
			assert_true(number-- > 0);
		}
		assert_int_equal(number, 0);
		ss_text_release(&forth);
		support_snapshot_close(&snapshot);
	}
}

static void check_sums(void **state)
{
	static const int64_t active[] = { 70, 170, 100, 150 };
	struct support_snapshot snapshot;
	struct ss_summits found;

	(void)state;
	support_snapshot_open(&snapshot, "alloc 1 100 fwd; free 2 70; alloc 3 50 fwd");
	for (int64_t event = -1; event < 3; event++) {
		ss_summits_find(&snapshot.history, &snapshot.history.devices[0], event, &found);
		assert_int_equal(found.active_bytes, active[event + 1]);
	}
	support_snapshot_close(&snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases),
		cmocka_unit_test(check_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
