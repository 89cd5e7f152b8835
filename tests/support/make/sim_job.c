/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_job.c - a small job whose rows are told to the simulator's writer.
 */
#include "support/make/sim_job.h"

/* --- a small job ------------------------------------------------------------ */

const struct ss_sim_device support_h100 = {
	.id = "h100",
	.name = "NVIDIA H100 80GB HBM3",
	.arch = SS_SIM_HOPPER,
	.memory_bytes = 85028372480,
	.compute_major = 9,
	.sm_count = 132,
	.warp_size = 32,
	.threads_per_sm = 2048,
	.shared_per_block = 49152,
	.shared_per_block_optin = 232448,
	.shared_per_sm = 233472,
	.runtime_version = 12060,
	.driver_version = 12080,
	.nccl_version = "2.21.5",
};

const struct ss_sim_device support_mi300 = {
	.id = "mi300x",
	.name = "AMD Instinct MI300X",
	.arch = SS_SIM_CDNA3,
	.rocm = true,
	.memory_bytes = 206141652992,
	.compute_major = 9,
	.compute_minor = 4,
	.sm_count = 304,
	.warp_size = 64,
	.threads_per_sm = 2048,
	.shared_per_block = 65536,
	.shared_per_sm = 65536,
	.runtime_version = 60443483,
	.driver_version = 60443483,
	.nccl_version = "2.22.3",
};

#define GEMM "void gemm<float, 4>(int)"
#define NCCL "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

const char support_gemm[] = GEMM;
const char support_nccl[] = NCCL;

static struct ss_sim_kernel kernels[] = {
	{ .name = GEMM,
	  .grid = { 49152, 1, 1 },
	  .block = { 64, 1, 1 },
	  .registers = 32,
	  .occupancy_percent = 100,
	  .blocks_per_sm_micro = 372363647,
	  .warps_per_sm_micro = 744727295 },
	{ .name = NCCL,
	  .grid = { 1, 1, 1 },
	  .block = { 128, 1, 1 },
	  .registers = 96,
	  .shared_bytes = 103808,
	  .blocks_per_sm_micro = 7576,
	  .warps_per_sm_micro = 30303 },
};

enum { STEP, OP, NODE, FRAME, MODULE, COMMS, NOTE, FLUSH };

static uint32_t text_of(struct support_job *job, const char *text)
{
	uint32_t id = ss_strings_add(&job->program.texts, text, strlen(text));

	assert_int_not_equal(id, SS_NO_ID);
	return id;
}

static void add_range(struct support_job *job, enum ss_sim_range_kind kind, const char *name,
		      const char *dims, uint32_t other)
{
	struct ss_sim_range range = { .kind = kind, .name = text_of(job, name) };

	if (dims) {
		range.dims = text_of(job, dims);
		range.types = text_of(job, "[\"float\"]");
		range.strides = text_of(job, "[[1]]");
		range.concrete = text_of(job, "[\"\"]");
	}
	range.module = kind == SS_SIM_MODULE ? other : 0;
	range.comm = kind == SS_SIM_COMMS ? other : 0;
	assert_int_not_equal(ss_records_add(&job->program.ranges, &range), SS_NO_ID);
}

void support_job_open(struct support_job *job, const struct ss_sim_device *device)
{
	struct ss_sim_comm comm = {
		.role = SS_SIM_GROUP_WORLD, .in_count = 96, .out_count = 96, .kernel = 1
	};

	memset(job, 0, sizeof(*job));
	ss_memory_init(&job->memory, 0);
	job->plan = (struct ss_sim_plan){ .device = device,
					  .seed = 7,
					  .rank_count = 2,
					  .host_ranks = 2,
					  .tensor = 1,
					  .pipe = 1,
					  .with_shapes = true,
					  .with_stack = true,
					  .with_memory = true,
					  .with_sequence = true };
	job->program.device = device;
	job->program.kernels = kernels;
	job->program.kernel_count = SS_COUNT(kernels);
	assert_true(ss_strings_init(&job->program.texts, &job->memory));
	assert_true(
		ss_records_init(&job->program.ranges, &job->memory, sizeof(struct ss_sim_range)));
	assert_true(ss_records_init(&job->program.comms, &job->memory, sizeof(struct ss_sim_comm)));
	comm.name = text_of(job, "allreduce");
	comm.note = text_of(job, "nccl:all_reduce");
	comm.dtype = text_of(job, "BFloat16");
	assert_int_equal(ss_records_add(&job->program.comms, &comm), 0);
	add_range(job, SS_SIM_NOTE, "ProfilerStep#", NULL, 0);
	add_range(job, SS_SIM_OP, "aten::mm", "[[8]]", 0);
	add_range(job, SS_SIM_BACKWARD, "MmBackward0", "[[8]]", 0);
	add_range(job, SS_SIM_FRAME, "train.py(84): \"main\"", NULL, 0);
	add_range(job, SS_SIM_MODULE, "nn.Module: Linear_3", NULL, 3);
	add_range(job, SS_SIM_COMMS, "record_param_comms", NULL, 1);
	add_range(job, SS_SIM_NOTE, "nccl:all_reduce", NULL, 0);
	add_range(job, SS_SIM_OVERHEAD, "Buffer Flush", NULL, 0);
	assert_int_equal(ss_sim_phrases_open(&job->plan, &job->program, &job->memory, &job->phrases,
					     NULL),
			 SS_OK);
}

