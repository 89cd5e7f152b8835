/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who lets the others wait: one case per kind, and as many in which nobody waits.
 */
#include "support/flight_cases.h"

/* All four did this. */
#define ALL(calls) "0 " calls "| 1 " calls "| 2 " calls "| 3 " calls

static const struct {
	const char *what, *script, *stacks;
	const char *expected; /* kind, ranks, sequence and group of each cause */
} cases[] = {
	{ "nothing was called", ALL(""), NULL, "" },
	{ "all finished", ALL("w1:all_reduce/8+ w2:all_reduce/8+"), NULL, "" },
	{ "one finished: the others are about to",
	  "0 w1:all_reduce/8+| 1 w1:all_reduce/8-| 2 w1:all_reduce/8-| 3 w1:all_reduce/8-", NULL,
	  "" },
	{ "an old record that nobody updated",
	  "0 w1:all_reduce/8- w2:all_reduce/8+| 1 w1:all_reduce/8+ w2:all_reduce/8+|"
	  "2 w1:all_reduce/8+ w2:all_reduce/8+| 3 w1:all_reduce/8+ w2:all_reduce/8+",
	  NULL, "" },
	{ "most dumps were not passed", "0 w1:all_reduce/8+", NULL, "" },
	{ "a rank did not come",
	  "0 w1:all_reduce/8+ w2:all_reduce/8*| 1 w1:all_reduce/8+ w2:all_reduce/8*|"
	  "2 w1:all_reduce/8+| 3 w1:all_reduce/8+ w2:all_reduce/8*",
	  NULL, "did-not-come 2 #2 default_pg\n" },
	{ "the nearest group is named, and who waits behind it is not to blame",
	  "0 w1:all_reduce/8*| 1 w1:all_reduce/8*| 2| 3 b1:all_reduce/4-", NULL,
	  "did-not-come 2 #1 tensor\n" },
	{ "given up is not finished",
	  "0 w1:all_reduce/8!| 1 w1:all_reduce/8!| 2 b1:all_reduce/8+| 3 b1:all_reduce/8+ "
	  "w1:all_reduce/8!",
	  NULL, "did-not-come 2 #1 default_pg\n" },
	{ "a rank left no dump", "0 w1:all_reduce/8*| 1 w1:all_reduce/8*| 3 w1:all_reduce/8*", NULL,
	  "left-no-dump 2 #1 default_pg\n" },
	{ "a rank left no dump, and nothing is pending",
	  "0 w1:all_reduce/8+| 1 w1:all_reduce/8+| 3 w1:all_reduce/8+", NULL,
	  "left-no-dump 2 #1 default_pg\n" },
	{ "another operation",
	  "0 w1:all_reduce/8*| 1 w1:all_gather/8*| 2 w1:all_reduce/8*| 3 w1:all_reduce/8*", NULL,
	  "other-operation 1 #1 default_pg\n" },
	{ "another size",
	  "0 w1:all_reduce/8*| 1 w1:all_reduce/8*| 2 w1:all_reduce/9*| 3 w1:all_reduce/8*", NULL,
	  "other-size 2 #1 default_pg\n" },
	{ "another type",
	  "0 w1:all_reduce/8*| 1 w1:all_reduce/8*| 2 w1:all_reduce/8F*| 3 w1:all_reduce/8*", NULL,
	  "other-type 2 #1 default_pg\n" },
	{ "several roots", "0 w1:gather/8*| 1 w1:gather/8*| 2 w1:gather/8*| 3 w1:gather/8*", NULL,
	  "other-root 0-3 #1 default_pg\n" },
	{ "one collective more: the call of the tensor group is not there yet",
	  "0 w1:all_reduce/8+ w2:all_reduce/1-| 1 w1:all_reduce/8+ a1:all_reduce/4-|"
	  "2 w1:all_reduce/8+ b1:all_reduce/4+ w2:all_reduce/8-|"
	  "3 w1:all_reduce/8+ b1:all_reduce/4+ w2:all_reduce/8-",
	  NULL, "one-more 0 #2 default_pg\n" },
	{ "one collective fewer: it is in a later round already",
	  "0 w1:all_reduce/8+ c1:all_reduce/4+ c2:all_reduce/4+ w2:all_reduce/1-|"
	  "1 w1:all_reduce/8+ c1:all_reduce/4+ w2:all_reduce/8-|"
	  "2 w1:all_reduce/8+ c1:all_reduce/4+ w2:all_reduce/8-|"
	  "3 w1:all_reduce/8+ c1:all_reduce/4+ w2:all_reduce/8-",
	  NULL, "one-fewer 0 #2 default_pg\n" },
	{ "two groups in different order",
	  "0 c1:all_reduce/8*| 1 d1:all_reduce/8*| 2 c1:all_reduce/8*| 3 c1:all_reduce/8*", NULL,
	  "group-order 1, 0 #1 model\n" },
	{ "the same of groups whose ranks nobody lists",
	  "0 u1:all_reduce/8*| 1 v1:all_reduce/8*| 2 u1:all_reduce/8*| 3 u1:all_reduce/8*", NULL,
	  "group-order 1, 0 #1 undefined\n" },
	{ "a circle of receives",
	  "0 w1:recv_0<-3/8*| 1 w1:recv_1<-0/8*| 2 w1:recv_2<-1/8*| 3 w1:recv_3<-2/8*", NULL,
	  "pair-circle 3, 2, 1, 0\n" },
	{ "a pair that is in flight", "0 w1:send_0->1/8*| 1 w1:recv_1<-0/8*| 2| 3", NULL, "" },
	{ "a receive that nobody sends to", "0| 1 w1:recv_1<-0/8*| 2| 3", NULL,
	  "did-not-come 0\n" },
	{ "all came, none finished", ALL("w1:all_reduce/8*"), NULL,
	  "not-finished  #1 default_pg\n" },
	{ "a GPU has not begun it",
	  "0 w1:all_reduce/8*| 1 w1:all_reduce/8*| 2 w1:all_reduce/8*| 3 w1:all_reduce/8-", NULL,
	  "not-started 3 #1 default_pg\n" },
	{ "records that would tell were overwritten",
	  "0 w1:all_reduce/8*| 1 w1:all_reduce/8*| 2 @50 b9:all_reduce/4+| 3 w1:all_reduce/8*",
	  NULL, "not-known 2 #1 default_pg\n" },
	{ "a stack shows that it is ending",
	  "0 w1:all_reduce/8*| 1 w1:all_reduce/8*| 2| 3 w1:all_reduce/8*",
	  "=== Rank 2: http://host:1 ===\nThread 0x1 (most recent call first):\n"
	  "  File \"/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py\", line 9 "
	  "in destroy_process_group\n  File \"train.py\", line 4 in <module>\n",
	  "teardown 2 #1 default_pg\n" },
};

