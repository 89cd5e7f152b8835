/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs: jobs of traces that are not on disk, in memory or pulled from a caller.
 */
#include "support/support.h"
#include "stepscope.h"

#define TRACE(rank) "{\"distributedInfo\":{\"rank\":" rank "},\"traceEvents\":[]}"

/* A text that is given out in pieces of at most `most` bytes. */
struct pulled {
	const char *text;
	size_t at, most;
};

static size_t pull(void *context, char *buffer, size_t room)
{
	struct pulled *pulled = context;
	size_t left = strlen(pulled->text) - pulled->at;
	size_t given = left < room ? left : room;

	given = given < pulled->most ? given : pulled->most;
	memcpy(buffer, pulled->text + pulled->at, given);
	pulled->at += given;
	return given;
}

static size_t pull_too_much(void *context, char *buffer, size_t room)
{
	(void)context;
	memset(buffer, '[', room);
	return room + 1;
}

static struct ss_input in_memory(const char *name, const char *text)
{
	return (struct ss_input){
		.size = sizeof(struct ss_input), .name = name, .data = text, .length = strlen(text)
	};
}

static struct ss_session *open_inputs(const struct ss_input *inputs, size_t count, uint32_t threads)
{
	struct ss_open_options options = {
		.size = sizeof(options), .inputs = inputs, .input_count = count, .threads = threads
	};
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };

	if (ss_session_open(&options, &session, &err) != SS_OK)
		fail_msg("%s", err.text);
	return session;
}

static void check_files(struct ss_session *session, const char *format, const char *expected)
{
	struct ss_request request = { .what = "files", .format = format };
	struct ss_text out = { 0 };

	assert_int_equal(ss_session_run(session, &request, &out, NULL), SS_OK);
	support_check(strstr(out.data, expected) != NULL, expected, "%s", out.data);
	ss_text_release(&out);
}

/* By rank whatever the order they come in, the rank by name where the trace has none. */
static void test_ranks(void **state)
{
	struct pulled slow = { "{\"traceEvents\":[]}", 0, 1 };
	struct ss_input inputs[] = {
		in_memory("rank10.json", TRACE("10")),
		{ .size = sizeof(struct ss_input),
		  .name = "worker3.json",
		  .read = pull,
		  .context = &slow },
		in_memory("broken.json", "{\"a\":1}"),
		in_memory("x", TRACE("2")),
		in_memory("nothing.json", ""),
		{ .size = sizeof(struct ss_input), .name = "neither data nor a function" },
	};
	static const char *const order[] = {
		"\r\n2,x,",      "\r\n3,worker3.json,", "\r\n10,rank10.json,",
		",broken.json,", ",neither data",       ",nothing.json,"
	};

	(void)state;
	for (uint32_t threads = 1; threads <= 4; threads += 3) {
		struct ss_request request = { .what = "files", .format = "csv" };
		struct ss_session *session;
		struct ss_text out = { 0 };
		const char *at;

		slow.at = 0;
		session = open_inputs(inputs, SS_COUNT(inputs), threads);
		assert_int_equal(ss_session_failed_count(session), 3);
		assert_int_equal(ss_session_run(session, &request, &out, NULL), SS_OK);
		at = out.data;
		for (size_t i = 0; i < SS_COUNT(order); i++) {
			at = strstr(at, order[i]);
			support_check(at != NULL, order[i], "%s", out.data);
		}
		ss_text_release(&out);
		ss_session_close(session);
	}
}

