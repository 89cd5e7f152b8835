/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_isal.c - gzip by ISA-L, three times as fast as zlib (docs/ARCHITECTURE.md).
 */
#include <isa-l/igzip_lib.h>
#include <string.h>

#include "read/codec.h"

#define AT_ONCE_BYTES ((size_t)1 << 30) /* ISA-L counts in 32 bits */

static void *gzip_open(struct ss_memory *memory)
{
	struct inflate_state *state = ss_memory_zeroed(memory, sizeof(*state));

	if (!state)
		return NULL;
	/* ISA-L leaves its window as it finds it, and a damaged stream can point into it */
	isal_inflate_init(state);
	state->crc_flag = ISAL_GZIP;
	return state;
}

static bool gzip_reset(void *context)
{
	struct inflate_state *state = context;

	isal_inflate_reset(state);
	state->crc_flag = ISAL_GZIP;
	return true;
}

static enum ss_codec_result gzip_step(void *context, struct ss_codec_io *io)
{
	struct inflate_state *state = context;
	size_t in = io->in_bytes < AT_ONCE_BYTES ? io->in_bytes : AT_ONCE_BYTES;
	size_t out = io->out_bytes < AT_ONCE_BYTES ? io->out_bytes : AT_ONCE_BYTES;
	int result;

	state->next_in = (uint8_t *)(uintptr_t)io->in;
	state->avail_in = (uint32_t)in;
	state->next_out = (uint8_t *)io->out;
	state->avail_out = (uint32_t)out;
	result = isal_inflate(state);
	io->out += out - state->avail_out;
	io->out_bytes -= out - state->avail_out;
	if (result < 0)
		return SS_CODEC_CORRUPT; /* what it says of the input is wrong then */
	io->in += in - state->avail_in;
	io->in_bytes -= in - state->avail_in;
	return state->block_state == ISAL_BLOCK_FINISH ? SS_CODEC_END : SS_CODEC_MORE;
}

static void gzip_close(void *context, struct ss_memory *memory)
{
	ss_memory_free(memory, context, sizeof(struct inflate_state));
}

const struct ss_codec ss_codec_gzip = {
	.name = "gzip",
	.magic = "\x1f\x8b",
	.magic_bytes = 2,
	.open = gzip_open,
	.step = gzip_step,
	.reset = gzip_reset,
	.close = gzip_close,
};

/* Compressed bytes are handed on in pieces of this size. */
#define OUTPUT_BYTES ((size_t)256 * 1024)

struct ss_gzip_writer {
	struct ss_memory *memory;
	ss_gzip_output output;
	void *context;
	struct isal_zstream stream;
	uint8_t level_buffer[ISAL_DEF_LVL1_DEFAULT];
	uint8_t bytes[OUTPUT_BYTES];
};

enum ss_status ss_gzip_writer_open(struct ss_memory *memory, ss_gzip_output output, void *context,
				   struct ss_gzip_writer **out, struct ss_error *err)
{
	struct ss_gzip_writer *writer = ss_memory_zeroed(memory, sizeof(*writer));

	if (!writer)
		return ss_fail_memory(err, "a compressor");
	/* the window too: what ISA-L finds in it must not decide what it writes */
	writer->memory = memory;
	writer->output = output;
	writer->context = context;
	isal_deflate_init(&writer->stream);
	writer->stream.level = 1;
	writer->stream.level_buf = writer->level_buffer;
	writer->stream.level_buf_size = sizeof(writer->level_buffer);
	writer->stream.gzip_flag = IGZIP_GZIP;
	writer->stream.flush = NO_FLUSH;
	*out = writer;
	return SS_OK;
}

/* Compresses what the stream was given, until nothing of it is left. */
static enum ss_status gzip_deflate_input(struct ss_gzip_writer *writer, struct ss_error *err)
{
	struct isal_zstream *stream = &writer->stream;
	size_t made;

	do {
		stream->next_out = writer->bytes;
		stream->avail_out = (uint32_t)OUTPUT_BYTES;
		if (isal_deflate(stream) != COMP_OK)
			return ss_fail(err, SS_ERR_IO, "cannot compress: ISA-L failed");
		made = OUTPUT_BYTES - stream->avail_out;
		if (made)
			SS_TRY(writer->output(writer->context, (const char *)writer->bytes, made,
					      err));
	} while (!stream->avail_out || stream->avail_in);
	return SS_OK;
}

enum ss_status ss_gzip_writer_write(struct ss_gzip_writer *writer, const char *bytes, size_t length,
				    struct ss_error *err)
{
	while (length) {
		size_t now = length < AT_ONCE_BYTES ? length : AT_ONCE_BYTES;

		writer->stream.next_in = (uint8_t *)(uintptr_t)bytes;
		writer->stream.avail_in = (uint32_t)now;
		SS_TRY(gzip_deflate_input(writer, err));
		bytes += now;
		length -= now;
	}
	return SS_OK;
}

enum ss_status ss_gzip_writer_finish(struct ss_gzip_writer *writer, struct ss_error *err)
{
	writer->stream.next_in = NULL;
	writer->stream.avail_in = 0;
	writer->stream.end_of_stream = 1;
	return gzip_deflate_input(writer, err);
}

void ss_gzip_writer_close(struct ss_gzip_writer *writer)
{
	if (writer)
		ss_memory_free(writer->memory, writer, sizeof(*writer));
}
