/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events copied with other processes, times and ids.
 */
#include "load/files/rewrite.h"

#include "read/json.h"
#include "support/support.h"

/* The file is number 2, of rank 3; its clock is 1.5 us behind. Its processes: 300001, ... */
#define NUMBER 2
#define ID_2 "2199023255552" /* 2 << 40 */

struct rewrite_case {
	const char *what, *file;
	const char *events; /* each on a line */
	uint64_t broken;
};

static const struct rewrite_case cases[] = {
	{ "everything but pid, ts and id stays",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\\\"b\\u00e9\",\"pid\":0,"
	  "\"tid\":\"stream 7\",\"ts\":10.250,\"dur\":2.5e0,\"bp\":\"e\",\"args\":{\"pid\":0,"
	  "\"ts\":1,\"id\":[1,{\"x\":null}],\"b\":[],\"c\":{}}}]}",
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\\\"b\\u00e9\",\"pid\":300001,"
	  "\"tid\":\"stream 7\",\"ts\":11.750,\"dur\":2.5e0,\"bp\":\"e\",\"args\":{\"pid\":0,"
	  "\"ts\":1,\"id\":[1,{\"x\":null}],\"b\":[],\"c\":{}}}",
	  0 },
	{ "equal processes stay equal, as numbers or texts; others stay others",
	  "[{\"pid\":7},{\"pid\":\"7\"},{\"pid\":\"Spans\"},{\"pid\":-1},"
	  "{\"pid\":7},{\"pid\":\"\"}]",
	  "{\"pid\":300001}\n{\"pid\":300001}\n{\"pid\":300002}\n{\"pid\":300003}\n"
	  "{\"pid\":300001}\n{\"pid\":300000}",
	  0 },
	{ "both ends of an arrow have the same id, texts too",
	  "[{\"ph\":\"s\",\"id\":5},{\"ph\":\"f\",\"id\":\"5\"},{\"ph\":\"b\",\"id\":\"0x1\"},"
	  "{\"ph\":\"e\",\"id\":\"0x1\"},{\"id\":-5},{\"id\":0}]",
	  "{\"ph\":\"s\",\"id\":2199023255557}\n{\"ph\":\"f\",\"id\":2199023255557}\n"
	  "{\"ph\":\"b\",\"id\":\"rank 3 0x1\"}\n{\"ph\":\"e\",\"id\":\"rank 3 0x1\"}\n"
	  "{\"id\":\"rank 3 -5\"}\n{\"id\":" ID_2 "}",
	  0 },
	{ "an id without room for the number of the file does not become another one",
	  "[{\"id\":1099511627775},{\"id\":1099511627776},{\"id\":18446744073709551615}]",
	  "{\"id\":3298534883327}\n{\"id\":\"rank 3 1099511627776\"}\n"
	  "{\"id\":\"rank 3 18446744073709551615\"}",
	  0 },
	{ "ids that are no scalars stay", "[{\"id\":{\"local\":1}},{\"id\":[2]}]",
	  "{\"id\":{\"local\":1}}\n{\"id\":[2]}", 0 },
	{ "names of processes say whose they are",
	  "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"py\\n\"}},"
	  "{\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}},"
	  "{\"name\":\"process_labels\",\"args\":{\"labels\":\"GPU\"}}]",
	  "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":300001,\"args\":{\"name\":\"rank 3: "
	  "py\\n\"}}\n"
	  "{\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}}\n"
	  "{\"name\":\"process_labels\",\"args\":{\"labels\":\"GPU\"}}",
	  0 },
	{ "arguments may stand before the name, and hold more",
	  "[{\"args\":{\"a\":1,\"name\":\"py\",\"b\":[2]},\"ph\":\"M\",\"name\":\"process_name\"},"
	  "{\"args\":{\"name\":\"main\"},\"name\":\"thread_name\"},{\"args\":{\"name\":\"x\"}}]",
	  "{\"args\":{\"a\":1,\"name\":\"rank 3: py\",\"b\":[2]},\"ph\":\"M\",\"name\":\"process_"
	  "name\"}\n"
	  "{\"args\":{\"name\":\"main\"},\"name\":\"thread_name\"}\n{\"args\":{\"name\":\"x\"}}",
	  0 },
	{ "names of processes that are no texts stay",
	  "[{\"name\":\"process_name\",\"args\":{\"name\":5}},"
	  "{\"name\":\"process_name\",\"args\":[]},"
	  "{\"name\":\"process_name\",\"args\":{}},{\"name\":\"process_name\"}]",
	  "{\"name\":\"process_name\",\"args\":{\"name\":5}}\n{\"name\":\"process_name\",\"args\":"
	  "[]}\n{\"name\":\"process_name\",\"args\":{}}\n{\"name\":\"process_name\"}",
	  0 },
	{ "times have three decimals, below zero too",
	  "[{\"ts\":-1.5},{\"ts\":-1.501},{\"ts\":-2.5},{\"ts\":-2.501},{\"ts\":0},{\"ts\":\"3\"},"
	  "{\"ts\":1727743122342.667},{\"ts\":1e3},{\"ts\":0.0006},{\"ts\":-1002.25}]",
	  "{\"ts\":0.000}\n{\"ts\":-0.001}\n{\"ts\":-1.000}\n{\"ts\":-1.001}\n{\"ts\":1.500}\n"
	  "{\"ts\":4.500}\n{\"ts\":1727743122344.167}\n{\"ts\":1001.500}\n{\"ts\":1.501}\n"
	  "{\"ts\":-1000.750}",
	  0 },
	{ "times that are none stay",
	  "[{\"ts\":null},{\"ts\":\"soon\"},{\"ts\":[1]},{\"ts\":1e99},{\"ts\":\"\"}]",
	  "{\"ts\":null}\n{\"ts\":\"soon\"}\n{\"ts\":[1]}\n{\"ts\":1e99}\n{\"ts\":\"\"}", 0 },
	{ "metadata before and after is left out",
	  "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":3,"
	  "\"x\":[{\"ph\":\"X\"}]},\"s\":\"]}\","
	  "\"traceEvents\":[{\"a\":1}],\"traceName\":\"x\",\"more\":[{\"b\":2}]}",
	  "{\"a\":1}", 0 },
	{ "white space between is not kept",
	  " {\n \"a\" : 1 ,\n \"traceEvents\" : [ \n { \"a b\" : [ 1 , \" 2 \" ] , \"ts\" : 0 } "
	  "\n] \n}",
	  "{\"a b\":[1,\" 2 \"],\"ts\":1.500}", 0 },
	{ "Windows marks its files", "\xef\xbb\xbf{\"traceEvents\":[{\"a\":1}]}", "{\"a\":1}", 0 },
	{ "metadata that is broken", "{\"a\":1 2,\"b\" \"traceEvents\":[{\"a\":1}]}", "{\"a\":1}",
	  0 },
	{ "metadata with a quote too much",
	  "{\"note\":\"say \"hi\" twice\",\"traceEvents\":[{\"a\":1}]}", "{\"a\":1}", 0 },
	{ "traceEvents that are none, then some", "{\"traceEvents\":5,\"traceEvents\":[{\"a\":1}]}",
	  "{\"a\":1}", 0 },
	{ "commas too many and too few", "[,{\"a\":1},,{\"b\":2} {\"c\":3},]",
	  "{\"a\":1}\n{\"b\":2}\n{\"c\":3}", 0 },
	{ "items that are no events", "[1,\"x\",null,[{\"ph\":\"X\"}],{},{\"a\":1}]",
	  "{}\n{\"a\":1}", 4 },
	{ "words that are no JSON become texts",
	  "[{\"dur\":N/A,\"args\":{\"a\":NaN,\"b\":-Infinity,\"c\":[inf,01,1.,.5,+1,1e]}}]",
	  "{\"dur\":\"N/A\",\"args\":{\"a\":\"NaN\",\"b\":\"-Infinity\",\"c\":[\"inf\",\"01\","
	  "\"1.\",\".5\",\"+1\",\"1e\"]}}",
	  0 },
	{ "words that are JSON stay", "[{\"a\":[true,false,null,0,-0,-0.5E+10,10e-2,1.0]}]",
	  "{\"a\":[true,false,null,0,-0,-0.5E+10,10e-2,1.0]}", 0 },
	{ "control characters and wild backslashes are escaped",
	  "[{\"name\":\"a\tb\x01\",\"c\":\"C:\\dir\\users\",\"k\te\":[\"\\u12\"]}]",
	  "{\"name\":\"a\\u0009b\\u0001\",\"c\":\"C:\\\\dir\\\\users\",\"k"
	  "\\u0009e\":[\"\\\\u12\"]}",
	  0 },
	{ "bytes that are no UTF-8 become U+FFFD, others stay",
	  "[{\"name\":\"\xff\xc3\xa9\xe2\x82\","
	  "\"b\":\"\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\x80\"}]",
	  "{\"name\":\"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\",\"b\":\"\xe2\x82\xac\xf0\x9f"
	  "\x98\x80\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}",
	  0 },
	{ "quotes inside of a name are part of it",
	  "[{\"ph\":\"X\",\"name\":\"say \"hi\" to\",\"ts\":1},{\"ph\":\"X\",\"ts\":2}]",
	  "{\"ph\":\"X\",\"name\":\"say \\\"hi\\\" to\",\"ts\":2.500}\n{\"ph\":\"X\",\"ts\":3.500}",
	  0 },
	{ "in an array they end where the next item begins",
	  "[{\"ph\":\"X\",\"name\":\"say \"hi\" to\",\"args\":{\"d\":[\"a\",\"b\"]}}]",
	  "{\"ph\":\"X\",\"name\":\"say \\\"hi\\\" to\",\"args\":{\"d\":[\"a\",\"b\"]}}", 0 },
	{ "a path that ends in a backslash",
	  "[{\"ph\":\"X\",\"name\":\"C:\\\",\"ts\":1},{\"ph\":\"X\",\"ts\":2}]",
	  "{\"ph\":\"X\",\"name\":\"C:\\\\\",\"ts\":2.500}\n{\"ph\":\"X\",\"ts\":3.500}", 0 },
	{ "an event that cannot be read does not take others with it",
	  "[{\"ph\":\"X\",\"ts\":1},{\"ph\" \"X\",\"ts\":2},{\"ph\":\"X\",\"ts\":3}]",
	  "{\"ph\":\"X\",\"ts\":2.500}\n{\"ph\":\"X\",\"ts\":4.500}", 1 },
	{ "brackets that do not fit",
	  "[{\"ph\":\"X\",\"args\":{\"a\":[}},\"ts\":1},{\"ph\":\"X\",\"ts\":2},"
	  "{\"ph\":\"X\",\"ts\":3}]",
	  "{\"ph\":\"X\",\"ts\":3.500}\n{\"ph\":\"X\",\"ts\":4.500}", 1 },
	{ "an event without its end",
	  "[{\"ph\":\"X\",\"args\":{\"a\":1},\"ts\":1},{\"ph\":\"X\",\"args\":{\"a\":1,\"ts\":2},"
	  "{\"ph\":\"X\",\"ts\":3},{\"ph\":\"X\",\"ts\":4}]}",
	  "{\"ph\":\"X\",\"args\":{\"a\":1},\"ts\":2.500}\n{\"ph\":\"X\",\"ts\":4.500}\n"
	  "{\"ph\":\"X\",\"ts\":5.500}",
	  1 },
	{ "a file that was cut in an event", "{\"traceEvents\":[{\"a\":1},{\"b\":\"x", "{\"a\":1}",
	  1 },
	{ "a file that was cut behind an event", "{\"traceEvents\":[{\"a\":1}", "{\"a\":1}", 0 },
	{ "a file that was cut behind a comma", "[{\"a\":1}, ", "{\"a\":1}", 0 },
	{ "a file that was cut in its metadata", "{\"a\":1,\"traceEv", "", 0 },
	{ "a file that was cut before its events", "{\"a\":1,\"traceEvents\":", "", 0 },
	{ "no events", "{\"traceEvents\":[]}", "", 0 },
	{ "no traceEvents", "{\"a\":[{\"ph\":\"X\"}]}", "", 0 },
	{ "an empty file", "", "", 0 },
	{ "white space", " \n\t", "", 0 },
	{ "no JSON", "hello {\"traceEvents\":[{\"a\":1}]}", "", 0 },
};

