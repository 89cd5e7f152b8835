/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's writer: what it writes is text as torch writes it, and loads
 * back as what was told.
 */
#include "support/make/sim_job.h"

/* --- the text ------------------------------------------------------------------- */

/* Rows as they stand in files of torch, but for names, numbers and times. */
static const struct {
	const char *what;
	const struct ss_sim_device *device;
	const char *text;
} texts[] = {
	{ "before the events", &support_h100,
	  "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      "
	  "\"id\": 0, \"name\": "
	  "\"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 85028372480,\n      \"computeMajor\": 9, "
	  "\"computeMinor\": 0,\n      \"maxThreadsPerBlock\": 1024, "
	  "\"maxThreadsPerMultiprocessor\": 2048,\n      \"regsPerBlock\": 65536, \"warpSize\": "
	  "32,\n      \"sharedMemPerBlock\": 49152, \"numSms\": 132\n    , "
	  "\"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
	  "\"sharedMemPerMultiprocessor\": 233472\n    },\n    {\n      \"id\": 1, " },
	{ "the job", &support_h100,
	  "\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 1, \"world_size\": 2, "
	  "\"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", "
	  "\"backend_config\": \"cuda:nccl\", \"pg_size\": 2, \"ranks\": [0, 1]}], "
	  "\"nccl_version\": \"2.21.5\"},\n" },
	{ "versions", &support_mi300,
	  "\n  \"roctracer_version\": 4.1,\n  \"with_modules\": 1,\n  \"distributedInfo\": " },
	{ "a forward op with its arrow", &support_h100,
	  "\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1017, "
	  "\"tid\": 1017,\n    \"ts\": 3743411100010.000, \"dur\": 40.000,\n    \"args\": {\n      "
	  "\"External id\": 41,\"Sequence number\": 1199, \"Fwd thread id\": 0, \"Record function "
	  "id\": 0, \"Concrete Inputs\": [\"\"], \"Input type\": [\"float\"], \"Input Strides\": "
	  "[[1]], \"Input Dims\": [[8]], \"Ev Idx\": 41\n    }\n  },\n  {\n    \"ph\": \"s\", "
	  "\"id\": 1, \"pid\": 1017, \"tid\": 1017, \"ts\": 3743411100010.000,\n    \"cat\": "
	  "\"fwdbwd\", \"name\": \"fwdbwd\"\n  },\n" },
	{ "a step", &support_h100,
	  "\"cat\": \"user_annotation\", \"name\": \"ProfilerStep#5\", \"pid\": 1017, \"tid\": "
	  "1017,\n    \"ts\": 3743411100001.000, \"dur\": 389.000,\n    \"args\": {\n      "
	  "\"External id\": 40,\"Record function id\": 0, \"Ev Idx\": 40\n    }\n  },\n" },
	{ "a module", &support_h100,
	  "\"args\": {\n      \"Python parent id\": 2, \"Python id\": 3, \"Python module id\": 3, "
	  "\"Ev Idx\": 3\n    }\n  },\n" },
	{ "a frame without a parent, and quotes in its name", &support_h100,
	  "\"name\": \"train.py(84): \\\"main\\\"\", \"pid\": 1017, \"tid\": 1017,\n    \"ts\": "
	  "3743411100000.000, \"dur\": 400.000,\n    \"args\": {\n      \"Python "
	  "parent id\": null, "
	  "\"Python id\": 2, \"Ev Idx\": 2\n    }\n  },\n" },
	{ "a launch with its arrow", &support_h100,
	  "\"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": "
	  "1017, \"tid\": 1017,\n"
	  "    \"ts\": 3743411100022.000, \"dur\": 6.000,\n    \"args\": {\n      \"External id\": "
	  "41,      \"cbid\": 211, \"correlation\": 6\n    }\n  },\n  {\n    "
	  "\"ph\": \"s\", \"id\": "
	  "6, \"pid\": 1017, \"tid\": 1017, \"ts\": 3743411100022.000,\n    \"cat\": \"ac2g\", "
	  "\"name\": \"ac2g\"\n  },\n" },
	{ "a call of nobody that launches nothing", &support_h100,
	  "\"args\": {\n            \"cbid\": 138, \"correlation\": 9\n    }\n  },\n  {\n    "
	  "\"ph\": \"f\", \"id\": 9, " },
	{ "a kernel with its arrow", &support_h100,
	  "\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm<float, 4>(int)\", "
	  "\"pid\": 1, \"tid\": 7,\n    \"ts\": 3743411100030.000, \"dur\": 72.927,\n    \"args\": "
	  "{\n      \"External id\": 41,      \"queued\": 0, \"device\": 1, \"context\": 1,      "
	  "\"stream\": 7, \"correlation\": 6,      \"registers per thread\": 32,      \"shared "
	  "memory\": 0,      \"blocks per SM\": 372.363647,      \"warps per "
	  "SM\": 744.727295,      "
	  "\"grid\": [49152, 1, 1],      \"block\": [64, 1, 1],      \"est. "
	  "achieved occupancy %\": "
	  "100\n    }\n  },\n  {\n    \"ph\": \"f\", \"id\": 6, \"pid\": 1, \"tid\": 7, \"ts\": "
	  "3743411100030.000,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  },\n" },
	{ "a collective", &support_h100,
	  "\"est. achieved occupancy %\": 0, \"Collective name\": \"allreduce\", "
	  "\"In msg nelems\": "
	  "96, \"Out msg nelems\": 96, \"Group size\": 2, \"dtype\": \"BFloat16\", \"In split "
	  "size\": \"[]\", \"Out split size\": \"[]\", \"Process Group Name\": \"0\", \"Process "
	  "Group Description\": \"default_pg\", \"Process Group Ranks\": \"[0, 1]\", \"Seq\": "
	  "12\n" },
	{ "record_param_comms", &support_h100,
	  "\"External id\": 45,\"Record function id\": 0, \"Collective name\": \"allreduce\", "
	  "\"Process Group Description\": \"default_pg\", \"dtype\": \"BFloat16\", \"Rank\": 1, "
	  "\"Input Strides\": [[[1]], [], [], [], [], [], [], [], [], []], \"Concrete Inputs\": "
	  "[\"\", \"\", \"\", \"1\", \"\", \"[]\", \"[]\", \"0\", \"1\", \"2\"], "
	  "\"Out msg nelems\": "
	  "96, \"Process Group Name\": \"0\", \"Input type\": [\"TensorList\", \"\", \"\", "
	  "\"Scalar\", \"\", \"ScalarList\", \"ScalarList\", \"Scalar\", \"Scalar\", \"Scalar\"], "
	  "\"Global rank stride\": 1, \"Out split size\": \"[]\", \"In split size\": \"[]\", "
	  "\"Process Group Ranks\": \"[0, 1]\", \"Group size\": 2, \"Input "
	  "Dims\": [[[96]], [], [], "
	  "[], [], [], [], [], [], []], \"Global rank start\": 0, \"Ev Idx\": "
	  "45, \"In msg nelems\": "
	  "96, \"Seq\": 12\n" },
	{ "a copy", &support_h100,
	  "\"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pageable -> Device)\", \"pid\": 1, "
	  "\"tid\": 7,\n    \"ts\": 3743411100012.000, \"dur\": 6.080,\n    \"args\": {\n      "
	  "\"External id\": 41,      \"device\": 1, \"context\": 1,      \"stream\": 7, "
	  "\"correlation\": 5,      \"bytes\": 65536, \"memory bandwidth (GB/s)\": "
	  "10.778947368421052\n" },
	{ "a note on a stream, longer than its kernels", &support_h100,
	  "\"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#5\", "
	  "\"pid\": 1, \"tid\": 7,\n"
	  "    \"ts\": 3743411100011.999, \"dur\": 90.929,\n    \"args\": {\n      \"External "
	  "id\": 40\n    }\n  },\n" },
	{ "memory", &support_h100,
	  "\n  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
	  "\"[memory]\",\n    \"pid\": 1017, \"tid\": 1017,\n    \"ts\": 3743411100012.000,\n    "
	  "\"args\": {\n      \"Total Reserved\": 8192, \"Total Allocated\": "
	  "4096, \"Bytes\": -512, "
	  "\"Addr\": 1048576, \"Device Id\": 1, \"Device Type\": 1, \"Ev Idx\": 9\n    }\n  },\n" },
	{ "a launch on ROCm", &support_mi300,
	  "\"args\": {\n      \"External id\": 41,          \"kernel\": \"void gemm<float, "
	  "4>(int)\", \"cid\": 107, \"correlation\": 6,      \"grid\": [49152, 1, 1],      "
	  "\"block\": [64, 1, 1],      \"shared memory\": 0\n    }\n  },\n" },
	{ "a kernel on ROCm", &support_mi300,
	  "\"args\": {\n      \"External id\": 41,      \"device\": 1, \"stream\": 0,      "
	  "\"correlation\": 6, \"kind\": \"Dispatch Kernel\",      \"grid\":     [49152, 1, 1], "
	  "\"block\":     [64, 1, 1]\n    }\n  },\n" },
	{ "a blocking copy on ROCm", &support_mi300, "\"name\": \"hipMemcpyWithStream\", " },
	{ "its bytes are a text", &support_mi300,
	  "\"bytes\": \"65536\", \"kind\": \"1\"\n    }\n  },\n" },
	{ "a copy on ROCm", &support_mi300,
	  "\"correlation\": 5, \"kind\": \"HtoD\",      \"bytes\": 65536, \"memory bandwidth "
	  "(GB/s)\": 10.778947368421052\n" },
	{ "the host", &support_h100, "\n  \"host_name\": \"sim00000\",\n" },
	{ "after the events", &support_h100,
	  "\n  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": "
	  "\"\", \"tid\": \"\", \"ts\": 3743411100500.000\n  }\n  ],\n  \"traceName\": "
	  "\"./traces/rank1.json\"\n}\n" },
};

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(texts); i++) {
		struct ss_text text = { 0 };
		struct support_job job;

		support_job_open(&job, texts[i].device);
		support_job_write(&job, 1, &text);
		support_check(strstr(text.data, texts[i].text) != NULL, texts[i].what, "%s",
			      text.data);
		ss_text_release(&text);
		support_job_close(&job);
	}
}

