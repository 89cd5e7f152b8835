/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule pipeline-bubble. Two stages pass two micro-batches a step, one forward, one
 * backward: forward takes 100 us, backward 200 us, a message 2 us; then they reduce. From the
 * first work of a step to the last are 914 us, of which each stage computes 600 us. With 16
 * micro-batches seven times four more kernels of the last stage cost 3 us each, and what it waits
 * for, 100 us before and 200 us behind, is an eighth of that: 178.5 us less.
 */
#include "support/rule_cases.h"

#define MB_1 524288

struct out {
	struct ss_text *text;
	int at, id, launch; /* of the step; the next correlation, the next launch */
};

static void add_host(struct out *out, const char *kind, const char *name, int at, int dur)
{
	ss_text_addf(out->text,
		     ",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%d,"
		     "\"dur\":%d}",
		     kind, name, out->at + at, dur);
}

static void add_work(struct out *out, const char *name, int stream, int start, int dur,
		     const char *args)
{
	ss_text_addf(
		out->text,
		",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
		"\"tid\":1,\"ts\":%d.5,\"dur\":0.4,\"args\":{\"correlation\":%d}}"
		",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":%d,\"ts\":%d,"
		"\"dur\":%d,\"args\":{\"device\":0,\"stream\":%d,\"correlation\":%d%s}}",
		out->at + out->launch, out->id, name, stream, out->at + start, dur, stream, out->id,
		args);
	out->id++;
	out->launch++;
}

static void forward(struct out *out, int start)
{
	add_host(out, "cpu_op", "aten::mm", out->launch, 1);
	add_work(out, "gemm", 7, start, 100, "");
}

static void backward(struct out *out, int start)
{
	add_host(out, "cpu_op", "autograd::engine::evaluate_function: MmBackward0", out->launch, 1);
	add_work(out, "gemm", 7, start, 200, "");
}

static void meet(struct out *out, const char *name, int start, int end)
{
	const char *kernel = strcmp(name, "allreduce") == 0 ? "ncclDevKernel_AllReduce_Sum_bf16"
							    : "ncclDevKernel_SendRecv";
	char args[256];

	snprintf(args, sizeof(args),
		 ",\"Collective name\":\"%s\",\"In msg nelems\":%d,\"Out msg nelems\":%d,"
		 "\"dtype\":\"BFloat16\",\"Group size\":2,\"Process Group Name\":\"0\"",
		 name, MB_1, MB_1);
	add_work(out, kernel, 9, start, end - start, args);
}

static void first_stage(struct out *out)
{
	forward(out, 10);
	meet(out, "send", 111, 113);
	forward(out, 112);
	meet(out, "send", 213, 418);
	backward(out, 419);
	meet(out, "recv", 620, 723);
	backward(out, 724);
	meet(out, "allreduce", 925, 928);
}

static void last_stage(struct out *out)
{
	meet(out, "recv", 10, 113);
	forward(out, 114);
	backward(out, 215);
	meet(out, "send", 416, 418);
	forward(out, 419);
	backward(out, 520);
	meet(out, "send", 721, 723);
	meet(out, "allreduce", 724, 928);
}

static char *trace_of(int stages, int steps, bool has_partner)
{
	struct ss_text text = { 0 };

	for (int rank = 0; rank < stages; rank++) {
		struct out out = { .text = &text };

		ss_text_addf(&text,
			     "%s{\"distributedInfo\":{\"rank\":%d,\"world_size\":%d},"
			     "\"traceEvents\":[{}",
			     rank ? "\n---\n" : "", rank, stages);
		for (int n = 1; n <= steps; n++) {
			char name[32];

			snprintf(name, sizeof(name), "ProfilerStep#%d", n);
			out.at = n * 1000;
			out.id = n * 100;
			out.launch = 1;
			add_host(&out, "user_annotation", name, 0, 1000);
			if (!has_partner)
				forward(&out, 10);
			else if (rank)
				last_stage(&out);
			else
				first_stage(&out);
			add_host(&out, "cuda_runtime", "cudaDeviceSynchronize", 20, 910);
		}
		ss_text_add_string(&text, "]}");
	}
	return text.data;
}

static void check(const char *what, char *trace, const char *found)
{
	struct rule_case one = { what, trace, found };

	rule_cases_run("pipeline-bubble", &one, 1);
	free(trace);
}

static void test_cases(void **state)
{
	(void)state;
	check("two stages, two micro-batches", trace_of(2, 3, true),
	      "warning 178.5 medium\n"
	      "2 stages pass 2 micro-batches per step, and the busiest stage is idle for 0.31 "
	      "ms\n"
	      "16 micro-batches would leave 6 % of the time idle; 2 leave 33 %");
	check("ranks that send each other nothing", trace_of(2, 3, false), "");
	check("one stage alone", trace_of(1, 3, true), "");
	check("nothing", strdup("[]"), "");
}

static void test_memory(void **state)
{
	char *trace = trace_of(2, 2, true);

	(void)state;
	rule_memory_run(trace);
	free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
