/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves and strips of small traces, pixel by pixel.
 */
#include <math.h>

#include "support/asking.h"
#include "support/make/memory_events.h"
#include "timeline/index.h"
#include "timeline/rows/curves.h"

#define STEPS "note ProfilerStep#1 1 0 +100; note ProfilerStep#2 1 100 +100;"

/* Kernels at 20..50 and 120..150 us, launched 8 us before they begin. */
#define WORK                                                                 \
	STEPS "call cudaLaunchKernel 1 12 +2 #5; kernel gemm 0/7 20 +30 #5;" \
	      "call cudaLaunchKernel 1 112 +2 #6; kernel gemm 0/7 120 +30 #6"

#define COUNTER(ts, args) \
	"{\"ph\":\"C\",\"name\":\"load\",\"pid\":0,\"ts\":" ts ",\"args\":{" args "}}"

static const struct {
	const char *what, *trace, *query;
	const char *wanted; /* "low..high" or one number where they are the same; '-': NAN */
} curves[] = {
	{ "percent of each pixel in which a kernel ran", WORK,
	  "curve=utilization&from=0&to=200000&pixels=10", "0 100 50 0 0 0 100 50 0 0" },
	{ "communication counts, and where both run once",
	  WORK "; kernel ncclDevKernel_AllReduce 0/8 40 +30",
	  "curve=utilization&from=0&to=100000&pixels=10", "0 0 100 100 100 100 100 0 0 0" },
	{ "copies do not", STEPS "kernel k 0/7 0 +10; copy Memcpy_HtoD 0/7 50 +50",
	  "curve=utilization&from=0&to=100000&pixels=2", "20 0" },
	{ "outside of the file nothing is known; pixels at its ends count as far as it goes", WORK,
	  "curve=utilization&from=-40000&to=40000&pixels=4", "- - 0 100" },
	{ "of a pixel in which the file begins the part behind that counts", WORK,
	  "curve=utilization&from=-20000&to=100000&pixels=2", "50 16.6667" },
	{ "pixels of less than a nanosecond", WORK,
	  "curve=utilization&from=19999&to=20001&pixels=4", "0 0 100 100" },
	{ "another device", WORK "; kernel k 3/7 0 +50",
	  "curve=utilization&device=3&from=0&to=100000&pixels=2", "100 0" },
	{ "in the queue from the call to the start", WORK, "curve=queue&from=0&to=40000&pixels=5",
	  "0 0..1 0..1 0 0" },
	{ "the queue of a device has its own works alone",
	  WORK "; call cudaLaunchKernel 1 1 +1 #9; kernel k 3/7 30 +5 #9",
	  "curve=queue&device=0&from=0&to=40000&pixels=5", "0 0..1 0..1 0 0" },
	{ "one that begins when another leaves: there is one all the time",
	  STEPS "call cudaLaunchKernel 1 10 +1 #1; kernel k 0/7 20 +5 #1;"
		"call cudaLaunchKernel 1 20 +1 #2; kernel k 0/7 30 +5 #2",
	  "curve=queue&from=12000&to=28000&pixels=4", "1 1 1 1" },
	{ "a peak that is shorter than a pixel is there",
	  EVENTS(RANGE("cpu_op", "a", "0", "100"), CUDA("10", "1", "100", "500"),
		 CUDA("20", "2", "300", "800"), CUDA("21", "2", "-300", "500"),
		 CUDA("70", "1", "-100", "400")),
	  "curve=memory&from=0&to=100000&pixels=4", "400..800 500 400..500 400" },
	{ "a peak at one moment, where a pixel begins, is there",
	  EVENTS(RANGE("cpu_op", "a", "0", "100"), CUDA("50", "1", "100", "500"),
		 CUDA("50", "2", "300", "800"), CUDA("50", "2", "-300", "500")),
	  "curve=memory&from=0&to=100000&pixels=4", "400 400 500..800 500" },
	{ "reserved is not known before the first event",
	  EVENTS(RANGE("cpu_op", "a", "0", "100"), CUDA("60", "1", "100", "500")),
	  "curve=reserved&from=0&to=100000&pixels=4", "- - 1000 1000" },
	{ "the CPU's memory where there is no other",
	  EVENTS(RANGE("cpu_op", "a", "0", "100"), CPU("60", "1", "100", "500")),
	  "curve=memory&from=0&to=100000&pixels=2", "400 400..500" },
	{ "samples of a counter that are out of order",
	  EVENTS(RANGE("cpu_op", "a", "0", "100"), COUNTER("60", "\"value\":7"),
		 COUNTER("20", "\"value\":-3.5")),
	  "curve=counter&name=load&from=0&to=100000&pixels=5", "- -3.5 -3.5 7 7" },
	{ "one of several series",
	  EVENTS(RANGE("cpu_op", "a", "0", "100"), COUNTER("0", "\"up\":1,\"down\":2"),
		 COUNTER("50", "\"up\":3,\"down\":4")),
	  "curve=counter&name=load:+down&from=0&to=100000&pixels=2", "2 4" },
	{ "numbers that no float holds",
	  EVENTS(RANGE("cpu_op", "a", "0", "100"), COUNTER("0", "\"value\":1e300")),
	  "curve=counter&from=0&to=100000&pixels=1", "3.40282e+38" },
};

