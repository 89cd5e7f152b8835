/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: which call launched a device event, which forward op belongs to a
 * backward op, which kernels communicate.
 */
#include "support/support.h"

static const struct {
	const char *what;
	const char *script;
	const char *launch; /* "name@us" of the call that launched `k`; "" for none */
	enum ss_oddity odd; /* met once; SS_ODD_COUNT: none of those below */
} launches[] = {
	{ "the call with the kernel's correlation",
	  "call cudaLaunchKernel 1 0 +1 #5; call other 1 2 +1 #6; kernel k 7 9 +1 #5",
	  "cudaLaunchKernel@0", SS_ODD_COUNT },
	{ "no call has it: an orphan", "call cudaLaunchKernel 1 0 +1 #4; kernel k 7 9 +1 #5", "",
	  SS_ODD_ORPHAN },
	{ "no correlation: an orphan", "call cudaLaunchKernel 1 0 +1; kernel k 7 9 +1", "",
	  SS_ODD_ORPHAN },
	{ "an op is no call", "op cudaLaunchKernel 1 0 +1 #5; kernel k 7 9 +1 #5", "",
	  SS_ODD_ORPHAN },
	{ "two calls: the latest before the kernel",
	  "call a 1 0 +1 #5; call b 1 4 +1 #5; call c 1 20 +1 #5; kernel k 7 9 +1 #5", "b@4",
	  SS_ODD_DUPLICATE_CORRELATION },
	{ "all calls come after: the first of them",
	  "call a 1 30 +1 #5; call b 1 20 +1 #5; kernel k 7 9 +1 #5", "b@20",
	  SS_ODD_DUPLICATE_CORRELATION },
	{ "a kernel before its launch keeps it",
	  "call cudaLaunchKernel 1 10 +1 #5; kernel k 7 9 +1 #5", "cudaLaunchKernel@10",
	  SS_ODD_KERNEL_BEFORE_LAUNCH },
	{ "at the same moment: the one that launches",
	  "call cudaStreamIsCapturing 1 2 +5 #5; call cudaLaunchKernel 2 2 +1 #5; kernel k 7 9 +1 "
	  "#5",
	  "cudaLaunchKernel@2", SS_ODD_DUPLICATE_CORRELATION },
	{ "a copy is launched, too", "call cudaMemcpyAsync 1 2 +1 #5; copy k 7 9 +1 #5",
	  "cudaMemcpyAsync@2", SS_ODD_COUNT },
	{ "a memset is launched, too", "call cudaMemsetAsync 1 2 +1 #5; set k 7 9 +1 #5",
	  "cudaMemsetAsync@2", SS_ODD_COUNT },
};

static void test_launches(void **state)
{
	static const enum ss_oddity odds[] = { SS_ODD_ORPHAN, SS_ODD_DUPLICATE_CORRELATION,
					       SS_ODD_KERNEL_BEFORE_LAUNCH };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(launches); i++) {
		struct support_trace loaded;
		const struct ss_trace *trace = &loaded.trace;
		char found[64] = "";
		uint32_t link;

		support_load_script(&loaded, launches[i].script);
		link = trace->slices.link[support_find(trace, "k")];
		if (link != SS_NO_ROW)
			snprintf(found, sizeof(found), "%s@%lld",
				 ss_strings_text(&trace->names, trace->slices.name[link]),
				 (long long)(trace->slices.start_ns[link] + trace->origin_ns) /
					 1000);
		support_check(strcmp(found, launches[i].launch) == 0, launches[i].what, "'%s'",
			      found);
		for (size_t k = 0; k < SS_COUNT(odds); k++) {
			/* where all calls come after the kernel, it is early as well */
			if (odds[k] == SS_ODD_KERNEL_BEFORE_LAUNCH && launches[i].odd != odds[k])
				continue;
			support_check(support_odd(trace, odds[k]) == (launches[i].odd == odds[k]),
				      launches[i].what, "%s: %llu", ss_oddity_info(odds[k])->id,
				      (unsigned long long)support_odd(trace, odds[k]));
		}
		support_close(&loaded);
	}
}

