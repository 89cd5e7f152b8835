/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading: the same file gives the same trace, however it is cut into blocks and
 * however many threads read it; a cut file loads up to its last whole event; no
 * failed allocation is worse than a sentence.
 */
#include "support/support.h"

#include "base/hash/hash.h"

/* Loads and dumps; the test fails when it cannot. */
static void dump_of(const char *json, size_t length, uint32_t threads, size_t block_bytes,
		    struct ss_text *out)
{
	struct support_trace loaded;
	struct ss_error err = { 0 };
	enum ss_status status = support_try(&loaded, json, length, threads, block_bytes, &err);

	support_check(status == SS_OK, "loads", "%u threads, blocks of %zu: %s", threads,
		      block_bytes, err.text);
	support_dump(&loaded.trace, out);
	support_close(&loaded);
}

static void first_difference(const char *a, const char *b, char *out, size_t room)
{
	const char *start = a;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	/* from the beginning of the line */
	for (; a > start && a[-1] != '\n'; b--)
		a--;
	snprintf(out, room, "...%.200s | ...%.200s", a, b);
}

static void check_same(const char *what, const char *json, size_t length, const char *expected,
		       uint32_t threads, size_t block_bytes)
{
	struct ss_text dump = { 0 };
	char difference[512];

	dump_of(json, length, threads, block_bytes, &dump);
	first_difference(expected, dump.data, difference, sizeof(difference));
	support_check(strcmp(expected, dump.data) == 0, what, "%u threads, blocks of %zu: %s",
		      threads, block_bytes, difference);
	ss_text_release(&dump);
}

static const struct {
	const char *what;
	const char *json; /* NULL: the sample */
} files[] = {
	{ "the sample, with something of everything", NULL },
	{ "a bare array", "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2},\n"
			  "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":2}]" },
	{ "no events at all", "{\"traceEvents\":[]}" },
	{ "text that is no event between two events",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}, {\"ph\":\"X\","
	  "\"na{\"ph\":"
	  "\"X\",\"name\":\"b\",\"ts\":2,\"dur\":2},{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,"
	  "\"dur\":2}]}" },
	{ "a name that looks like the border of two events",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"},{\\\"ph\\\":\\\"X\\\"},{\\\"name\\\":\","
	  "\"ts\":1,"
	  "\"dur\":2},{\"ph\":\"X\",\"name\":\"}, {\\\"ph\\\":\",\"ts\":4,\"dur\":2}]}" },
	{ "a nested list of objects that look like events",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,"
	  "\"args\":{\"list\":[{\"ph\":"
	  "\"X\"}, {\"name\":\"inner\",\"ts\":1,\"ph\":\"X\"}, {\"ph\":\"X\"}]}}, {\"ph\":\"X\","
	  "\"name\":"
	  "\"b\",\"ts\":2,\"dur\":2}]}" },
	{ "a Windows path whose last backslash hides the quote",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"C:\\dir\\\",\"ts\":1,\"dur\":2}, "
	  "{\"ph\":\"X\","
	  "\"name\":\"b\",\"ts\":2,\"dur\":2}]}" },
	{ "a file that goes on after its end",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}]} {\"ph\":\"X\"}" },
	{ "broken metadata before the events",
	  "{\"a\": 1, oops, \"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}], "
	  "\"b\":}" },
	{ "a file cut in an event",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}, {\"ph\":\"X\","
	  "\"name\":\"b" },
	{ "a mark of the byte order, and white space around everything",
	  "\xef\xbb\xbf \r\n{ \"traceEvents\" : [ { \"ph\" : \"X\" , \"name\" : \"a\" , \"ts\" : 1 "
	  "} "
	  "\r\n , { \"ph\" : \"X\" , \"name\" : \"b\" , \"ts\" : 1 } ] } \r\n" },
};

static void test_blocks_and_threads(void **state)
{
	static const uint32_t threads[] = { 1, 2, 8 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(files); i++) {
		const char *json = files[i].json ? files[i].json : support_sample;
		size_t length = strlen(json);
		size_t step = files[i].json ? 1 : 3;
		struct ss_text expected = { 0 };

		dump_of(json, length, 1, 0, &expected);
		for (size_t t = 0; t < SS_COUNT(threads); t++) {
			for (size_t block = 1; block <= 64; block += step * threads[t])
				check_same(files[i].what, json, length, expected.data, threads[t],
					   block);
			for (size_t block = 100; block <= 1024; block += 77)
				check_same(files[i].what, json, length, expected.data, threads[t],
					   block);
			check_same(files[i].what, json, length, expected.data, threads[t], 1024);
			check_same(files[i].what, json, length, expected.data, threads[t], 0);
		}
		ss_text_release(&expected);
	}
}

