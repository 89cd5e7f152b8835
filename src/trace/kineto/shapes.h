/* SPDX-License-Identifier: Apache-2.0 */
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
#ifndef SS_TRACE_KINETO_SHAPES_H
#define SS_TRACE_KINETO_SHAPES_H

#include "trace/args.h"

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

#endif