struct result {
	struct ss_text text;
	struct ss_rewrite rewrite;
	bool refuses; /* to be written to */
};

static int64_t later(void *context, int64_t file_ns)
{
	(void)context;
	return file_ns + 1500;
}

static enum ss_status take(void *context, const char *text, size_t length, struct ss_error *err)
{
	struct result *result = context;

	if (result->refuses)
		return ss_fail(err, SS_ERR_IO, "the disk is full");
	ss_text_add(&result->text, text, length);
	return SS_OK;
}

/* Rewrites the bytes, `most_bytes` at once; 0: as many as wanted. */
static enum ss_status rewrite(struct result *result, const char *file, size_t length,
			      size_t most_bytes, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_source *source = NULL;
	bool has_events = false;
	enum ss_status status;

	ss_text_release(&result->text);
	ss_text_add_string(&result->text, "");
	result->rewrite = (struct ss_rewrite){
		.memory = memory,
		.number = NUMBER,
		.title = "rank 3",
		.align = later,
		.write = take,
		.write_context = result,
		.has_events = &has_events,
	};
	status = ss_source_open_memory(file, length, memory, &source, err);
	if (status != SS_OK)
		return status;
	if (most_bytes)
		source = support_slow_source(source, most_bytes);
	status = ss_rewrite_events(&result->rewrite, source, err);
	ss_source_close(source);
	assert_int_equal(has_events, result->rewrite.count > 0);
	return status;
}