/* A longer file: guesses are mostly right here, and readers meet names in another order. */
static void test_long_file(void **state)
{
	struct ss_text json = { 0 }, expected = { 0 };
	uint64_t random = 7;

	(void)state;
	ss_text_add_string(&json, "{\"traceEvents\": [\n");
	for (int i = 0; i < 3000; i++)
		ss_text_addf(
			&json,
			"%s  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"k%u %s\", \"pid\": "
			"0, "
			"\"tid\": %u,\n    \"ts\": %d.%03u, \"dur\": 2,\n    \"args\": {\n      "
			"\"correlation\": %d, \"stream\": %u\n    }\n  }",
			i ? ",\n" : "", i % 3 ? "kernel" : "cuda_runtime",
			support_random(&random, 50), i % 97 ? "plain" : "a \"b\" c",
			support_random(&random, 4), 1000 + i, support_random(&random, 1000), i / 3,
			support_random(&random, 4));
	ss_text_add_string(&json, "\n]}\n");
	dump_of(json.data, json.length, 1, 0, &expected);
	for (uint32_t threads = 1; threads <= 8; threads *= 2)
		for (size_t block = 1000; block < 70000; block = block * 3 + 1)
			check_same("3,000 events", json.data, json.length, expected.data, threads,
				   block);
	ss_text_release(&json);
	ss_text_release(&expected);
}

/* How many entries of traceEvents end at or before the byte, by their closing brace. */
static uint64_t whole_events(const char *json, size_t length)
{
	const char *at = strstr(json, "\"traceEvents\"");
	uint64_t count = 0;
	int depth = 0;

	for (at = strchr(at, '[') + 1; at < json + length; at++) {
		depth += *at == '{';
		if (*at == '}' && --depth == 0)
			count++;
		if (*at == ']' && depth == 0)
			break;
	}
	return count;
}

static void test_cut_everywhere(void **state)
{
	/* no braces in texts here, so that counting them is right */
	static const char json[] =
		"{\"schemaVersion\": 1, \"traceEvents\": [\n"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,"
		"\"dur\":5},\n"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b \\\" c\",\"pid\":1,\"tid\":1,"
		"\"ts\":2,\"dur\":"
		"1,\"args\":{\"Input Dims\":[[1, 2], []],\"nested\":{\"a\":{}}}},\n"
		"{\"ph\":\"C\",\"name\":\"c\",\"ts\":3,\"args\":{\"v\":1}},\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"d\",\"pid\":0,\"tid\":7,\"ts\":3,"
		"\"dur\":1}\n"
		"], \"traceName\": \"x\", \"deviceProperties\": [{\"id\": 0}]}";
	static const uint32_t threads[] = { 1, 2 };
	size_t first = (size_t)(strchr(strstr(json, "traceEvents"), '[') - json) + 1;

	(void)state;
	for (size_t t = 0; t < SS_COUNT(threads); t++) {
		for (size_t cut = 0; cut < sizeof(json); cut++) {
			struct support_trace loaded;
			struct ss_error err = { 0 };
			enum ss_status status = support_try(&loaded, json, cut, threads[t],
							    t ? 50 : 0, &err);

			if (cut < first) {
				support_check(status == SS_ERR_FORMAT && err.text[0],
					      "cut before the events", "byte %zu: status %d", cut,
					      status);
				continue;
			}
			support_check(status == SS_OK, "cut", "byte %zu: %s", cut, err.text);
			support_check(loaded.trace.event_count == whole_events(json, cut), "cut",
				      "byte %zu: %llu events, not %llu", cut,
				      (unsigned long long)loaded.trace.event_count,
				      (unsigned long long)whole_events(json, cut));
			support_check(support_odd(&loaded.trace, SS_ODD_TRUNCATED) ==
					      (cut < sizeof(json) - 1),
				      "a cut file is called truncated", "byte %zu", cut);
			support_close(&loaded);
		}
	}
}

