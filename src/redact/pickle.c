/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle.c - replaces the texts of pickles, operation by operation.
 *
 * Runs nothing: operations that push a text get another text, and the rest is copied. Frames are
 * dropped, since only readers that cannot look ahead need them; memo numbers do not change.
 * Operations that import or call something are refused.
 */
#include <string.h>

#include "read/pickle_machine.h"
#include "redact/stream.h"

/* What follows the opcode. */
enum pickle_argument {
	ARGUMENT_NONE, /* not an operation of data */
	ARGUMENT_BYTES,
	ARGUMENT_LINE,
	ARGUMENT_TEXT, /* its length, in this number of bytes, then the text */
	ARGUMENT_LONG, /* the same, of a number */
};

struct pickle_operation {
	enum pickle_argument argument;
	size_t bytes;
};

/* By opcode; those that are missing are not operations of data. */
static const struct pickle_operation pickle_operations[UINT8_MAX + 1] = {
	[SS_PICKLE_OP_MARK] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_POP] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_POP_MARK] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_DUP] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_STOP] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_NONE] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_NEWTRUE] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_NEWFALSE] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_EMPTY_LIST] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_LIST] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_APPEND] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_APPENDS] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_EMPTY_TUPLE] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_TUPLE] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_TUPLE1] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_TUPLE2] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_TUPLE3] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_EMPTY_DICT] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_DICT] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_SETITEM] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_SETITEMS] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_EMPTY_SET] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_ADDITEMS] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_FROZENSET] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_MEMOIZE] = { ARGUMENT_BYTES, 0 },
	[SS_PICKLE_OP_BININT1] = { ARGUMENT_BYTES, 1 },
	[SS_PICKLE_OP_BINGET] = { ARGUMENT_BYTES, 1 },
	[SS_PICKLE_OP_BINPUT] = { ARGUMENT_BYTES, 1 },
	[SS_PICKLE_OP_PROTO] = { ARGUMENT_BYTES, 1 },
	[SS_PICKLE_OP_BININT2] = { ARGUMENT_BYTES, 2 },
	[SS_PICKLE_OP_BININT] = { ARGUMENT_BYTES, 4 },
	[SS_PICKLE_OP_LONG_BINGET] = { ARGUMENT_BYTES, 4 },
	[SS_PICKLE_OP_LONG_BINPUT] = { ARGUMENT_BYTES, 4 },
	[SS_PICKLE_OP_BINFLOAT] = { ARGUMENT_BYTES, 8 },
	[SS_PICKLE_OP_FRAME] = { ARGUMENT_BYTES, 8 },
	[SS_PICKLE_OP_INT] = { ARGUMENT_LINE, 0 },
	[SS_PICKLE_OP_LONG] = { ARGUMENT_LINE, 0 },
	[SS_PICKLE_OP_FLOAT] = { ARGUMENT_LINE, 0 },
	[SS_PICKLE_OP_STRING] = { ARGUMENT_LINE, 0 },
	[SS_PICKLE_OP_UNICODE] = { ARGUMENT_LINE, 0 },
	[SS_PICKLE_OP_GET] = { ARGUMENT_LINE, 0 },
	[SS_PICKLE_OP_PUT] = { ARGUMENT_LINE, 0 },
	[SS_PICKLE_OP_SHORT_BINSTRING] = { ARGUMENT_TEXT, 1 },
	[SS_PICKLE_OP_SHORT_BINUNICODE] = { ARGUMENT_TEXT, 1 },
	[SS_PICKLE_OP_SHORT_BINBYTES] = { ARGUMENT_TEXT, 1 },
	[SS_PICKLE_OP_BINSTRING] = { ARGUMENT_TEXT, 4 },
	[SS_PICKLE_OP_BINUNICODE] = { ARGUMENT_TEXT, 4 },
	[SS_PICKLE_OP_BINBYTES] = { ARGUMENT_TEXT, 4 },
	[SS_PICKLE_OP_BINUNICODE8] = { ARGUMENT_TEXT, 8 },
	[SS_PICKLE_OP_BINBYTES8] = { ARGUMENT_TEXT, 8 },
	[SS_PICKLE_OP_BYTEARRAY8] = { ARGUMENT_TEXT, 8 },
	[SS_PICKLE_OP_LONG1] = { ARGUMENT_LONG, 1 },
	[SS_PICKLE_OP_LONG4] = { ARGUMENT_LONG, 4 },
};

/* The reader refuses longer texts too. */
#define TEXT_BYTES_MAX ((uint64_t)16 << 20)

static uint64_t little_endian(const char *at, size_t bytes)
{
	uint64_t word = 0;

	for (size_t i = bytes; i-- > 0;)
		word = word << 8 | (unsigned char)at[i];
	return word;
}

