/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View idle-together.
 */
#include "support/make/ranks.h"

#define ALL "cause,idle_ns,step_percent,times,longest_ns,ranks_percent,at_ns,host"

/* A collective that all ranks leave at the same true time: it compares their clocks. */
#define MEET "all_reduce 900 +50"
#define RANK(words) "rank " words "; step 0 0 +1000; " MEET ";"

struct gap {
	uint32_t rank; /* by order */
	double start_us, end_us;
	enum ss_idle_cause cause;
	const char *host;
};

struct idle_case {
	const char *what, *ranks;
	struct gap gaps[6];
	const char *columns, *rows;
};

static const struct idle_case cases[] = {
	{ "what the gaps of all have in common",
	  RANK("0") RANK("1") RANK("2"),
	  { { 0, 100, 200, SS_IDLE_INPUT, "a" },
	    { 1, 120, 220, SS_IDLE_INPUT, "b" },
	    { 2, 90, 180, SS_IDLE_SYNC, "c" } },
	  ALL,
	  "input,60000,6.00,1,60000,66.67,120000,a" },
	{ "one rank that works ends it",
	  RANK("0") RANK("1") RANK("2"),
	  { { 0, 100, 200, SS_IDLE_INPUT, "a" }, { 1, 100, 200, SS_IDLE_INPUT, "a" } },
	  ALL,
	  "" },
	{ "gaps that only touch have nothing in common",
	  RANK("0") RANK("1"),
	  { { 0, 100, 200, SS_IDLE_INPUT, "a" }, { 1, 200, 300, SS_IDLE_INPUT, "a" } },
	  ALL,
	  "" },
	{ "clocks that are apart are put together first",
	  RANK("0") RANK("1 >700000"),
	  { { 0, 100, 200, SS_IDLE_GC, "gc" }, { 1, 700150, 700260, SS_IDLE_GC, "gc" } },
	  ALL,
	  "garbage collection,50000,5.00,1,50000,100.00,150000,gc" },
	{ "the same moment on clocks that are apart is not the same time",
	  RANK("0") RANK("1 >700000"),
	  { { 0, 100, 200, SS_IDLE_GC, "gc" }, { 1, 100, 200, SS_IDLE_GC, "gc" } },
	  ALL,
	  "" },
	{ "one long gap meets several short ones: each counts, the longest is told of",
	  RANK("0") RANK("1"),
	  { { 0, 100, 500, SS_IDLE_SYNC, "wait" },
	    { 1, 110, 120, SS_IDLE_SYNC, "x" },
	    { 1, 200, 240, SS_IDLE_SYNC, "y" },
	    { 1, 490, 600, SS_IDLE_SYNC, "z" } },
	  ALL,
	  "sync,60000,6.00,3,40000,100.00,200000,wait" },
	{ "of equally long ones the first is told of",
	  RANK("0") RANK("1"),
	  { { 0, 100, 500, SS_IDLE_SYNC, "" },
	    { 1, 110, 120, SS_IDLE_SYNC, "" },
	    { 1, 200, 210, SS_IDLE_SYNC, "" } },
	  "times,longest_ns,at_ns",
	  "2,10000,110000" },
	{ "a row per cause, the most idle time first",
	  RANK("0") RANK("1"),
	  { { 0, 100, 110, SS_IDLE_INPUT, "in" },
	    { 0, 300, 360, SS_IDLE_ALLOCATOR, "malloc" },
	    { 1, 90, 120, SS_IDLE_INPUT, "in" },
	    { 1, 310, 370, SS_IDLE_ALLOCATOR, "malloc" } },
	  "cause,idle_ns,at_ns,host",
	  "allocator,50000,310000,malloc\ninput,10000,100000,in" },
	{ "who has the cause and knows what the host did is asked for it",
	  RANK("0") RANK("1") RANK("2"),
	  { { 0, 100, 200, SS_IDLE_INPUT, "wrong" },
	    { 1, 100, 200, SS_IDLE_LAUNCH, "" },
	    { 2, 100, 200, SS_IDLE_LAUNCH, "save" } },
	  "cause,ranks_percent,host",
	  "launch-bound,66.67,save" },
	{ "nobody knows what the host did",
	  RANK("0") RANK("1"),
	  { { 0, 100, 200, SS_IDLE_UNKNOWN, "" }, { 1, 100, 200, SS_IDLE_UNKNOWN, "" } },
	  "rank,cause,host",
	  "-,unattributed,-" },
	{ "a rank that no collective connects is left out",
	  RANK("0") RANK("1") "rank 2; step 0 0 +1000;",
	  { { 0, 100, 200, SS_IDLE_INPUT, "a" }, { 1, 100, 200, SS_IDLE_INPUT, "a" } },
	  "idle_ns,ranks_percent",
	  "100000,100.00" },
	{ "it is left out as the first, too: times are from the first one that counts",
	  "rank 0; step 0 500 +10;" RANK("1") RANK("2"),
	  { { 1, 100, 200, SS_IDLE_INPUT, "a" }, { 2, 100, 200, SS_IDLE_INPUT, "a" } },
	  "idle_ns,step_percent,at_ns",
	  "100000,10.00,100000" },
	{ "one rank is not all of them",
	  RANK("0"),
	  { { 0, 100, 200, SS_IDLE_INPUT, "a" } },
	  ALL,
	  "" },
	{ "without steps there is no share",
	  "rank 0; " MEET "; rank 1; " MEET,
	  { { 0, 100, 200, SS_IDLE_INPUT, "a" }, { 1, 100, 200, SS_IDLE_INPUT, "a" } },
	  "idle_ns,step_percent",
	  "100000,-" },
	{ "no gaps", RANK("0") RANK("1"), { { 0 } }, ALL, "" },
	{ "no ranks", "", { { 0 } }, ALL, "" },
};

