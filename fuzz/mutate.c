/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate.c - what all mutators need, and the choice among them.
 */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

/* Of as many inputs one is changed by libFuzzer. */
#define PLAIN_OF 8
#define CHANGES_MAX 4

size_t draw(struct mutation *mutation, size_t bound)
{
	uint64_t x = mutation->state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	mutation->state = x;
	return bound ? (size_t)((x * 0x9e3779b97f4a7c15u >> 11) % bound) : 0;
}

bool replace(struct mutation *mutation, size_t from, size_t to, const void *text, size_t length)
{
	size_t rest = mutation->size - to;

	if (from + length > mutation->max_size || rest > mutation->max_size - from - length)
		return false;
	memmove(mutation->data + from + length, mutation->data + to, rest);
	if (length)
		memcpy(mutation->data + from, text, length);
	mutation->size = from + length + rest;
	return true;
}

bool replace_by_own(struct mutation *mutation, size_t from, size_t to, size_t own, size_t length)
{
	uint8_t *copy = malloc(length + 1);
	bool done;

	if (!copy)
		return false;
	memcpy(copy, mutation->data + own, length);
	done = replace(mutation, from, to, copy, length);
	free(copy);
	return done;
}

static bool mutate_once(struct mutation *mutation)
{
	if (is_pack(mutation->data, mutation->size))
		return mutate_pack(mutation);
	if (mutation->size > 1 && (mutation->data[0] == 0x80 || mutation->data[0] == '('))
		return mutate_pickle(mutation);
	return mutate_json(mutation);
}

size_t mutate_file(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutation mutation = { data, size, max_size, seed * UINT64_C(2654435761) + 88172645 };
	bool done = false;

	if (draw(&mutation, PLAIN_OF))
		for (size_t left = 1 + draw(&mutation, CHANGES_MAX); left; left--)
			done = mutate_once(&mutation) || done;
	return done ? mutation.size : LLVMFuzzerMutate(data, size, max_size);
}