/* The events of a result as a case has them: without the commas before line breaks. */
static void check_events(const struct result *result, const char *what, const char *wanted)
{
	struct ss_text lines = { 0 };
	const char *at = result->text.data, *end = at + result->text.length;

	ss_text_add_string(&lines, "");
	for (bool first = true; at < end; first = false) {
		const char *stop;

		support_check(memcmp(at, first ? "\n" : ",\n", first ? 1 : 2) == 0, what,
			      "no line break: %.40s", at);
		at += first ? 1 : 2;
		for (stop = at; stop < end && !(stop[0] == ',' && stop[1] == '\n');)
			stop++;
		ss_text_add_string(&lines, first ? "" : "\n");
		ss_text_add(&lines, at, (size_t)(stop - at));
		at = stop;
	}
	support_check(strcmp(lines.data, wanted) == 0, what, "found:\n%s\nwanted:\n%s", lines.data,
		      wanted);
	ss_text_release(&lines);
}

static void test_cases(void **state)
{
	static const size_t pieces[] = { 0, 1, 7 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases) * SS_COUNT(pieces); i++) {
		const struct rewrite_case *wanted = &cases[i / SS_COUNT(pieces)];
		struct result result = { 0 };
		struct ss_error err = { 0 };
		struct ss_memory memory;
		enum ss_status status;

		ss_memory_init(&memory, 0);
		status = rewrite(&result, wanted->file, strlen(wanted->file),
				 pieces[i % SS_COUNT(pieces)], &memory, &err);
		support_check(status == SS_OK, wanted->what, "%s", err.text);
		check_events(&result, wanted->what, wanted->events);
		support_check(result.rewrite.broken == wanted->broken, wanted->what,
			      "%d are broken", (int)result.rewrite.broken);
		ss_text_release(&result.text);
		assert_int_equal(memory.used_bytes, 0);
	}
}