/* Files of one name and rank are runs, in the order in which they were given. */
static void test_same_name(void **state)
{
	const struct ss_input inputs[] = {
		in_memory("rank1.json", "{\"traceEvents\":[{\"ph\":\"M\"},{\"ph\":\"M\"}]}"),
		in_memory("rank1.json", "{\"traceEvents\":[{\"ph\":\"M\"}]}"),
		in_memory("rank1.json", "{\"traceEvents\":[]}"),
	};
	static const char *const rows[] = { "\r\n1,rank1.json,,2,", "\r\n1,rank1.json,,1,",
					    "\r\n1,rank1.json,,0," };
	static const char *const runs[] = { "1", "2", "3" };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(runs); i++) {
		struct ss_open_options options = { .size = sizeof(options),
						   .inputs = inputs,
						   .input_count = SS_COUNT(inputs),
						   .threads = 2,
						   .run = runs[i] };
		struct ss_session *session = NULL;

		assert_int_equal(ss_session_open(&options, &session, NULL), SS_OK);
		check_files(session, "csv", rows[i]);
		ss_session_close(session);
	}
}

/* What comes in pieces is what comes at once. */
static void test_pulled(void **state)
{
	const struct ss_input whole = in_memory("rank0.json", support_sample);
	struct ss_session *session = open_inputs(&whole, 1, 1);
	struct ss_request request = { .what = "overview", .format = "json" };
	struct ss_text expected = { 0 };

	(void)state;
	assert_int_equal(ss_session_run(session, &request, &expected, NULL), SS_OK);
	ss_session_close(session);
	for (size_t most = 1; most < 100000; most = most * 7 + 1) {
		struct pulled slow = { support_sample, 0, most };
		const struct ss_input pulled = {
			.size = sizeof(pulled), .name = "rank0.json", .read = pull, .context = &slow
		};
		struct ss_text out = { 0 };

		session = open_inputs(&pulled, 1, 1);
		assert_int_equal(ss_session_run(session, &request, &out, NULL), SS_OK);
		assert_string_equal(out.data, expected.data);
		ss_text_release(&out);
		ss_session_close(session);
	}
	ss_text_release(&expected);
}

static bool check_progress(void *context, const struct ss_progress *progress)
{
	uint64_t *total = context;

	*total = progress->total_bytes;
	assert_string_equal(progress->path, "rank0.json");
	return progress->total_bytes == 12345;
}

static void test_progress(void **state)
{
	struct pulled slow = { support_sample, 0, 100 };
	struct ss_input input = { .size = sizeof(input),
				  .name = "rank0.json",
				  .read = pull,
				  .context = &slow,
				  .total_bytes = 12345 };
	uint64_t total = 0;
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = &input,
					   .input_count = 1,
					   .progress = check_progress,
					   .progress_context = &total };
	struct ss_session *session = NULL;

	(void)state;
	assert_int_equal(ss_session_open(&options, &session, NULL), SS_OK);
	ss_session_close(session);
	assert_int_equal(total, 12345);
	input = in_memory("rank0.json", support_sample);
	assert_int_equal(ss_session_open(&options, &session, NULL), SS_ERR_STOPPED);
	assert_int_equal(total, strlen(support_sample));
}

static bool take_nothing(void *context, const char *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	return length > 0;
}

static void test_refused(void **state)
{
	struct ss_input input = in_memory(NULL, support_sample);
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = &input,
					   .input_count = 1 };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_merged merged = { .size = sizeof(merged) };

	(void)state;
	assert_int_equal(ss_session_open(&options, &session, &err), SS_ERR_USAGE);
	assert_non_null(strstr(err.text, "no name"));
	input = (struct ss_input){ .size = sizeof(struct ss_input),
				   .name = "x.json",
				   .read = pull_too_much };
	assert_int_equal(ss_session_open(&options, &session, &err), SS_ERR_FORMAT);
	assert_non_null(strstr(err.text, "more bytes"));
	input = in_memory("x.json", TRACE("0"));
	assert_int_equal(ss_session_open(&options, &session, &err), SS_OK);
	assert_int_equal(ss_session_merge(session, false, &(struct ss_sink){ take_nothing, NULL },
					  &merged, &err),
			 SS_ERR_USAGE);
	assert_non_null(strstr(err.text, "cannot merge rank 0: it is not on disk"));
	ss_session_close(session);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),   cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_pulled),  cmocka_unit_test(test_progress),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
