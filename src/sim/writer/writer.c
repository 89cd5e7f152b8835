/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.c - a file of rows: opening it, whose rows follow, and closing it.
 */
#include "sim/writer/writer_parts.h"

static void writer_fail(struct ss_sim_writer *writer, enum ss_status status)
{
	if (writer->status == SS_OK)
		writer->status = status;
}

static void writer_write_bytes(struct ss_sim_writer *writer, const char *bytes, size_t length)
{
	if (writer->status == SS_OK && length)
		writer_fail(writer, writer->sink.write(writer->sink.context, bytes, length,
						       &writer->error));
}

void ss_sim_writer_flush(struct ss_sim_writer *writer)
{
	writer_write_bytes(writer, writer->buffer, writer->used);
	writer->used = 0;
}

/* Writes a text that is not a row and can be long. */
static void writer_write_text(struct ss_sim_writer *writer, struct ss_text *text)
{
	ss_sim_writer_flush(writer);
	if (ss_text_failed(text)) {
		writer_fail(writer, ss_fail_memory(&writer->error, "a trace"));
		return;
	}
	writer_write_bytes(writer, text->data, text->length);
	ss_text_release(text);
}

static void writer_release(struct ss_sim_writer *writer)
{
	struct ss_memory *memory = writer->memory;

	if (writer->buffer)
		ss_memory_free(memory, writer->buffer, SS_SIM_BUFFER_BYTES + SS_SIM_ROW_BYTES);
	ss_arena_release(&writer->arena);
	ss_memory_free(memory, writer, sizeof(*writer));
}

enum ss_status ss_sim_writer_open(const struct ss_sim_plan *plan, uint32_t rank,
				  struct ss_memory *memory, const struct ss_sim_sink *sink,
				  struct ss_sim_writer **out, struct ss_error *err)
{
	struct ss_sim_writer *writer = ss_memory_resize(memory, NULL, 0, sizeof(*writer));
	struct ss_text header = { 0 };

	assert(rank < plan->rank_count && plan->host_ranks);
	if (!writer)
		return ss_fail_memory(err, "a trace");
	*writer = (struct ss_sim_writer){ .memory = memory,
					  .plan = plan,
					  .rank = rank,
					  .sink = *sink,
					  .clock = ss_sim_clock_of(plan, rank) };
	ss_arena_init(&writer->arena, memory);
	writer->buffer = ss_memory_resize(memory, NULL, 0, SS_SIM_BUFFER_BYTES + SS_SIM_ROW_BYTES);
	if (!writer->buffer || !ss_sim_tracks_make(writer) || !ss_sim_calls_make(writer)) {
		writer_release(writer);
		return ss_fail_memory(err, "a trace");
	}
	ss_sim_write_header(writer, &header);
	writer_write_text(writer, &header);
	*out = writer;
	return SS_OK;
}

/* The texts of the program's collectives for this rank, made on first use. */
static const struct ss_sim_comm_phrase *writer_comms_of(struct ss_sim_writer *writer,
							const struct ss_sim_phrases *phrases)
{
	struct ss_sim_binding *binding;

	for (uint32_t i = 0; i < writer->binding_count; i++)
		if (writer->bindings[i].phrases == phrases)
			return writer->bindings[i].comms;
	assert(writer->binding_count < SS_SIM_BINDINGS_MAX);
	binding = &writer->bindings[writer->binding_count];
	if (!ss_sim_comms_make(writer->plan, writer->rank, phrases->program, &writer->arena,
			       &binding->comms)) {
		writer_fail(writer, ss_fail_memory(&writer->error, "a trace"));
		return NULL;
	}
	binding->phrases = phrases;
	writer->binding_count++;
	return binding->comms;
}

void ss_sim_writer_use(struct ss_sim_writer *writer, const struct ss_sim_phrases *phrases)
{
	writer->comms = writer_comms_of(writer, phrases);
	writer->phrases = phrases;
}

enum ss_status ss_sim_writer_close(struct ss_sim_writer *writer, int64_t from_ns, int64_t to_ns,
				   uint64_t *rows, struct ss_error *err)
{
	struct ss_text footer = { 0 };
	enum ss_status status;

	ss_sim_write_footer(writer, from_ns, to_ns, &footer);
	writer_write_text(writer, &footer);
	if (rows)
		*rows = writer->rows;
	status = writer->status;
	if (status != SS_OK)
		ss_fail(err, status, "%s", writer->error.text);
	writer_release(writer);
	return status;
}
