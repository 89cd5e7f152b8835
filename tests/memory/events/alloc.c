/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations: what ends each, and whose it is.
 */
#include "memory/events/alloc.h"

#include "support/make/memory_events.h"
#include "support/support.h"

struct alloc_case {
	const char *what;
	const char *events;
	const char *found; /* per event: partner/operator/holder, '-' for none */
};

static const struct alloc_case pair_cases[] = {
	{ "nothing", "[]", "" },
	{ "a free ends its allocation",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "64", "-8", "0")), "1/-/- 0/-/-" },
	{ "alive at the end", EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "32", "8", "16")),
	  "-/-/- -/-/-" },
	{ "a free of what was there before",
	  EVENTS(CUDA("1", "64", "-8", "8"), CUDA("2", "64", "8", "16"),
		 CUDA("3", "64", "-8", "8")),
	  "-/-/- 2/-/- 1/-/-" },
	{ "addresses are used again",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "64", "-8", "0"), CUDA("3", "64", "4", "4"),
		 CUDA("4", "64", "-4", "0")),
	  "1/-/- 0/-/- 3/-/- 2/-/-" },
	{ "the second of two frees finds nothing",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "64", "-8", "0"), CUDA("3", "64", "-8", "0")),
	  "1/-/- 0/-/- -/-/-" },
	{ "an allocation ends one whose free was not recorded",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "64", "4", "12"), CUDA("3", "64", "-4", "8")),
	  "1/-/- 2/-/- 1/-/-" },
	{ "equal addresses of devices are different",
	  EVENTS(CUDA("1", "64", "8", "8"), CPU("2", "64", "8", "8"),
		 MEMORY("3", "1", "1", "64", "-8", "0", "0"), CPU("4", "64", "-8", "0")),
	  "-/-/- 3/-/- -/-/- 1/-/-" },
	{ "the CPU is one device, whatever its number",
	  EVENTS(MEMORY("1", "0", "-1", "64", "8", "8", "0"),
		 MEMORY("2", "0", "0", "64", "-8", "0", "0")),
	  "1/-/- 0/-/-" },
	{ "without an address there is no partner",
	  EVENTS(CUDA("1", "0", "8", "8"), CUDA("2", "0", "-8", "0")), "-/-/- -/-/-" },
	{ "nothing allocated is nothing",
	  EVENTS(CUDA("1", "64", "0", "0"), CUDA("2", "64", "-8", "0")), "-/-/- -/-/-" },
	{ "what failed has no partner", EVENTS(FAILED("1", "64", "8"), CUDA("2", "64", "-8", "0")),
	  "-/-/- -/-/-" },
	{ "addresses have 64 bits",
	  EVENTS(CUDA("1", "-64", "8", "8"), CUDA("2", "64", "8", "16"),
		 CUDA("3", "-64", "-8", "8")),
	  "2/-/- -/-/- 0/-/-" },
};

