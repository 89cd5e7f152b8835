/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View quality: what is odd is said, what is not is not.
 */
#include "support/view_cases.h"

/* How an event that lasts begins. */
#define SLICE "{\"ph\":\"X\",\"pid\":1,\"tid\":1,"

/* A file in which nothing is odd but that no memory and stacks were recorded. */
#define FILE_WITH(events)                                                          \
	"{\"distributedInfo\":{\"rank\":0},\"traceEvents\":[" SLICE                \
	"\"cat\":\"user_annotation\",\"name\":"                                    \
	"\"ProfilerStep#1\",\"ts\":0,\"dur\":100}," SLICE "\"cat\":\"cpu_op\","    \
	"\"name\":\"a\",\"ts\":0,\"dur\":"                                         \
	"100,\"args\":{\"Input Dims\":[[1]],\"Call stack\":\"x\"}},{\"ph\":\"i\"," \
	"\"name\":\"[memory]\",\"ts\":1,"                                          \
	"\"args\":{\"Bytes\":1}}" events "]}"

static const struct view_case cases[] = {
	{ "nothing odd", FILE_WITH(""), "oddity", "" },
	{ "what was not recorded", "[]", "oddity,severity,count",
	  "no-profiler-step,absent,1\nno-rank,absent,1\nno-cpu-ops,absent,1\nno-stacks,absent,1\n"
	  "no-memory,absent,1" },
	{ "lost, with its place", FILE_WITH("," SLICE "\"cat\":\"cpu_op\",\"name\":\"no time\"}"),
	  "oddity,severity,files,count", "no-time,lost,1,1" },
	{ "mended", FILE_WITH("," SLICE "\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":-1}"),
	  "oddity,severity,count", "negative-duration,mended,1" },
	{ "damaged keys and categories",
	  FILE_WITH(",{\"ph\":\"X\",\"pjd\":1,\"tid\":1,\"cat\":\"cpu_oq\","
		    "\"name\":\"a\",\"ts\":1,\"dus\":1}"),
	  "oddity,severity,count",
	  "no-duration,mended,1\nno-track,mended,1\nunknown-category,note,1" },
	{ "the profiler's own time is a share of the span",
	  FILE_WITH("," SLICE "\"cat\":\"overhead\",\"name\":\"b\",\"ts\":10,\"dur\":5}," SLICE
		    "\"cat\":"
		    "\"overhead\",\"name\":\"b\",\"ts\":12,\"dur\":8}"),
	  "oddity,count,time_ns,share_percent",
	  "partial-overlap,1,-,-\nprofiler-overhead,2,10000,10.00" },
	{ "calls but no kernels",
	  FILE_WITH("," SLICE "\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":1,"
		    "\"dur\":1}"),
	  "oddity,severity", "no-device-events,absent" },
	{ "collectives without sizes",
	  FILE_WITH("," SLICE "\"cat\":\"kernel\",\"name\":\"ncclKernel\",\"ts\":1,\"dur\":1}"),
	  "oddity", "orphan-device-event\nno-runtime-calls\nno-collective-args" },
	{ "out of memory",
	  FILE_WITH(",{\"ph\":\"i\",\"name\":\"[OutOfMemory]\",\"ts\":1,\"args\":{\"Bytes\":1}}"),
	  "oddity,severity", "out-of-memory,note" },
};

static void test_quality(void **state)
{
	(void)state;
	view_cases_run("quality", cases, SS_COUNT(cases));
}

/* Every oddity is declared: an id of its own, and a sentence. */
static void test_declared(void **state)
{
	(void)state;
	for (int i = 0; i < SS_ODD_COUNT; i++) {
		const struct ss_oddity_info *info = ss_oddity_info((enum ss_oddity)i);

		assert_non_null(info->id);
		assert_true(strlen(info->meaning) > 10);
		assert_true(strspn(info->id, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
			    strlen(info->id));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(info->id, ss_oddity_info((enum ss_oddity)k)->id);
	}
}

static void test_merge(void **state)
{
	struct ss_quality a, b;

	(void)state;
	ss_quality_init(&a);
	ss_quality_init(&b);
	ss_quality_merge(&a, &b);
	assert_int_equal(a.rows[SS_ODD_NO_TIME].first_byte, -1);
	ss_quality_add_at(&b, SS_ODD_NO_TIME, 70);
	ss_quality_add_at(&b, SS_ODD_NO_TIME, 50);
	ss_quality_add_at(&b, SS_ODD_NO_TIME, 60);
	ss_quality_merge(&a, &b);
	assert_int_equal(a.rows[SS_ODD_NO_TIME].first_byte, 50);
	assert_int_equal(a.rows[SS_ODD_NO_TIME].count, 3);
	ss_quality_init(&b);
	ss_quality_add(&b, SS_ODD_NO_TIME, 2);
	ss_quality_merge(&a, &b);
	assert_int_equal(a.rows[SS_ODD_NO_TIME].first_byte, 50);
	assert_int_equal(a.rows[SS_ODD_NO_TIME].count, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quality),
		cmocka_unit_test(test_declared),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