/* The same operation for longer texts, where the length does not fit. */
static char pickle_wider_opcode(unsigned char byte)
{
	switch (byte) {
	case SS_PICKLE_OP_SHORT_BINSTRING:
		return SS_PICKLE_OP_BINSTRING;
	case SS_PICKLE_OP_SHORT_BINBYTES:
		return SS_PICKLE_OP_BINBYTES;
	default:
		return SS_PICKLE_OP_BINUNICODE;
	}
}

static bool pickle_add_text(struct ss_redact_stream *stream, const char *at, size_t width,
			    const char *text, size_t length)
{
	struct ss_redact_answer answer;
	const char *made = text;
	char head[9] = { *at };

	if (!ss_redact_ask(stream, SS_REDACT_NAME, false, text, length, &answer))
		return false;
	if (answer.length != SS_REDACT_STAYS) {
		made = ss_redact_answered(stream, &answer);
		length = answer.length;
	}
	if (width == 1 && length > UINT8_MAX) {
		head[0] = pickle_wider_opcode((unsigned char)*at);
		width = 4;
	}
	for (size_t i = 0; i < width; i++)
		head[1 + i] = (char)((uint64_t)length >> 8 * i);
	ss_text_add(&stream->out, head, 1 + width);
	ss_text_add(&stream->out, made, length);
	return true;
}

/* A line of protocol 0. One with escapes is replaced as a whole: it can hide any word. */
static bool pickle_add_line(struct ss_redact_stream *stream, const char *at, size_t length)
{
	bool is_text = *at == SS_PICKLE_OP_STRING || *at == SS_PICKLE_OP_UNICODE;
	enum ss_redact_class class = !is_text                   ? SS_REDACT_NUMBER
				     : memchr(at, '\\', length) ? SS_REDACT_OTHER
								: SS_REDACT_NAME;
	size_t quote = *at == SS_PICKLE_OP_STRING && length >= 3;
	struct ss_redact_answer answer;

	ss_text_add(&stream->out, at, 1 + quote);
	if (!ss_redact_ask(stream, class, false, at + 1 + quote, length - 1 - 2 * quote, &answer))
		return false;
	if (answer.length == SS_REDACT_STAYS)
		ss_text_add(&stream->out, at + 1 + quote, length - 1 - 2 * quote);
	else
		ss_text_add(&stream->out, ss_redact_answered(stream, &answer), answer.length);
	ss_text_add(&stream->out, at + length - quote, quote);
	ss_text_add(&stream->out, "\n", 1);
	return true;
}

/* Moves *at past one operation; if *at stays, the window ends within the operation. */
static enum ss_status pickle_take_operation(struct ss_redact_stream *stream, const char **at,
					    struct ss_error *err)
{
	unsigned char byte = (unsigned char)**at;
	struct pickle_operation operation = pickle_operations[byte];
	size_t left = (size_t)(stream->end - *at), length = 1 + operation.bytes;
	const char *stop;
	uint64_t counted;

	if (operation.argument == ARGUMENT_NONE)
		return ss_fail(err, SS_ERR_FORMAT,
			       "cannot redact a pickle that imports or calls something (operation "
			       "0x%02x): it may contain only data",
			       byte);
	if (operation.argument == ARGUMENT_LINE) {
		stop = memchr(*at, '\n', left);
		if (stop && !pickle_add_line(stream, *at, (size_t)(stop - *at)))
			return ss_fail_memory(err, "the texts of the file");
		*at = stop ? stop + 1 : *at;
		return SS_OK;
	}
	if (left < length)
		return SS_OK;
	if (operation.argument >= ARGUMENT_TEXT) {
		counted = little_endian(*at + 1, operation.bytes);
		if (counted > TEXT_BYTES_MAX)
			return ss_fail(err, SS_ERR_LIMIT, "a text of %llu bytes is too long",
				       (unsigned long long)counted);
		if (left < length + counted)
			return SS_OK;
		if (operation.argument == ARGUMENT_TEXT) {
			if (!pickle_add_text(stream, *at, operation.bytes, *at + length,
					     (size_t)counted))
				return ss_fail_memory(err, "the texts of the file");
			*at += length + counted;
			return SS_OK;
		}
		length += counted;
	}
	if (byte != SS_PICKLE_OP_FRAME)
		ss_text_add(&stream->out, *at, length);
	stream->is_done = byte == SS_PICKLE_OP_STOP;
	*at += length;
	return SS_OK;
}

enum ss_status ss_redact_pickle_step(struct ss_redact_stream *stream, struct ss_error *err)
{
	const char *at = stream->at, *before = NULL;

	while (at < stream->end && at != before && !stream->is_done) {
		before = at;
		SS_TRY(pickle_take_operation(stream, &at, err));
	}
	/* bytes after the end are not part of the pickle, and were not redacted: drop them */
	stream->at = stream->is_done ? stream->end : at;
	return SS_OK;
}