/* Ids that are far apart, on threads that take turns in no order, and streams likewise. */
static void test_many_launches(void **state)
{
	enum { CALLS = 300 };
	static char script[CALLS * 64];
	struct support_trace loaded;
	const struct ss_trace *trace = &loaded.trace;
	size_t length = 0;

	(void)state;
	for (uint32_t i = 0; i < CALLS; i++)
		length += (size_t)snprintf(script + length, sizeof(script) - length,
					   "%scall c%u %u %u +1 #%u; kernel k%u %u %u +1 #%u",
					   i ? "; " : "", i, 1 + i * i % 7, 2 * i,
					   1 + i * 7919 % CALLS * 1000, i, 10 + i * i % 5,
					   1000 + 2 * (i * 101 % CALLS),
					   1 + i * 7919 % CALLS * 1000);
	support_load_script(&loaded, script);
	for (uint32_t i = 0; i < CALLS; i++) {
		char call[16], kernel[16];
		uint32_t link;

		snprintf(call, sizeof(call), "c%u", i);
		snprintf(kernel, sizeof(kernel), "k%u", i);
		link = trace->slices.link[support_find(trace, kernel)];
		support_check(link == support_find(trace, call), kernel, "%u", link);
	}
	support_close(&loaded);
}

#define OP(name, tid, ts, args)                                                         \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":1,\"args\":{" args "}}"
#define FORWARD(name, ts, n) OP(name, "1", ts, "\"Sequence number\":" n ",\"Fwd thread id\":0")
#define BACKWARD(name, ts, n) OP(name, "2", ts, "\"Sequence number\":" n ",\"Fwd thread id\":1")
#define FLOW(ph, id, tid, ts)                                                  \
	"{\"ph\":\"" ph "\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":" id \
	",\"pid\":1,\"tid\":" tid ",\"ts\":" ts "}"

static const struct {
	const char *what;
	const char *events;
	const char *forward; /* of the op "b"; "" for none */
	uint64_t unmatched;
} pairs[] = {
	{ "by an arrow",
	  OP("a", "1", "5", "") "," OP("b", "2", "50", "") "," FLOW("s", "9", "1",
								    "5") "," FLOW("f", "9", "2",
										  "50"),
	  "a", 0 },
	{ "the innermost op that starts there",
	  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"outer\",\"pid\":1,\"tid\":1,\"ts\":5,"
	  "\"dur\":9}," OP("a", "1", "5", "") "," OP("b", "2", "50", "") "," FLOW(
		  "s", "9", "1", "5") "," FLOW("f", "9", "2", "50"),
	  "a", 0 },
	{ "an arrow that never arrives",
	  OP("a", "1", "5", "") "," OP("b", "2", "50", "") "," FLOW("s", "9", "1", "5"), "", 1 },
	{ "an arrow from nowhere",
	  OP("a", "1", "5", "") "," OP("b", "2", "50", "") "," FLOW("f", "9", "2", "50"), "", 1 },
	{ "an arrow that hits no op",
	  OP("a", "1", "5", "") "," OP("b", "2", "50", "") "," FLOW("s", "9", "1",
								    "5") "," FLOW("f", "9", "2",
										  "51"),
	  "", 1 },
	{ "an arrow on another thread",
	  OP("a", "1", "5", "") "," OP("b", "2", "50", "") "," FLOW("s", "9", "3",
								    "5") "," FLOW("f", "9", "2",
										  "50"),
	  "", 1 },
	{ "two arrows of different ids do not meet",
	  OP("a", "1", "5", "") "," OP("b", "2", "50", "") "," FLOW("s", "9", "1",
								    "5") "," FLOW("f", "8", "2",
										  "50"),
	  "", 2 },
	{ "without arrows: by sequence number", FORWARD("a", "5", "3") "," BACKWARD("b", "50", "3"),
	  "a", 0 },
	{ "the latest forward op with the number",
	  FORWARD("x", "5", "3") "," FORWARD("a", "6", "3") "," BACKWARD("b", "50", "3"), "a", 0 },
	{ "a forward op after it is not it", BACKWARD("b", "5", "3") "," FORWARD("a", "50", "3"),
	  "", 0 },
	{ "another number is not it", FORWARD("a", "5", "4") "," BACKWARD("b", "50", "3"), "", 0 },
	{ "arrows count more than numbers",
	  FORWARD("x", "5", "3") "," OP("a", "1", "7", "") "," BACKWARD("b", "50", "3") "," FLOW(
		  "s", "9", "1", "7") "," FLOW("f", "9", "2", "50"),
	  "a", 0 },
};

