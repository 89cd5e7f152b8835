/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - shared by the files that turn a pickle or JSON into a dump.
 *
 * Both forms arrive as containers from the inside out (read/pickle.h); a dictionary is known by
 * its keys. The number that stands for a container is part << 32 | index.
 */
#ifndef SS_HANG_LOAD_READER_H
#define SS_HANG_LOAD_READER_H

#include "hang/load/flight.h"
#include "read/pickle.h"

enum ss_flight_part {
	SS_FLIGHT_PART_NONE,
	SS_FLIGHT_PART_OTHER,
	SS_FLIGHT_PART_FRAME,
	SS_FLIGHT_PART_STACK,
	SS_FLIGHT_PART_SHAPE, /* of a tensor, or of several */
	SS_FLIGHT_PART_WORDS, /* a list of texts */
	SS_FLIGHT_PART_GROUP,
	SS_FLIGHT_PART_STATUS,
	SS_FLIGHT_PART_ENTRY,
	SS_FLIGHT_PART_ROOT,
};

/* Sizes of a tensor, or of a list of them. */
struct ss_flight_shape {
	int64_t elements;
	uint32_t text;
	uint32_t unused;
};

/* The first two texts of a list, and all of them as one text if they differ. */
struct ss_flight_words {
	uint32_t first, second, all;
};

struct ss_flight_reader {
	struct ss_flight *out;
	struct ss_records shapes; /* struct ss_flight_shape */
	struct ss_records words;  /* struct ss_flight_words */
	uint32_t *frames;         /* a stack while it is read */
	uint32_t frame_capacity;
	bool has_root;
};

/* records.c: takes a container; the reader of read/pickle.h. */
SS_MUST_USE
enum ss_status ss_flight_fill(void *context, enum ss_pickle_kind kind, uint64_t *content,
			      const struct ss_pickle_value *items, uint32_t count,
			      struct ss_error *err);

/* The keys that are known are the first texts, in one order; false: no memory. */
SS_MUST_USE bool ss_flight_intern_keys(struct ss_strings *texts);

/* load_json.c: reads JSON as a pickle of the same values. */
SS_MUST_USE
enum ss_status ss_flight_read_json(struct ss_source *source, struct ss_flight_reader *reader,
				   struct ss_error *err);

#endif