/* Every beginning of a file gives a beginning of its events. */
static void test_cut(void **state)
{
	struct result whole = { 0 }, cut = { 0 };
	struct ss_error err = { 0 };
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_int_equal(rewrite(&whole, support_sample, strlen(support_sample), 0, &memory, &err),
			 SS_OK);
	assert_true(whole.rewrite.count > 20);
	/* the number among its events */
	assert_int_equal(whole.rewrite.broken, 1);
	for (size_t length = 0; length < strlen(support_sample); length += 1 + length % 5) {
		assert_int_equal(rewrite(&cut, support_sample, length, 0, &memory, &err), SS_OK);
		assert_true(cut.text.length <= whole.text.length);
		assert_memory_equal(cut.text.data, whole.text.data, cut.text.length);
		assert_true(cut.rewrite.broken <= 1);
	}
	ss_text_release(&whole.text);
	ss_text_release(&cut.text);
}

/* Events and metadata across blocks, and an event that is longer than one. */
static void test_long(void **state)
{
	enum { LONG = 5 << 20 };
	struct ss_text file = { 0 }, wanted = { 0 };
	struct result result = { 0 };
	struct ss_error err = { 0 };
	struct ss_memory memory;

	(void)state;
	ss_text_add_string(&file, "{\"note\":\"");
	ss_text_fill(&file, 'm', LONG);
	ss_text_add_string(&file, "\",\"traceEvents\":[");
	for (int i = 0; i < 40000; i++) {
		ss_text_addf(&file, "%s{\"ph\":\"X\",\"name\":\"%d\",\"ts\":%d}", i ? "," : "", i,
			     i);
		ss_text_addf(&wanted, "%s{\"ph\":\"X\",\"name\":\"%d\",\"ts\":%d.500}",
			     i ? ",\n" : "\n", i, i + 1);
		if (i % 20000 != 10000)
			continue;
		ss_text_add_string(&file, ",{\"ph\":\"X\",\"args\":{\"x\":\"");
		ss_text_fill(&file, 'e', LONG);
		ss_text_add_string(&file, "\"}}");
		ss_text_add_string(&wanted, ",\n{\"ph\":\"X\",\"args\":{\"x\":\"");
		ss_text_fill(&wanted, 'e', LONG);
		ss_text_add_string(&wanted, "\"}}");
	}
	ss_text_add_string(&file, "]}");
	ss_memory_init(&memory, 0);
	assert_int_equal(rewrite(&result, file.data, file.length, 0, &memory, &err), SS_OK);
	assert_int_equal(result.rewrite.count, 40002);
	assert_int_equal(result.text.length, wanted.length);
	assert_memory_equal(result.text.data, wanted.data, wanted.length);
	result.refuses = true;
	assert_int_equal(rewrite(&result, file.data, file.length, 0, &memory, &err), SS_ERR_IO);
	assert_int_equal(memory.used_bytes, 0);
	ss_text_release(&file);
	ss_text_release(&wanted);
	ss_text_release(&result.text);
}