static void test_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(pairs); i++) {
		struct support_trace loaded;
		const struct ss_trace *trace = &loaded.trace;
		struct ss_text json = { 0 };
		const char *found = "";
		uint32_t link;

		ss_text_addf(&json, "[%s]", pairs[i].events);
		support_load(&loaded, json.data);
		link = trace->slices.link[support_find(trace, "b")];
		if (link != SS_NO_ROW)
			found = ss_strings_text(&trace->names, trace->slices.name[link]);
		support_check(strcmp(found, pairs[i].forward) == 0, pairs[i].what, "'%s'", found);
		support_check(support_odd(trace, SS_ODD_FLOW_UNMATCHED) == pairs[i].unmatched,
			      pairs[i].what, "%llu unmatched",
			      (unsigned long long)support_odd(trace, SS_ODD_FLOW_UNMATCHED));
		assert_int_equal(trace->fwdbwd_links, *pairs[i].forward != '\0');
		support_close(&loaded);
		ss_text_release(&json);
	}
}

/* Two passes of backward over one graph: the writer makes arrows for the first one. */
static void test_answers_again(void **state)
{
	static const struct {
		const char *second;
		uint32_t links;
	} cases[] = {
		{ BACKWARD("b", "70", "3"), 2 },     /* the same answer */
		{ BACKWARD("inner", "70", "3"), 1 }, /* a part of an answer */
		{ BACKWARD("b", "70", "4"), 1 },     /* of something else */
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace loaded;
		const struct ss_trace *trace = &loaded.trace;
		struct ss_text json = { 0 };
		uint32_t links = 0;

		ss_text_addf(&json, "[%s,%s,%s,%s,%s]", FORWARD("a", "5", "3"),
			     BACKWARD("b", "50", "3"), cases[i].second, FLOW("s", "9", "1", "5"),
			     FLOW("f", "9", "2", "50"));
		support_load(&loaded, json.data);
		for (uint32_t row = 0; row < trace->slices.count; row++)
			links += trace->slices.link[row] == support_find(trace, "a");
		assert_int_equal(links, cases[i].links);
		support_close(&loaded);
		ss_text_release(&json);
	}
}

static const struct {
	const char *what;
	const char *script;
	bool communicates; /* the kernel of correlation 5, named last */
} comms[] = {
	{ "by its name", "kernel ncclDevKernel_AllReduce 7 9 +1 #5", true },
	{ "an ordinary kernel", "call cudaLaunchKernel 1 2 +1 #5; kernel gemm 7 9 +1 #5", false },
	{ "launched inside of a collective's range",
	  "note nccl:all_reduce 1 0 +10; call cudaLaunchKernel 1 2 +1 #5; kernel k 7 9 +1 #5",
	  true },
	{ "launched after the collective's range",
	  "note nccl:all_reduce 1 0 +1; call cudaLaunchKernel 1 2 +1 #5; kernel k 7 9 +1 #5",
	  false },
	{ "launched inside of record_param_comms",
	  "op record_param_comms 1 0 +10; call cudaLaunchKernel 1 2 +1 #5; kernel k 7 9 +1 #5",
	  true },
	{ "a helper that prepares buffers inside of one",
	  "op record_param_comms 1 0 +10; call cudaLaunchKernel 1 2 +1 #5; "
	  "kernel at::native::fill 7 9 +1 #5",
	  false },
	{ "in the range of another thread",
	  "note nccl:all_reduce 2 0 +10; call cudaLaunchKernel 1 2 +1 #5; kernel k 7 9 +1 #5",
	  false },
	{ "a copy inside of a range stays a copy",
	  "note nccl:all_reduce 1 0 +10; call cudaMemcpyAsync 1 2 +1 #5; copy k 7 9 +1 #5", false },
};

static void test_comms(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(comms); i++) {
		struct support_trace loaded;

		support_load_script(&loaded, comms[i].script);
		support_check(loaded.trace.comm_kernel_count == comms[i].communicates,
			      comms[i].what, "%llu",
			      (unsigned long long)loaded.trace.comm_kernel_count);
		assert_int_equal(loaded.trace.device_event_count, 1);
		support_close(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launches), cmocka_unit_test(test_many_launches),
		cmocka_unit_test(test_pairs),    cmocka_unit_test(test_answers_again),
		cmocka_unit_test(test_comms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