static void cause_print(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			struct ss_text *out)
{
	ss_text_addf(out, "%s ", ss_hang_kind_name(cause->kind));
	ss_hang_add_ranks(hang, cause->ranks, cause->rank_count, out);
	if (cause->group != SS_NO_ROW)
		ss_text_addf(out, " #%lld %s", (long long)cause->sequence,
			     ss_strings_text(&hang->texts, hang->groups[cause->group].about));
	ss_text_add_string(out, "\n");
}

static void finds_causes(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct flight_case flights;
		struct ss_text found = { 0 };

		flight_case_open(&flights, cases[i].script, cases[i].stacks);
		for (uint32_t k = 0; k < flights.hang.cause_count; k++)
			cause_print(&flights.hang, &flights.hang.causes[k], &found);
		support_check(strcmp(found.data ? found.data : "", cases[i].expected) == 0,
			      cases[i].what, "%s", found.data ? found.data : "");
		ss_text_release(&found);
		flight_case_close(&flights);
	}
}

/* Every cause has a title and evidence that ends. */
static void has_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct flight_case flights;

		flight_case_open(&flights, cases[i].script, cases[i].stacks);
		for (uint32_t k = 0; k < flights.hang.cause_count; k++) {
			const struct ss_hang_cause *cause = &flights.hang.causes[k];
			struct ss_text text = { 0 };
			uint32_t count = 0;

			ss_hang_add_title(&flights.hang, cause, &text);
			assert_true(text.length > 20);
			while (ss_hang_add_evidence(&flights.hang, cause, count, &text))
				count++;
			support_check(count < 10, cases[i].what, "%s", text.data);
			assert_non_null(ss_hang_fix(cause->kind));
			ss_text_release(&text);
		}
		flight_case_close(&flights);
	}
}

/* A rank that comes 300 ms late each time is slow, and nothing waits. */
static void finds_late_rank(void **state)
{
	struct flight_case flights;
	struct ss_text calm = { 0 };

	(void)state;
	flight_case_open(&flights,
			 "0 a1:all_reduce/8+ a2:all_reduce/8+ a3:all_reduce/8+ a4:all_reduce/8+ "
			 "a5:all_reduce/8+| 1 @300 a1:all_reduce/8+ a2:all_reduce/8+ "
			 "a3:all_reduce/8+ a4:all_reduce/8+ a5:all_reduce/8+| 2| 3",
			 NULL);
	assert_int_equal(flights.hang.cause_count, 0);
	ss_hang_add_calm(&flights.hang, &calm);
	assert_non_null(strstr(calm.data, "Rank 1 comes last to 5 of 5 collectives of tensor"));
	assert_null(strstr(calm.data, "hang"));
	ss_text_release(&calm);
	flight_case_close(&flights);
}

