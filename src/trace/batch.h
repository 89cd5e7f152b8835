/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - rows of events as an input format produces them, before they are part of a trace.
 *
 * Every input format fills batches: slices with their names, tracks and arguments, and beside
 * them flows, begins and ends, counters, memory events and names of tracks. Numbers of names,
 * texts, tracks, categories and records are the batch's own, so threads that fill a batch each
 * share nothing. A builder (builder.h) adds batches to the trace in the order of the file, and
 * only then its numbers become the trace's: the result does not depend on who read what.
 *
 * Where memory is missing, ss_batch.out_of_memory is set and numbers are 0: check it once, at the
 * end. ss_builder_add() fails then.
 */
#ifndef SS_TRACE_BATCH_H
#define SS_TRACE_BATCH_H

#include "trace/trace.h"

/* A slice. */
struct ss_event {
	int64_t start_ns, dur_ns;
	int64_t id; /* correlation or External id, 0: none */
	uint32_t name, track, category;
	uint32_t args; /* record of its kind (ss_slices.args) or SS_NO_ARGS */
	uint8_t kind;
};

/* What belongs to an event of the same batch. */
struct ss_event_comm {
	uint32_t event, args;
	int64_t sequence;
};

struct ss_event_sequence {
	uint32_t event, fwd_thread;
	int64_t sequence;
};

struct ss_event_sync {
	uint32_t event;
	int64_t stream, wait_stream, wait_correlation;
};

/* Arguments that no view looks at: a stretch of ss_batch.other_text. */
struct ss_event_other {
	uint32_t event, from, length;
};

/* Cuspy numbers edges of CUDA graphs from here on: correlations are smaller. */
#define SS_GRAPH_EDGE_ID_MIN ((int64_t)1 << 40)

/* One end of a forward-backward arrow, or of an edge between two nodes of a CUDA graph. */
struct ss_flow_end {
	int64_t id, start_ns;
	uint32_t track;
	bool arrives, is_edge;
};

/* A begin or an end, to be paired with its other half. */
struct ss_mark {
	uint64_t key; /* equal for halves that belong together; 0: halves of one track do */
	int64_t start_ns;
	uint32_t name, track, category;
	uint32_t order; /* of the file; the builder sets it */
	uint8_t kind;
	bool ends;
};

struct ss_allocation {
	int64_t start_ns, address, bytes, allocated_bytes, reserved_bytes;
	uint32_t track;
	int16_t device_id;
	uint8_t device_type;
	bool out_of_memory;
};

enum ss_meta_what { SS_META_PROCESS_NAME, SS_META_THREAD_NAME };

/* A name for a process or a thread. */
struct ss_meta {
	int64_t pid, tid;
	uint32_t pid_text, tid_text;
	uint32_t what; /* enum ss_meta_what */
	uint32_t text; /* 0 while it is looked for */
};

/* Identifies a track. */
struct ss_track_key {
	int64_t pid, tid;            /* device tracks: device and stream */
	uint32_t pid_text, tid_text; /* texts if they are not numbers, else 0 */
	uint32_t class;              /* enum ss_track_class */
	uint32_t padding;
};

/* What is in a batch beside slices; SS_LOOSE_CATEGORY: of an event that is not kept. */
enum ss_batch_position_kind {
	SS_LOOSE_ALLOCATION,
	SS_LOOSE_FLOW,
	SS_LOOSE_MARK,
	SS_LOOSE_COUNTER,
	SS_LOOSE_META,
	SS_LOOSE_CATEGORY,
};

/* The position of one of them in the file. */
struct ss_batch_position {
	uint32_t events; /* of the batch that came before it */
	uint32_t kind;   /* enum ss_batch_position_kind */
	uint32_t index;  /* in the array of its kind, or a category */
};

/* A category as the file has it; its name is that of the same number in category_names. */
struct ss_batch_category {
	struct ss_category meaning;
	uint64_t events; /* slices of the batch, kept or not */
	uint32_t text;   /* lower case, id into texts */
	bool is_arrow;   /* forward-backward arrows */
};

/* From a batch's numbers to the trace's; SS_NO_ID: not numbered yet. */
struct ss_number_map {
	uint32_t *ids;
	uint32_t capacity;
};

#define SS_BATCH_ARRAY(type, name) \
	type *name;                \
	uint32_t name##_count, name##_capacity