static const struct alloc_case owner_cases[] = {
	{ "the innermost operator",
	  EVENTS(OP("a", "0", "9"), OP("b", "1", "3"), CUDA("2", "64", "8", "8"),
		 CUDA("5", "32", "8", "16")),
	  "-/b/b -/a/a" },
	{ "its first and its last moment are in it",
	  EVENTS(OP("a", "1", "2"), CUDA("1", "64", "8", "8"), CUDA("3", "32", "8", "16"),
		 CUDA("3.001", "16", "8", "24")),
	  "-/a/a -/a/a -/-/-" },
	{ "what begins then is nearer than what ends",
	  EVENTS(OP("a", "1", "2"), OP("b", "3", "2"), CUDA("3", "64", "8", "8")), "-/b/b" },
	{ "before all operators and behind them",
	  EVENTS(CUDA("0", "64", "8", "8"), OP("a", "1", "2"), CUDA("9", "32", "8", "16")),
	  "-/-/- -/-/-" },
	{ "ranges and frames are looked through",
	  EVENTS(OP("a", "0", "9"), NOTE("n", "1", "7"), FRAME("f", "2", "5"),
		 CUDA("3", "64", "8", "8")),
	  "-/a/a" },
	{ "a range that outlives its operator does not carry it",
	  EVENTS(OP("a", "0", "3"), NOTE("n", "1", "9"), CUDA("6", "64", "8", "8"),
		 CUDA("7", "32", "8", "8")),
	  "-/-/- -/-/-" },
	{ "but leads to the one around both",
	  EVENTS(OP("o", "0", "20"), OP("a", "0", "3"), NOTE("n", "1", "9"),
		 CUDA("6", "64", "8", "8"), CUDA("7", "32", "8", "8")),
	  "-/o/o -/o/o" },
	{ "a free belongs to the operator of its allocation",
	  EVENTS(OP("a", "0", "3"), CUDA("1", "64", "8", "8"), OP("b", "4", "3"),
		 CUDA("5", "64", "-8", "0")),
	  "1/a/a 0/a/a" },
	{ "and to none when that is not known",
	  EVENTS(OP("b", "4", "3"), CUDA("5", "64", "-8", "0")), "-/-/-" },
	{ "another thread's operator is not meant",
	  EVENTS(OP("a", "0", "9"), INSTANT("[memory]", "2", "3", WHAT("1", "0", "64", "8"))),
	  "-/-/-" },
	{ "operators that only allocate do it for others",
	  EVENTS(OP("aten::linear", "0", "9"), OP("aten::empty_strided", "1", "5"),
		 OP("aten::empty", "2", "2"), CUDA("3", "64", "8", "8")),
	  "-/aten::empty/aten::linear" },
	{ "or for nobody", EVENTS(OP("aten::empty", "2", "2"), CUDA("3", "64", "8", "8")),
	  "-/aten::empty/aten::empty" },
};

static const char *op_name(const struct ss_trace *trace, uint32_t row)
{
	return row == SS_NO_ROW ? "-" : ss_strings_text(&trace->names, trace->slices.name[row]);
}

static void run(const struct alloc_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ss_text found = { 0 };
		struct support_trace loaded;
		struct ss_allocs allocs;
		struct ss_error err = { 0 };

		support_load(&loaded, cases[i].events);
		assert_int_equal(ss_allocs_init(&allocs, &loaded.trace, &loaded.memory, &err),
				 SS_OK);
		ss_text_add_string(&found, "");
		for (uint32_t k = 0; k < allocs.event_count; k++) {
			ss_text_add_string(&found, k ? " " : "");
			if (allocs.pair[k] == SS_NO_ROW)
				ss_text_add_string(&found, "-");
			else
				ss_text_add_int(&found, allocs.pair[k]);
			ss_text_addf(&found, "/%s/%s", op_name(&loaded.trace, allocs.op[k]),
				     op_name(&loaded.trace, allocs.holder[k]));
		}
		support_check(strcmp(found.data, cases[i].found) == 0, cases[i].what,
			      "found %s, wanted %s", found.data, cases[i].found);
		ss_allocs_release(&allocs);
		support_close(&loaded);
		ss_text_release(&found);
	}
}

static void test_pairs(void **state)
{
	(void)state;
	run(pair_cases, SS_COUNT(pair_cases));
}

static void test_owners(void **state)
{
	(void)state;
	run(owner_cases, SS_COUNT(owner_cases));
}

/* Against a plain search over all events. */
static void test_random_pairs(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct ss_text json = { 0 };
		struct support_trace loaded;
		struct ss_allocs allocs;
		struct ss_error err = { 0 };

		for (int i = 0; i < 100; i++)
			ss_text_addf(&json, "%s" BARE("%d", "%u", "%d"), i ? "," : "[", i,
				     support_random(&random, 12),
				     (int)support_random(&random, 5) - 2);
		ss_text_add_string(&json, "]");
		support_load(&loaded, json.data);
		assert_int_equal(ss_allocs_init(&allocs, &loaded.trace, &loaded.memory, &err),
				 SS_OK);
		for (uint32_t i = 0; i < allocs.event_count; i++) {
			const struct ss_allocations *events = &loaded.trace.allocations;
			uint32_t next = i + 1;

			while (next < events->count &&
			       (events->address[next] != events->address[i] ||
				!events->bytes[next]))
				next++;
			if (events->bytes[i] <= 0 || !events->address[i])
				continue;
			assert_int_equal(allocs.pair[i], next < events->count ? next : SS_NO_ROW);
			if (next < events->count && events->bytes[next] < 0)
				assert_int_equal(allocs.pair[next], i);
		}
		ss_allocs_release(&allocs);
		support_close(&loaded);
		ss_text_release(&json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_random_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
