/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View memory-curve: no peak vanishes, and what is not known is not drawn.
 */
#include "support/make/memory_events.h"
#include "support/view_cases.h"

#define CURVE "at_ns,min_bytes,max_bytes,reserved_bytes,allocated_percent,events"

/* The file is 0 to 64 us long: 64 parts of 1001 ns, 2.0 in the second and 2.1 in the third. */
#define SHORT                                                                                 \
	EVENTS(OP("a", "0", "64"), CUDA("2", "1", "40", "50"), CUDA("2.1", "2", "50", "100"), \
	       CUDA("2.2", "2", "-50", "50"), CUDA("30", "1", "-40", "10"))

static const struct view_case coarse_cases[] = {
	{ "nothing", "[]", "at_ns+notes", "" },
	{ "operators without allocations", "op a 1 0 +4", "at_ns", "" },
	{ "what failed is no event", EVENTS(FAILED("1", "64", "8")), "at_ns", "" },
	{ "each part has its lowest and highest point; few events have few parts", SHORT, CURVE,
	  "1001,10,50,1000,50.00,1\n2002,50,100,1000,100.00,2\n29029,10,50,1000,50.00,1" },
	{ "a file of one moment", EVENTS(CUDA("5", "1", "40", "50")), CURVE,
	  "0,10,50,1000,100.00,1" },
	{ "the last moment is in the last part",
	  EVENTS(CUDA("0", "1", "40", "40"), CUDA("64", "1", "-40", "0")), "at_ns,min_bytes,events",
	  "0,0,1\n63063,0,1" },
	{ "without totals it is the sum, without what was reserved",
	  EVENTS(BARE("0", "1", "40"), BARE("64", "1", "-40")),
	  "at_ns,min_bytes,max_bytes,reserved_bytes+notes",
	  "0,0,40,-\n"
	  "63063,0,40,-\n"
	  "Totals are not recorded: the figures are sums from the start of the file, without "
	  "earlier allocations." },
	{ "a sum that only fell has no peak to be a share of", EVENTS(BARE("0", "1", "-40")),
	  "max_bytes,allocated_percent", "0,-" },
	{ "what was held before the first event can be the highest point",
	  EVENTS(CUDA("0", "1", "-40", "10"), CUDA("64", "2", "-5", "5")),
	  "min_bytes,max_bytes,allocated_percent", "10,50,100.00\n5,10,20.00" },
	{ "the CPU is left out beside a device",
	  EVENTS(CPU("1", "64", "8", "8"), CUDA("2", "64", "4", "4")), "device,max_bytes",
	  "CUDA:0,4" },
	{ "and shown without one; it reserves nothing, whatever the file says",
	  EVENTS(CPU("1", "64", "8", "8")), "device,max_bytes,reserved_bytes", "CPU,8,-" },
};

static const struct view_case all_cases[] = {
	{ "nothing", "[]", "at_ns", "" },
	{ "every event", SHORT, CURVE,
	  "2000,50,50,1000,50.00,1\n2100,100,100,1000,100.00,1\n"
	  "2200,50,50,1000,50.00,1\n30000,10,10,1000,10.00,1" },
};

/* 600 events in the first microsecond of 1000: parts without events stay where they are. */
static void add_burst(struct ss_text *json)
{
	ss_text_add_string(json, "[" OP("a", "0", "1000"));
	for (int i = 0; i < 600; i++)
		ss_text_addf(json, "," CUDA("%d.%03d", "%d", "1", "%d"), 0, i, i + 1, i + 1);
	ss_text_add_string(json, "]");
}

static void test_burst(void **state)
{
	static const struct {
		const char *view, *last;
		uint32_t parts;
	} cases[] = {
		{ "memory-curve", "984438,600,600,1000,100.00,0", 64 },
		{ "memory-curve/fine", "998494,600,600,1000,100.00,0", 512 },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_text json = { 0 }, row = { 0 };
		struct support_view open;

		add_burst(&json);
		support_view_open(&open, cases[i].view, json.data, "rank0.json");
		assert_int_equal(open.table.row_count, cases[i].parts);
		support_view_row(&open, 0, CURVE, &row);
		assert_string_equal(row.data, "0,0,600,1000,100.00,600");
		support_view_row(&open, cases[i].parts - 1, CURVE, &row);
		support_check(strcmp(row.data, cases[i].last) == 0, cases[i].view, "%s", row.data);
		support_view_close(&open);
		ss_text_release(&json);
		ss_text_release(&row);
	}
}

static void test_coarse(void **state)
{
	(void)state;
	view_cases_run("memory-curve", coarse_cases, SS_COUNT(coarse_cases));
}

static void test_all(void **state)
{
	(void)state;
	view_cases_run("memory-curve/all", all_cases, SS_COUNT(all_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("memory-curve", SHORT);
	view_memory_run("memory-curve/all", SHORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coarse),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