/* What is not asked for is not there. */
static void test_absent(void **state)
{
	static const char *const absent[] = { "Input Dims",  "Concrete",   "Seq\"",
					      "distributed", "with_stack", "profile_memory",
					      "\"hip",       "graph node", "record_shapes" };
	struct ss_text text = { 0 };
	struct support_job job;

	(void)state;
	support_job_open(&job, &support_h100);
	ss_sim_phrases_close(job.phrases);
	job.plan = (struct ss_sim_plan){
		.device = &support_h100, .rank_count = 1, .host_ranks = 1, .tensor = 1, .pipe = 1
	};
	assert_int_equal(ss_sim_phrases_open(&job.plan, &job.program, &job.memory, &job.phrases,
					     NULL),
			 SS_OK);
	support_job_write(&job, 0, &text);
	for (size_t i = 0; i < SS_COUNT(absent); i++)
		support_check(strstr(text.data, absent[i]) == NULL, absent[i], "%s", text.data);
	ss_text_release(&text);
	support_job_close(&job);
}

static enum ss_status add_to_text(void *context, const char *bytes, size_t length,
				  struct ss_error *err)
{
	(void)err;
	ss_text_add(context, bytes, length);
	return SS_OK;
}

/* The profiler's own time is on no thread, and has no arguments. */
static void test_overhead(void **state)
{
	struct ss_text text = { 0 };
	struct ss_sim_sink sink = { add_to_text, &text };
	struct ss_sim_writer *writer;
	struct support_job job;

	(void)state;
	support_job_open(&job, &support_h100);
	assert_int_equal(ss_sim_writer_open(&job.plan, 0, &job.memory, &sink, &writer, NULL),
			 SS_OK);
	ss_sim_writer_use(writer, job.phrases);
	support_job_overhead(writer);
	assert_int_equal(ss_sim_writer_close(writer, 0, SUPPORT_AT(500), NULL, NULL), SS_OK);
	assert_non_null(strstr(text.data, "\"cat\": \"overhead\", \"name\": \"Buffer Flush\", "
					  "\"pid\": -1, \"tid\": 0,\n    \"ts\": "
					  "3743411100300.000, \"dur\": 10.000\n  },\n"));
	ss_text_release(&text);
	support_job_close(&job);
}

