/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the distinct texts of a column, stored back to back as in Arrow.
 *
 * Text `id` is the bytes from offsets[id] up to offsets[id + 1]; no zero byte ends it. Ids
 * count from 0 in the order of first appearance. A text may move when another one is
 * added.
 */
#ifndef SS_TABLE_DICTIONARY_H
#define SS_TABLE_DICTIONARY_H

#include "table/buffer.h"
#include "base/intern.h"

struct ss_dictionary_slot {
	uint32_t hash;
	uint32_t number; /* id + 1; 0: free */
};

struct ss_dictionary {
	struct ss_buffer offsets; /* int64_t, one more than there are texts */
	struct ss_buffer bytes;
	uint32_t count;
	uint32_t last; /* the id that was added or found last */
	struct ss_dictionary_slot *slots;
	uint32_t slot_count;
};

/* Returns the id of the text, stored now if it is new; SS_NO_ID at the limit. */
SS_MUST_USE
uint32_t ss_dictionary_add(struct ss_dictionary *dictionary, struct ss_memory *memory,
			   const char *text, size_t length);

void ss_dictionary_release(struct ss_dictionary *dictionary, struct ss_memory *memory);

static inline const int64_t *ss_dictionary_offsets(const struct ss_dictionary *dictionary)
{
	return dictionary->offsets.data;
}

static inline uint32_t ss_dictionary_length(const struct ss_dictionary *dictionary, uint32_t id)
{
	const int64_t *offsets = ss_dictionary_offsets(dictionary);

	assert(id < dictionary->count);
	return (uint32_t)(offsets[id + 1] - offsets[id]);
}

static inline const char *ss_dictionary_text(const struct ss_dictionary *dictionary, uint32_t id)
{
	assert(id < dictionary->count);
	return (const char *)dictionary->bytes.data + ss_dictionary_offsets(dictionary)[id];
}

#endif
