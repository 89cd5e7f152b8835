/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_rows.c - rows of the threads: ranges, calls and allocations.
 */
#include "base/hash/hash.h"
#include "sim/writer/writer_parts.h"

/* --- the table of calls -------------------------------------------------------------- */

/* A call of the runtime or the driver. */
struct call_name {
	const char *cuda;
	const char *hip; /* NULL: ROCm's profiler does not record it */
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

/* The call of this name, by CUDA or HIP. */
static const struct ss_sim_call_phrase *call_phrase_find(const struct ss_sim_writer *writer,
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

/* --- ranges ------------------------------------------------------------------ */

static char *row_put_op_args(char *at, const struct ss_sim_range_phrase *phrase,
			     const struct ss_sim_range_row *row)
{
	at = SS_SIM_PUT(at, ",\n    \"args\": {\n      \"External id\": ");
	at = ss_sim_put_number(at, row->external_id);
	at = ss_sim_put(at, &phrase->before);
	if (row->sequence != SS_SIM_NO_SEQUENCE) {
		at = SS_SIM_PUT(at, "\"Sequence number\": ");
		at = ss_sim_put_number(at, row->sequence);
		at = SS_SIM_PUT(at, ", \"Fwd thread id\": ");
		*at++ = phrase->kind == SS_SIM_BACKWARD ? '1' : '0';
		at = SS_SIM_PUT(at, ", ");
	}
	at = ss_sim_put(at, &phrase->after);
	return ss_sim_put_number(at, row->event_index);
}

static char *row_put_comms_args(const struct ss_sim_writer *writer, char *at,
				const struct ss_sim_comm_phrase *comm,
				const struct ss_sim_range_row *row)
{
	at = SS_SIM_PUT(at, ",\n    \"args\": {\n      \"External id\": ");
	at = ss_sim_put_number(at, row->external_id);
	at = ss_sim_put(at, &comm->before);
	at = ss_sim_put_number(at, row->event_index);
	at = ss_sim_put(at, &comm->after);
	if (writer->plan->with_sequence) {
		at = SS_SIM_PUT(at, ", \"Seq\": ");
		at = ss_sim_put_number(at, row->comm_sequence);
	}
	return at;
}

static char *row_put_python_args(char *at, const struct ss_sim_range_phrase *phrase,
				 const struct ss_sim_range_row *row)
{
	at = SS_SIM_PUT(at, ",\n    \"args\": {\n      \"Python parent id\": ");
	if (row->python_parent)
		at = ss_sim_put_number(at, row->python_parent);
	else
		at = SS_SIM_PUT(at, "null");
	at = SS_SIM_PUT(at, ", \"Python id\": ");
	at = ss_sim_put_number(at, row->python_id);
	at = ss_sim_put(at, &phrase->after);
	return ss_sim_put_number(at, row->event_index);
}

static char *row_put_autograd_flow(char *at, bool tail, uint64_t id,
				   const struct ss_sim_track *track, int64_t time)
{
	at = ss_sim_put_flow(at, tail ? 's' : 'f', id, track, time);
	at = SS_SIM_PUT(at, ",\n    \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"");
	if (!tail)
		at = SS_SIM_PUT(at, ", \"bp\": \"e\"");
	return SS_SIM_PUT(at, "\n  },");
}

/* The profiler's own time belongs to no thread. */
static void row_write_overhead(struct ss_sim_writer *writer,
			       const struct ss_sim_range_phrase *phrase,
			       const struct ss_sim_range_row *row)
{
	struct ss_sim_shown span = ss_sim_span_of(writer, row->start_ns, row->end_ns);
	char *at = ss_sim_row_begin(writer);

	at = ss_sim_put_numbered(at, &phrase->head, phrase->numbered, row->number);
	at = SS_SIM_PUT(at, "-1, \"tid\": 0,\n    \"ts\": ");
	at = ss_sim_put_time(at, span.start);
	at = SS_SIM_PUT(at, ", \"dur\": ");
	at = ss_sim_put_time(at, span.length);
	ss_sim_row_end(writer, SS_SIM_PUT(at, "\n  },"));
}

void ss_sim_write_range(struct ss_sim_writer *writer, const struct ss_sim_range_row *row)
{
	const struct ss_sim_range_phrase *phrase;
	struct ss_sim_track *track = ss_sim_thread_of(writer, row->thread);
	struct ss_sim_shown span;
	char *at;

	assert(writer->phrases && row->range < writer->phrases->program->ranges.count);
	phrase = &writer->phrases->ranges[row->range];
	if (ss_sim_is_lost(writer) && !phrase->kept)
		return;
	if (phrase->kind == SS_SIM_OVERHEAD) {
		row_write_overhead(writer, phrase, row);
		return;
	}
	span = ss_sim_span_of(writer, row->start_ns, row->end_ns);
	at = ss_sim_row_begin(writer);
	at = ss_sim_put_numbered(at, &phrase->head, phrase->numbered, row->number);
	at = ss_sim_put_place(at, track, span);
	if (phrase->kind == SS_SIM_FRAME || phrase->kind == SS_SIM_MODULE) {
		at = row_put_python_args(at, phrase, row);
	} else if (phrase->kind == SS_SIM_COMMS) {
		assert(phrase->comm < writer->phrases->program->comms.count);
		at = row_put_comms_args(writer, at, &writer->comms[phrase->comm], row);
	} else {
		at = row_put_op_args(at, phrase, row);
	}
	at = ss_sim_put_end(at);
	if (row->flow)
		at = row_put_autograd_flow(at, phrase->kind != SS_SIM_BACKWARD, row->flow, track,
					   span.start);
	ss_sim_row_end(writer, at);
}

/* --- calls ------------------------------------------------------------------- */

/* hipMemcpyKind */
static char copy_digit(enum ss_sim_copy_kind kind)
{
	if (kind == SS_SIM_HTOD_PINNED || kind == SS_SIM_HTOD_PAGEABLE)
		return '1';
	return kind == SS_SIM_DTOD ? '3' : '2';
}

static char *row_put_address(char *at, bool device, uint64_t word)
{
	static const char digits[] = "0123456789abcdef";

	at = device ? SS_SIM_PUT(at, "\"0x7f0") : SS_SIM_PUT(at, "\"0x55d");
	/* 9 digits, of which the last two are 0: addresses are aligned */
	for (int shift = 24; shift >= 0; shift -= 4)
		*at++ = digits[word >> shift & 15];
	return SS_SIM_PUT(at, "00\"");
}

/* ROCm tells what is copied from where to where. */
static char *row_put_copy_args(char *at, const struct ss_sim_call_row *row)
{
	char kind = copy_digit(row->copy);
	uint64_t word = ss_hash_mix(SS_HASH_SEED, row->correlation);

	at = SS_SIM_PUT(at, ", \"src\": ");
	at = row_put_address(at, kind != '1', word);
	at = SS_SIM_PUT(at, ", \"dst\": ");
	at = row_put_address(at, kind != '2', word >> 28);
	at = SS_SIM_PUT(at, ", \"bytes\": \"");
	at = ss_sim_put_number(at, row->bytes);
	at = SS_SIM_PUT(at, "\", \"kind\": \"");
	*at++ = kind;
	*at++ = '"';
	return at;
}

static bool copy_is_blocking(enum ss_sim_copy_kind kind)
{
	return kind == SS_SIM_HTOD_PAGEABLE || kind == SS_SIM_DTOH_PAGEABLE;
}

void ss_sim_write_call(struct ss_sim_writer *writer, const struct ss_sim_call_row *row)
{
	const struct ss_sim_call_phrase *call = call_phrase_find(writer, row->name);
	const struct ss_sim_kernel_phrase *kernel = NULL;
	struct ss_sim_track *track = ss_sim_thread_of(writer, row->thread);
	bool rocm = writer->plan->device->rocm, copies = rocm && call->copies;
	struct ss_sim_shown span;
	char *at;

	if (!call->written || ss_sim_is_lost(writer))
		return;
	if (copies && copy_is_blocking(row->copy))
		call = &writer->blocking_copy;
	if (rocm && row->kernel) {
		assert(writer->phrases &&
		       row->kernel_index < writer->phrases->program->kernel_count);
		kernel = &writer->phrases->kernels[row->kernel_index];
	}
	span = ss_sim_span_of(writer, row->start_ns, row->end_ns);
	at = ss_sim_row_begin(writer);
	at = ss_sim_put(at, &call->head);
	at = ss_sim_put_place(at, track, span);
	at = ss_sim_put_external(at, row->external_id);
	if (kernel)
		at = ss_sim_put(at, &kernel->call);
	at = ss_sim_put(at, &call->id);
	at = ss_sim_put_number(at, row->correlation);
	if (kernel)
		at = ss_sim_put(at, &kernel->call_tail);
	if (copies)
		at = row_put_copy_args(at, row);
	at = ss_sim_put_end(at);
	ss_sim_row_end(writer, ss_sim_put_launch_flow(at, call->arrow, row->correlation, track,
						      span.start));
}

/* --- memory ------------------------------------------------------------------ */

/* c10::DeviceType */
#define DEVICE_CUDA 1u
#define DEVICE_HIP 6u

void ss_sim_write_memory(struct ss_sim_writer *writer, const struct ss_sim_memory_row *row)
{
	struct ss_sim_track *track = ss_sim_thread_of(writer, row->thread);
	char *at = ss_sim_row_begin(writer);

	track->used = true;
	at = SS_SIM_PUT(at, "\n  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", "
			    "\"s\": \"t\", \"name\": \"[memory]\",\n    \"pid\": ");
	at = ss_sim_put(at, &track->row);
	at = ss_sim_put_time(at, ss_sim_clock_show(&writer->clock, row->at_ns));
	at = SS_SIM_PUT(at, ",\n    \"args\": {\n      \"Total Reserved\": ");
	at = ss_sim_put_number(at, row->reserved_bytes);
	at = SS_SIM_PUT(at, ", \"Total Allocated\": ");
	at = ss_sim_put_number(at, row->allocated_bytes);
	at = SS_SIM_PUT(at, ", \"Bytes\": ");
	at = ss_sim_put_signed(at, row->bytes);
	at = SS_SIM_PUT(at, ", \"Addr\": ");
	at = ss_sim_put_number(at, row->address);
	at = SS_SIM_PUT(at, ", \"Device Id\": ");
	at = ss_sim_put_number(at, writer->device);
	at = SS_SIM_PUT(at, ", \"Device Type\": ");
	at = ss_sim_put_number(at, writer->plan->device->rocm ? DEVICE_HIP : DEVICE_CUDA);
	at = SS_SIM_PUT(at, ", \"Ev Idx\": ");
	at = ss_sim_put_number(at, row->event_index);
	ss_sim_row_end(writer, ss_sim_put_end(at));
}
