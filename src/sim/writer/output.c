/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - a sink for a file that gets its name when it is complete.
 */
#include "sim/writer/output.h"

#include <stdio.h>

#include "base/system/new_file.h"
#include "read/codec.h"

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
