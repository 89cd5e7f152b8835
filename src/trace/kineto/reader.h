/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - reads Kineto events from JSON text into a batch.
 *
 * A reader belongs to one worker and fills its own batch, so that workers share nothing while
 * they read. The loader adds the batches to the trace in the order of the file.
 */
#ifndef SS_TRACE_KINETO_READER_H
#define SS_TRACE_KINETO_READER_H

#include "trace/batch.h"
#include "trace/args.h"

/*
 * Reads events by the shapes of those before them.
 *
 * A writer prints millions of events from a few dozen templates: the text
 * between the values is the same each time, white space and all. A shape is that
 * text with holes where the values stand. Shapes are learned from events that
 * the JSON cursor has read, whoever wrote the file and however it is laid out,
 * and kept as a tree: what follows a hole depends on which keys come next.
 * Reading by a shape compares 16 bytes at a time and looks at values only.
 *
 * A shape that does not fit says nothing about the event: the cursor reads it
 * then. So shapes change how fast a file is read, never what is read.
 */

/* What follows the text of a node: a value (enum ss_arg), or one of these. */
enum {
	SS_HOLE_NONE = 64, /* the text continues in the next node */
	SS_HOLE_END,       /* the event ends */
};

/* Text of one node; a buffer's padding must be longer. */
#define SS_SHAPE_TEXT 48

struct ss_shape_node {
	char text[SS_SHAPE_TEXT];
	uint16_t mask; /* bit per byte of the first 16 */
	uint8_t length;
	uint8_t hole;      /* enum ss_arg, SS_HOLE_NONE or SS_HOLE_END */
	uint16_t category; /* of SS_HOLE_END, as the next two */
	uint8_t phase;
	uint16_t child;     /* first of what can follow; 0: nothing yet */
	uint16_t sibling;   /* next alternative; 0: none */
	uint16_t hint;      /* the child that fitted last; of SS_HOLE_END: the event after it */
	bool has_args;      /* arguments were read */
	uint8_t padding[2]; /* to 64 bytes: finding a node is a shift */
};

#define SS_SHAPE_NODES 2048

struct ss_shapes {
	struct ss_shape_node nodes[SS_SHAPE_NODES]; /* node 0 is the root */
	uint32_t count;
	uint16_t last; /* where the event before ended; 0: there was none */
};

void ss_shapes_init(struct ss_shapes *shapes);

/*
 * Reads the event at the cursor and moves behind it. Returns the last node of its
 * shape, or NULL, and nothing moved, when no shape fits.
 */
const struct ss_shape_node *ss_shapes_read(struct ss_shapes *shapes, struct ss_json *json,
					   struct ss_arg_values *out);

/*
 * Learns the shape of the event from `start` to `end`, which the cursor has read
 * without trouble. `category` is the number that reading by this shape gives.
 */
void ss_shapes_learn(struct ss_shapes *shapes, const struct ss_arg_index *index, const char *start,
		     const char *end, char phase, uint16_t category);

/* Tracks that a reader finds by the text of their ids; a job has a few dozen. */
#define SS_TRACK_CACHE 64

/* Where the next event begins, as far as it was looked for. */
struct ss_next_event {
	const char *from, *end, *found, *undecided;
};

struct ss_reader {
	struct ss_memory *memory;
	struct ss_batch batch;
	struct ss_arg_index index;
	struct ss_track_cache {
		uint64_t words[4]; /* the text of pid and tid */
		uint32_t kind;     /* class, and how long the two are */
		uint32_t id;       /* SS_NO_ID: free */
		bool pid_is_text, tid_is_text;
	} track_cache[SS_TRACK_CACHE];
	struct ss_strings kernel_texts; /* the text of launch configurations seen so far ... */
	uint32_t *kernel_records;       /* ... and their records */
	uint32_t kernel_capacity;
	bool kernel_odd; /* the last one had values that are not numbers */
	struct ss_shapes shapes;
	struct ss_arg_values args; /* the values of the current event */
	char *scratch;             /* for texts without their escapes */
	size_t scratch_bytes;
	struct ss_next_event next_events[2]; /* loosely and strictly: ss_reader_find_event() */
};

SS_MUST_USE bool ss_reader_init(struct ss_reader *reader, struct ss_memory *memory);
void ss_reader_release(struct ss_reader *reader);

/* How reading elements of traceEvents ended. */
enum ss_read_end {
	SS_READ_MORE,   /* the text ended; the cursor stands at the first element not read */
	SS_READ_LIMIT,  /* the next element begins at or after the limit */
	SS_READ_CLOSED, /* the cursor is after the closing bracket */
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
	uint32_t category;       /* number in ss_batch.categories */
};

void ss_reader_emit(struct ss_reader *reader, const struct ss_event_fields *fields,
		    int64_t at_byte);

/*
 * lookup.c: the batch's numbers of names, texts, categories and tracks in JSON. Without memory
 * ss_batch.out_of_memory is set and the number is 0.
 */

/* The text of an argument of the current event. */
uint32_t ss_lookup_arg_text(struct ss_reader *reader, enum ss_arg arg);

/* The event's name; its flags stand in ss_batch.name_flags afterwards. */
uint32_t ss_lookup_name(struct ss_reader *reader);

uint32_t ss_lookup_category(struct ss_reader *reader, const struct ss_json_span *span);

/* Process and thread ids are numbers, numbers in quotes, "stream 7", or names. */
void ss_lookup_id(struct ss_reader *reader, enum ss_arg arg, int64_t *number, uint32_t *text);

/* The series of a counter; Cuspy's has no name, and its process is "GPU 0 Counters". */
uint32_t ss_lookup_series(struct ss_reader *reader, const struct ss_json_span *key);

/* The track that the event's ids name. */
uint32_t ss_lookup_track(struct ss_reader *reader, enum ss_track_class class);

#endif