/* --- loaded back ------------------------------------------------------------------ */

static const struct {
	const char *name, *rocm; /* NULL: the same on ROCm; "": not there */
	enum ss_kind kind;
	int64_t start_us, dur_ns;
	const char *link, *rocm_link;
} loaded_rows[] = {
	{ "ProfilerStep#5", NULL, SS_KIND_ANNOTATION, 1, 389000, NULL, NULL },
	{ "aten::mm", NULL, SS_KIND_OP, 10, 40000, NULL, NULL },
	{ "MmBackward0", NULL, SS_KIND_OP, 70, 90000, "aten::mm", "aten::mm" },
	{ "nn.Module: Linear_3", NULL, SS_KIND_PYTHON, 5, 55000, NULL, NULL },
	{ "record_param_comms", NULL, SS_KIND_OP, 100, 50000, NULL, NULL },
	{ "cudaLaunchKernel", "hipLaunchKernel", SS_KIND_RUNTIME, 22, 6000, NULL, NULL },
	{ "cudaEventRecord", "", SS_KIND_RUNTIME, 102, 1000, NULL, NULL },
	{ "cudaEventQuery", "", SS_KIND_RUNTIME, 130, 2000, NULL, NULL },
	{ "void gemm<float, 4>(int)", NULL, SS_KIND_KERNEL, 30, 72927, "cudaLaunchKernel",
	  "hipLaunchKernel" },
	{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", NULL,
	  SS_KIND_COMM_KERNEL, 125, 200000, "cudaLaunchKernelExC", "hipExtLaunchKernel" },
	{ "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Host -> Device)", SS_KIND_MEMCPY, 12,
	  6080, "cudaMemcpyAsync", "hipMemcpyWithStream" },
};

