/*
 * zstd.c - Zstandard by libzstd.
 */
#include <zstd.h>

#include "read/codec.h"

static void *zstd_open(struct ss_memory *memory)
{
	(void)memory; /* libzstd takes its own window, at most the 128 MiB of its default limit */
	return ZSTD_createDStream();
}

static bool zstd_reset(void *state)
{
	return !ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only));
}

static enum ss_codec_result zstd_step(void *state, struct ss_codec_io *io)
{
	ZSTD_inBuffer in = { io->in, io->in_bytes, 0 };
	ZSTD_outBuffer out = { io->out, io->out_bytes, 0 };
	size_t result = ZSTD_decompressStream(state, &out, &in);

	io->in += in.pos;
	io->in_bytes -= in.pos;
	io->out += out.pos;
	io->out_bytes -= out.pos;
	if (ZSTD_isError(result))
		return SS_CODEC_CORRUPT;
	return result == 0 ? SS_CODEC_END : SS_CODEC_MORE;
}

static void zstd_close(void *state, struct ss_memory *memory)
{
	(void)memory;
	ZSTD_freeDStream(state);
}

const struct ss_codec ss_codec_zstd = {
	.name = "zstd",
	.magic = "\x28\xb5\x2f\xfd",
	.magic_bytes = 4,
	.open = zstd_open,
	.step = zstd_step,
	.reset = zstd_reset,
	.close = zstd_close,
};
