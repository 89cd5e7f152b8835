/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - the calls that a trace tells of: their names and numbers on CUDA and
 * on ROCm.
 *
 * Numbers are those of CUPTI (cbid) and roctracer (cid). Kineto gives some calls
 * the tail of an arrow whether they launched something or not; all others get a
 * head at themselves. ROCm's profiler leaves out calls that are made too often.
 */
#include "base/hash/hash.h"
#include "sim/writer/writer_parts.h"

/* A call of the runtime or the driver. */
struct call_name {
	const char *cuda;
	const char *hip; /* NULL: ROCm's profiler does not tell of it */
	uint16_t cbid, cid;
	bool arrow, hip_arrow; /* the tail of an arrow, not a head at itself */
	bool driver;
};

#define YES true
#define NO false

static const struct call_name call_names[] = {
	/* launches; kernels name their call as the device has it */
	{ "cudaLaunchKernel", "hipLaunchKernel", 211, 107, YES, YES, NO },
	{ "cudaLaunchKernelExC", "hipExtLaunchKernel", 430, 62, YES, YES, NO },
	{ "cuLaunchKernel", "hipModuleLaunchKernel", 307, 169, YES, YES, YES },
	{ "cuLaunchKernelEx", "hipExtModuleLaunchKernel", 652, 65, YES, YES, YES },
	{ "cudaGraphLaunch", "hipGraphLaunch", 311, 215, YES, NO, NO },
	{ "cudaMemcpyAsync", "hipMemcpyAsync", 41, 134, YES, YES, NO },
	{ "cudaMemsetAsync", "hipMemsetAsync", 51, 159, YES, NO, NO },
	/* waiting */
	{ "cudaStreamSynchronize", "hipStreamSynchronize", 131, 199, YES, NO, NO },
	{ "cudaDeviceSynchronize", "hipDeviceSynchronize", 165, 48, YES, NO, NO },
	{ "cudaEventSynchronize", "hipEventSynchronize", 137, 60, NO, NO, NO },
	{ "cudaStreamWaitEvent", "hipStreamWaitEvent", 147, 200, YES, NO, NO },
	{ "cudaEventRecord", NULL, 135, 0, NO, NO, NO },
	{ "cudaEventRecordWithFlags", NULL, 370, 0, NO, NO, NO },
	{ "cudaEventQuery", NULL, 138, 0, NO, NO, NO },
	{ "cudaEventElapsedTime", "hipEventElapsedTime", 139, 57, NO, NO, NO },
	/* memory */
	{ "cudaMalloc", "hipMalloc", 20, 108, NO, NO, NO },
	{ "cudaFree", "hipFree", 22, 69, NO, NO, NO },
	{ "cudaPointerGetAttributes", "hipPointerGetAttribute", 151, 295, NO, NO, NO },
	/* questions */
	{ "cudaStreamIsCapturing", "hipStreamIsCapturing", 317, 290, NO, NO, NO },
	{ "cudaStreamGetCaptureInfo_v2", "hipStreamGetCaptureInfo_v2", 409, 289, NO, NO, NO },
	{ "cudaThreadExchangeStreamCaptureMode", NULL, 327, 0, NO, NO, NO },
	{ "cudaFuncSetAttribute", "hipFuncSetAttribute", 273, 75, NO, NO, NO },
	{ "cudaFuncGetAttributes", "hipFuncGetAttributes", 15, 74, NO, NO, NO },
	{ "cudaDeviceGetAttribute", "hipDeviceGetAttribute", 200, 31, NO, NO, NO },
	{ "cudaGetDeviceProperties", "hipGetDevicePropertiesR0600", 4, 370, NO, NO, NO },
	{ "cudaGetDriverEntryPoint", NULL, 406, 0, NO, NO, NO },
	{ "cudaGetFuncBySymbol", NULL, 336, 0, NO, NO, NO },
	{ "cudaPeekAtLastError", NULL, 11, 0, NO, NO, NO },
	{ "cudaOccupancyMaxActiveBlocksPerMultiprocessor", NULL, 210, 0, NO, NO, NO },
	{ "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", NULL, 251, 0, NO, NO, NO },
};

_Static_assert(SS_COUNT(call_names) <= SS_SIM_CALLS_MAX, "room for every call");
/* each call has two names */
_Static_assert(SS_COUNT(call_names) * 4 < SS_SIM_CALL_SLOTS, "slots enough to find fast");

/* Blocking copies have a call of their own on ROCm. */
static const struct call_name blocking_copy = {
	"cudaMemcpyAsync", "hipMemcpyWithStream", 41, 153, YES, YES, NO
};

static uint32_t call_slot(const char *name)
{
	return (uint32_t)(ss_hash_bytes(name, strlen(name)) >> 40) % SS_SIM_CALL_SLOTS;
}

static void call_slots_add(struct ss_sim_writer *writer, const char *name, size_t index)
{
	uint32_t slot = call_slot(name);

	while (writer->call_slots[slot])
		slot = (slot + 1) % SS_SIM_CALL_SLOTS;
	writer->call_slots[slot] = (uint8_t)(index + 1);
}

static struct ss_sim_call_phrase call_phrase(struct ss_arena *arena, const struct call_name *name,
					     bool rocm, bool *failed)
{
	struct ss_sim_call_phrase phrase = { .arrow = rocm ? name->hip_arrow : name->arrow,
					     .written = !rocm || name->hip,
					     .copies = strcmp(name->cuda, "cudaMemcpyAsync") == 0 };
	struct ss_text text = { 0 };

	ss_text_addf(&text,
		     "\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": ",
		     name->driver && !rocm ? "cuda_driver" : "cuda_runtime",
		     rocm && name->hip ? name->hip : name->cuda);
	phrase.head = ss_sim_piece_of(arena, &text, failed);
	ss_text_addf(&text, "\"%s\": %u, \"correlation\": ", rocm ? "cid" : "cbid",
		     rocm ? name->cid : name->cbid);
	phrase.id = ss_sim_piece_of(arena, &text, failed);
	return phrase;
}

bool ss_sim_calls_make(struct ss_sim_writer *writer)
{
	bool rocm = writer->plan->device->rocm, failed = false;

	for (size_t i = 0; i < SS_COUNT(call_names); i++) {
		const struct call_name *name = &call_names[i];

		writer->calls[i] = call_phrase(&writer->arena, name, rocm, &failed);
		call_slots_add(writer, name->cuda, i);
		if (name->hip)
			call_slots_add(writer, name->hip, i);
	}
	writer->blocking_copy = call_phrase(&writer->arena, &blocking_copy, rocm, &failed);
	return !failed;
}

const struct ss_sim_call_phrase *ss_sim_call_find(const struct ss_sim_writer *writer,
						  const char *name)
{
	uint32_t slot = call_slot(name);

	for (;; slot = (slot + 1) % SS_SIM_CALL_SLOTS) {
		uint32_t index = writer->call_slots[slot];

		/* a name that is not in the table is a bug of who calls */
		assert(index);
		if (strcmp(call_names[index - 1].cuda, name) == 0 ||
		    (call_names[index - 1].hip && strcmp(call_names[index - 1].hip, name) == 0))
			return &writer->calls[index - 1];
	}
}