static void add_gaps(struct support_ranks *ranks, const struct gap *gaps)
{
	for (size_t i = 0; i < 6 && gaps[i].host; i++) {
		struct ss_digest *rank = &ranks->items[gaps[i].rank];

		assert_true(ss_memory_reserve(rank->memory, (void **)&rank->gaps,
					      &rank->gap_capacity, (size_t)rank->gap_count + 1,
					      sizeof(*rank->gaps)));
		rank->gaps[rank->gap_count++] = (struct ss_rank_gap){
			.start_ns = SUPPORT_CLOCK_NS + (int64_t)(gaps[i].start_us * 1000),
			.end_ns = SUPPORT_CLOCK_NS + (int64_t)(gaps[i].end_us * 1000),
			.cause = gaps[i].cause,
			.host = ss_strings_add(&rank->texts, gaps[i].host, strlen(gaps[i].host)),
		};
	}
}

static void expect(struct support_ranks *ranks, const struct idle_case *wanted)
{
	const struct ss_view *view = ss_view_find("idle-together");
	struct support_view open = { 0 };
	struct ss_text rows = { 0 };
	struct ss_error err = { 0 };

	ss_arena_init(&open.arena, &ranks->memory);
	ss_table_init(&open.table, view, &open.arena);
	assert_int_equal(view->run_job(&ranks->joined, 0, &open.table, &err), SS_OK);
	ss_text_add_string(&rows, "");
	view_rows_add(&open, wanted->columns, &rows);
	support_check(strcmp(rows.data, wanted->rows) == 0, wanted->what, "found:\n%s\nwanted:\n%s",
		      rows.data, wanted->rows);
	ss_text_release(&rows);
	ss_table_release(&open.table);
	ss_arena_release(&open.arena);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_ranks ranks;

		support_ranks_open(&ranks);
		support_ranks_add(&ranks, cases[i].ranks);
		add_gaps(&ranks, cases[i].gaps);
		support_ranks_join(&ranks);
		expect(&ranks, &cases[i]);
		support_ranks_close(&ranks);
	}
}

/* A rank without a device is never idle: it does not count. */
static void test_without_device(void **state)
{
	struct support_ranks ranks;

	(void)state;
	support_ranks_open(&ranks);
	support_ranks_add(&ranks, RANK("0") RANK("1") RANK("2"));
	add_gaps(&ranks, cases[1].gaps);
	ranks.items[2].device = -1;
	support_ranks_join(&ranks);
	expect(&ranks, &(struct idle_case){ .what = "a rank without a device",
					    .columns = "idle_ns,ranks_percent",
					    .rows = "100000,100.00" });
	support_ranks_close(&ranks);
}

/* Without any device there is a note. */
static void test_host_only(void **state)
{
	struct support_ranks ranks;

	(void)state;
	support_ranks_open(&ranks);
	support_ranks_add(&ranks, RANK("0") RANK("1"));
	ranks.items[0].device = ranks.items[1].device = -1;
	support_ranks_join(&ranks);
	expect(&ranks,
	       &(struct idle_case){ .what = "no devices",
				    .columns = "idle_ns+notes",
				    .rows = "No GPU work: when the ranks were idle is unknown." });
	support_ranks_close(&ranks);
}

static void test_memory(void **state)
{
	const struct ss_view *view = ss_view_find("idle-together");
	struct support_ranks ranks;
	bool refused = true;

	(void)state;
	support_ranks_open(&ranks);
	support_ranks_add(&ranks, cases[0].ranks);
	add_gaps(&ranks, cases[0].gaps);
	support_ranks_join(&ranks);
	for (size_t call = 1; refused; call++) {
		size_t before_bytes = ranks.memory.used_bytes;
		struct ss_error err = { 0 };
		struct ss_arena arena;
		struct ss_table table;
		enum ss_status status;

		ss_arena_init(&arena, &ranks.memory);
		ss_table_init(&table, view, &arena);
		ranks.memory.fail_call = ranks.memory.calls + call;
		status = view->run_job(&ranks.joined, 0, &table, &err);
		refused = ranks.memory.calls >= ranks.memory.fail_call;
		ranks.memory.fail_call = 0;
		assert_int_equal(refused, status != SS_OK || table.failed);
		ss_table_release(&table);
		ss_arena_release(&arena);
		assert_int_equal(ranks.memory.used_bytes, before_bytes);
	}
	support_ranks_close(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_without_device),
		cmocka_unit_test(test_host_only),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
