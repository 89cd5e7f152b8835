/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job keeps of one rank.
 */
#include "support/support.h"

#include <time.h>

#include "analyze/facts.h"
#include "base/hash/hash.h"
#include "ranks/digest.h"
#include "support/make/events.h"

#define COMM(name, id, stream, ts, dur, args)  \
	EVENT("kernel", name, stream, ts, dur, \
	      "\"correlation\":" #id ",\"device\":0,\"stream\":" #stream args)
#define GROUP(name, ranks, collective)                                                      \
	",\"Collective name\":\"" collective "\",\"In msg nelems\":4,\"Out msg nelems\":4," \
	"\"dtype\":\"Float\",\"Group size\":2,\"Process Group Name\":\"" name               \
	"\",\"Process Group Ranks\":\"" ranks "\""
/* rank 3 sends in a group of four; `to` is an index in the group, or a rank */
#define SEND(id, stream, ts, ranks, to)                                                      \
	COMM(PAIR, id, stream, ts, 5,                                                        \
	     ",\"Collective name\":\"send\",\"Group size\":4,\"Process Group Name\":\"pp\"," \
	     "\"Process Group Ranks\":\"" ranks "\"" to)
#define STEP(number, ts, dur) NOTE("ProfilerStep#" #number, 1, ts, dur)
#define RING "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
#define PAIR "ncclDevKernel_SendRecv(x)"

struct made {
	struct support_trace loaded;
	struct ss_digest digest;
};

static void make(struct made *out, const char *json)
{
	struct ss_subject subject = { .path = "rank3.json", .rank = 3 };
	struct ss_error err = { 0 };
	struct ss_facts facts;
	enum ss_status status;

	support_load(&out->loaded, json);
	subject.trace = &out->loaded.trace;
	ss_facts_init(&facts, subject.trace, &out->loaded.memory);
	subject.facts = &facts;
	status = ss_digest_make(&out->digest, &subject, &out->loaded.memory, &err);
	ss_facts_release(&facts);
	support_check(status == SS_OK, json, "%s", err.text);
}

static void drop(struct made *made)
{
	ss_digest_release(&made->digest);
	support_close(&made->loaded);
}

/* The list of ranks whose hash a group has. */
static const char *ranks_of(const struct ss_rank_group *group)
{
	static const char *const lists[] = { "",           "[0]",    "[1]",
					     "[2]",        "[0, 1]", "[1, 3]",
					     "[2, 3]",     "[3, 5]", "[1, 3, 5, 7]",
					     "[1, 3, ...]" };

	for (size_t i = 0; i < SS_COUNT(lists); i++)
		if (ss_hash_bytes(lists[i], strlen(lists[i])) == group->ranks)
			return lists[i];
	return "[another list]";
}

/* Times are microseconds from the first event: "all-reduce 10-20 g:name step 0 after 5". */
static void describe(const struct ss_digest *digest, struct ss_text *out)
{
	ss_text_add_string(out, "");
	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		const struct ss_arrival *arrival = &digest->arrivals[i];
		const struct ss_rank_group *group = &digest->groups[arrival->group];

		ss_text_addf(out, "%s%s %lld-%lld", i ? "; " : "",
			     ss_collective_kind_name(arrival->kind),
			     (long long)(arrival->start_ns - digest->start_ns) / 1000,
			     (long long)(arrival->end_ns - digest->start_ns) / 1000);
		if (group->name)
			ss_text_addf(out, " of %s%s", ss_strings_text(&digest->texts, group->name),
				     ranks_of(group));
		/* without marks everything is one step */
		if (arrival->step != UINT32_MAX && digest->step_count > 1)
			ss_text_addf(out, " in %u", arrival->step);
		if (arrival->release_ns != INT64_MIN)
			ss_text_addf(out, " after %lld",
				     (long long)(arrival->release_ns - digest->start_ns) / 1000);
	}
}

