/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - an array that can outlive its table: aligned as Arrow requires, and with its
 * own owner.
 *
 * While a buffer belongs to an account, it is charged to it like everything else. After
 * ss_buffer_take(), the holder frees it, whether the account still exists or not.
 */
#ifndef SS_TABLE_BUFFER_H
#define SS_TABLE_BUFFER_H

#include "base/memory.h"

#define SS_BUFFER_ALIGN 64

struct ss_buffer {
	void *data;      /* aligned to SS_BUFFER_ALIGN; NULL: nothing is allocated */
	size_t capacity; /* bytes from `data` on, a multiple of SS_BUFFER_ALIGN */
	void *block;     /* what was allocated */
};

bool ss_buffer_grow(struct ss_memory *memory, struct ss_buffer *buffer, size_t bytes);

/* Makes room for `bytes`: keeps the content, does not clear the rest. False at the limit. */
SS_MUST_USE
static inline bool ss_buffer_reserve(struct ss_memory *memory, struct ss_buffer *buffer,
				     size_t bytes)
{
	return bytes <= buffer->capacity || ss_buffer_grow(memory, buffer, bytes);
}

void ss_buffer_release(struct ss_memory *memory, struct ss_buffer *buffer);

/* Takes the buffer out of the account: its new owner frees it. */
struct ss_buffer ss_buffer_take(struct ss_memory *memory, struct ss_buffer *buffer);

/* Frees a buffer that was taken. */
void ss_buffer_free(struct ss_buffer *buffer);

#endif