static void add_curve(const struct ss_text *body, struct ss_text *out)
{
	uint32_t head[2];
	float low, high;

	memcpy(head, body->data, sizeof(head));
	assert_int_equal(head[0], 0x31435353);
	assert_int_equal(body->length, 24 + 8 * (size_t)head[1]);
	for (uint32_t i = 0; i < head[1]; i++) {
		memcpy(&low, body->data + 24 + 4 * i, 4);
		memcpy(&high, body->data + 24 + 4 * (head[1] + i), 4);
		ss_text_add_string(out, i ? " " : "");
		if (isnan(low) || isnan(high))
			ss_text_add_string(out, isnan(low) && isnan(high) ? "-" : "half");
		else if (low < high || low > high)
			ss_text_addf(out, "%g..%g", (double)low, (double)high);
		else
			ss_text_addf(out, "%g", (double)low);
	}
}

static void test_curves(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(curves); i++) {
		struct support_asking asking;
		struct ss_text text = { 0 };
		char request[256];

		support_asking_open(&asking, curves[i].trace);
		snprintf(request, sizeof(request), "curve?file=0&%s", curves[i].query);
		/* the second one finds what the first has made */
		support_asked(&asking, request);
		add_curve(support_asked(&asking, request), &text);
		support_check(strcmp(text.data, curves[i].wanted) == 0, curves[i].what, "%s",
			      text.data);
		ss_text_release(&text);
		support_asking_close(&asking);
	}
}

static const struct {
	const char *what, *trace, *list;
} lists[] = {
	{ "nothing recorded", "[]", "" },
	{ "a thread alone", "op a 1 0 +10", "" },
	{ "a device; launches are not in the file", "kernel k 0/7 0 +10", "utilization:0" },
	{ "a device with launches", WORK, "utilization:0 queue:0" },
	{ "memory of a device hides the CPU's",
	  EVENTS(CUDA("10", "1", "100", "500"), CPU("10", "1", "100", "500")),
	  "memory:0 reserved:0" },
	{ "memory of the CPU", EVENTS(CPU("10", "1", "100", "500")), "memory:-" },
	{ "counters", EVENTS(COUNTER("0", "\"value\":1"), COUNTER("0", "\"x\":1")),
	  "counter:- counter:-" },
};

static void test_lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(lists); i++) {
		struct support_asking asking;
		struct ss_text text = { 0 };
		struct ss_index *index;

		support_asking_open(&asking, lists[i].trace);
		support_asked(&asking, "tracks?file=0");
		assert_int_equal(ss_index_of(&asking.runs.sessions[0]->timeline, 0, &index, NULL),
				 SS_OK);
		for (uint32_t k = 0; k < index->curves.count; k++) {
			const struct ss_curve *curve = &index->curves.items[k];

			ss_text_addf(&text, "%s%s:", k ? " " : "", ss_curve_kind_name(curve->kind));
			if (curve->has_device)
				ss_text_add_int(&text, curve->device);
			else
				ss_text_add_string(&text, "-");
		}
		support_check(strcmp(text.data ? text.data : "", lists[i].list) == 0, lists[i].what,
			      "%s", text.data ? text.data : "");
		ss_text_release(&text);
		support_asking_close(&asking);
	}
}

static const struct {
	const char *what, *trace, *query;
	const char *wanted; /* compute / communication / waiting */
} strips[] = {
	{ "of each pixel the part that is busy", WORK, "from=0&to=200000&pixels=10",
	  "0 255 127 0 0 0 255 127 0 0 / 0 0 0 0 0 0 0 0 0 0 / 0 0 0 0 0 0 0 0 0 0" },
	{ "communication where nothing is computed",
	  WORK "; kernel ncclDevKernel_AllReduce 0/8 40 +30", "from=0&to=100000&pixels=10",
	  "0 0 255 255 255 0 0 0 0 0 / 0 0 0 0 0 255 255 0 0 0 / 0 0 0 0 0 0 0 0 0 0" },
	{ "the mean of two devices", WORK "; kernel k 3/7 0 +40", "from=0&to=100000&pixels=5",
	  "127 255 63 0 0 / 0 0 0 0 0 / 0 0 0 0 0" },
	{ "what is there is never 0", STEPS "kernel k 0/7 0 +0.001", "from=0&to=100000&pixels=1",
	  "1 / 0 / 0" },
	{ "the host's operators where there is no device; collectives count first",
	  "op aten::mm 1 0 +50; op c10d::allreduce_ 1 50 +50; note gloo:all_reduce 1 60 +40",
	  "from=0&to=100000&pixels=5", "255 255 255 0 0 / 0 0 0 255 255 / 0 0 0 0 0" },
	{ "before and behind the file", WORK, "from=-200000&to=400000&pixels=3",
	  "0 76 0 / 0 0 0 / 0 0 0" },
	{ "an empty file", "[]", "from=0&to=10&pixels=3", "0 0 0 / 0 0 0 / 0 0 0" },
};