static const struct {
	const char *what, *trace, *arrivals;
} cases[] = {
	{ "an empty file", "[]", "" },
	{ "no communication", "[" OP("aten::mm", 1, 0, 9) KERNEL("gemm", 1, 5, 9) END "]", "" },
	{ "a kernel that says all of itself",
	  "[" KERNEL("gemm", 1, 0, 5) COMM(RING, 2, 9, 10, 5, GROUP("tp", "[0, 1]", "allreduce"))
		  END "]",
	  "all-reduce 10-15 of tp[0, 1]" },
	{ "what says nothing is of the group of its stream",
	  "[" COMM(RING, 2, 9, 10, 5, GROUP("tp", "[0, 1]", "allreduce"))
		  COMM(RING, 3, 9, 20, 5, "") COMM(RING, 4, 8, 30, 5, "") END "]",
	  "all-reduce 0-5 of tp[0, 1]; all-reduce 10-15 of tp[0, 1] after 5; all-reduce 20-25" },
	{ "groups of one name with other ranks are others",
	  "[" COMM(RING, 2, 9, 10, 5, GROUP("tp", "[0, 1]", "allreduce"))
		  COMM(RING, 3, 8, 20, 5, GROUP("tp", "[2, 3]", "allreduce")) END "]",
	  "all-reduce 0-5 of tp[0, 1]; all-reduce 10-15 of tp[2, 3]" },
	{ "each stream has its own order",
	  "[" COMM(RING, 2, 9, 0, 50, "") COMM(RING, 3, 8, 10, 5, "") COMM(RING, 4, 8, 20, 5, "")
		  COMM(RING, 5, 9, 60, 5, "") END "]",
	  "all-reduce 0-50; all-reduce 10-15; all-reduce 20-25 after 15; "
	  "all-reduce 60-65 after 50" },
	{ "a SendRecv is what its arguments say",
	  "[" COMM(PAIR, 2, 9, 0, 5, GROUP("ep", "[0, 1]", "all_to_allv"))
		  COMM(PAIR, 3, 8, 10, 5, GROUP("pp", "[0, 1]", "send")) COMM(PAIR, 4, 7, 20, 5, "")
			  END "]",
	  "all-to-all 0-5 of ep[0, 1]; send 10-15 of pp[0, 1]; send-recv 20-25" },
	{ "a SendRecv without launch is what the others of its stream are",
	  "[" COMM(PAIR, 2, 9, 0, 5, GROUP("ep", "[0, 1]", "all_to_allv"))
		  COMM(PAIR, 3, 9, 10, 5, "") END "]",
	  "all-to-all 0-5 of ep[0, 1]; all-to-all 10-15 of ep[0, 1] after 5" },
	{ "but not where the stream sends, too",
	  "[" COMM(PAIR, 2, 9, 0, 5, GROUP("ep", "[0, 1]", "all_to_allv"))
		  COMM(PAIR, 3, 9, 10, 5, GROUP("ep", "[0, 1]", "send")) COMM(PAIR, 4, 9, 20, 5, "")
			  END "]",
	  "all-to-all 0-5 of ep[0, 1]; send 10-15 of ep[0, 1] after 5; "
	  "send-recv 20-25 of ep[0, 1] after 15" },
	{ "a send is with one of the group: the place in the group tells with whom",
	  "[" SEND(2, 9, 0, "[1, 3, 5, 7]", ",\"Dst Rank\":2")
		  SEND(3, 9, 10, "[1, 3, 5, 7]", ",\"Src Rank\":0") END "]",
	  "send 0-5 of pp[3, 5]; send 10-15 of pp[1, 3] after 5" },
	{ "a place that would be the rank's own is a rank",
	  "[" SEND(2, 9, 0, "[1, 3, 5, 7]", ",\"Dst Rank\":1") END "]", "send 0-5 of pp[1, 3]" },
	{ "with two of them, with nobody, or with one that the list is cut before: the group",
	  "[" SEND(2, 9, 0, "[1, 3]", ",\"Dst Rank\":0,\"Src Rank\":2") SEND(3, 8, 10, "[1, 3]", "")
		  SEND(4, 7, 20, "[1, 3, ...]", ",\"Dst Rank\":3") END "]",
	  "send 0-5 of pp[1, 3]; send 10-15 of pp[1, 3]; send 20-25 of pp[1, 3, ...]" },
	{ "the step is where it was launched",
	  "[" STEP(7, 0, 100) STEP(8, 100, 100) LAUNCH(1, 1, 10) LAUNCH(2, 1, 110)
		  COMM(RING, 1, 9, 50, 5, "") COMM(RING, 2, 9, 120, 5, "") END "]",
	  "all-reduce 50-55 in 0; all-reduce 120-125 in 1 after 55" },
	{ "a step that does not count is none",
	  "[" STEP(1, 0, 100) STEP(2, 100, 100) STEP(3, 200, 100) LAUNCH(1, 1, 10) LAUNCH(2, 1, 20)
		  LAUNCH(3, 1, 110) LAUNCH(4, 1, 120) LAUNCH(5, 1, 210) KERNEL("a", 1, 11, 5)
			  KERNEL("a", 2, 21, 5) KERNEL("a", 3, 111, 5) KERNEL("a", 4, 121, 5)
				  COMM(RING, 5, 9, 220, 5, "") END "]",
	  "all-reduce 220-225" },
	{ "on the host: ranges of gloo, whatever thread they run on",
	  "[" OP("aten::mm", 1, 0, 9) NOTE("gloo:all_reduce", 2, 10, 5)
		  NOTE("gloo:broadcast", 3, 20, 5) END "]",
	  "all-reduce 10-15; broadcast 20-25 after 15" },
	{ "beside kernels, ranges of the host are not counted again",
	  "[" NOTE("nccl:all_reduce", 1, 0, 9) COMM(RING, 2, 9, 10, 5, "") END "]",
	  "all-reduce 10-15" },
};

