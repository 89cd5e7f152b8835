/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.c - allocates blocks that contain an aligned address.
 *
 * A block that grows may move; a large one moves by whole pages (see memory.h), so that
 * its aligned address stays at the same place in it and nothing is copied.
 */
#include "table/buffer.h"

#include <string.h>

/* What a block has beyond its capacity, to align the address. */
#define SLACK_BYTES ((size_t)SS_BUFFER_ALIGN - 1)

static size_t buffer_block_bytes(const struct ss_buffer *buffer)
{
	return buffer->block ? buffer->capacity + SLACK_BYTES : 0;
}

/* How far in the block the aligned address is. */
static size_t align_shift(const void *block)
{
	return (SS_BUFFER_ALIGN - (uintptr_t)block % SS_BUFFER_ALIGN) % SS_BUFFER_ALIGN;
}

bool ss_buffer_grow(struct ss_memory *memory, struct ss_buffer *buffer, size_t bytes)
{
	size_t shift = buffer->block ? align_shift(buffer->block) : 0, room, moved_shift;
	char *moved;

	if (bytes > PTRDIFF_MAX - SLACK_BYTES - SS_BUFFER_ALIGN)
		return false;
	room = (bytes + SS_BUFFER_ALIGN - 1) / SS_BUFFER_ALIGN * SS_BUFFER_ALIGN;
	moved = ss_memory_resize(memory, buffer->block, buffer_block_bytes(buffer),
				 room + SLACK_BYTES);
	if (!moved)
		return false;
	moved_shift = align_shift(moved);
	if (buffer->capacity && moved_shift != shift)
		memmove(moved + moved_shift, moved + shift, buffer->capacity);
	*buffer = (struct ss_buffer){ moved + moved_shift, room, moved };
	return true;
}

void ss_buffer_release(struct ss_memory *memory, struct ss_buffer *buffer)
{
	ss_memory_free(memory, buffer->block, buffer_block_bytes(buffer));
	*buffer = (struct ss_buffer){ 0 };
}

struct ss_buffer ss_buffer_take(struct ss_memory *memory, struct ss_buffer *buffer)
{
	struct ss_buffer taken = *buffer;

	ss_memory_forget(memory, buffer_block_bytes(buffer));
	*buffer = (struct ss_buffer){ 0 };
	return taken;
}

void ss_buffer_free(struct ss_buffer *buffer)
{
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	ss_memory_free(&outside, buffer->block, 0);
	*buffer = (struct ss_buffer){ 0 };
}
