/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - adds batches to a trace, in the order of the file.
 *
 * A batch's numbers are its own; the builder gives each name, text, track and record the trace's
 * number when it meets it for the first time. Since batches come in the order of the file, numbers
 * count first appearances in the file and do not depend on how many batches there were.
 *
 * When all are there, ss_finish() (finish/finish.h) makes a trace of them.
 */
#ifndef SS_TRACE_BUILDER_H
#define SS_TRACE_BUILDER_H

#include "read/source.h"
#include "trace/batch.h"

struct ss_captures; /* capture.h */

struct ss_builder {
	struct ss_trace *trace;
	struct ss_records
		track_keys;      /* struct ss_track_key; in the order of trace->tracks so far */
	struct ss_records metas; /* struct ss_meta, without their texts ... */
	uint32_t *meta_texts;    /* ... which are here: the last one given counts */
	uint32_t meta_capacity;
	struct ss_records wide_ids; /* ids that do not fit into 32 bits */
	SS_BATCH_ARRAY(struct ss_flow_end, flows);
	SS_BATCH_ARRAY(struct ss_mark, marks);
	const struct ss_captures
		*captures; /* lent: of the graphs that the trace replays; or NULL */
	uint32_t source;   /* number of the trace's own captures */
	char *repaired;    /* a text while it is repaired */
	size_t repaired_bytes;
	bool failed; /* out of memory: a number is missing */
};

SS_MUST_USE
enum ss_status ss_builder_init(struct ss_builder *builder, struct ss_trace *trace,
			       struct ss_error *err);
void ss_builder_release(struct ss_builder *builder);

/* Adds the batch and empties it. Fails if the batch ran out of memory. */
SS_MUST_USE
enum ss_status ss_builder_add(struct ss_builder *builder, struct ss_batch *batch,
			      struct ss_error *err);

/* Stores a text outside of any batch; 0 and false at the limit. */
SS_MUST_USE
bool ss_builder_text(struct ss_builder *builder, const char *text, size_t length, uint32_t *out);

/* Adds a device of the machine. */
SS_MUST_USE
bool ss_builder_add_device(struct ss_builder *builder, const struct ss_device *device);

/* Records the length of the file on disk, and where it ended too early or was damaged. */
void ss_builder_end_source(struct ss_builder *builder, const struct ss_source *source);

#endif