static void check_rows(const struct ss_trace *trace, bool rocm)
{
	for (size_t i = 0; i < SS_COUNT(loaded_rows); i++) {
		const char *name = rocm && loaded_rows[i].rocm ? loaded_rows[i].rocm
							       : loaded_rows[i].name;
		const char *link = rocm ? loaded_rows[i].rocm_link : loaded_rows[i].link;
		const struct ss_slices *slices = &trace->slices;
		uint32_t row = support_find(trace, *name ? name : loaded_rows[i].name);

		if (!*name) {
			support_check(row == SS_NO_ROW, loaded_rows[i].name, "is there");
			continue;
		}
		support_check(row != SS_NO_ROW, name, "is not there");
		support_check(slices->kind[row] == loaded_rows[i].kind, name, "kind %u",
			      slices->kind[row]);
		support_check(slices->start_ns[row] + trace->origin_ns ==
				      SS_SIM_EPOCH_NS + SUPPORT_AT(loaded_rows[i].start_us),
			      name, "starts at %lld",
			      (long long)(slices->start_ns[row] + trace->origin_ns));
		support_check(slices->dur_ns[row] == loaded_rows[i].dur_ns, name, "takes %lld",
			      (long long)slices->dur_ns[row]);
		if (!link)
			continue;
		support_check(slices->link[row] != SS_NO_ROW, name, "has no link");
		assert_string_equal(ss_strings_text(&trace->names, slices->name[slices->link[row]]),
				    link);
	}
}

static void check_args(const struct ss_trace *trace, bool rocm)
{
	uint32_t kernel = support_find(trace, support_gemm);
	uint32_t nccl = support_find(trace, support_nccl);
	uint32_t op = support_find(trace, "aten::mm");
	const struct ss_kernel_args *kernel_args = ss_records_at(&trace->kernel_args,
								 trace->slices.args[kernel]);
	const struct ss_op_args *op_args = ss_records_at(&trace->op_args, trace->slices.args[op]);
	const struct ss_comm_row *comm = ss_trace_comm(trace, nccl);
	const struct ss_comm_args *comm_args;

	assert_int_equal(kernel_args->grid[0], 49152);
	assert_int_equal(kernel_args->block[0], 64);
	assert_int_equal(kernel_args->registers, rocm ? -1 : 32);
	assert_string_equal(ss_strings_text(&trace->texts, op_args->input_dims), "[[8]]");
	assert_non_null(comm);
	assert_int_equal(comm->sequence, 12);
	comm_args = ss_records_at(&trace->comm_args, comm->args);
	assert_int_equal(comm_args->group_size, 2);
	assert_int_equal(comm_args->in_nelems, 96);
	assert_string_equal(ss_strings_text(&trace->texts, comm_args->group_ranks), "[0, 1]");
	assert_int_equal(trace->allocations.count, 1);
	assert_int_equal(trace->allocations.bytes[0], -512);
	assert_int_equal(trace->allocations.device_type[0], rocm ? 6 : 1);
	assert_int_equal(trace->info.rank, 1);
	assert_int_equal(trace->info.world_size, 2);
	assert_int_equal(trace->info.device_count, 2);
	assert_int_equal(trace->info.base_time_ns, SS_SIM_BASE_NS);
	assert_int_equal(trace->steps.anchor, SS_STEPS_PROFILER);
}

