/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View tracks: threads and streams, and how long something ran on them.
 */
#include "support/view_cases.h"

#define AT(cat, pid, tid, ts, dur)                                                      \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"a\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur "}"
#define NAME(what, pid, tid, name)                                         \
	"{\"ph\":\"M\",\"name\":\"" what "\",\"pid\":" pid ",\"tid\":" tid \
	",\"args\":{\"name\":\"" name "\"}}"

static const struct view_case cases[] = {
	{ "nothing", "[]", "track,name", "" },
	{ "overlapping time counts once",
	  "[" AT("cpu_op", "1", "2", "0", "10") "," AT("cpu_op", "1", "2", "5",
						       "10") "," AT("cpu_op", "1", "2", "30",
								    "10") "]",
	  "track,pid,tid,events,busy_ns,share_percent,depth,first_ns,last_ns",
	  "thread,1,2,3,25000,62.50,2,0,40000" },
	{ "a thread has its name",
	  "[" AT("cpu_op", "1", "2", "0", "10") "," NAME("thread_name", "1", "2", "main") "]",
	  "track,name,tid", "thread,main,2" },
	{ "the last name counts",
	  "[" NAME("thread_name", "1", "2", "old") "," AT("cpu_op", "1", "2", "0",
							  "1") "," NAME("thread_name", "1", "2",
									"new") "]",
	  "name", "new" },
	{ "a thread is not called after a stream",
	  "[" AT("cpu_op", "0", "7", "0", "10") "," NAME("thread_name", "0", "7", "stream 7") "]",
	  "track,name", "thread,-" },
	{ "a stream is",
	  "[" AT("kernel", "0", "7", "0", "10") "," NAME("thread_name", "0", "7", "stream 7 ") "]",
	  "track,name", "stream,stream 7 " },
	{ "lanes of overlapping kernels",
	  "[" AT("kernel", "0", "7", "0", "10") "," AT("kernel", "0", "7", "5", "10") "]",
	  "track,depth,busy_ns", "stream,2,15000" },
	{ "ids that are texts", "[" AT("trace", "\"Spans\"", "\"PyTorch Profiler\"", "0", "10") "]",
	  "track,pid,tid", "profiler,Spans,PyTorch Profiler" },
	{ "a track of moments only", "[{\"ph\":\"i\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":5}]",
	  "track,events,busy_ns,share_percent", "thread,1,0,-" },
	{ "arrows alone make no track",
	  "[{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"pid\":1,\"tid\":1,\"ts\":5,\"id\":1}]", "track",
	  "" },
};

static void test_tracks(void **state)
{
	(void)state;
	view_cases_run("tracks", cases, SS_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_tracks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