static void test_arrivals(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_text found = { 0 };
		struct made made;

		make(&made, cases[i].trace);
		describe(&made.digest, &found);
		support_check(strcmp(found.data, cases[i].arrivals) == 0, cases[i].what,
			      "found: %s", found.data);
		for (uint32_t k = 0; k < made.digest.arrival_count; k++) {
			const struct ss_arrival *arrival = &made.digest.arrivals[k];
			int64_t left_ns = arrival->release_ns == INT64_MIN
						  ? 0
						  : arrival->start_ns - arrival->release_ns;
			int64_t own_ns[SS_OWN_PARTS];

			ss_digest_own(&made.digest, arrival, own_ns);
			for (int part = 0; part < SS_OWN_PARTS; part++)
				left_ns -= own_ns[part];
			support_check(left_ns == 0 || arrival->start_ns < arrival->release_ns,
				      cases[i].what, "%lld ns of arrival %u are nobody's",
				      (long long)left_ns, k);
		}
		ss_text_release(&found);
		drop(&made);
	}
}

/* What was done between two collectives of a stream. */
static void test_own(void **state)
{
	int64_t own_ns[SS_OWN_PARTS];
	struct made made;

	(void)state;
	make(&made, "[" COMM(RING, 1, 9, 0, 10, "") KERNEL("gemm", 2, 20, 30)
			    COMM(RING, 3, 8, 40, 20, "") COMM(RING, 4, 9, 100, 5, "") END "]");
	assert_int_equal(made.digest.arrival_count, 3);
	ss_digest_own(&made.digest, &made.digest.arrivals[2], own_ns);
	/* 10..100: computed 20..50, the other stream's communication alone 50..60 */
	assert_int_equal(own_ns[SS_OWN_COMPUTE], 30000);
	assert_int_equal(own_ns[SS_OWN_COMM], 10000);
	assert_int_equal(own_ns[SS_OWN_COPY], 0);
	drop(&made);

	make(&made, "[" COMM(RING, 1, 9, 0, 10, "") EVENT("gpu_memcpy", "Memcpy HtoD", 7, 20, 15,
							  "\"device\":0,\"stream\":7")
			    COMM(RING, 4, 9, 50, 5, "") END "]");
	ss_digest_own(&made.digest, &made.digest.arrivals[1], own_ns);
	assert_int_equal(own_ns[SS_OWN_COPY], 15000);
	assert_int_equal(own_ns[SS_OWN_COMPUTE], 0);
	drop(&made);
}