/* The sample holds braces in texts and broken events; whatever the cut, it loads. */
static void test_cut_sample(void **state)
{
	size_t first = (size_t)(strstr(support_sample, "\"traceEvents\": [") - support_sample) + 16;

	(void)state;
	/* the last byte is white space: without it the file is still whole */
	for (size_t cut = first; cut + 1 < strlen(support_sample); cut++) {
		struct support_trace loaded;
		struct ss_error err = { 0 };
		enum ss_status status = support_try(&loaded, support_sample, cut, 1, 0, &err);

		support_check(status == SS_OK, "the sample, cut", "byte %zu: %s", cut, err.text);
		support_check(loaded.trace.info.rank == 3, "what stands before is known",
			      "byte %zu: rank %lld", cut, (long long)loaded.trace.info.rank);
		support_check(support_odd(&loaded.trace, SS_ODD_TRUNCATED) == 1,
			      "a cut file is called truncated", "byte %zu", cut);
		support_close(&loaded);
	}
}

/* Fails the Nth allocation; returns false when there were fewer. */
static bool torture(const char *json, const char *expected, uint32_t threads, size_t number)
{
	struct ss_load_options options = { .threads = threads, .block_bytes = 700 };
	struct ss_source *source = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;
	enum ss_status status;
	bool failed;

	ss_memory_init(&memory, 0);
	memory.fail_call = number;
	status = ss_source_open_memory(json, strlen(json), &memory, &source, &err);
	if (status == SS_OK)
		status = ss_trace_load(source, &options, &memory, &trace, &err);
	ss_source_close(source);
	failed = atomic_load(&memory.calls) >= number;
	/* with several threads a failed guess is no loss: the block is read again */
	support_check(status == (failed ? SS_ERR_LIMIT : SS_OK) || (threads > 1 && !status),
		      "a failed allocation is a limit",
		      "allocation %zu of %u threads: status %d '%s'", number, threads, status,
		      err.text);
	support_check(status == SS_OK || strlen(err.text) > 10,
		      "a failed allocation has a sentence", "allocation %zu: '%s'", number,
		      err.text);
	if (status == SS_OK) {
		struct ss_text dump = { 0 };

		support_dump(&trace, &dump);
		support_check(strcmp(dump.data, expected) == 0, "what loads is all there",
			      "allocation %zu of %u threads", number, threads);
		ss_text_release(&dump);
		ss_trace_release(&trace);
	}
	support_check(memory.used_bytes == 0, "a failed allocation leaks nothing",
		      "allocation %zu: %zu bytes", number, (size_t)memory.used_bytes);
	return failed;
}

static void test_torture(void **state)
{
	struct ss_text expected = { 0 };
	size_t number = 1;

	(void)state;
	dump_of(support_sample, strlen(support_sample), 1, 0, &expected);
	while (torture(support_sample, expected.data, 1, number))
		number++;
	assert_true(number > 50);
	for (number = 1; torture(support_sample, expected.data, 3, number);)
		number += 3;
	assert_true(number > 50);
	ss_text_release(&expected);
}

static void test_memory_limit(void **state)
{
	struct ss_load_options options = { .threads = 2 };
	struct ss_error err = { 0 };
	struct ss_source *source;
	struct ss_memory memory;
	struct ss_trace trace;

	(void)state;
	for (size_t limit = 1000; limit < 400000; limit += 13000) {
		ss_memory_init(&memory, limit);
		if (ss_source_open_memory(support_sample, strlen(support_sample), &memory, &source,
					  &err) != SS_OK)
			continue;
		assert_int_equal(ss_trace_load(source, &options, &memory, &trace, &err),
				 SS_ERR_LIMIT);
		ss_source_close(source);
		assert_true(memory.peak_bytes <= limit);
		assert_int_equal(memory.used_bytes, 0);
	}
}

static bool stop_at_once(void *context, uint64_t done_bytes, uint64_t total_bytes,
			 uint64_t event_count)
{
	(void)done_bytes;
	(void)total_bytes;
	(void)event_count;
	++*(int *)context;
	return false;
}

static void test_stop(void **state)
{
	int calls = 0;
	struct ss_load_options options = { .threads = 4,
					   .block_bytes = 100,
					   .progress = stop_at_once,
					   .progress_context = &calls };
	struct ss_error err = { 0 };
	struct ss_source *source;
	struct ss_memory memory;
	struct ss_trace trace;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_source_open_memory(support_sample, strlen(support_sample), &memory,
					       &source, &err),
			 SS_OK);
	assert_int_equal(ss_trace_load(source, &options, &memory, &trace, &err), SS_ERR_STOPPED);
	ss_source_close(source);
	assert_int_equal(calls, 1);
	assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_and_threads),
		cmocka_unit_test(test_long_file),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_cut_sample),
		cmocka_unit_test(test_torture),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
