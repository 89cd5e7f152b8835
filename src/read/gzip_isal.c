/*
 * gzip_isal.c - gzip by ISA-L, three times as fast as zlib (docs/ARCHITECTURE.md).
 */
#include <isa-l/igzip_lib.h>
#include <string.h>

#include "read/codec.h"

#define AT_ONCE_BYTES ((size_t)1 << 30) /* ISA-L counts in 32 bits */

static void *gzip_open(struct ss_memory *memory)
{
	struct inflate_state *state = ss_memory_resize(memory, NULL, 0, sizeof(*state));

	if (!state)
		return NULL;
	/* ISA-L leaves its window as it finds it, and a damaged stream can point into it */
	memset(state, 0, sizeof(*state));
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
