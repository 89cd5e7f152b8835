/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.c - a source that decompresses another one, member after member.
 */
#include "read/codec.h"

#include <string.h>

/* A few pages: large enough that a read costs nothing beside the inflating. */
#define INPUT_BYTES ((size_t)128 * 1024)

struct decoded_source {
	struct ss_source source; /* first: a pointer to it is a pointer to us */
	struct ss_source *inner;
	const struct ss_codec *codec;
	void *state;
	size_t in_at, in_end;
	bool inner_ended;
	bool between; /* a member ended, nothing of a next one was seen */
	bool ended;
	char input[INPUT_BYTES];
};

static void decoded_close(struct ss_source *source)
{
	struct decoded_source *decoded = (struct decoded_source *)source;

	if (decoded->state)
		decoded->codec->close(decoded->state, source->memory);
	ss_source_close(decoded->inner);
	ss_memory_free(source->memory, decoded, sizeof(*decoded));
}

static enum ss_status decoded_refill(struct decoded_source *decoded, struct ss_error *err)
{
	size_t left = decoded->in_end - decoded->in_at, got;

	memmove(decoded->input, decoded->input + decoded->in_at, left);
	decoded->in_at = 0;
	decoded->in_end = left;
	SS_TRY(ss_source_fill(decoded->inner, decoded->input + left, INPUT_BYTES - left, &got,
			      err));
	decoded->in_end += got;
	decoded->inner_ended = got == 0;
	decoded->source.done_bytes = decoded->inner->done_bytes;
	return SS_OK;
}

static void decoded_end_with(struct decoded_source *decoded, enum ss_source_flaw flaw)
{
	decoded->ended = true;
	decoded->source.flaw = flaw;
}

/* After a member: is there another one? */
static void decoded_next_member(struct decoded_source *decoded)
{
	const struct ss_codec *codec = decoded->codec;
	size_t left = decoded->in_end - decoded->in_at;

	if (left >= codec->magic_bytes &&
	    memcmp(decoded->input + decoded->in_at, codec->magic, codec->magic_bytes) == 0 &&
	    codec->reset(decoded->state))
		decoded->between = false;
	else
		decoded_end_with(decoded, left ? SS_SOURCE_TRAILING : SS_SOURCE_WHOLE);
}

/* One step of the decompressor, with what is left of the input. */
static enum ss_status decode_some(struct decoded_source *decoded, char *buffer, size_t room,
				  size_t *got, struct ss_error *err)
{
	struct ss_codec_io io = { decoded->input + decoded->in_at, decoded->in_end - decoded->in_at,
				  buffer, room };
	size_t had_bytes = io.in_bytes;

	switch (decoded->codec->step(decoded->state, &io)) {
	case SS_CODEC_NO_MEMORY:
		return ss_fail_memory(err, "a decompressor");
	case SS_CODEC_CORRUPT:
		decoded_end_with(decoded, SS_SOURCE_CORRUPT);
		break;
	case SS_CODEC_END:
		decoded->between = true;
		break;
	case SS_CODEC_MORE:
		/* No progress although all input was read: the stream is cut. */
		if (decoded->inner_ended && io.in_bytes == had_bytes && io.out_bytes == room)
			decoded_end_with(decoded, SS_SOURCE_CUT);
		break;
	}
	decoded->in_at += had_bytes - io.in_bytes;
	*got = room - io.out_bytes;
	return SS_OK;
}

static enum ss_status decoded_read(struct ss_source *source, char *buffer, size_t room, size_t *got,
				   struct ss_error *err)
{
	struct decoded_source *decoded = (struct decoded_source *)source;

	*got = 0;
	while (*got == 0 && !decoded->ended) {
		size_t left = decoded->in_end - decoded->in_at;

		if (left < decoded->codec->magic_bytes && !decoded->inner_ended)
			SS_TRY(decoded_refill(decoded, err));
		if (decoded->between)
			decoded_next_member(decoded);
		if (!decoded->ended && !decoded->between)
			SS_TRY(decode_some(decoded, buffer, room, got, err));
	}
	return SS_OK;
}

enum ss_status ss_codec_open(const struct ss_codec *codec, struct ss_source *inner,
			     struct ss_source **out, struct ss_error *err)
{
	struct ss_memory *memory = inner->memory;
	struct decoded_source *decoded = NULL;

	if (codec->missing) {
		ss_source_close(inner);
		return ss_fail(err, SS_ERR_MISSING, "this build has no %s: %s", codec->name,
			       codec->missing);
	}
	decoded = ss_memory_resize(memory, NULL, 0, sizeof(*decoded));
	if (!decoded) {
		ss_source_close(inner);
		return ss_fail_memory(err, "a decompressor");
	}
	memset(decoded, 0, sizeof(*decoded));
	decoded->source = (struct ss_source){ .memory = memory,
					      .read = decoded_read,
					      .close = decoded_close,
					      .total_bytes = inner->total_bytes,
					      .stamp = inner->stamp };
	decoded->inner = inner;
	decoded->codec = codec;
	decoded->state = codec->open(memory);
	if (!decoded->state) {
		decoded_close(&decoded->source);
		return ss_fail_memory(err, "a decompressor");
	}
	*out = &decoded->source;
	return SS_OK;
}