/* Events of which the end is missing swallow no others, and are not read to the end each. */
static void test_swollen(void **state)
{
	static const struct {
		const char *bad, *last;
		int bad_count, good_count;
	} files[] = {
		{ "{\"ph\":\"X\",\"args\":{\"a\":1,\"ts\":2}", "]", 1, 100000 },
		{ "{\"ph\":\"X\",\"args\":{\"a\":1,\"ts\":2}", "", 1, 100000 },
		{ "{\"ph\":\"X\",\"args\":{\"a\":1,\"ts\":2}", "", 1, 10 },
		{ "{\"ph\":\"X\",\"a\":[}", "]", 300000, 100 },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(files); i++) {
		struct ss_text file = { 0 };
		struct result result = { 0 };
		struct ss_error err = { 0 };
		struct ss_memory memory;

		for (int k = 0; k < files[i].bad_count; k++)
			ss_text_addf(&file, "%s%s", k ? ",\n" : "[", files[i].bad);
		for (int k = 0; k < files[i].good_count; k++)
			ss_text_addf(&file, ",\n{\"ph\":\"X\",\"name\":\"%d\",\"ts\":%d}", k, k);
		ss_text_add_string(&file, files[i].last);
		ss_memory_init(&memory, 0);
		assert_int_equal(rewrite(&result, file.data, file.length, 0, &memory, &err), SS_OK);
		assert_int_equal(result.rewrite.count, files[i].good_count);
		assert_int_equal(result.rewrite.broken, files[i].bad_count);
		ss_text_release(&file);
		ss_text_release(&result.text);
	}
}

