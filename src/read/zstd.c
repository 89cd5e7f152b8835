/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd.c - Zstandard by libzstd.
 */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/text.h"
#include "read/codec.h"

/* Higher ones take ten times as long and save a tenth. */
#define LEVEL 9
#define LEVEL_FAST 3

#ifdef __wasm__
/* The page reads: its libzstd is the decoder alone, and what is written stays as it is. */
static void zstd_compress(const char *bytes, size_t length, int level, struct ss_text *out)
{
	(void)level;
	ss_text_add(out, bytes, length);
}
#else
static void zstd_compress(const char *bytes, size_t length, int level, struct ss_text *out)
{
	size_t room = ZSTD_compressBound(length), written;

	if (!ss_text_reserve(out, room))
		return;
	written = ZSTD_compress(out->data + out->length, room, bytes, length, level);
	if (ZSTD_isError(written)) {
		ss_text_fail(out);
		return;
	}
	out->length += written;
	out->data[out->length] = '\0';
}
#endif

void ss_zstd_write(const char *bytes, size_t length, struct ss_text *out)
{
	zstd_compress(bytes, length, LEVEL, out);
}

void ss_zstd_write_fast(const char *bytes, size_t length, struct ss_text *out)
{
	zstd_compress(bytes, length, LEVEL_FAST, out);
}

const bool ss_zstd_is_here = true;

bool ss_zstd_length(const void *frame, size_t bytes, uint64_t *out)
{
	unsigned long long length = ZSTD_getFrameContentSize(frame, bytes);

	*out = length;
	return length != ZSTD_CONTENTSIZE_UNKNOWN && length != ZSTD_CONTENTSIZE_ERROR;
}

bool ss_zstd_read(const void *frame, size_t bytes, void *out, size_t room)
{
	return ZSTD_decompress(out, room, frame, bytes) == room;
}

struct zstd_state {
	ZSTD_DStream *stream; /* takes its own window, at most the 128 MiB of libzstd's limit */
	size_t wanted_bytes;  /* input up to the end of the block at work */
	bool has_more;        /* output that the last call had no room for */
};

static void *zstd_open(struct ss_memory *memory)
{
	struct zstd_state *state = ss_memory_resize(memory, NULL, 0, sizeof(*state));

	if (!state)
		return NULL;
	state->stream = ZSTD_createDStream();
	if (state->stream) {
		state->wanted_bytes = ZSTD_initDStream(state->stream);
		state->has_more = false;
		return state;
	}
	ss_memory_free(memory, state, sizeof(*state));
	return NULL;
}

static bool zstd_reset(void *context)
{
	struct zstd_state *state = context;

	state->wanted_bytes = ZSTD_initDStream(state->stream);
	state->has_more = false;
	return !ZSTD_isError(state->wanted_bytes);
}

/*
 * What a call has decoded when it meets damage is lost, so a call gets no more than the
 * block at work, and nothing while there is output of the block before it: what comes
 * before the damage is kept, however little room the caller has.
 */
static enum ss_codec_result zstd_step(void *context, struct ss_codec_io *io)
{
	struct zstd_state *state = context;
	size_t most = state->wanted_bytes < io->in_bytes ? state->wanted_bytes : io->in_bytes;
	ZSTD_inBuffer in = { io->in, 0, 0 };
	ZSTD_outBuffer out = { io->out, io->out_bytes, 0 };
	size_t result = state->wanted_bytes;

	if (state->has_more)
		result = ZSTD_decompressStream(state->stream, &out, &in);
	state->has_more = out.pos == out.size;
	in.size = most;
	if (!ZSTD_isError(result) && result > 0 && !state->has_more) {
		result = ZSTD_decompressStream(state->stream, &out, &in);
		state->has_more = out.pos == out.size;
	}
	if (!ZSTD_isError(result) && result > 0)
		state->wanted_bytes = result;
	io->in += in.pos;
	io->in_bytes -= in.pos;
	io->out += out.pos;
	io->out_bytes -= out.pos;
	if (ZSTD_isError(result))
		return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation
			       ? SS_CODEC_NO_MEMORY
			       : SS_CODEC_CORRUPT;
	return result == 0 ? SS_CODEC_END : SS_CODEC_MORE;
}

static void zstd_close(void *context, struct ss_memory *memory)
{
	struct zstd_state *state = context;

	ZSTD_freeDStream(state->stream);
	ss_memory_free(memory, state, sizeof(*state));
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
