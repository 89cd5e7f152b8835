/* SPDX-License-Identifier: Apache-2.0 */
#include "support/make/ddp_job.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define PASS_US 200
#define STEP_US 1000

struct row {
	const char *kind, *name;
	int tid, at, dur;
	const char *args;
};

static void add(struct ss_text *out, struct row row)
{
	ss_text_addf(
		out,
		",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%d,"
		"\"dur\":%d,\"args\":{%s}}",
		row.kind, row.name, strcmp(row.kind, "kernel") == 0 ? 0 : 1, row.tid, row.at,
		row.dur, row.args);
}

static void add_launch(struct ss_text *out, int tid, int at, int id, struct row kernel)
{
	char call[64], args[320];

	snprintf(call, sizeof(call), "\"correlation\":%d", id);
	snprintf(args, sizeof(args), "\"device\":0,\"stream\":%d,\"correlation\":%d%s", kernel.tid,
		 id, kernel.args);
	kernel.args = args;
	add(out, (struct row){ "cuda_runtime", "cudaLaunchKernel", tid, at, 1, call });
	add(out, kernel);
}

/* An all-reduce that is asked for at a moment, and runs when the row says. */
static void add_reduce(struct ss_text *out, const struct ddp_job *job, int asked, struct row row,
		       int id, int elements, const char *type)
{
	char args[256] = "";

	if (job->on_device) {
		if (!job->no_sizes)
			snprintf(args, sizeof(args),
				 ",\"Collective name\":\"allreduce\",\"In msg nelems\":%d,"
				 "\"Out msg nelems\":%d,\"dtype\":\"%s\",\"Group size\":2,"
				 "\"Process Group Name\":\"0\"",
				 elements, elements, strcmp(type, "int") == 0 ? "Int" : "Float");
		row.kind = "kernel";
		row.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
		row.args = args;
		add_launch(out, 2, asked, id, row);
		return;
	}
	if (!job->no_sizes)
		snprintf(args, sizeof(args), "\"Input Dims\":[[%d]],\"Input type\":[\"%s\"]",
			 elements, type);
	row.kind = "user_annotation";
	row.name = "gloo:all_reduce";
	row.args = args;
	add(out, row);
}

static void add_backward(struct ss_text *out, const struct ddp_job *job, int at, int id, int pass)
{
	const char *hook = job->other_hook ? "autograd::engine::evaluate_function: NormBackward0"
					   : "autograd::engine::evaluate_function: "
					     "torch::autograd::AccumulateGrad";
	int tid = job->on_device ? 2 : 1, from = at + (job->on_device ? 70 + job->backward_us : 60);
	int elements = (job->elements ? job->elements : 1000) + (job->sizes_vary ? pass : 0);
	int buckets = job->buckets ? job->buckets : 1;
	int each = (job->map ? 40 : 80) / buckets;

	if (job->backward_us) {
		add(out, (struct row){ "cpu_op", "autograd::engine::evaluate_function: MmBackward0",
				       tid, at + 46, 3, "" });
		add_launch(out, tid, at + 47, id + 9,
			   (struct row){ "kernel", "gemm", 7, at + 70, job->backward_us, "" });
	}
	for (int i = 1; i < job->parameters; i++)
		add(out, (struct row){ "cpu_op", hook, tid, at + 45 + i, 1, "" });
	add(out, (struct row){ "cpu_op", hook, tid, at + 50, 20, "" });
	for (int i = 0; i < buckets && pass >= job->held; i++) {
		add(out, (struct row){ "cpu_op", "c10d::allreduce_", tid, at + 51 + 2 * i, 2, "" });
		add_reduce(out, job, at + 51 + 2 * i,
			   (struct row){ .tid = 9, .at = from + i * each, .dur = each }, id + i,
			   i == buckets - 1 && job->embedding ? job->embedding : elements, "float");
	}
	if (!job->map || pass < job->held)
		return;
	add(out, (struct row){ "cpu_op", "c10d::allreduce_", tid, at + 67, 2, "" });
	add_reduce(out, job, at + 67, (struct row){ .tid = 9, .at = from + 40, .dur = 40 }, id + 8,
		   job->map, "int");
}

static void add_pass(struct ss_text *out, const struct ddp_job *job, int at, int id, int pass)
{
	if (job->zeroes_each)
		add(out, (struct row){ "user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 1,
				       at, 1, "" });
	if (!job->no_forward)
		add(out, (struct row){ "user_annotation", "DistributedDataParallel.forward", 1,
				       at + 2, 43, "" });
	add(out, (struct row){ "cpu_op", "aten::mm", 1, at + 3, 27, "" });
	if (job->search_us)
		add(out, (struct row){ "cpu_op",
				       "torch.distributed.ddp.reducer::search_unused_parameters", 1,
				       at + 32, job->search_us, "" });
	if (job->on_device)
		add_launch(out, 1, at + 5, id,
			   (struct row){ "kernel", "gemm", 7, at + 10, 60, "" });
	add_backward(out, job, at, id + 1, pass);
	if (job->on_device)
		add(out, (struct row){ "cuda_runtime", "cudaDeviceSynchronize", 1, at + 75,
				       80 + job->backward_us, "" });
}

static void add_step(struct ss_text *out, const struct ddp_job *job, int n)
{
	int at = n * STEP_US;
	char name[32];

	snprintf(name, sizeof(name), "ProfilerStep#%d", n);
	add(out, (struct row){ "user_annotation", name, 1, at, STEP_US, "" });
	for (int i = 0; i < job->passes; i++)
		add_pass(out, job, at + i * PASS_US, (n * 10 + i) * 20, i);
	if (!job->no_step)
		add(out, (struct row){ "user_annotation", "Optimizer.step#SGD.step", 1, at + 850,
				       100, "" });
}

char *ddp_job_trace(const struct ddp_job *job)
{
	struct ss_text out = { 0 };

	for (int rank = 0; rank < 2; rank++) {
		ss_text_addf(&out,
			     "%s{\"distributedInfo\":{\"rank\":%d,\"world_size\":2},"
			     "\"traceEvents\":[{}",
			     rank ? "\n---\n" : "", rank);
		for (int n = 1; n <= 3; n++)
			add_step(&out, job, n);
		ss_text_add_string(&out, "]}");
	}
	return out.data;
}

void ddp_cases_run(const char *rule, const struct ddp_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *trace = ddp_job_trace(&cases[i].job);
		struct rule_case one = { cases[i].what, trace, cases[i].found };

		rule_cases_run(rule, &one, 1);
		free(trace);
	}
}

void ddp_memory_run(const struct ddp_job *job)
{
	char *trace = ddp_job_trace(job);

	rule_memory_run(trace);
	free(trace);
}