static void test_loads(void **state)
{
	static const struct ss_sim_device *const devices[] = { &support_h100, &support_mi300 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(devices); i++) {
		struct ss_text text = { 0 };
		struct support_view quality;
		struct support_job job;
		bool rocm = devices[i]->rocm;

		support_job_open(&job, devices[i]);
		assert_int_equal(support_job_write(&job, 1, &text), rocm ? 16 : 18);
		support_view_open(&quality, "quality", text.data, "job/rank1.json");
		check_rows(&quality.trace.trace, rocm);
		check_args(&quality.trace.trace, rocm);
		for (uint32_t row = 0; row < quality.table.row_count; row++) {
			struct ss_text cells = { 0 };

			support_view_row(&quality, row, "oddity,severity,count", &cells);
			support_check(false, "nothing odd", "%s", cells.data);
		}
		support_view_close(&quality);
		ss_text_release(&text);
		support_job_close(&job);
	}
}

/* --- loss and failure ---------------------------------------------------------------- */

static void test_lost_rows(void **state)
{
	struct ss_text first = { 0 }, second = { 0 };
	struct support_job job;
	uint64_t rows;

	(void)state;
	support_job_open(&job, &support_h100);
	job.plan.lost_per_million = 500000;
	rows = support_job_write(&job, 1, &first);
	assert_true(rows >= 4 && rows <= 15);
	assert_non_null(
		strstr(first.data, "\"cat\": \"user_annotation\", \"name\": \"ProfilerStep#5"));
	assert_int_equal(support_job_write(&job, 1, &second), rows);
	assert_string_equal(first.data, second.data);
	ss_text_release(&first);
	ss_text_release(&second);
	support_job_close(&job);
}

static enum ss_status refuse(void *context, const char *bytes, size_t length, struct ss_error *err)
{
	int *left = context;

	(void)bytes;
	(void)length;
	if ((*left)--)
		return SS_OK;
	return ss_fail(err, SS_ERR_IO, "cannot write 'x': full");
}

static void test_sink_fails(void **state)
{
	(void)state;
	for (int after = 0; after < 3; after++) {
		int left = after;
		struct ss_sim_sink sink = { refuse, &left };
		struct ss_sim_writer *writer;
		struct ss_error err = { 0 };
		struct support_job job;

		support_job_open(&job, &support_h100);
		assert_int_equal(ss_sim_writer_open(&job.plan, 0, &job.memory, &sink, &writer,
						    &err),
				 SS_OK);
		ss_sim_writer_use(writer, job.phrases);
		support_job_rows(writer);
		assert_int_equal(ss_sim_writer_close(writer, 0, SUPPORT_AT(500), NULL, &err),
				 SS_ERR_IO);
		assert_string_equal(err.text, "cannot write 'x': full");
		support_job_close(&job);
	}
}

static void test_no_memory(void **state)
{
	enum ss_status status = SS_ERR_LIMIT;
	struct support_job job;

	(void)state;
	support_job_open(&job, &support_mi300);
	for (size_t call_number = 1; status != SS_OK; call_number++) {
		struct ss_text text = { 0 };
		struct ss_sim_sink sink = { add_to_text, &text };
		struct ss_sim_phrases *phrases = NULL;
		struct ss_sim_writer *writer = NULL;
		struct ss_memory memory;

		assert_true(call_number < 100);
		ss_memory_init(&memory, 0);
		memory.fail_call = call_number;
		status = ss_sim_phrases_open(&job.plan, &job.program, &memory, &phrases, NULL);
		if (status == SS_OK)
			status = ss_sim_writer_open(&job.plan, 1, &memory, &sink, &writer, NULL);
		if (status == SS_OK) {
			ss_sim_writer_use(writer, phrases);
			support_job_rows(writer);
			status = ss_sim_writer_close(writer, 0, SUPPORT_AT(500), NULL, NULL);
		}
		ss_sim_phrases_close(phrases);
		assert_int_equal(memory.used_bytes, 0);
		ss_text_release(&text);
	}
	support_job_close(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),     cmocka_unit_test(test_absent),
		cmocka_unit_test(test_overhead),  cmocka_unit_test(test_loads),
		cmocka_unit_test(test_lost_rows), cmocka_unit_test(test_sink_fails),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
