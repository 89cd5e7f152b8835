/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON around the events, and what is refused.
 */
#include "support/support.h"

#define EVENT "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":1}"

static const struct {
	const char *what;
	const char *json;
	enum ss_status status;
	uint64_t events;
	int64_t rank;
	enum ss_oddity odd; /* SS_ODD_COUNT: none that is lost */
} cases[] = {
	{ "metadata before the events",
	  "{\"distributedInfo\":{\"rank\":4},\"traceEvents\":[" EVENT "]}", SS_OK, 1, 4,
	  SS_ODD_COUNT },
	{ "metadata after the events",
	  "{\"traceEvents\":[" EVENT "],\"distributedInfo\":{\"rank\":4}}", SS_OK, 1, 4,
	  SS_ODD_COUNT },
	{ "events twice: all are read", "{\"traceEvents\":[" EVENT "],\"traceEvents\":[" EVENT "]}",
	  SS_OK, 2, -1, SS_ODD_COUNT },
	{ "keys that nobody knows",
	  "{\"a\":{\"b\":[{\"traceEvents\":[1,2]}]},\"c\":\"}]\\\"\",\"d\":[[]],"
	  "\"traceEvents\":[" EVENT "],\"e\":null}",
	  SS_OK, 1, -1, SS_ODD_COUNT },
	{ "a quote in an unknown value that is not escaped",
	  "{\"a\":\"say \"hi\" now\",\"traceEvents\":[" EVENT "]}", SS_OK, 1, -1, SS_ODD_COUNT },
	{ "a rank in quotes", "{\"distributedInfo\":{\"rank\":\"2\"},\"traceEvents\":[]}", SS_OK, 0,
	  2, SS_ODD_COUNT },
	{ "a rank that is no number", "{\"distributedInfo\":{\"rank\":\"x\"},\"traceEvents\":[]}",
	  SS_OK, 0, -1, SS_ODD_COUNT },
	{ "distributedInfo that is no object", "{\"distributedInfo\":7,\"traceEvents\":[]}", SS_OK,
	  0, -1, SS_ODD_COUNT },
	{ "a bare array", "[" EVENT "," EVENT "]", SS_OK, 2, -1, SS_ODD_COUNT },
	{ "a bare array that was never closed", "[" EVENT "," EVENT ",\n", SS_OK, 2, -1,
	  SS_ODD_TRUNCATED },
	{ "a mark of the byte order", "\xef\xbb\xbf{\"traceEvents\":[" EVENT "]}", SS_OK, 1, -1,
	  SS_ODD_COUNT },
	{ "a comma too many", "{\"traceEvents\":[" EVENT ",," EVENT ",],}", SS_OK, 2, -1,
	  SS_ODD_COUNT },
	{ "broken metadata before the events", "{\"a\": 1, oops, \"traceEvents\":[" EVENT "]}",
	  SS_OK, 1, -1, SS_ODD_BAD_METADATA },
	{ "broken metadata behind the events", "{\"traceEvents\":[" EVENT "], oops}", SS_OK, 1, -1,
	  SS_ODD_BAD_METADATA },
	{ "more behind the end", "{\"traceEvents\":[" EVENT "]}{\"traceEvents\":[]}", SS_OK, 1, -1,
	  SS_ODD_AFTER_END },
	{ "text between events", "{\"traceEvents\":[" EVENT ", {]" EVENT "]}", SS_OK, 3, -1,
	  SS_ODD_BAD_EVENT },
	{ "entries that are no objects", "{\"traceEvents\":[" EVENT ",5,\"x\",[1]]}", SS_OK, 4, -1,
	  SS_ODD_NOT_AN_EVENT },
	{ "an event without a phase", "{\"traceEvents\":[{\"name\":\"a\",\"ts\":1}]}", SS_OK, 1, -1,
	  SS_ODD_NO_PHASE },
	{ "an event without a time", "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\"}]}", SS_OK, 1,
	  -1, SS_ODD_NO_TIME },
	{ "an event out of time", "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1e30}]}",
	  SS_OK, 1, -1, SS_ODD_TIME_RANGE },
	{ "an event of two weeks",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1209600000000}]}", SS_OK,
	  1, -1, SS_ODD_ABSURD_DURATION },
	{ "a begin and an end two weeks apart",
	  "{\"traceEvents\":[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1},"
	  "{\"ph\":\"E\",\"ts\":1209600000001}]}",
	  SS_OK, 2, -1, SS_ODD_ABSURD_DURATION },
	{ "the same of what is not on a track",
	  "{\"traceEvents\":[{\"ph\":\"b\",\"name\":\"a\",\"id\":1,\"ts\":1},"
	  "{\"ph\":\"e\",\"id\":1,\"ts\":1209600000001}]}",
	  SS_OK, 2, -1, SS_ODD_ABSURD_DURATION },
	{ "a kernel without times",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":0,\"dur\":0}]}",
	  SS_OK, 1, -1, SS_ODD_UNTIMED_DEVICE_EVENT },
	{ "an end without a begin", "[{\"ph\":\"E\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1}]",
	  SS_OK, 1, -1, SS_ODD_END_WITHOUT_BEGIN },
	{ "nothing", "", SS_ERR_FORMAT, 0, 0, 0 },
	{ "white space", " \n\t ", SS_ERR_FORMAT, 0, 0, 0 },
	{ "an object without events", "{\"a\":1}", SS_ERR_MISSING, 0, 0, 0 },
	{ "events that are no array", "{\"traceEvents\":{\"a\":1}}", SS_ERR_MISSING, 0, 0, 0 },
	{ "events inside of something else", "{\"a\":{\"traceEvents\":[" EVENT "]}}",
	  SS_ERR_MISSING, 0, 0, 0 },
	{ "an array of numbers", "[1,2,3]", SS_ERR_MISSING, 0, 0, 0 },
	{ "a text", "hello", SS_ERR_FORMAT, 0, 0, 0 },
	{ "a number", "42", SS_ERR_FORMAT, 0, 0, 0 },
	{ "an object that stops", "{", SS_ERR_FORMAT, 0, 0, 0 },
	{ "half a mark of the byte order", "\xef\xbb", SS_ERR_FORMAT, 0, 0, 0 },
};

