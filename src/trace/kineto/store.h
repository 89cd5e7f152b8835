/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - adds batches to the trace, in the order of the file.
 *
 * A batch's numbers are its reader's; the store gives each name, text, track and
 * record the trace's own number when it meets it for the first time. Since
 * batches come in the order of the file, numbers count first appearances in the
 * file and do not depend on how many readers there were.
 */
#ifndef SS_TRACE_KINETO_STORE_H
#define SS_TRACE_KINETO_STORE_H

#include "trace/kineto/reader.h"

/* From a reader's numbers to the trace's; SS_NO_ID where none was given yet. */
struct ss_number_map {
	uint32_t *ids;
	uint32_t capacity;
};

/* One per reader. */
struct ss_batch_maps {
	struct ss_number_map names, texts, tracks, categories;
	struct ss_number_map op_args, kernel_args, copy_args, comm_args;
};

struct ss_builder {
	struct ss_trace *trace;
	struct ss_records
		track_keys;      /* struct ss_track_key; in the order of trace->tracks so far */
	struct ss_records metas; /* struct ss_meta, without their texts ... */
	uint32_t *meta_texts;    /* ... which stand here: the last one given counts */
	uint32_t meta_capacity;
	struct ss_records wide_ids; /* ids that do not fit into 32 bits */
	SS_BATCH_ARRAY(struct ss_flow_end, flows);
	SS_BATCH_ARRAY(struct ss_mark, marks);
	char *repaired; /* a text while it is repaired */
	size_t repaired_bytes;
	bool failed; /* a number could not be given: no memory */
};

SS_MUST_USE
enum ss_status ss_builder_init(struct ss_builder *store, struct ss_trace *trace,
			       struct ss_error *err);
void ss_builder_release(struct ss_builder *store);

void ss_batch_maps_init(struct ss_batch_maps *maps);
void ss_batch_maps_release(struct ss_batch_maps *maps, struct ss_memory *memory);

/* Adds the reader's batch and empties it. */
SS_MUST_USE
enum ss_status ss_builder_add(struct ss_builder *store, struct ss_batch_maps *maps,
			      struct ss_reader *reader, struct ss_error *err);

/* Stores a text outside of any batch; 0 and false at the limit. */
SS_MUST_USE
bool ss_builder_text(struct ss_builder *store, const char *text, size_t length, uint32_t *out);

#endif
