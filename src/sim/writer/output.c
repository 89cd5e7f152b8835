/*
 * output.c - a sink over a file that gets its name when it is whole.
 */
#include "sim/writer/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "read/gzip_write.h"

/* What the file is called until it is whole, behind its name. */
static const char unfinished[] = ".tmp";

struct ss_sim_output {
	struct ss_memory *memory;
	struct ss_gzip_writer *gzip; /* NULL: plain */
	uint64_t bytes;
	size_t name_bytes;
	int fd;
	char *name;      /* that it will have */
	char *temporary; /* that it has */
};

static enum ss_status write_bytes(void *context, const char *bytes, size_t length,
				  struct ss_error *err)
{
	struct ss_sim_output *output = context;

	while (length) {
		ssize_t count = write(output->fd, bytes, length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return ss_fail(err, SS_ERR_IO, "cannot write '%s': %s", output->name,
				       strerror(errno));
		bytes += count;
		length -= (size_t)count;
		output->bytes += (uint64_t)count;
	}
	return SS_OK;
}

static enum ss_status compress_bytes(void *context, const char *bytes, size_t length,
				     struct ss_error *err)
{
	struct ss_sim_output *output = context;

	return ss_gzip_writer_write(output->gzip, bytes, length, err);
}

static void release(struct ss_sim_output *output)
{
	struct ss_memory *memory = output->memory;

	ss_gzip_writer_close(output->gzip);
	if (output->name)
		ss_memory_free(memory, output->name, output->name_bytes);
	if (output->temporary)
		ss_memory_free(memory, output->temporary, output->name_bytes);
	ss_memory_free(memory, output, sizeof(*output));
}

static enum ss_status open_file(struct ss_sim_output *output, const char *path, bool compressed,
				struct ss_error *err)
{
	output->name_bytes = strlen(path) + sizeof(".gz") + sizeof(unfinished);
	output->name = ss_memory_resize(output->memory, NULL, 0, output->name_bytes);
	output->temporary = ss_memory_resize(output->memory, NULL, 0, output->name_bytes);
	if (!output->name || !output->temporary)
		return ss_fail_memory(err, "an output file");
	snprintf(output->name, output->name_bytes, "%s%s", path, compressed ? ".gz" : "");
	snprintf(output->temporary, output->name_bytes, "%s%s", output->name, unfinished);
	output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (output->fd < 0)
		return ss_fail(err, SS_ERR_IO, "cannot create '%s': %s", output->temporary,
			       strerror(errno));
	return SS_OK;
}

enum ss_status ss_sim_output_open(const char *path, bool compressed, struct ss_memory *memory,
				  struct ss_sim_output **out, struct ss_error *err)
{
	struct ss_sim_output *output = ss_memory_resize(memory, NULL, 0, sizeof(*output));
	enum ss_status status = SS_OK;

	if (!output)
		return ss_fail_memory(err, "an output file");
	*output = (struct ss_sim_output){ .memory = memory, .fd = -1 };
	if (compressed)
		status = ss_gzip_writer_open(memory, write_bytes, output, &output->gzip, err);
	if (status == SS_OK)
		status = open_file(output, path, compressed, err);
	if (status != SS_OK) {
		release(output);
		return status;
	}
	*out = output;
	return SS_OK;
}

struct ss_sim_sink ss_sim_output_sink(struct ss_sim_output *output)
{
	return (struct ss_sim_sink){ output->gzip ? compress_bytes : write_bytes, output };
}

enum ss_status ss_sim_output_close(struct ss_sim_output *output, bool whole, uint64_t *bytes,
				   struct ss_error *err)
{
	enum ss_status status = SS_OK;

	if (whole && output->gzip)
		status = ss_gzip_writer_finish(output->gzip, err);
	/* some file systems tell only here that there was no room */
	if (close(output->fd) != 0 && errno != EINTR && whole && status == SS_OK)
		status = ss_fail(err, SS_ERR_IO, "cannot write '%s': %s", output->name,
				 strerror(errno));
	if (whole && status == SS_OK && rename(output->temporary, output->name) != 0)
		status = ss_fail(err, SS_ERR_IO, "cannot name '%s': %s", output->name,
				 strerror(errno));
	if (!whole || status != SS_OK)
		unlink(output->temporary);
	if (bytes)
		*bytes = output->bytes;
	release(output);
	return status;
}