static void test_figures(void **state)
{
	const struct ss_rank_step *step;
	struct made made;

	(void)state;
	make(&made, "{\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":[" STEP(1, 0, 100)
			    LAUNCH(1, 1, 5) LAUNCH(2, 1, 8) KERNEL("gemm", 1, 10, 30)
				    COMM(RING, 2, 9, 30, 20, "") END "]}");
	assert_true(made.digest.has_clock);
	assert_int_equal(made.digest.rank, 3);
	assert_int_equal(made.digest.device, 0);
	assert_int_equal(made.digest.step_count, 1);
	step = &made.digest.steps[0];
	assert_int_equal(step->end_ns - step->start_ns, 100000);
	assert_int_equal(step->compute_ns, 30000);
	assert_int_equal(step->comm_ns, 20000);
	assert_int_equal(step->exposed_comm_ns, 10000);
	assert_int_equal(step->overlap_ns, 10000);
	assert_true(made.digest.arrivals[0].start_ns == INT64_C(1700000000000030000));
	assert_int_equal(made.digest.kernel_count, 2);
	assert_true(made.digest.kernels[0].name < made.digest.kernels[1].name);
	drop(&made);

	make(&made, "[" OP("aten::mm", 1, 0, 9) END "]");
	assert_false(made.digest.has_clock);
	assert_int_equal(made.digest.device, -1);
	drop(&made);
}

/* Communication is exposed in 100..300 and 350..400. */
#define HELD(calls)                                                                         \
	"[" STEP(1, 0, 1000) LAUNCH(1, 1, 5) LAUNCH(2, 1, 8) COMM(RING, 2, 9, 100, 300, "") \
		KERNEL("gemm", 1, 300, 50) calls END "]"

/* Time in which the device only communicates and the host is blocked in a call. */
static void test_held(void **state)
{
	static const struct {
		const char *what, *json;
		int64_t held_us;
	} calls[] = {
		{ "no long call", HELD(CALL("cudaLaunchKernel", 1, 150, 49)), 0 },
		{ "a call that is long enough", HELD(CALL("cudaLaunchKernel", 1, 150, 50)), 50 },
		{ "only what is exposed counts", HELD(CALL("cudaDeviceSynchronize", 1, 50, 320)),
		  220 },
		{ "threads together",
		  HELD(CALL("cudaDeviceSynchronize", 1, 150, 100) CALL("hipLaunch", 2, 200, 130)),
		  150 },
		{ "an operator is no call", HELD(OP("aten::item", 1, 150, 100)), 0 },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(calls); i++) {
		struct made made;

		make(&made, calls[i].json);
		assert_int_equal(made.digest.step_count, 1);
		support_check(made.digest.steps[0].held_ns == calls[i].held_us * 1000,
			      calls[i].what, "%lld ns", (long long)made.digest.steps[0].held_ns);
		drop(&made);
	}
}

#define ON(device, stream, ts, dur)                                                            \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":" #device ",\"tid\":" #stream \
	",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{}},"

/* The device with the most time counts, over all its streams. */
static void test_device(void **state)
{
	struct made made;

	(void)state;
	make(&made, "[" ON(2, 7, 0, 20) ON(5, 7, 0, 30) ON(2, 8, 0, 15) END "]");
	assert_int_equal(made.digest.device, 2);
	drop(&made);
	make(&made, "[" ON(2, 7, 0, 20) ON(5, 7, 0, 30) END "]");
	assert_int_equal(made.digest.device, 5);
	drop(&made);
}

/* Base times at the edge of what fits. */
static void test_extremes(void **state)
{
	static const char *const bases[] = {
		"9223372036854775807", "-9223372036854775808", "4611686018427387903", "0", "-1", "1"
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(bases); i++) {
		struct ss_text json = { 0 };
		struct made made;

		ss_text_addf(&json,
			     "{\"baseTimeNanoseconds\":%s,\"traceEvents\":[" STEP(1, 0, 100)
				     COMM(RING, 2, 9, 30, 4000000000000, "")
					     COMM(RING, 3, 9, 9e14, 4e14, "") END "]}",
			     bases[i]);
		make(&made, json.data);
		for (uint32_t k = 0; k < made.digest.arrival_count; k++)
			assert_true(made.digest.arrivals[k].end_ns <= SS_MOMENT_MAX &&
				    made.digest.arrivals[k].start_ns >= -SS_MOMENT_MAX);
		ss_text_release(&json);
		drop(&made);
	}
}

static enum ss_status try_digest(void *context, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_subject subject = *(const struct ss_subject *)context;
	struct ss_digest digest;
	struct ss_facts facts;
	enum ss_status status;

	ss_facts_init(&facts, subject.trace, memory);
	subject.facts = &facts;
	status = ss_digest_make(&digest, &subject, memory, err);
	if (status == SS_OK)
		ss_digest_release(&digest);
	ss_facts_release(&facts);
	return status;
}

static void test_memory(void **state)
{
	struct ss_subject subject = { .path = "rank3.json", .rank = 3 };
	struct support_trace loaded;

	(void)state;
	support_load(&loaded,
		     "[" STEP(1, 0, 400) LAUNCH(1, 1, 5) LAUNCH(2, 1, 8) KERNEL("gemm", 1, 10, 30)
			     COMM(RING, 2, 9, 90, 20, GROUP("tp", "[0, 1]", "allreduce"))
				     COMM(RING, 3, 9, 200, 20, "") END "]");
	subject.trace = &loaded.trace;
	support_refuse(&loaded.memory, try_digest, &subject);
	support_close(&loaded);
}

/* Many streams, devices or groups: each looks at its own rows only. */
static void test_large(void **state)
{
	/* covers of streams are united one after the other: fewer of those */
	static const int counts[] = { 2000, 30000, 30000 };

	(void)state;
	for (int form = 0; form < 3; form++) {
		struct ss_text json = { 0 };
		struct timespec from, to;
		struct made made;

		ss_text_add_string(&json, "[");
		for (int i = 0; i < counts[form]; i++)
			ss_text_addf(
				&json,
				"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" RING
				"\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":1,\"args\":{"
				"\"Process Group Name\":\"%d\",\"Collective name\":\"allreduce\","
				"\"dtype\":\"Float\",\"In msg nelems\":1,\"Out msg nelems\":1}},",
				form == 1 ? i : 0, form == 0 ? i : 7, i * 2, form == 2 ? i : 0);
		ss_text_add_string(&json, END "]");
		clock_gettime(CLOCK_MONOTONIC, &from);
		make(&made, json.data);
		clock_gettime(CLOCK_MONOTONIC, &to);
		support_check(to.tv_sec - from.tv_sec < 15, "many streams, devices, groups",
			      "form %d takes %lld s", form, (long long)(to.tv_sec - from.tv_sec));
		assert_int_equal(made.digest.arrival_count, form == 1 ? 1 : counts[form]);
		ss_text_release(&json);
		drop(&made);
	}
}

#define WORK(id, ts, at, dur) LAUNCH(id, 1, ts) KERNEL("k", id, at, dur)

static const struct {
	const char *what;
	const char *json;
	int64_t first_us, second_us;
} firsts[] = {
	{ "the device is behind by 50 after each step",
	  "[" STEP(0, 0, 100) STEP(1, 100, 100) STEP(2, 200, 100) WORK(1, 90, 91, 59)
		  WORK(2, 190, 191, 59) WORK(3, 290, 291, 59) END "]",
	  100, 100 },
	{ "work of the step before ends late",
	  "[" STEP(0, 100, 100) STEP(1, 200, 100) STEP(2, 300, 100) WORK(9, 50, 51, 119)
		  WORK(1, 190, 191, 19) WORK(2, 290, 291, 19) WORK(3, 390, 391, 19) END "]",
	  100, 100 },
	{ "the host runs ahead of the device: the first step is what the device took",
	  "[" STEP(0, 0, 10) STEP(1, 10, 10) STEP(2, 20, 10) WORK(1, 1, 2, 98) WORK(2, 11, 100, 100)
		  WORK(3, 21, 200, 100) END "]",
	  100, 100 },
	{ "the device falls behind by 10 in every step",
	  "[" STEP(0, 0, 100) STEP(1, 100, 100) STEP(2, 200, 100) WORK(1, 90, 91, 59)
		  WORK(2, 190, 191, 69) WORK(3, 290, 291, 79) END "]",
	  110, 110 },
	{ "behind by 5: the mean is the same",
	  "[" STEP(0, 0, 100) STEP(1, 100, 100) STEP(2, 200, 100) WORK(1, 90, 91, 14)
		  WORK(2, 190, 191, 14) WORK(3, 290, 291, 14) END "]",
	  105, 100 },
	{ "a pause between steps: all begin on the host",
	  "[" STEP(0, 0, 100) STEP(1, 1000, 100) STEP(2, 2000, 100) WORK(1, 90, 91, 809)
		  WORK(2, 1090, 1091, 809) WORK(3, 2090, 2091, 809) END "]",
	  900, 900 },
	{ "the same, and work of the step before ends late",
	  "[" STEP(0, 100, 100) STEP(1, 1000, 100) WORK(9, 50, 51, 119) WORK(1, 190, 191, 9)
		  WORK(2, 1090, 1091, 9) END "]",
	  100, 100 },
	{ "one step: nothing shows where the device was",
	  "[" STEP(0, 0, 100) WORK(1, 90, 91, 59) END "]", 150, -1 },
	{ "without a device", "[" STEP(0, 0, 120) STEP(1, 120, 90) OP("a", 1, 1, 2) END "]", 120,
	  90 },
};

static void test_first_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(firsts); i++) {
		struct made made;
		int64_t first, second = -1000;

		make(&made, firsts[i].json);
		first = ss_digest_step_ns(&made.digest, 0);
		if (made.digest.step_count > 1)
			second = ss_digest_step_ns(&made.digest, 1);
		support_check(first == firsts[i].first_us * 1000 &&
				      second == firsts[i].second_us * 1000,
			      firsts[i].what, "%lld and %lld ns", (long long)first,
			      (long long)second);
		drop(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrivals),   cmocka_unit_test(test_own),
		cmocka_unit_test(test_figures),    cmocka_unit_test(test_held),
		cmocka_unit_test(test_device),     cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_memory),     cmocka_unit_test(test_large),
		cmocka_unit_test(test_first_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