static enum ss_status attempt_dump(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct ss_text *json = context;
	struct ss_source *source = NULL;
	struct ss_flight flight;
	struct ss_hang hang = { 0 };
	enum ss_status status;

	SS_TRY(ss_source_open_memory(json->data, json->length, memory, &source, err));
	status = ss_flight_load(source, memory, &flight, err);
	ss_source_close(source);
	if (status != SS_OK)
		return status;
	status = ss_hang_make(&hang,
			      &(struct ss_hang_input){ .rank = 0, .path = "d", .flight = &flight },
			      1, memory, err);
	ss_hang_release(&hang);
	ss_flight_release(&flight);
	return status;
}

static void refuses_without_memory(void **state)
{
	const char *script = "0 w1:all_reduce/8+ a1:all_gather/4- w2:all_reduce/8-";
	struct ss_text json = { 0 };
	struct ss_memory memory;
	int64_t rank;

	(void)state;
	flight_case_json(&script, &rank, &json);
	ss_memory_init(&memory, 0);
	support_refuse(&memory, attempt_dump, &json);
	ss_text_release(&json);
}

/* A file that ends anywhere is read as far as it goes, or ends in a sentence. */
static void reads_cut_dumps(void **state)
{
	const char *script = "0 w1:all_reduce/8+ a1:all_gather/4- w2:all_reduce/8-";
	struct ss_text json = { 0 };
	uint32_t most = 0;
	int64_t rank;

	(void)state;
	flight_case_json(&script, &rank, &json);
	for (size_t length = 1; length < json.length; length++) {
		struct ss_memory memory;
		struct ss_source *source;
		struct ss_flight flight;
		struct ss_error err = { 0 };

		ss_memory_init(&memory, 0);
		assert_int_equal(ss_source_open_memory(json.data, length, &memory, &source, &err),
				 SS_OK);
		if (ss_flight_load(source, &memory, &flight, &err) == SS_OK) {
			assert_true(flight.is_cut);
			assert_true(flight.entry_count >= most);
			most = flight.entry_count;
			ss_flight_release(&flight);
		} else {
			assert_true(err.text[0]);
		}
		ss_source_close(source);
		assert_int_equal(memory.used_bytes, 0);
	}
	assert_int_equal(most, 3);
	ss_text_release(&json);
}

static void knows_dumps(void **state)
{
	static const struct {
		const char *bytes;
		bool is_dump;
	} starts[] = {
		{ "{\"comm_lib_version\":\"\",\"entries\":[{", true },
		{ " {\"entries\":[{\"collective_seq_id\":1", true },
		{ "\x80\x02}(X\x07version2.10X\x09pg_config", true },
		{ "{\"schemaVersion\":1,\"distributedInfo\":{\"pg_config\":[", false },
		{ "{\"traceEvents\":[{\"name\":\"pg_config\"", false },
		{ "{\"entries\":[{\"date\":1}]}", false },
		{ "\x80\x04}X\x08segments]X\x06"
		  "frames",
		  false },
		{ "pg_config", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(starts); i++)
		support_check(ss_flight_is_dump(starts[i].bytes, strlen(starts[i].bytes)) ==
				      starts[i].is_dump,
			      starts[i].bytes, "%s", starts[i].is_dump ? "no dump" : "a dump");
}

static void reads_stacks(void **state)
{
	static const char text[] = "=== Rank 1: http://host:2 ===\n"
				   "Thread 81 (idle): \"MainThread\"\n"
				   "    wait (threading.py:320)\n"
				   "    load_batch (train.py:84)\n"
				   "    <module> (train.py:120)\n"
				   "=== Rank 0: http://host:3 ===\n"
				   "Error: 500\n"
				   "Current thread 0x7f (most recent call first):\n"
				   "  File \"/a/train.py\", line 90 in step\n"
				   "  File \"/a/train.py\", line 120 in <module>\n";
	struct flight_case flights;
	struct ss_text place = { 0 };

	(void)state;
	flight_case_open(&flights, "0 w1:all_reduce/8*| 1| 2 w1:all_reduce/8*| 3 w1:all_reduce/8*",
			 text);
	assert_int_equal(flights.stacks.thread_count, 2);
	ss_hang_add_place(&flights.hang, 1, &place);
	ss_text_add_string(&place, "; ");
	ss_hang_add_place(&flights.hang, 0, &place);
	assert_string_equal(place.data, "load_batch (train.py:84); step (train.py:90)");
	ss_text_release(&place);
	flight_case_close(&flights);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_causes),    cmocka_unit_test(has_words),
		cmocka_unit_test(finds_late_rank), cmocka_unit_test(refuses_without_memory),
		cmocka_unit_test(reads_cut_dumps), cmocka_unit_test(knows_dumps),
		cmocka_unit_test(reads_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
