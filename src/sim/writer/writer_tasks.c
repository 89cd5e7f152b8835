/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_tasks.c - rows of the streams: kernels, copies, notes and syncs.
 */
#include "sim/writer/writer_parts.h"

/* Kineto makes ranges on streams a little longer than their kernels, so that they nest. */
#define PROJECTION_NS 1

/* --- work --------------------------------------------------------------- */

static const struct {
	const char *cuda, *rocm, *kind;
} copies[] = {
	[SS_SIM_HTOD_PINNED] = { "Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Host -> Device)",
				 "HtoD" },
	[SS_SIM_HTOD_PAGEABLE] = { "Memcpy HtoD (Pageable -> Device)",
				   "Memcpy HtoD (Host -> Device)", "HtoD" },
	[SS_SIM_DTOH_PINNED] = { "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoH (Device -> Host)",
				 "DtoH" },
	[SS_SIM_DTOH_PAGEABLE] = { "Memcpy DtoH (Device -> Pageable)",
				   "Memcpy DtoH (Device -> Host)", "DtoH" },
	[SS_SIM_DTOD] = { "Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)",
			  "DtoD" },
};

static char *row_put_string(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

static char *row_put_bytes(char *at, uint64_t bytes, int64_t length_ns)
{
	at = SS_SIM_PUT(at, ",      \"bytes\": ");
	at = ss_sim_put_number(at, bytes);
	at = SS_SIM_PUT(at, ", \"memory bandwidth (GB/s)\": ");
	return ss_sim_put_rate(at, bytes, (uint64_t)length_ns);
}

static char *row_put_copy(char *at, const struct ss_sim_task_row *row, struct ss_sim_track *track,
			  struct ss_sim_shown span, bool rocm)
{
	bool copy = row->code == SS_SIM_COPY_TASK;

	assert(!copy || row->what < SS_COUNT(copies));
	if (copy) {
		at = SS_SIM_PUT(at, "\n  {\n    \"ph\": \"X\", \"cat\": \"gpu_memcpy\", "
				    "\"name\": \"");
		at = row_put_string(at, rocm ? copies[row->what].rocm : copies[row->what].cuda);
		at = SS_SIM_PUT(at, "\", \"pid\": ");
	} else {
		at = SS_SIM_PUT(at, "\n  {\n    \"ph\": \"X\", \"cat\": \"gpu_memset\", "
				    "\"name\": \"Memset (Device)\", \"pid\": ");
	}
	at = ss_sim_put_place(at, track, span);
	at = ss_sim_put_external(at, row->external_id);
	at = ss_sim_put(at, &track->args);
	at = ss_sim_put_number(at, row->correlation);
	if (rocm) {
		at = SS_SIM_PUT(at, ", \"kind\": \"");
		at = row_put_string(at, copy ? copies[row->what].kind : "Device");
		*at++ = '"';
	}
	/* ROCm does not record how much was set */
	return copy || !rocm ? row_put_bytes(at, row->bytes, span.length) : at;
}

static char *row_put_kernel(struct ss_sim_writer *writer, char *at,
			    const struct ss_sim_task_row *row, struct ss_sim_track *track,
			    struct ss_sim_shown span)
{
	const struct ss_sim_program *program = writer->phrases->program;
	const struct ss_sim_comm_phrase *comm = NULL;
	const struct ss_sim_kernel_phrase *phrase;
	bool rocm = writer->plan->device->rocm;
	/* ROCm knows nothing of the call that launched a graph's kernels */
	bool unknown = rocm && row->graph_node;
	uint32_t kernel = row->what;

	if (row->code == SS_SIM_COLLECT) {
		assert(row->what < program->comms.count);
		comm = &writer->comms[row->what];
		kernel = comm->kernel_index;
	}
	assert(kernel < program->kernel_count);
	phrase = &writer->phrases->kernels[kernel];
	at = ss_sim_put(at, &phrase->head);
	at = ss_sim_put_place(at, track, span);
	at = ss_sim_put_external(at, unknown ? 0 : row->external_id);
	if (!rocm)
		at = SS_SIM_PUT(at, "\"queued\": 0, ");
	at = ss_sim_put(at, &track->args);
	at = ss_sim_put_number(at, row->correlation);
	at = ss_sim_put(at, unknown ? &phrase->graph_tail : &phrase->tail);
	if (!comm)
		return at;
	at = ss_sim_put(at, &comm->kernel);
	if (writer->plan->with_sequence) {
		at = SS_SIM_PUT(at, ", \"Seq\": ");
		at = ss_sim_put_number(at, row->comm_sequence);
	}
	return at;
}

void ss_sim_write_task(struct ss_sim_writer *writer, const struct ss_sim_task_row *row)
{
	struct ss_sim_track *track = ss_sim_stream_of(writer, row->stream);
	struct ss_sim_shown span;
	char *at;

	if (ss_sim_is_lost(writer))
		return;
	assert(writer->phrases);
	span = ss_sim_span_of(writer, row->start_ns, row->end_ns);
	at = ss_sim_row_begin(writer);
	if (row->code == SS_SIM_KERNEL || row->code == SS_SIM_COLLECT)
		at = row_put_kernel(writer, at, row, track, span);
	else
		at = row_put_copy(at, row, track, span, writer->plan->device->rocm);
	at = ss_sim_put_end(at);
	ss_sim_row_end(writer,
		       ss_sim_put_launch_flow(at, false, row->correlation, track, span.start));
}

void ss_sim_write_projection(struct ss_sim_writer *writer, uint32_t range,
			     enum ss_sim_stream stream, int64_t start_ns, int64_t end_ns,
			     uint64_t external_id, uint64_t number)
{
	const struct ss_sim_range_phrase *phrase;
	struct ss_sim_shown span;
	char *at;

	assert(writer->phrases && range < writer->phrases->program->ranges.count);
	phrase = &writer->phrases->ranges[range];
	assert(phrase->kind == SS_SIM_NOTE);
	if (ss_sim_is_lost(writer) && !phrase->kept)
		return;
	span = ss_sim_span_of(writer, start_ns, end_ns);
	span.start -= PROJECTION_NS;
	span.length += 2 * PROJECTION_NS;
	at = ss_sim_row_begin(writer);
	at = ss_sim_put_numbered(at, &phrase->projection, phrase->numbered, number);
	at = ss_sim_put_place(at, ss_sim_stream_of(writer, stream), span);
	at = SS_SIM_PUT(at, ",\n    \"args\": {\n      \"External id\": ");
	at = ss_sim_put_number(at, external_id);
	ss_sim_row_end(writer, ss_sim_put_end(at));
}

/* --- waiting ------------------------------------------------------------------- */

/* Whether a sync is of one stream; the others are on a track of their own. */
static bool sync_is_of_stream(const char *name)
{
	return strcmp(name, "Stream Wait Event") == 0 || strcmp(name, "Stream Sync") == 0;
}

static bool sync_is_of_event(const char *name)
{
	return strcmp(name, "Stream Wait Event") == 0 || strcmp(name, "Event Sync") == 0;
}

static char *row_put_event(struct ss_sim_writer *writer, char *at,
			   const struct ss_sim_sync_row *row)
{
	at = SS_SIM_PUT(at, "\"wait_on_stream\": ");
	at = ss_sim_put_signed(at, ss_sim_stream_of(writer, row->waits_for)->tid);
	at = SS_SIM_PUT(at, ",      \"wait_on_cuda_event_record_corr_id\": ");
	at = ss_sim_put_number(at, row->record_correlation);
	at = SS_SIM_PUT(at, ",      \"wait_on_cuda_event_id\": ");
	at = ss_sim_put_number(at, row->event);
	return SS_SIM_PUT(at, ",      ");
}

void ss_sim_write_sync(struct ss_sim_writer *writer, const struct ss_sim_sync_row *row)
{
	struct ss_sim_track *track = &writer->all_streams;
	struct ss_sim_shown span;
	char *at;

	/* ROCm has no such rows */
	if (writer->plan->device->rocm || ss_sim_is_lost(writer))
		return;
	if (sync_is_of_stream(row->name))
		track = ss_sim_stream_of(writer, row->stream);
	span = ss_sim_span_of(writer, row->start_ns, row->end_ns);
	at = ss_sim_row_begin(writer);
	at = SS_SIM_PUT(at, "\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"");
	at = row_put_string(at, row->name);
	at = SS_SIM_PUT(at, "\", \"pid\": ");
	at = ss_sim_put_place(at, track, span);
	at = ss_sim_put_external(at, row->external_id);
	at = SS_SIM_PUT(at, "\"cuda_sync_kind\": \"");
	at = row_put_string(at, row->name);
	at = SS_SIM_PUT(at, "\",      ");
	if (sync_is_of_event(row->name))
		at = row_put_event(writer, at, row);
	at = SS_SIM_PUT(at, "\"stream\": ");
	at = ss_sim_put_signed(at, track->tid);
	at = SS_SIM_PUT(at, ", \"correlation\": ");
	at = ss_sim_put_number(at, row->correlation);
	at = SS_SIM_PUT(at, ",      \"device\": ");
	at = ss_sim_put_number(at, writer->device);
	at = ss_sim_put_end(SS_SIM_PUT(at, ", \"context\": 1"));
	ss_sim_row_end(writer,
		       ss_sim_put_launch_flow(at, false, row->correlation, track, span.start));
}
