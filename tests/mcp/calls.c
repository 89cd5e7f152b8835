/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - calls that take longer than clients wait, calls that nobody waits for any more, and
 * ids that are no JSON.
 */
#include "mcp/mcp.h"

#include <stdio.h>
#include <time.h>

#include "support/support.h"

struct host_of_test {
	struct mcp *mcp;
	uint32_t opened;
	bool is_slow, cancels, was_wanted;
	char sent[8192]; /* the last line */
	uint32_t count;
};

static void take(struct host_of_test *host, const char *line)
{
	mcp_take(host->mcp, line, strlen(line));
}

static enum ss_status open_slowly(void *context, const char *path, const char *other,
				  const struct ss_runs **out, struct ss_error *err)
{
	struct host_of_test *host = context;

	(void)other;
	*out = NULL;
	host->opened++;
	if (host->is_slow) {
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		mcp_tick(host->mcp);
	}
	if (host->cancels)
		take(host, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			   "\"params\":{\"requestId\":1}}");
	host->was_wanted = mcp_is_wanted(host->mcp);
	return ss_fail(err, SS_ERR_IO, "result of '%s'", path);
}

static void keep_line(void *context, const char *line, size_t length)
{
	struct host_of_test *host = context;

	assert_true(length < sizeof(host->sent));
	memcpy(host->sent, line, length);
	host->sent[length] = '\0';
	host->count++;
}

static void begin(struct host_of_test *host)
{
	struct mcp_host own = {
		.open = open_slowly, .write = keep_line, .patience_ns = 1000000, .context = host
	};
	struct ss_error err = { 0 };

	assert_int_equal(mcp_open(&own, &host->mcp, &err), SS_OK);
}

static void call(struct host_of_test *host, int id, const char *path)
{
	char line[300];

	snprintf(line, sizeof(line),
		 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"verdict\",\"arguments\":{\"path\":\"%s\",\"offset\":5000}}}",
		 id, path);
	take(host, line);
	assert_true(mcp_work(host->mcp));
}

/* The work goes on after a late answer, and the same call gets its result, once. */
static void keeps_results(void **state)
{
	struct host_of_test host = { .is_slow = true };

	(void)state;
	begin(&host);
	call(&host, 1, "one");
	assert_int_equal(host.count, 1);
	assert_non_null(strstr(host.sent, "state: loading"));
	assert_null(strstr(host.sent, "no more"));
	host.is_slow = false;
	call(&host, 2, "other");
	assert_non_null(strstr(host.sent, "\"id\":2"));
	assert_non_null(strstr(host.sent, "result of 'other'"));
	assert_int_equal(host.opened, 2);
	call(&host, 3, "one");
	assert_non_null(strstr(host.sent, "\"id\":3"));
	assert_non_null(strstr(host.sent, "result of 'one'"));
	assert_int_equal(host.opened, 2);
	call(&host, 4, "one");
	assert_int_equal(host.opened, 3);
	mcp_close(host.mcp);
}

static void stops_for_nobody(void **state)
{
	struct host_of_test host = { 0 };

	(void)state;
	begin(&host);
	call(&host, 1, "one");
	assert_true(host.was_wanted);
	assert_int_equal(host.count, 1);
	host.cancels = true;
	call(&host, 1, "one");
	assert_false(host.was_wanted);
	assert_int_equal(host.count, 1);
	mcp_end(host.mcp);
	assert_false(mcp_is_wanted(host.mcp));
	assert_false(mcp_work(host.mcp));
	mcp_close(host.mcp);
}

static void repeats_only_json(void **state)
{
	static const struct {
		const char *id;
		bool is_id;
	} cases[] = { { "0", true },       { "-7", true },   { "\"a\"", true }, { "12345", true },
		      { "007", false },    { "+5", false },  { "-", false },    { "1.5", false },
		      { "1e3", false },    { "-01", false }, { "true", false }, { "0x1", false },
		      { "\"\\\"\"", true } };
	struct host_of_test host = { 0 };
	char line[200], id[40];

	(void)state;
	begin(&host);
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
			 cases[i].id);
		snprintf(id, sizeof(id), "\"id\":%s,", cases[i].is_id ? cases[i].id : "null");
		take(&host, line);
		assert_int_equal(host.count, i + 1);
		assert_non_null(strstr(host.sent, id));
		assert_int_equal(strstr(host.sent, "error") == NULL, cases[i].is_id);
	}
	mcp_close(host.mcp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_results),
		cmocka_unit_test(stops_for_nobody),
		cmocka_unit_test(repeats_only_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