static void test_strips(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(strips); i++) {
		struct support_asking asking;
		const struct ss_text *body;
		struct ss_text text = { 0 };
		char request[256];
		uint32_t head[4];

		support_asking_open(&asking, strips[i].trace);
		snprintf(request, sizeof(request), "strips?files=0&%s", strips[i].query);
		body = support_asked(&asking, request);
		memcpy(head, body->data, sizeof(head));
		assert_int_equal(head[0], 0x53535353);
		assert_int_equal(head[1], 1);
		assert_int_equal(head[3], 3);
		assert_int_equal(body->length, 16 + 3 * (size_t)head[2]);
		for (uint32_t k = 0; k < 3 * head[2]; k++)
			ss_text_addf(&text, "%s%s%u", k && k % head[2] == 0 ? " /" : "",
				     k ? " " : "", (unsigned char)body->data[16 + k]);
		support_check(strcmp(text.data, strips[i].wanted) == 0, strips[i].what, "%s",
			      text.data);
		ss_text_release(&text);
		support_asking_close(&asking);
	}
}

/* Extents of any stretch, against values that are looked at one by one. */
static void test_series(void **state)
{
	uint64_t random = 77;

	(void)state;
	for (uint32_t count = 0; count < 900; count += 1 + count / 3) {
		struct ss_series series;
		struct ss_memory memory;

		ss_memory_init(&memory, 0);
		ss_series_init(&series, 500, &memory);
		for (uint32_t i = 0; i < count; i++)
			assert_true(ss_series_add(&series, i * 10, support_random(&random, 1000)));
		assert_true(ss_series_finish(&series));
		for (int k = 0; k < 200; k++) {
			uint32_t from = support_random(&random, count + 1);
			uint32_t to = from + support_random(&random, count - from + 1);
			float low = from ? series.value[from - 1] : 500, high = low;
			struct ss_extent extent = ss_series_extent(&series, from, to);

			for (uint32_t i = from; i < to; i++) {
				low = fminf(low, series.value[i]);
				high = fmaxf(high, series.value[i]);
			}
			assert_true(extent.low >= low && extent.low <= low);
			assert_true(extent.high >= high && extent.high <= high);
			/* any guess is as good as another */
			assert_int_equal(ss_series_find(&series, from * 10, to), from);
			assert_int_equal(ss_series_find(&series, (int64_t)to * 10 - 9, from), to);
		}
		ss_series_release(&series);
		assert_int_equal(memory.used_bytes, 0);
	}
}

/* Lengths before any moment, against a sum of all. */
static void test_busy(void **state)
{
	struct support_asking asking;
	struct ss_text script = { 0 };
	const struct ss_busy *busy;
	uint32_t near = 0;

	(void)state;
	/* 3 of 7 us, 100 times */
	for (int i = 0; i < 100; i++)
		ss_text_addf(&script, "kernel k 0/7 %d +3;", 7 * i);
	support_asking_open(&asking, script.data);
	support_asked(&asking, "strips?files=0&from=0&to=10&pixels=1");
	assert_int_equal(ss_index_busy(&asking.runs.sessions[0]->timeline, 0, &busy, NULL), SS_OK);
	for (int64_t us = -5; us < 720; us++) {
		int64_t whole = us < 0 ? 0 : us / 7, rest = us < 0 ? 0 : us % 7;
		int64_t wanted_us = us >= 700 ? 300 : 3 * whole + (rest > 3 ? 3 : rest);
		uint32_t wrong = (uint32_t)(us * 13 & 127);

		assert_int_equal(ss_busy_before(&busy->devices[0].compute, us * 1000, &near),
				 wanted_us * 1000);
		assert_int_equal(ss_busy_before(&busy->devices[0].compute, us * 1000, &wrong),
				 wanted_us * 1000);
	}
	ss_text_release(&script);
	support_asking_close(&asking);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curves), cmocka_unit_test(test_lists),
		cmocka_unit_test(test_strips), cmocka_unit_test(test_series),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