void support_job_close(struct support_job *job)
{
	ss_sim_phrases_close(job->phrases);
	ss_records_release(&job->program.comms);
	ss_records_release(&job->program.ranges);
	ss_strings_release(&job->program.texts);
	assert_int_equal(job->memory.used_bytes, 0);
}

/* --- rows of a step ------------------------------------------------------------ */

#define AT SUPPORT_AT

static void range(struct ss_sim_writer *writer, uint32_t index, enum ss_sim_thread thread,
		  int64_t from, int64_t to, uint64_t id)
{
	struct ss_sim_range_row row = { .range = index,
					.thread = thread,
					.start_ns = AT(from),
					.end_ns = AT(to),
					.external_id = id,
					.event_index = id,
					.sequence = SS_SIM_NO_SEQUENCE,
					.python_id = id,
					.comm_sequence = 12,
					.number = 5 };

	if (index == OP || index == NODE) {
		row.sequence = 1199;
		row.flow = 1;
	}
	if (index == MODULE)
		row.python_parent = 2;
	ss_sim_write_range(writer, &row);
}

static void call(struct ss_sim_writer *writer, const char *name, enum ss_sim_thread thread,
		 int64_t from, int64_t to, uint64_t correlation, int kernel)
{
	struct ss_sim_call_row row = { .name = name,
				       .thread = thread,
				       .start_ns = AT(from),
				       .end_ns = AT(to),
				       .correlation = correlation,
				       .external_id = thread == SS_SIM_WATCHDOG ? 0 : 41 };

	if (kernel >= 0) {
		row.kernel = &kernels[kernel];
		row.kernel_index = (uint32_t)kernel;
		row.launches = true;
	} else if (strstr(name, "Memcpy")) {
		row.launches = true;
		row.bytes = 65536;
		row.copy = SS_SIM_HTOD_PAGEABLE;
	}
	ss_sim_write_call(writer, &row);
}

static void task(struct ss_sim_writer *writer, enum ss_sim_code code, enum ss_sim_stream stream,
		 int64_t from, int64_t length_ns, uint64_t correlation, uint32_t what)
{
	struct ss_sim_task_row row = { .code = code,
				       .stream = stream,
				       .start_ns = AT(from),
				       .end_ns = AT(from) + length_ns,
				       .correlation = correlation,
				       .external_id = 41,
				       .what = what,
				       .bytes = 65536,
				       .comm_sequence = 12 };

	ss_sim_write_task(writer, &row);
}

void support_job_rows(struct ss_sim_writer *writer)
{
	struct ss_sim_memory_row memory = { .at_ns = AT(12),
					    .bytes = -512,
					    .address = 1 << 20,
					    .allocated_bytes = 4096,
					    .reserved_bytes = 8192,
					    .event_index = 9 };

	range(writer, FRAME, SS_SIM_MAIN, 0, 400, 2);
	range(writer, MODULE, SS_SIM_MAIN, 5, 60, 3);
	range(writer, STEP, SS_SIM_MAIN, 1, 390, 40);
	range(writer, OP, SS_SIM_MAIN, 10, 50, 41);
	call(writer, "cudaMemcpyAsync", SS_SIM_MAIN, 11, 20, 5, -1);
	call(writer, "cudaLaunchKernel", SS_SIM_MAIN, 22, 28, 6, 0);
	range(writer, NODE, SS_SIM_AUTOGRAD, 70, 160, 44);
	range(writer, COMMS, SS_SIM_AUTOGRAD, 100, 150, 45);
	range(writer, NOTE, SS_SIM_AUTOGRAD, 101, 149, 46);
	call(writer, "cudaEventRecord", SS_SIM_AUTOGRAD, 102, 103, 7, -1);
	call(writer, "cudaLaunchKernelExC", SS_SIM_AUTOGRAD, 110, 120, 8, 1);
	call(writer, "cudaEventQuery", SS_SIM_WATCHDOG, 130, 132, 9, -1);
	call(writer, "cudaDeviceSynchronize", SS_SIM_MAIN, 200, 380, 10, -1);
	task(writer, SS_SIM_COPY_TASK, SS_SIM_COMPUTE, 12, 6080, 5, SS_SIM_HTOD_PAGEABLE);
	task(writer, SS_SIM_KERNEL, SS_SIM_COMPUTE, 30, 72927, 6, 0);
	task(writer, SS_SIM_COLLECT, SS_SIM_COMM, 125, 200000, 8, 0);
	ss_sim_write_projection(writer, STEP, SS_SIM_COMPUTE, AT(12), AT(30) + 72927, 40, 5);
	ss_sim_write_memory(writer, &memory);
}

void support_job_overhead(struct ss_sim_writer *writer)
{
	range(writer, FLUSH, SS_SIM_MAIN, 300, 310, 0);
}

static enum ss_status add_to_text(void *context, const char *bytes, size_t length,
				  struct ss_error *err)
{
	(void)err;
	ss_text_add(context, bytes, length);
	return SS_OK;
}

uint64_t support_job_write(struct support_job *job, uint32_t rank, struct ss_text *out)
{
	struct ss_sim_sink sink = { add_to_text, out };
	struct ss_error err = { 0 };
	struct ss_sim_writer *writer;
	uint64_t rows;

	assert_int_equal(ss_sim_writer_open(&job->plan, rank, &job->memory, &sink, &writer, &err),
			 SS_OK);
	ss_sim_writer_use(writer, job->phrases);
	support_job_rows(writer);
	assert_int_equal(ss_sim_writer_close(writer, AT(-5), AT(500), &rows, &err), SS_OK);
	return rows;
}