struct ss_batch {
	struct ss_memory *memory;
	/* what the rows refer to; ss_batch_clear() leaves it there for the next rows */
	struct ss_strings names;
	uint32_t *name_flags; /* enum ss_name_flag, per name */
	uint32_t name_flag_capacity;
	struct ss_strings texts;
	struct ss_records tracks;       /* struct ss_track_key */
	struct ss_records meta_records; /* struct ss_meta */
	struct ss_records op_args, kernel_args, copy_args, comm_args;
	struct ss_strings category_names; /* as written */
	struct ss_batch_category *categories;
	uint32_t category_count, category_capacity;
	struct {
		struct ss_number_map names, texts, tracks, categories;
		struct ss_number_map op_args, kernel_args, copy_args, comm_args;
	} maps; /* the builder's */
	/* the rows */
	SS_BATCH_ARRAY(struct ss_event, events);
	SS_BATCH_ARRAY(struct ss_event_comm, comms);
	SS_BATCH_ARRAY(struct ss_event_sequence, sequences);
	SS_BATCH_ARRAY(struct ss_event_sync, syncs);
	SS_BATCH_ARRAY(struct ss_event_other, others);
	SS_BATCH_ARRAY(char, other_text);
	SS_BATCH_ARRAY(struct ss_flow_end, flows);
	SS_BATCH_ARRAY(struct ss_mark, marks);
	SS_BATCH_ARRAY(struct ss_allocation, allocations);
	SS_BATCH_ARRAY(struct ss_counter, counters);
	SS_BATCH_ARRAY(uint32_t, metas); /* records of meta_records */
	SS_BATCH_ARRAY(struct ss_batch_position,
		       loose);      /* all of these, in the order of the file */
	uint64_t entries;           /* of the file, good or bad */
	uint64_t phase_events[128]; /* entries by their phase in Chrome's format */
	struct ss_quality quality;
	bool out_of_memory;
};

SS_MUST_USE bool ss_batch_init(struct ss_batch *batch, struct ss_memory *memory);
void ss_batch_release(struct ss_batch *batch);

/* Drops the rows; names, texts and the other tables stay. */
void ss_batch_clear(struct ss_batch *batch);

/* The number of a text in one of the batch's tables of texts. */
uint32_t ss_batch_text(struct ss_batch *batch, struct ss_strings *strings, const char *text,
		       size_t length);

/* The number of an event's name; its flags stand in ss_batch.name_flags afterwards. */
uint32_t ss_batch_name(struct ss_batch *batch, const char *text, size_t length);

/* The number of a category: "cpu_op", "kernel" ... (kinds.c); "" for events that have none. */
uint32_t ss_batch_category(struct ss_batch *batch, const char *text, size_t length);

/* The number of a record: of a track, or of arguments. */
uint32_t ss_batch_record(struct ss_batch *batch, struct ss_records *records, const void *record);

/* The kind of an event by its category or, if that does not decide, by its name. */
static inline enum ss_kind ss_batch_kind(const struct ss_batch *batch, uint32_t category,
					 uint32_t name)
{
	const struct ss_category *meaning = &batch->categories[category].meaning;

	return meaning->by_name && !batch->out_of_memory
		       ? ss_name_refine(meaning->kind, batch->name_flags[name])
		       : meaning->kind;
}

/* Counts an entry of the file, kept or not; `phase` is that of Chrome's format: 'X' for slices. */
static inline void ss_batch_count_entry(struct ss_batch *batch, char phase)
{
	batch->entries++;
	batch->phase_events[phase & 127]++;
}

/*
 * Adds a slice. One that lasts longer than SS_SLICE_NS_MAX is left out, and a negative duration
 * becomes 0: the quality of the trace counts both, and unknown categories.
 */
void ss_batch_add_slice(struct ss_batch *batch, const struct ss_event *event);

/* A slice as files other than Kineto's have it. */
struct ss_named_slice {
	const char *category; /* as Kineto calls it (kinds.c) */
	const char *name;
	size_t name_length;
	int64_t pid, tid; /* device and stream of what a device does */
	int64_t start_ns, end_ns;
	int64_t id;
	uint32_t args;
};

/* Adds it; the number of the event in the batch, or SS_NO_ROW: its times cannot be. */
uint32_t ss_batch_add_named(struct ss_batch *batch, const struct ss_named_slice *slice);

/* Things beside slices, each at its place in the order of the file. */
void ss_batch_add_allocation(struct ss_batch *batch, const struct ss_allocation *allocation);
void ss_batch_add_flow(struct ss_batch *batch, const struct ss_flow_end *flow);
void ss_batch_add_mark(struct ss_batch *batch, const struct ss_mark *mark);
void ss_batch_add_counter(struct ss_batch *batch, const struct ss_counter *counter);
void ss_batch_add_meta(struct ss_batch *batch, const struct ss_meta *meta);

/* An event that is not kept: its category still counts as seen here. */
void ss_batch_note_category(struct ss_batch *batch, uint32_t category);

/* Makes room for one more item of an array; false (and out_of_memory) at the limit. */
#define SS_BATCH_RESERVE(batch, array)                                                  \
	ss_batch_reserve((batch), (void **)&(batch)->array, &(batch)->array##_capacity, \
			 (batch)->array##_count, sizeof(*(batch)->array))

bool ss_batch_reserve(struct ss_batch *batch, void **items, uint32_t *capacity, uint32_t count,
		      size_t item_bytes);

#endif
