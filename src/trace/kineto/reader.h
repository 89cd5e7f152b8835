/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - reads Kineto events from JSON text into a batch.
 *
 * A reader belongs to one worker. It turns the text of events into rows of small
 * numbers: names, tracks, arguments are looked up in the reader's own tables, so
 * that workers share nothing while they read. Batches are added to the trace in
 * the order of the file (store.c), and only then the reader's numbers become the
 * trace's: the result does not depend on who read what.
 */
#ifndef SS_TRACE_KINETO_READER_H
#define SS_TRACE_KINETO_READER_H

#include "trace/kineto/shapes.h"
#include "trace/trace.h"

/* A complete event. Numbers are the reader's own. */
struct ss_event {
	int64_t start_ns, dur_ns;
	int64_t id; /* correlation or External id, 0: none */
	uint32_t name, track, args, category;
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

/* One end of a forward-backward arrow. */
struct ss_flow_end {
	int64_t id, start_ns;
	uint32_t track;
	bool arrives;
};

/* A begin or an end that waits for its other half. */
struct ss_mark {
	uint64_t key; /* equal for halves that belong together; 0: those of one track do */
	int64_t start_ns;
	uint32_t name, track, category;
	uint32_t order; /* of the file */
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

/* A metadata event: a name for a process or a thread. */
struct ss_meta {
	int64_t pid, tid;
	uint32_t pid_text, tid_text;
	uint32_t what; /* enum ss_meta_what */
	uint32_t text; /* 0 while it is looked for */
};

/* Identifies a track. */
struct ss_track_key {
	int64_t pid, tid;
	uint32_t pid_text, tid_text;
	uint32_t class; /* enum ss_track_class */
	uint32_t padding;
};

/* Tracks that a reader finds by the text of their ids; a job has a few dozen. */
#define SS_TRACK_CACHE 64

/* What is in a batch beside complete events; SS_LOOSE_CATEGORY: of an event that is not kept. */
enum ss_loose_kind {
	SS_LOOSE_ALLOCATION,
	SS_LOOSE_FLOW,
	SS_LOOSE_MARK,
	SS_LOOSE_COUNTER,
	SS_LOOSE_META,
	SS_LOOSE_CATEGORY,
};

/* Where one of them stands in the file. */
struct ss_loose {
	uint32_t events; /* of the batch that came before it */
	uint32_t kind;   /* enum ss_loose_kind */
	uint32_t index;  /* in the array of its kind, or a category */
};

#define SS_BATCH_ARRAY(type, name) \
	type *name;                \
	uint32_t name##_count, name##_capacity

/* What one block of text held. */
struct ss_batch {
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
	SS_BATCH_ARRAY(uint32_t, metas);        /* records of ss_reader.metas */
	SS_BATCH_ARRAY(struct ss_loose, loose); /* all of these, in the order of the file */
	uint64_t entries;                       /* of traceEvents, good or bad */
	uint64_t phase_events[128];
	struct ss_quality quality;
};

/* A category as this reader met it; its name is that of the same number in category_names. */
struct ss_reader_category {
	struct ss_category meaning;
	uint64_t events; /* complete events of the batch, kept or not */
	uint32_t text;   /* lower case, id into texts */
	bool is_arrow;   /* forward-backward arrows */
};

/* Where the next event begins, as far as it was looked for. */
struct ss_next_event {
	const char *from, *end, *found, *undecided;
};

struct ss_reader {
	struct ss_memory *memory;
	struct ss_arg_index index;
	struct ss_strings names;
	uint32_t *name_flags;
	uint32_t name_flag_capacity;
	struct ss_strings texts;
	struct ss_records tracks; /* struct ss_track_key */
	struct ss_records metas;  /* struct ss_meta */
	struct ss_records op_args, kernel_args, copy_args, comm_args;
	struct ss_strings category_names; /* as written */
	struct ss_reader_category *categories;
	uint32_t category_count, category_capacity;
	struct ss_track_cache {
		uint64_t words[4]; /* the text of pid and tid */
		uint32_t kind;     /* class, and how long the two are */
		uint32_t id;       /* SS_NO_ID: free */
		bool pid_is_text, tid_is_text;
	} track_cache[SS_TRACK_CACHE];
	struct ss_strings kernel_texts; /* the text of launch configurations seen so far ... */
	uint32_t *kernel_records;       /* ... and their records */
	uint32_t kernel_capacity;
	bool kernel_odd; /* the last one read held values that are no numbers */
	struct ss_shapes shapes;
	struct ss_batch batch;
	struct ss_arg_values args; /* the values of the event at work */
	char *scratch;             /* for texts without their escapes */
	size_t scratch_bytes;
	struct ss_next_event next_events[2]; /* loosely and strictly: ss_reader_find_event() */
	bool out_of_memory;
};

SS_MUST_USE bool ss_reader_init(struct ss_reader *reader, struct ss_memory *memory);
void ss_reader_release(struct ss_reader *reader);

/* Empties the batch; the tables stay. */
void ss_reader_clear(struct ss_reader *reader);

/* How reading elements of traceEvents ended. */
enum ss_read_end {
	SS_READ_MORE,   /* the text ended; the cursor stands at the first element not read */
	SS_READ_LIMIT,  /* the next element begins at or after the limit */
	SS_READ_CLOSED, /* the cursor stands behind the closing bracket */
	SS_READ_FAILED, /* no memory */
};

/*
 * Reads elements of traceEvents from the cursor until the text ends or an
 * element would begin at `limit` or later. `offset` is where in the file the
 * text begins at `text`, for messages.
 */
enum ss_read_end ss_reader_events(struct ss_reader *reader, struct ss_json *json, const char *limit,
				  const char *text, int64_t offset);

/*
 * Where an event seems to begin, at or after `at`: a brace and a first key that
 * events have; with `strict`, after another one ("}, {"). NULL when there is none
 * in the text; *undecided is then the first place that more text could make one.
 */
const char *ss_reader_find_event(const char *at, const char *end, bool strict,
				 const char **undecided);

/* emit.c: turns one event's fields into rows of the batch. */
struct ss_event_fields {
	const char
		*args; /* where the object begins; NULL: there is none, or it was read by shape */
	const char *start, *end; /* of the event */
	bool has_args;           /* they stand in ss_reader.args, with the event's other values */
	char phase;              /* 0: none */
	uint32_t category;       /* number in ss_reader.categories */
};

void ss_reader_emit(struct ss_reader *reader, const struct ss_event_fields *fields,
		    int64_t at_byte);

/* Keeps the arguments that no view looks at, of the event with this number in the batch. */
void ss_reader_keep_others(struct ss_reader *reader, const struct ss_event_fields *fields,
			   uint32_t index);

/* Room for one more item in an array of the batch; false (and out_of_memory) at the limit. */
#define SS_BATCH_RESERVE(reader, array)                                                     \
	ss_reader_reserve((reader), (void **)&(reader)->batch.array,                        \
			  &(reader)->batch.array##_capacity, (reader)->batch.array##_count, \
			  sizeof(*(reader)->batch.array))

bool ss_reader_reserve(struct ss_reader *reader, void **items, uint32_t *capacity, uint32_t count,
		       size_t item_bytes);

#endif
