/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.c - a file of rows: opening it, whose rows follow, and closing it.
 */
#include "sim/writer/writer.h"

#include <stdio.h>

#include "sim/writer/writer_parts.h"
#include "base/system/new_file.h"
#include "read/codec.h"

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

/* A sink for a file that gets its name when it is complete. */

struct ss_sim_output {
	struct ss_memory *memory;
	struct ss_gzip_writer *gzip; /* NULL: plain */
	struct ss_new_file file;
};

static enum ss_status output_write_plain(void *context, const char *bytes, size_t length,
					 struct ss_error *err)
{
	struct ss_sim_output *output = context;

	return ss_new_file_write(&output->file, bytes, length, err);
}

static enum ss_status output_compress(void *context, const char *bytes, size_t length,
				      struct ss_error *err)
{
	struct ss_sim_output *output = context;

	return ss_gzip_writer_write(output->gzip, bytes, length, err);
}

static void output_release(struct ss_sim_output *output)
{
	ss_gzip_writer_close(output->gzip);
	ss_new_file_drop(&output->file);
	ss_memory_free(output->memory, output, sizeof(*output));
}

static enum ss_status output_open_file(struct ss_sim_output *output, const char *path,
				       bool compressed, struct ss_error *err)
{
	char name[SS_PATH_BYTES];
	int length = snprintf(name, sizeof(name), "%s%s", path, compressed ? ".gz" : "");

	if (length < 0 || length >= (int)sizeof(name))
		return ss_fail(err, SS_ERR_USAGE, "the path '%.100s...' is too long", path);
	return ss_new_file_open(name, &output->file, err);
}

enum ss_status ss_sim_output_open(const char *path, bool compressed, struct ss_memory *memory,
				  struct ss_sim_output **out, struct ss_error *err)
{
	struct ss_sim_output *output = ss_memory_resize(memory, NULL, 0, sizeof(*output));
	enum ss_status status = SS_OK;

	if (!output)
		return ss_fail_memory(err, "an output file");
	*output = (struct ss_sim_output){ .memory = memory, .file.fd = -1 };
	if (compressed)
		status = ss_gzip_writer_open(memory, output_write_plain, output, &output->gzip,
					     err);
	if (status == SS_OK)
		status = output_open_file(output, path, compressed, err);
	if (status != SS_OK) {
		output_release(output);
		return status;
	}
	*out = output;
	return SS_OK;
}

struct ss_sim_sink ss_sim_output_sink(struct ss_sim_output *output)
{
	return (struct ss_sim_sink){ output->gzip ? output_compress : output_write_plain, output };
}

enum ss_status ss_sim_output_close(struct ss_sim_output *output, bool whole, uint64_t *bytes,
				   struct ss_error *err)
{
	enum ss_status status = SS_OK;

	if (whole && output->gzip)
		status = ss_gzip_writer_finish(output->gzip, err);
	if (bytes)
		*bytes = output->file.bytes;
	if (whole && status == SS_OK)
		status = ss_new_file_close(&output->file, err);
	output_release(output);
	return status;
}
