/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_zlib.c - gzip by zlib, where ISA-L is not available.
 */
#include <string.h>
#include <zlib.h>

#include "read/codec.h"

#define AT_ONCE_BYTES ((size_t)1 << 30) /* zlib counts in unsigned int */

/* 15 bits of window, and 16 says that a gzip header is expected. */
#define WINDOW_BITS (15 + 16)

static void *gzip_open(struct ss_memory *memory)
{
	z_stream *stream = ss_memory_zeroed(memory, sizeof(*stream));

	if (!stream)
		return NULL;
	if (inflateInit2(stream, WINDOW_BITS) == Z_OK)
		return stream;
	ss_memory_free(memory, stream, sizeof(*stream));
	return NULL;
}

static bool gzip_reset(void *context)
{
	return inflateReset(context) == Z_OK;
}

static enum ss_codec_result gzip_step(void *context, struct ss_codec_io *io)
{
	z_stream *stream = context;
	size_t in = io->in_bytes < AT_ONCE_BYTES ? io->in_bytes : AT_ONCE_BYTES;
	size_t out = io->out_bytes < AT_ONCE_BYTES ? io->out_bytes : AT_ONCE_BYTES;
	int result;

	stream->next_in = (Bytef *)(uintptr_t)io->in;
	stream->avail_in = (uInt)in;
	stream->next_out = (Bytef *)io->out;
	stream->avail_out = (uInt)out;
	result = inflate(stream, Z_NO_FLUSH);
	io->in += in - stream->avail_in;
	io->in_bytes -= in - stream->avail_in;
	io->out += out - stream->avail_out;
	io->out_bytes -= out - stream->avail_out;
	if (result == Z_STREAM_END)
		return SS_CODEC_END;
	if (result == Z_MEM_ERROR)
		return SS_CODEC_NO_MEMORY;
	return result == Z_OK || result == Z_BUF_ERROR ? SS_CODEC_MORE : SS_CODEC_CORRUPT;
}

static void gzip_close(void *context, struct ss_memory *memory)
{
	inflateEnd(context);
	ss_memory_free(memory, context, sizeof(z_stream));
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

/* Of memory for the search: zlib's own choice. */
#define MEMORY_LEVEL 8

struct ss_gzip_writer {
	struct ss_memory *memory;
	ss_gzip_output output;
	void *context;
	z_stream stream;
	Bytef bytes[OUTPUT_BYTES];
};

enum ss_status ss_gzip_writer_open(struct ss_memory *memory, ss_gzip_output output, void *context,
				   struct ss_gzip_writer **out, struct ss_error *err)
{
	struct ss_gzip_writer *writer = ss_memory_zeroed(memory, sizeof(*writer));

	if (!writer)
		return ss_fail_memory(err, "a compressor");
	writer->memory = memory;
	writer->output = output;
	writer->context = context;
	if (deflateInit2(&writer->stream, 1, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		ss_memory_free(memory, writer, sizeof(*writer));
		return ss_fail_memory(err, "a compressor");
	}
	*out = writer;
	return SS_OK;
}

/* Compresses what the stream was given, until nothing of it is left. */
static enum ss_status gzip_deflate_input(struct ss_gzip_writer *writer, int flush,
					 struct ss_error *err)
{
	z_stream *stream = &writer->stream;
	size_t made;
	int result;

	do {
		stream->next_out = writer->bytes;
		stream->avail_out = (uInt)OUTPUT_BYTES;
		result = deflate(stream, flush);
		/* having nothing to do is not an error here */
		if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
			return ss_fail(err, SS_ERR_IO, "cannot compress: zlib failed");
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

		writer->stream.next_in = (Bytef *)(uintptr_t)bytes;
		writer->stream.avail_in = (uInt)now;
		SS_TRY(gzip_deflate_input(writer, Z_NO_FLUSH, err));
		bytes += now;
		length -= now;
	}
	return SS_OK;
}

enum ss_status ss_gzip_writer_finish(struct ss_gzip_writer *writer, struct ss_error *err)
{
	writer->stream.next_in = NULL;
	writer->stream.avail_in = 0;
	return gzip_deflate_input(writer, Z_FINISH, err);
}

void ss_gzip_writer_close(struct ss_gzip_writer *writer)
{
	if (!writer)
		return;
	deflateEnd(&writer->stream);
	ss_memory_free(writer->memory, writer, sizeof(*writer));
}
