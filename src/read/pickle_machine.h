/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_machine.h - what the files of the unpickler share: the stack, the memo, the window.
 */
#ifndef SS_READ_PICKLE_MACHINE_H
#define SS_READ_PICKLE_MACHINE_H

#include "read/pickle.h"

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

/* pickle_start.c: the error for an operation that is not one of data. */
enum ss_pickle_step ss_pickle_refuse(struct ss_pickle *machine, unsigned char operation);

/* pickle.c: the length of the line at the cursor, without its line break. */
enum ss_pickle_step ss_pickle_find_line(struct ss_pickle *machine, size_t *length);

/* pickle.c: pushes a text. */
enum ss_pickle_step ss_pickle_text(struct ss_pickle *machine, const char *bytes, size_t length);

/* --- operations, with their names in Python's pickletools ------------------------------------ */

enum ss_pickle_op {
	/* the stack */
	SS_PICKLE_OP_MARK = '(',
	SS_PICKLE_OP_POP = '0',
	SS_PICKLE_OP_POP_MARK = '1',
	SS_PICKLE_OP_DUP = '2',
	SS_PICKLE_OP_STOP = '.',
	/* numbers */
	SS_PICKLE_OP_INT = 'I',
	SS_PICKLE_OP_BININT = 'J',
	SS_PICKLE_OP_BININT1 = 'K',
	SS_PICKLE_OP_BININT2 = 'M',
	SS_PICKLE_OP_LONG = 'L',
	SS_PICKLE_OP_LONG1 = 0x8a,
	SS_PICKLE_OP_LONG4 = 0x8b,
	SS_PICKLE_OP_FLOAT = 'F',
	SS_PICKLE_OP_BINFLOAT = 'G',
	/* constants */
	SS_PICKLE_OP_NONE = 'N',
	SS_PICKLE_OP_NEWTRUE = 0x88,
	SS_PICKLE_OP_NEWFALSE = 0x89,
	/* texts and bytes */
	SS_PICKLE_OP_STRING = 'S',
	SS_PICKLE_OP_BINSTRING = 'T',
	SS_PICKLE_OP_SHORT_BINSTRING = 'U',
	SS_PICKLE_OP_UNICODE = 'V',
	SS_PICKLE_OP_BINUNICODE = 'X',
	SS_PICKLE_OP_SHORT_BINUNICODE = 0x8c,
	SS_PICKLE_OP_BINUNICODE8 = 0x8d,
	SS_PICKLE_OP_BINBYTES = 'B',
	SS_PICKLE_OP_SHORT_BINBYTES = 'C',
	SS_PICKLE_OP_BINBYTES8 = 0x8e,
	SS_PICKLE_OP_BYTEARRAY8 = 0x96,
	/* containers */
	SS_PICKLE_OP_EMPTY_LIST = ']',
	SS_PICKLE_OP_LIST = 'l',
	SS_PICKLE_OP_APPEND = 'a',
	SS_PICKLE_OP_APPENDS = 'e',
	SS_PICKLE_OP_EMPTY_TUPLE = ')',
	SS_PICKLE_OP_TUPLE = 't',
	SS_PICKLE_OP_TUPLE1 = 0x85,
	SS_PICKLE_OP_TUPLE2 = 0x86,
	SS_PICKLE_OP_TUPLE3 = 0x87,
	SS_PICKLE_OP_EMPTY_DICT = '}',
	SS_PICKLE_OP_DICT = 'd',
	SS_PICKLE_OP_SETITEM = 's',
	SS_PICKLE_OP_SETITEMS = 'u',
	SS_PICKLE_OP_EMPTY_SET = 0x8f,
	SS_PICKLE_OP_ADDITEMS = 0x90,
	SS_PICKLE_OP_FROZENSET = 0x91,
	/* the memo */
	SS_PICKLE_OP_GET = 'g',
	SS_PICKLE_OP_BINGET = 'h',
	SS_PICKLE_OP_LONG_BINGET = 'j',
	SS_PICKLE_OP_PUT = 'p',
	SS_PICKLE_OP_BINPUT = 'q',
	SS_PICKLE_OP_LONG_BINPUT = 'r',
	SS_PICKLE_OP_MEMOIZE = 0x94,
	/* the stream */
	SS_PICKLE_OP_PROTO = 0x80,
	SS_PICKLE_OP_FRAME = 0x95,
	/* what would run something, or comes from elsewhere */
	SS_PICKLE_OP_GLOBAL = 'c',
	SS_PICKLE_OP_STACK_GLOBAL = 0x93,
	SS_PICKLE_OP_REDUCE = 'R',
	SS_PICKLE_OP_BUILD = 'b',
	SS_PICKLE_OP_INST = 'i',
	SS_PICKLE_OP_OBJ = 'o',
	SS_PICKLE_OP_NEWOBJ = 0x81,
	SS_PICKLE_OP_NEWOBJ_EX = 0x92,
	SS_PICKLE_OP_EXT1 = 0x82,
	SS_PICKLE_OP_EXT2 = 0x83,
	SS_PICKLE_OP_EXT4 = 0x84,
	SS_PICKLE_OP_PERSID = 'P',
	SS_PICKLE_OP_BINPERSID = 'Q',
	SS_PICKLE_OP_NEXT_BUFFER = 0x97,
	SS_PICKLE_OP_READONLY_BUFFER = 0x98,
};

#endif
