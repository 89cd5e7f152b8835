/*
 * shapes.h - reads events by the shapes of those before them.
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
#ifndef SS_TRACE_SHAPES_H
#define SS_TRACE_SHAPES_H

#include "trace/args.h"

/* What stands in a hole. Values of SS_HOLE_ARG and above: an argument. */
enum ss_hole {
	SS_HOLE_NONE, /* the text goes on in the next node */
	SS_HOLE_END,  /* the event ends */
	SS_HOLE_SKIP, /* a value that is not looked at */
	SS_HOLE_NAME,
	SS_HOLE_PID,
	SS_HOLE_TID,
	SS_HOLE_TS,
	SS_HOLE_DUR,
	SS_HOLE_ID,
	SS_HOLE_ARG = 16,
};

/* Text of one node; a buffer's padding must be longer. */
#define SS_SHAPE_TEXT 48

struct ss_shape_node {
	char text[SS_SHAPE_TEXT];
	uint8_t length;
	uint8_t hole;
	uint8_t phase, category; /* of SS_HOLE_END */
	uint16_t child;          /* first of what can follow; 0: nothing yet */
	uint16_t sibling;        /* next alternative; 0: none */
	uint16_t hint;           /* the child that fitted last */
	bool has_args;           /* of SS_HOLE_END: arguments were read */
};

#define SS_SHAPE_NODES 2048

struct ss_shapes {
	struct ss_shape_node nodes[SS_SHAPE_NODES]; /* node 0 is the root */
	uint32_t count;
};

/* The values of an event that was read by its shape. */
struct ss_shape_values {
	struct ss_json_span name, pid, tid, ts, dur, id;
	uint8_t phase, category;
	bool has_args;
};

void ss_shapes_init(struct ss_shapes *shapes);

/*
 * Reads the event at the cursor and moves behind it. False, and nothing moved,
 * when no shape fits.
 */
bool ss_shapes_read(struct ss_shapes *shapes, struct ss_json *json, struct ss_shape_values *out,
		    struct ss_arg_values *args);

/*
 * Learns the shape of the event from `start` to `end`, which the cursor has read
 * without trouble. `category` is the number that reading by this shape gives.
 */
void ss_shapes_learn(struct ss_shapes *shapes, const struct ss_arg_index *index, const char *start,
		     const char *end, char phase, uint8_t category);

#endif
