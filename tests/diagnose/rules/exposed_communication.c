/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule exposed-communication. Steps of 1,000 us on two ranks: forward computes 200 us,
 * backward 400 us, then gradients are reduced for 300 us with nothing beside, and the host
 * waits for the device. Cut into ten buckets of 25 MB of 30 us each the first seven hide
 * behind backward, and the last three, 90 us, stay: 210 us are gained.
 */
#include "support/rule_cases.h"

/* What differs between the cases. */
struct job {
	const char *kernel, *name; /* of the collective */
	long elements;             /* of two bytes */
	bool in_forward;           /* behind forward, for 300 us; backward comes then */
	bool in_file;              /* one rank alone */
	int many;                  /* collectives of 50 us instead of one of 300, every 60 us */
	bool computes;             /* a kernel of 60 us before each of them, every 120 us */
};

static void add_launch(struct ss_text *out, int at, int id, const char *name, int stream, int start,
		       int dur, const char *args)
{
	ss_text_addf(
		out,
		",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
		"\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}}"
		",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":%d,\"ts\":%d,"
		"\"dur\":%d,\"args\":{\"device\":0,\"stream\":%d,\"correlation\":%d%s}}",
		at, id, name, stream, start, dur, stream, id, args);
}

static void add_host(struct ss_text *out, const char *kind, const char *name, int at, int dur)
{
	ss_text_addf(out,
		     ",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%d,"
		     "\"dur\":%d}",
		     kind, name, at, dur);
}

/* One collective after the other. */
static void add_many(struct ss_text *out, const struct job *job, int at, int id, const char *args)
{
	for (int k = 0; k < job->many; k++) {
		int start = at + (job->computes ? 480 + k * 120 : 617 + k * 60);

		if (job->computes)
			add_launch(out, at + 50 + k, id + 20 + k, "gemm", 7, start - 61, 60, "");
		add_launch(out, at + 50 + k, id + 10 + k, job->kernel, job->computes ? 7 : 9, start,
			   50, args);
	}
}

static void add_step(struct ss_text *out, const struct job *job, int n)
{
	int at = n * 1000, id = n * 100;
	char args[256], name[32];

	snprintf(args, sizeof(args),
		 ",\"Collective name\":\"%s\",\"In msg nelems\":%ld,\"Out msg nelems\":%ld,"
		 "\"dtype\":\"BFloat16\",\"Group size\":2,\"Process Group Name\":\"0\"",
		 job->name, job->elements, job->elements);
	snprintf(name, sizeof(name), "ProfilerStep#%d", n);
	add_host(out, "user_annotation", name, at, 1000);
	add_host(out, "cpu_op", "aten::mm", at + 5, 20);
	add_launch(out, at + 10, id + 1, "gemm", 7, at + 15, 200, "");
	if (job->in_forward) {
		add_launch(out, at + 16, id + 3, job->kernel, 9, at + 217, 300, args);
		add_host(out, "cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 30,
			 30);
		add_launch(out, at + 40, id + 2, "gemm", 7, at + 518, 400, "");
	} else {
		add_host(out, "cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 30,
			 30);
		add_launch(out, at + 40, id + 2, "gemm", 7, at + 216, job->computes ? 200 : 400,
			   "");
		if (job->many)
			add_many(out, job, at, id, args);
		else
			add_launch(out, at + 50, id + 3, job->kernel, 9, at + 617, 300, args);
	}
	add_host(out, "cuda_runtime", "cudaDeviceSynchronize", at + 70, 855);
}

static char *trace_of(const struct job *job)
{
	struct ss_text out = { 0 };

	for (int rank = 0; rank < (job->in_file ? 1 : 2); rank++) {
		ss_text_addf(
			&out,
			"%s{\"distributedInfo\":{\"rank\":%d,\"world_size\":2},\"traceEvents\":[{}",
			rank ? "\n---\n" : "", rank);
		for (int n = 1; n <= 3; n++)
			add_step(&out, job, n);
		ss_text_add_string(&out, "]}");
	}
	return out.data;
}

#define REDUCE "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "allreduce"
#define GATHER "ncclDevKernel_AllGather_RING_LL", "_allgather_base"
#define MB_250 131072000

static const struct {
	const char *what;
	struct job job;
	const char *found;
} cases[] = {
	{ "one bucket for all gradients",
	  { REDUCE, MB_250, false, false, 0, false },
	  "warning 210.0 medium\n"
	  "gradients wait for the end of backward; backward could hide 0.21 ms per step (1 "
	  "transfer)" },
	{ "a bucket of DDP's own size", { REDUCE, MB_250 / 10, false, false, 0, false }, "" },
	{ "parameters that are gathered when they are due",
	  { GATHER, MB_250, true, false, 0, false },
	  "warning 200.0 medium\n"
	  "all-gathers start only when their layer needs them; the layer before could hide 0.20 "
	  "ms per step (1 of them)" },
	{ "tensor parallel: what follows needs the data",
	  { REDUCE, MB_250, true, false, 0, false },
	  "" },
	{ "an all-to-all: what follows needs the data",
	  { "ncclDevKernel_SendRecv", "all_to_all", MB_250, true, false, 0, false },
	  "" },
	{ "small ones, one after another",
	  { REDUCE, 100, false, false, 5, false },
	  "warning 200.0 medium\n"
	  "small all-reduces come one after another: 4 per step could be part of the one before, "
	  "0.20 ms including waits" },
	{ "three of them", { REDUCE, 100, false, false, 3, false }, "" },
	{ "large ones, one after another", { REDUCE, MB_250 / 10, false, false, 5, false }, "" },
	{ "small ones that something computes between",
	  { REDUCE, 100, false, false, 4, true },
	  "" },
	{ "the other rank is not recorded",
	  { REDUCE, MB_250 / 10, false, true, 0, false },
	  "warning 300.0 low\n"
	  "nothing computes during 0.30 ms of communication per step (1 collective)" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		char *trace = trace_of(&cases[i].job);
		struct rule_case one = { cases[i].what, trace, cases[i].found };

		rule_cases_run("exposed-communication", &one, 1);
		free(trace);
	}
}

static void test_silence(void **state)
{
	static const struct rule_case silent[] = {
		{ "no communication",
		  "note ProfilerStep#1 1 0 +100; call cudaLaunchKernel 1 1 +5 #1;"
		  "kernel gemm 0/7 9 +50 #1",
		  "" },
		{ "no steps",
		  "call cudaLaunchKernel 1 1 +5 #1; kernel ncclKernel_AllReduce 0/7 9 +50 #1", "" },
		{ "nothing", "[]", "" },
	};

	(void)state;
	rule_cases_run("exposed-communication", silent, SS_COUNT(silent));
}

static void test_memory(void **state)
{
	char *trace = trace_of(&cases[0].job);

	(void)state;
	rule_memory_run(trace);
	free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
