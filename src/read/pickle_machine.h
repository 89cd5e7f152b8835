/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_machine.h - what the files of the unpickler share: the stack, the memo, the window.
 */
#ifndef SS_READ_PICKLE_MACHINE_H
#define SS_READ_PICKLE_MACHINE_H

#include "read/pickle.h"
#include "read/pickle_opcodes.h"

/*
 * Picklers call themselves for what is inside of something, and stop at Python's limit of 1,000
 * frames; a snapshot of memory has a dozen levels.
 */
#define SS_PICKLE_DEPTH_MAX 1000

/* A container whose items are held back; they are the last ones of `held`. */
struct ss_pickle_open {
	uint32_t at;   /* its place on the stack */
	uint32_t from; /* its items begin here */
};

struct ss_pickle {
	struct ss_source *source;
	const struct ss_pickle_reader *reader;
	struct ss_memory *memory;
	struct ss_error *err;

	/* the window: bytes of the file that were read and not used */
	char *window;
	const char *at, *end;
	size_t window_bytes;
	uint64_t before; /* bytes of the file before the window */
	bool is_over;    /* nothing follows `end` */

	struct ss_pickle_value *stack;
	uint32_t stack_count, stack_capacity;
	uint32_t marks[SS_PICKLE_DEPTH_MAX]; /* heights of the stack */
	uint32_t mark_count;

	struct ss_pickle_open opens[SS_PICKLE_DEPTH_MAX];
	uint32_t open_count;
	struct ss_pickle_value *held;
	uint32_t held_count, held_capacity;

	uint64_t *memo; /* kind in the low 4 bits; kind 15 is an index into `wide` */
	uint32_t memo_count, memo_capacity;
	struct ss_pickle_value *wide;
	uint32_t wide_count, wide_capacity;
};

/* What an operation answers; the sentence of a failure is in machine->err. */
enum ss_pickle_step {
	SS_PICKLE_ON,
	SS_PICKLE_STOPPED, /* STOP was met */
	SS_PICKLE_CUT,     /* the file ended first */
	SS_PICKLE_FAILED,
};

/* "byte 17: " before the sentence */
__attribute__((format(printf, 3, 4))) enum ss_pickle_step ss_pickle_fail(struct ss_pickle *machine,
									 enum ss_status code,
									 const char *format, ...);

enum ss_pickle_step ss_pickle_fail_memory(struct ss_pickle *machine);

/* pickle_stack.c: room for one more is made; false at the limit. */
bool ss_pickle_grow(struct ss_pickle *machine);

static inline struct ss_pickle_value *ss_pickle_push(struct ss_pickle *machine,
						     enum ss_pickle_kind kind, int64_t word)
{
	struct ss_pickle_value *value;

	if (machine->stack_count == machine->stack_capacity && !ss_pickle_grow(machine))
		return NULL;
	value = &machine->stack[machine->stack_count++];
	*value = (struct ss_pickle_value){ .kind = (uint8_t)kind, .word = word };
	return value;
}

static inline uint32_t ss_pickle_floor(const struct ss_pickle *machine)
{
	return machine->mark_count ? machine->marks[machine->mark_count - 1] : 0;
}

/* The memo. */
enum ss_pickle_step ss_pickle_put(struct ss_pickle *machine, uint64_t index);
enum ss_pickle_step ss_pickle_recall(struct ss_pickle *machine, uint64_t index);

enum ss_pickle_step ss_pickle_mark(struct ss_pickle *machine);
/* Drops what is above the last mark, and the mark. */
enum ss_pickle_step ss_pickle_pop_mark(struct ss_pickle *machine);
enum ss_pickle_step ss_pickle_pop(struct ss_pickle *machine);
enum ss_pickle_step ss_pickle_duplicate(struct ss_pickle *machine);

/* The last mark's items become a new container. */
enum ss_pickle_step ss_pickle_gather(struct ss_pickle *machine, enum ss_pickle_kind kind);
/* A tuple of the last `count` values. */
enum ss_pickle_step ss_pickle_tuple(struct ss_pickle *machine, uint32_t count);
/* The last mark's items go into the container below it. */
enum ss_pickle_step ss_pickle_add_all(struct ss_pickle *machine, enum ss_pickle_kind kind);
/* The last value, or key and value, goes into the container below it. */
enum ss_pickle_step ss_pickle_add_one(struct ss_pickle *machine, enum ss_pickle_kind kind);

/* Tells the reader of what was held back of the value on top. */
enum ss_pickle_step ss_pickle_close_top(struct ss_pickle *machine);

/* The file ended: what is open is closed as far as it goes. False: no memory. */
bool ss_pickle_unwind(struct ss_pickle *machine);

/* pickle_lines.c: operations of protocol 0, whose argument is a line. */
enum ss_pickle_step ss_pickle_line(struct ss_pickle *machine, char operation, const char *line,
				   size_t length);

/* pickle_refuse.c: says what an operation that is none of data tried. */
enum ss_pickle_step ss_pickle_refuse(struct ss_pickle *machine, unsigned char operation);

/* pickle.c: the length of the line at the cursor, without its line break. */
enum ss_pickle_step ss_pickle_find_line(struct ss_pickle *machine, size_t *length);

/* pickle.c: pushes a text. */
enum ss_pickle_step ss_pickle_text(struct ss_pickle *machine, const char *bytes, size_t length);

#endif