static void check_lost(const char *what, const struct ss_trace *trace, enum ss_oddity wanted)
{
	for (int odd = 0; odd < SS_ODD_COUNT; odd++) {
		uint64_t count = support_odd(trace, (enum ss_oddity)odd);

		if (odd == (int)wanted)
			support_check(count > 0, what, "no %s", ss_oddity_info(wanted)->id);
		else if (ss_oddity_info((enum ss_oddity)odd)->severity == SS_SEVERITY_LOST)
			support_check(count == 0, what, "%llu %s", (unsigned long long)count,
				      ss_oddity_info((enum ss_oddity)odd)->id);
	}
}

static void test_documents(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace loaded;
		struct ss_error err = { 0 };
		enum ss_status status = support_try(&loaded, cases[i].json, strlen(cases[i].json),
						    1, 0, &err);

		support_check(status == cases[i].status, cases[i].what, "status %d: %s", status,
			      err.text);
		if (status != SS_OK) {
			support_check(strlen(err.text) > 8, cases[i].what, "'%s'", err.text);
			continue;
		}
		support_check(loaded.trace.event_count == cases[i].events, cases[i].what,
			      "%llu events", (unsigned long long)loaded.trace.event_count);
		support_check(loaded.trace.info.rank == cases[i].rank, cases[i].what, "rank %lld",
			      (long long)loaded.trace.info.rank);
		check_lost(cases[i].what, &loaded.trace, cases[i].odd);
		support_close(&loaded);
	}
}

static void test_info(void **state)
{
	struct support_trace loaded;
	const struct ss_trace_info *info = &loaded.trace.info;
	const struct ss_strings *texts = &loaded.trace.texts;

	(void)state;
	support_load(&loaded, support_sample);
	assert_int_equal(info->rank, 3);
	assert_int_equal(info->world_size, 8);
	assert_int_equal(info->group_count, 1);
	assert_int_equal(info->schema_version, 1);
	assert_int_equal(info->cuda_runtime, 12040);
	assert_int_equal(info->cuda_driver, -1);
	assert_true(info->base_time_ns == 1711929600000000000);
	assert_true(info->record_shapes && !info->with_stack && !info->profile_memory);
	assert_string_equal(ss_strings_text(texts, info->backend), "nccl");
	assert_string_equal(ss_strings_text(texts, info->nccl_version), "2.21.5");
	assert_string_equal(ss_strings_text(texts, info->trace_id), "F00D");
	assert_string_equal(ss_strings_text(texts, info->run[SS_RUN_HOST]), "");
	assert_string_equal(ss_strings_text(texts, info->first_warning), "GPU buffer overflow");
	assert_int_equal(info->device_count, 1);
	assert_string_equal(ss_strings_text(texts, info->devices[0].name), "NVIDIA H100");
	assert_true(info->devices[0].memory_bytes == 85000000000);
	assert_int_equal(info->devices[0].multiprocessors, 132);
	assert_int_equal(info->group_rows, 1);
	assert_string_equal(ss_strings_text(texts, info->groups[0].ranks), "[0, 1]");
	support_close(&loaded);
}

/* A value of 20 MB that is not known is skipped. */
static void test_huge_value(void **state)
{
	struct ss_text json = { 0 };
	struct support_trace loaded;

	(void)state;
	ss_text_add_string(&json, "{\"unknown\":\"");
	ss_text_fill(&json, 'x', 20000000);
	ss_text_add_string(&json, "\",\"traceEvents\":[" EVENT "]}");
	support_load(&loaded, json.data);
	assert_int_equal(loaded.trace.event_count, 1);
	assert_int_equal(support_odd(&loaded.trace, SS_ODD_BAD_METADATA), 0);
	assert_int_equal(loaded.trace.file_bytes, json.length);
	support_close(&loaded);
	ss_text_release(&json);
}

static void test_deep_values(void **state)
{
	struct ss_text json = { 0 };
	struct support_trace loaded;

	(void)state;
	ss_text_add_string(&json, "{\"unknown\":");
	ss_text_fill(&json, '[', 1000000);
	ss_text_fill(&json, ']', 1000000);
	ss_text_add_string(&json, ",\"traceEvents\":[" EVENT "]}");
	support_load(&loaded, json.data);
	assert_int_equal(loaded.trace.event_count, 1);
	support_close(&loaded);
	ss_text_release(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_huge_value),
		cmocka_unit_test(test_deep_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