/* What is deeper than anybody writes is left out; it takes no stack. */
static void test_deep(void **state)
{
	static const uint32_t depths[] = { 255, 256, 100000 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(depths); i++) {
		struct ss_text file = { 0 };
		struct result result = { 0 };
		struct ss_error err = { 0 };
		struct ss_memory memory;

		ss_text_add_string(&file, "[{\"args\":{\"a\":");
		ss_text_fill(&file, '[', depths[i]);
		ss_text_fill(&file, ']', depths[i]);
		ss_text_add_string(&file, "}},{\"b\":1}]");
		ss_memory_init(&memory, 0);
		assert_int_equal(rewrite(&result, file.data, file.length, 0, &memory, &err), SS_OK);
		assert_int_equal(result.rewrite.count, depths[i] < 256 ? 2 : 1);
		assert_int_equal(result.rewrite.broken, depths[i] < 256 ? 0 : 1);
		ss_text_release(&file);
		ss_text_release(&result.text);
	}
}

/* Two files in one result: a comma between them, and nothing of them meets. */
static void test_two_files(void **state)
{
	static const char file[] = "[{\"pid\":1,\"id\":2}]";
	struct result result = { 0 };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	bool has_events = false;

	(void)state;
	ss_memory_init(&memory, 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct ss_rewrite one = { .memory = &memory,
					  .number = i,
					  .title = "x",
					  .align = later,
					  .write = take,
					  .write_context = &result,
					  .has_events = &has_events };
		struct ss_source *source = NULL;

		assert_int_equal(ss_source_open_memory(file, strlen(file), &memory, &source, &err),
				 SS_OK);
		assert_int_equal(ss_rewrite_events(&one, source, &err), SS_OK);
		ss_source_close(source);
	}
	assert_string_equal(result.text.data, "\n{\"pid\":100001,\"id\":2},\n"
					      "{\"pid\":200001,\"id\":1099511627778}");
	ss_text_release(&result.text);
}

static void test_memory(void **state)
{
	struct result result = { 0 };
	struct ss_text file = { 0 };
	bool refused = true;

	(void)state;
	/* more processes than their table has room for at first */
	for (int i = 0; i < 400; i++)
		ss_text_addf(&file, "%s{\"ph\":\"X\",\"pid\":%d}", i ? "," : "[", i);
	for (size_t call = 1; refused; call++) {
		struct ss_error err = { 0 };
		struct ss_memory memory;
		enum ss_status status;

		ss_memory_init(&memory, 0);
		memory.fail_call = call;
		status = rewrite(&result, file.data, file.length, 0, &memory, &err);
		refused = memory.calls >= call;
		support_check(refused == (status != SS_OK), "refused memory",
			      "request %zu: status %d", call, (int)status);
		assert_int_equal(memory.used_bytes, 0);
	}
	assert_int_equal(result.rewrite.count, 400);
	ss_text_release(&file);
	ss_text_release(&result.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_long),   cmocka_unit_test(test_swollen),
		cmocka_unit_test(test_deep),   cmocka_unit_test(test_two_files),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
