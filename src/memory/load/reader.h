/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - shared by the files that turn a pickle into a snapshot.
 *
 * Nothing in a pickle says what a dictionary is, except its keys. A dictionary becomes a
 * row of its kind at once, and is referred to by kind and number from then on; a list of
 * consecutive rows is a range of them.
 */
#ifndef SS_MEMORY_LOAD_READER_H
#define SS_MEMORY_LOAD_READER_H

#include "memory/load/snapshot.h"
#include "read/pickle.h"

/* What a container is; the number that stands for it is kind << 32 | index. */
enum ss_snapshot_part {
	SS_PART_NONE, /* an empty container, or no container */
	SS_PART_EVENT,
	SS_PART_FRAME,
	SS_PART_BLOCK,
	SS_PART_SEGMENT,
	SS_PART_ANNOTATION,
	SS_PART_HISTORY, /* of a block, torch 1.13 and 2.0 */
	SS_PART_ROOT,
	SS_PART_PAIRS, /* a dictionary with none of our keys, or only some: settings */
	SS_PART_RANGE, /* a list of one of the above, or of lists */
	SS_PART_STACK,
	SS_PART_POOL,  /* two integers */
	SS_PART_OTHER, /* nothing that a snapshot has */
};

/* Rows of one kind that follow each other. */
struct ss_part_range {
	uint32_t part; /* enum ss_snapshot_part; SS_PART_RANGE: of lists, in `lists` */
	uint32_t first, count;
};

struct ss_old_history {
	uint64_t address;
	int64_t bytes;
	uint32_t stack;
	bool has_address;
};

struct ss_pair {
	uint32_t key; /* text; SS_NO_ID: no text */
	struct ss_pickle_value value;
};

struct ss_snapshot_reader {
	struct ss_snapshot *out;
	const struct ss_snapshot_options *options;
	struct ss_part_range *ranges;
	uint32_t range_count, range_capacity;
	uint32_t *lists; /* ranges; SS_NO_ID: an empty list */
	uint32_t list_count, list_capacity;
	struct ss_old_history *histories;
	uint32_t history_count, history_capacity;
	struct ss_pair *pairs;
	uint32_t pair_count, pair_capacity;
	uint32_t *frames; /* scratch: a stack */
	uint32_t frame_capacity;
	struct ss_event_about last_about; /* most events have that of the one before */
	uint32_t last_about_id;
	/* of the root: what its keys lead to */
	struct ss_pickle_value segments, traces, host_segments, host_traces, settings, annotations;
};

static inline enum ss_snapshot_part ss_part_of(const struct ss_pickle_value *value)
{
	return value->kind < SS_PICKLE_LIST ? SS_PART_NONE
					    : (enum ss_snapshot_part)(value->content >> 32);
}

static inline uint32_t ss_part_index(const struct ss_pickle_value *value)
{
	return (uint32_t)value->content;
}

static inline uint64_t ss_part_content(enum ss_snapshot_part part, uint32_t index)
{
	return (uint64_t)part << 32 | index;
}

/* dicts.c: the keys that are known are the first texts, in one order. */
SS_MUST_USE bool ss_snapshot_intern_keys(struct ss_strings *texts);

/* Makes a row of a dictionary. */
SS_MUST_USE
enum ss_status ss_snapshot_read_dict(struct ss_snapshot_reader *reader, uint64_t *content,
				     const struct ss_pickle_value *items, uint32_t count,
				     struct ss_error *err);

#endif
