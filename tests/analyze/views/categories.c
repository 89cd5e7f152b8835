/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View categories: entries of traceEvents, counted once each.
 */
#include "support/view_cases.h"

#define X(cat) "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"a\",\"ts\":1,\"dur\":1}"

static const struct view_case cases[] = {
	{ "nothing", "[]", "category,events", "" },
	{ "most first; old names as they are called now",
	  "[" X("kernel") "," X("Operator") "," X("cpu_op") "," X("other") "]",
	  "category,files,events,share_percent",
	  "cpu_op,1,2,50.00\nkernel,1,1,25.00\nother,1,1,25.00" },
	{ "no category", "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}]", "category,events",
	  "(none),1" },
	{ "other phases by their letter",
	  "[" X("kernel") ",{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},{\"ph\":\"M\",\"name\":\"b\"},"
			  "{\"ph\":\"s\","
			  "\"ts\":1,\"id\":1},{\"ph\":\"s\",\"ts\":1,\"id\":1}]",
	  "category,events,share_percent",
	  "kernel,1,20.00\nphase s (flow start),2,40.00\nphase i (instant),1,20.00\n"
	  "phase M (metadata),1,20.00" },
	{ "what cannot be read has its row",
	  "[" X("kernel") ",5,{\"name\":\"no phase\"},{\"ph\":\"Q\"}]", "category,events",
	  "kernel,1\n(other or unreadable),3" },
	{ "an event that is skipped counts where it belongs",
	  "[" X("kernel") ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"no time\"}]",
	  "category,events", "kernel,2" },
};

static void test_categories(void **state)
{
	(void)state;
	view_cases_run("categories", cases, SS_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_categories) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
