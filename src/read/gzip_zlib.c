/*
 * gzip_zlib.c - gzip by zlib, where ISA-L is not to be had.
 */
#include <string.h>
#include <zlib.h>

#include "read/codec.h"

#define AT_ONCE_BYTES ((size_t)1 << 30) /* zlib counts in unsigned int */

/* 15 bits of window, and 16 says that a gzip header is expected. */
#define WINDOW_BITS (15 + 16)

static void *gzip_open(struct ss_memory *memory)
{
	z_stream *stream = ss_memory_resize(memory, NULL, 0, sizeof(*stream));

	if (!stream)
		return NULL;
	memset(stream, 0, sizeof(*stream));
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
