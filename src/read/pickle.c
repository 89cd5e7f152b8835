/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle.c - reads the operations of a pickle, one after the other.
 *
 * Bytes pass through a window that always holds a complete operation, unless the file ends in
 * it. Lengths are checked against their limits before memory is reserved for them. Operations
 * that would call something are not in the list of operations, only in the list of refusals.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "read/pickle_machine.h"

#define WINDOW_BYTES ((size_t)256 * 1024)
/* Longer than any operation but texts and lines. */
#define OPERATION_BYTES 300
/* A text: names and stacks are kilobytes; Python writes nothing longer for a snapshot. */
#define TEXT_MAX ((size_t)16 << 20)

enum ss_pickle_step ss_pickle_fail(struct ss_pickle *machine, enum ss_status code,
				   const char *format, ...)
{
	uint64_t at = machine->before + (uint64_t)(machine->at - machine->window);
	char sentence[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	ss_fail(machine->err, code, "not a readable memory snapshot: %s (before byte %llu)",
		sentence, (unsigned long long)at);
	return SS_PICKLE_FAILED;
}

enum ss_pickle_step ss_pickle_fail_memory(struct ss_pickle *machine)
{
	ss_fail_memory(machine->err, "the pickle");
	return SS_PICKLE_FAILED;
}

/* --- the window -------------------------------------------------------------------- */

/* Makes `wanted` bytes readable at `at`, or as many as there are. */
static enum ss_pickle_step pickle_look_ahead(struct ss_pickle *machine, size_t wanted)
{
	size_t left = (size_t)(machine->end - machine->at), got;

	if (left >= wanted || machine->is_over)
		return SS_PICKLE_ON;
	machine->before += (uint64_t)(machine->at - machine->window);
	memmove(machine->window, machine->at, left);
	machine->at = machine->window;
	machine->end = machine->window + left;
	if (wanted > machine->window_bytes) {
		char *window = ss_memory_resize(machine->memory, machine->window,
						machine->window_bytes, wanted);

		if (!window)
			return ss_pickle_fail_memory(machine);
		machine->window = window;
		machine->window_bytes = wanted;
		machine->at = window;
		machine->end = window + left;
	}
	if (ss_source_fill(machine->source, machine->window + left, machine->window_bytes - left,
			   &got, machine->err) != SS_OK)
		return SS_PICKLE_FAILED;
	machine->end += got;
	machine->is_over = left + got < machine->window_bytes;
	if (machine->reader->progress &&
	    !machine->reader->progress(machine->reader->context, machine->source)) {
		ss_fail(machine->err, SS_ERR_STOPPED, "stopped");
		return SS_PICKLE_FAILED;
	}
	return SS_PICKLE_ON;
}

static inline size_t pickle_bytes_left(const struct ss_pickle *machine)
{
	return (size_t)(machine->end - machine->at);
}

static inline uint32_t pickle_u32(const char *at)
{
	const unsigned char *bytes = (const unsigned char *)at;

	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static inline uint64_t pickle_u64(const char *at)
{
	return pickle_u32(at) | (uint64_t)pickle_u32(at + 4) << 32;
}

/* --- values ------------------------------------------------------------------------ */

static inline enum ss_pickle_step pickle_push_word(struct ss_pickle *machine,
						   enum ss_pickle_kind kind, int64_t word)
{
	return ss_pickle_push(machine, kind, word) ? SS_PICKLE_ON : ss_pickle_fail_memory(machine);
}

enum ss_pickle_step ss_pickle_text(struct ss_pickle *machine, const char *bytes, size_t length)
{
	char *repaired = NULL;
	size_t room = length * 3;
	uint32_t id;

	if (length && ss_utf8_check(bytes, length)) {
		repaired = ss_memory_resize(machine->memory, NULL, 0, room);
		if (!repaired)
			return ss_pickle_fail_memory(machine);
		length = ss_utf8_repair(bytes, length, repaired);
	}
	id = ss_strings_add(machine->reader->texts, repaired ? repaired : bytes, length);
	ss_memory_free(machine->memory, repaired, room);
	if (id == SS_NO_ID)
		return ss_pickle_fail_memory(machine);
	return pickle_push_word(machine, SS_PICKLE_TEXT, id);
}

/* A text whose length stands before it. */
static enum ss_pickle_step pickle_read_text(struct ss_pickle *machine, uint64_t length)
{
	enum ss_pickle_step step;

	if (length > TEXT_MAX)
		return ss_pickle_fail(machine, SS_ERR_LIMIT, "a text of %llu bytes is too long",
				      (unsigned long long)length);
	step = pickle_look_ahead(machine, (size_t)length);
	if (step != SS_PICKLE_ON)
		return step;
	if (pickle_bytes_left(machine) < length)
		return SS_PICKLE_CUT;
	step = ss_pickle_text(machine, machine->at, (size_t)length);
	machine->at += length;
	return step;
}

/* An integer of `length` bytes, the sign in the last. */
static enum ss_pickle_step pickle_read_long(struct ss_pickle *machine, uint64_t length)
{
	uint64_t value = 0;
	unsigned last;

	if (length > TEXT_MAX)
		return ss_pickle_fail(machine, SS_ERR_LIMIT, "a number of %llu bytes is too long",
				      (unsigned long long)length);
	if (pickle_look_ahead(machine, (size_t)length) != SS_PICKLE_ON)
		return SS_PICKLE_FAILED;
	if (pickle_bytes_left(machine) < length)
		return SS_PICKLE_CUT;
	for (uint64_t i = 0; i < length && i < 8; i++)
		value |= (uint64_t)(unsigned char)machine->at[i] << 8 * i;
	last = length ? (unsigned char)machine->at[length - 1] : 0;
	machine->at += length;
	if (length < 8 && last & 0x80)
		value |= UINT64_MAX << 8 * length;
	if (length <= 8)
		return pickle_push_word(machine, SS_PICKLE_INT, (int64_t)value);
	if (length == 9 && !last)
		return pickle_push_word(machine, SS_PICKLE_UNSIGNED, (int64_t)value);
	return pickle_push_word(machine, SS_PICKLE_WIDE, 0);
}

static enum ss_pickle_step pickle_read_real(struct ss_pickle *machine)
{
	struct ss_pickle_value *value = ss_pickle_push(machine, SS_PICKLE_REAL, 0);
	uint64_t bits = 0;

	if (!value)
		return ss_pickle_fail_memory(machine);
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | (unsigned char)machine->at[i];
	machine->at += 8;
	memcpy(&value->real, &bits, sizeof(bits));
	return SS_PICKLE_ON;
}

enum ss_pickle_step ss_pickle_find_line(struct ss_pickle *machine, size_t *length)
{
	size_t seen = 0, wanted = OPERATION_BYTES;
	const char *stop;

	for (;;) {
		if (pickle_look_ahead(machine, wanted) != SS_PICKLE_ON)
			return SS_PICKLE_FAILED;
		stop = memchr(machine->at + seen, '\n', pickle_bytes_left(machine) - seen);
		if (stop) {
			*length = (size_t)(stop - machine->at);
			return SS_PICKLE_ON;
		}
		if (machine->is_over)
			return SS_PICKLE_CUT;
		seen = pickle_bytes_left(machine);
		wanted = seen * 2;
		if (seen > TEXT_MAX)
			return ss_pickle_fail(machine, SS_ERR_LIMIT,
					      "a line is longer than %zu bytes", TEXT_MAX);
	}
}

static enum ss_pickle_step pickle_read_line(struct ss_pickle *machine, char operation)
{
	size_t length = 0;
	enum ss_pickle_step step = ss_pickle_find_line(machine, &length);

	if (step != SS_PICKLE_ON)
		return step;
	step = ss_pickle_line(machine, operation, machine->at, length);
	machine->at += length + 1;
	return step;
}

/* --- operations -------------------------------------------------------------------- */

/* Bytes of the argument that every such operation has. */
static size_t pickle_argument_bytes(unsigned char operation)
{
	switch (operation) {
	case SS_PICKLE_OP_BININT1:
	case SS_PICKLE_OP_BINGET:
	case SS_PICKLE_OP_BINPUT:
	case SS_PICKLE_OP_PROTO:
	case SS_PICKLE_OP_LONG1:
	case SS_PICKLE_OP_SHORT_BINUNICODE:
	case SS_PICKLE_OP_SHORT_BINBYTES:
	case SS_PICKLE_OP_SHORT_BINSTRING:
		return 1;
	case SS_PICKLE_OP_BININT2:
		return 2;
	case SS_PICKLE_OP_BININT:
	case SS_PICKLE_OP_LONG_BINGET:
	case SS_PICKLE_OP_LONG_BINPUT:
	case SS_PICKLE_OP_BINUNICODE:
	case SS_PICKLE_OP_BINBYTES:
	case SS_PICKLE_OP_BINSTRING:
	case SS_PICKLE_OP_LONG4:
		return 4;
	case SS_PICKLE_OP_BINFLOAT:
	case SS_PICKLE_OP_BINUNICODE8:
	case SS_PICKLE_OP_BINBYTES8:
	case SS_PICKLE_OP_FRAME:
	case SS_PICKLE_OP_BYTEARRAY8:
		return 8;
	default:
		return 0;
	}
}

/* Operations that are rare in a snapshot, or in all but those of old protocols. */
static enum ss_pickle_step pickle_run_rare(struct ss_pickle *machine, unsigned char operation)
{
	switch (operation) {
	case SS_PICKLE_OP_NONE:
		return pickle_push_word(machine, SS_PICKLE_NONE, 0);
	case SS_PICKLE_OP_LIST:
		return ss_pickle_gather(machine, SS_PICKLE_LIST);
	case SS_PICKLE_OP_DICT:
		return ss_pickle_gather(machine, SS_PICKLE_DICT);
	case SS_PICKLE_OP_TUPLE:
		return ss_pickle_gather(machine, SS_PICKLE_TUPLE);
	case SS_PICKLE_OP_FROZENSET:
		return ss_pickle_gather(machine, SS_PICKLE_LIST);
	case SS_PICKLE_OP_ADDITEMS:
		return ss_pickle_add_all(machine, SS_PICKLE_LIST);
	case SS_PICKLE_OP_EMPTY_SET:
		return pickle_push_word(machine, SS_PICKLE_LIST, 0);
	case SS_PICKLE_OP_EMPTY_TUPLE:
		return pickle_push_word(machine, SS_PICKLE_TUPLE, 0);
	case SS_PICKLE_OP_POP:
		return ss_pickle_pop(machine);
	case SS_PICKLE_OP_POP_MARK:
		return ss_pickle_pop_mark(machine);
	case SS_PICKLE_OP_DUP:
		return ss_pickle_duplicate(machine);
	case SS_PICKLE_OP_INT:
	case SS_PICKLE_OP_LONG:
	case SS_PICKLE_OP_FLOAT:
	case SS_PICKLE_OP_STRING:
	case SS_PICKLE_OP_UNICODE:
	case SS_PICKLE_OP_PUT:
	case SS_PICKLE_OP_GET:
		return pickle_read_line(machine, (char)operation);
	default:
		return ss_pickle_refuse(machine, operation);
	}
}

/* Operations with a length or an index of four or eight bytes, and numbers. */
static enum ss_pickle_step pickle_run_sized(struct ss_pickle *machine, unsigned char operation)
{
	const char *at = machine->at;

	machine->at += pickle_argument_bytes(operation);
	switch (operation) {
	case SS_PICKLE_OP_PROTO:
		if ((unsigned char)*at > 5)
			return ss_pickle_fail(machine, SS_ERR_FORMAT,
					      "pickle protocol %u is unknown, 0 to 5 are supported",
					      (unsigned char)*at);
		return SS_PICKLE_ON;
	case SS_PICKLE_OP_FRAME: /* frames are for readers that cannot look ahead */
		return SS_PICKLE_ON;
	case SS_PICKLE_OP_BINPUT:
		return ss_pickle_put(machine, (unsigned char)*at);
	case SS_PICKLE_OP_LONG_BINPUT:
		return ss_pickle_put(machine, pickle_u32(at));
	case SS_PICKLE_OP_SHORT_BINBYTES:
	case SS_PICKLE_OP_SHORT_BINSTRING:
		return pickle_read_text(machine, (unsigned char)*at);
	case SS_PICKLE_OP_BINBYTES:
	case SS_PICKLE_OP_BINSTRING:
		return pickle_read_text(machine, pickle_u32(at));
	case SS_PICKLE_OP_BINUNICODE8:
	case SS_PICKLE_OP_BINBYTES8:
	case SS_PICKLE_OP_BYTEARRAY8:
		return pickle_read_text(machine, pickle_u64(at));
	case SS_PICKLE_OP_LONG4:
		return pickle_read_long(machine, pickle_u32(at));
	default: /* BINFLOAT */
		machine->at = at;
		return pickle_read_real(machine);
	}
}

/* What most of a snapshot is made of. */
static inline enum ss_pickle_step pickle_run_common(struct ss_pickle *machine,
						    unsigned char operation)
{
	const char *at = machine->at;

	switch (operation) {
	case SS_PICKLE_OP_BINGET:
		machine->at++;
		return ss_pickle_recall(machine, (unsigned char)*at);
	case SS_PICKLE_OP_LONG_BINGET:
		machine->at += 4;
		return ss_pickle_recall(machine, pickle_u32(at));
	case SS_PICKLE_OP_MEMOIZE:
		return ss_pickle_put(machine, machine->memo_count);
	case SS_PICKLE_OP_BININT1:
		machine->at++;
		return pickle_push_word(machine, SS_PICKLE_INT, (unsigned char)*at);
	case SS_PICKLE_OP_BININT2:
		machine->at += 2;
		return pickle_push_word(machine, SS_PICKLE_INT,
					(unsigned char)at[0] | (unsigned char)at[1] << 8);
	case SS_PICKLE_OP_BININT:
		machine->at += 4;
		return pickle_push_word(machine, SS_PICKLE_INT, (int32_t)pickle_u32(at));
	case SS_PICKLE_OP_LONG1:
		machine->at++;
		return pickle_read_long(machine, (unsigned char)*at);
	case SS_PICKLE_OP_SHORT_BINUNICODE:
		machine->at++;
		return pickle_read_text(machine, (unsigned char)*at);
	case SS_PICKLE_OP_BINUNICODE:
		machine->at += 4;
		return pickle_read_text(machine, pickle_u32(at));
	case SS_PICKLE_OP_NEWTRUE:
	case SS_PICKLE_OP_NEWFALSE:
		return pickle_push_word(machine, SS_PICKLE_BOOL, operation == SS_PICKLE_OP_NEWTRUE);
	case SS_PICKLE_OP_EMPTY_DICT:
		return pickle_push_word(machine, SS_PICKLE_DICT, 0);
	case SS_PICKLE_OP_EMPTY_LIST:
		return pickle_push_word(machine, SS_PICKLE_LIST, 0);
	case SS_PICKLE_OP_MARK:
		return ss_pickle_mark(machine);
	case SS_PICKLE_OP_APPENDS:
		return ss_pickle_add_all(machine, SS_PICKLE_LIST);
	case SS_PICKLE_OP_APPEND:
		return ss_pickle_add_one(machine, SS_PICKLE_LIST);
	case SS_PICKLE_OP_SETITEMS:
		return ss_pickle_add_all(machine, SS_PICKLE_DICT);
	case SS_PICKLE_OP_SETITEM:
		return ss_pickle_add_one(machine, SS_PICKLE_DICT);
	case SS_PICKLE_OP_TUPLE1:
	case SS_PICKLE_OP_TUPLE2:
	case SS_PICKLE_OP_TUPLE3:
		return ss_pickle_tuple(machine, operation - SS_PICKLE_OP_TUPLE1 + 1u);
	case SS_PICKLE_OP_STOP:
		return SS_PICKLE_STOPPED;
	default:
		return pickle_argument_bytes(operation) ? pickle_run_sized(machine, operation)
							: pickle_run_rare(machine, operation);
	}
}

/*
 * Stacks are lists of frames that were all met before: most operations of a snapshot recall
 * something, one behind the other. What is not plain is left to ss_pickle_recall().
 */
static inline void pickle_recall_repeated(struct ss_pickle *machine)
{
	const char *at = machine->at, *end = machine->end - 5;
	struct ss_pickle_value *top = machine->stack + machine->stack_count;
	const struct ss_pickle_value *limit = machine->stack + machine->stack_capacity;
	const uint64_t *memo = machine->memo;
	uint32_t memo_count = machine->memo_count;

	while (at <= end && top < limit) {
		uint32_t index, bytes;
		uint64_t entry, kind;

		if (*at == SS_PICKLE_OP_LONG_BINGET) {
			index = pickle_u32(at + 1);
			bytes = 5;
		} else if (*at == SS_PICKLE_OP_BINGET) {
			index = (unsigned char)at[1];
			bytes = 2;
		} else {
			break;
		}
		if (index >= memo_count)
			break;
		entry = memo[index];
		kind = entry & 15;
		if (kind > SS_PICKLE_DICT)
			break;
		*top++ = (struct ss_pickle_value){ .kind = (uint8_t)kind,
						   .slot = kind >= SS_PICKLE_LIST ? index + 1 : 0,
						   .word = (int64_t)entry >> 4 };
		at += bytes;
	}
	machine->at = at;
	machine->stack_count = (uint32_t)(top - machine->stack);
}

/* Runs operations until the pickle stops, fails or ends too early. */
static enum ss_pickle_step pickle_run(struct ss_pickle *machine)
{
	enum ss_pickle_step step = SS_PICKLE_ON;

	while (step == SS_PICKLE_ON) {
		unsigned char operation;

		if (pickle_bytes_left(machine) < OPERATION_BYTES) {
			step = pickle_look_ahead(machine, OPERATION_BYTES);
			if (step != SS_PICKLE_ON)
				return step;
			if (!pickle_bytes_left(machine))
				return SS_PICKLE_CUT;
			if (pickle_argument_bytes((unsigned char)*machine->at) >=
			    pickle_bytes_left(machine))
				return SS_PICKLE_CUT;
		}
		operation = (unsigned char)*machine->at;
		if (operation == SS_PICKLE_OP_LONG_BINGET || operation == SS_PICKLE_OP_BINGET) {
			const char *before = machine->at;

			pickle_recall_repeated(machine);
			if (machine->at != before)
				continue;
		}
		machine->at++;
		step = pickle_run_common(machine, operation);
	}
	return step;
}

/* What is left on the stack is the root; a pickle that was cut gives what there was. */
static enum ss_status pickle_finish(struct ss_pickle *machine, enum ss_pickle_step step,
				    struct ss_pickle_result *out)
{
	if (step == SS_PICKLE_STOPPED && machine->stack_count == ss_pickle_floor(machine))
		step = ss_pickle_fail(machine, SS_ERR_FORMAT, "it is empty");
	if (step == SS_PICKLE_STOPPED && ss_pickle_close_top(machine) != SS_PICKLE_ON)
		step = SS_PICKLE_FAILED;
	if (step == SS_PICKLE_CUT && !ss_pickle_unwind(machine))
		step = SS_PICKLE_FAILED;
	if (step == SS_PICKLE_FAILED)
		return machine->err->code;
	*machine->err = (struct ss_error){ 0 };
	out->is_cut = step == SS_PICKLE_CUT;
	out->bytes = machine->before + (uint64_t)(machine->at - machine->window);
	out->memo_count = machine->memo_count;
	if (machine->stack_count)
		out->root = machine->stack[out->is_cut ? 0 : machine->stack_count - 1];
	return SS_OK;
}

static void pickle_release(struct ss_pickle *machine)
{
	struct ss_memory *memory = machine->memory;

	ss_memory_free(memory, machine->window, machine->window_bytes);
	SS_FREE(memory, machine->stack, machine->stack_capacity);
	SS_FREE(memory, machine->held, machine->held_capacity);
	SS_FREE(memory, machine->memo, machine->memo_capacity);
	SS_FREE(memory, machine->wide, machine->wide_capacity);
	ss_memory_free(memory, machine, sizeof(*machine));
}

enum ss_status ss_pickle_read(struct ss_source *source, const struct ss_pickle_reader *reader,
			      struct ss_pickle_result *out, struct ss_error *err)
{
	struct ss_pickle *machine;
	struct ss_error own = { 0 };
	enum ss_status status;

	*out = (struct ss_pickle_result){ 0 };
	machine = ss_memory_zeroed(reader->memory, sizeof(*machine));
	if (!machine)
		return ss_fail_memory(err, "the pickle");
	machine->source = source;
	machine->reader = reader;
	machine->memory = reader->memory;
	machine->err = err ? err : &own;
	machine->window = ss_memory_resize(reader->memory, NULL, 0, WINDOW_BYTES);
	machine->window_bytes = machine->window ? WINDOW_BYTES : 0;
	if (machine->window && ss_pickle_grow(machine)) {
		machine->at = machine->end = machine->window;
		status = pickle_finish(machine, pickle_run(machine), out);
	} else {
		status = ss_fail_memory(err, "the pickle");
	}
	pickle_release(machine);
	return status;
}
