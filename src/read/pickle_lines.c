/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_lines.c - the operations of protocol 0, whose argument is a line of text.
 */
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "read/number.h"
#include "read/pickle_machine.h"

/* Python's raw-unicode-escape: Latin-1, and escapes of four or eight digits. */
static size_t line_read_unicode(const char *at, const char *end, char *out)
{
	char *to = out;

	while (at < end) {
		uint32_t point = (unsigned char)*at;
		int digits = 0;

		if (*at == '\\' && end - at > 1)
			digits = at[1] == 'u' ? 4 : at[1] == 'U' ? 8 : 0;
		if (digits && ss_chars_read_hex(at + 2, end, digits, &point))
			at += 2 + digits;
		else
			at++;
		to += ss_utf8_encode(point, to);
	}
	return (size_t)(to - out);
}

/* One escape of a quoted string, as repr() writes it; `at` is after the backslash. */
static const char *line_read_escape(const char *at, const char *end, char **to)
{
	static const char letters[] = "ntrabfv", meant[] = "\n\t\r\a\b\f\v";
	const char *letter = memchr(letters, *at, sizeof(letters) - 1);
	uint32_t byte = 0;

	if (*at == 'x' && ss_chars_read_hex(at + 1, end, 2, &byte)) {
		*(*to)++ = (char)byte;
		return at + 3;
	}
	if (*at >= '0' && *at <= '7') {
		for (int i = 0; i < 3 && at < end && *at >= '0' && *at <= '7'; i++)
			byte = byte * 8 + (uint32_t)(*at++ - '0');
		*(*to)++ = (char)byte;
		return at;
	}
	*(*to)++ = letter ? meant[letter - letters] : *at;
	return at + 1;
}

static enum ss_pickle_step line_push_string(struct ss_pickle *machine, const char *line,
					    size_t length)
{
	const char *at = line + 1, *end = line + length - 1;
	char *out, *to;
	enum ss_pickle_step step;

	if (length < 2 || (*line != '\'' && *line != '"') || *end != *line)
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "a text has no quotes");
	out = to = ss_memory_resize(machine->memory, NULL, 0, length);
	if (!out)
		return ss_pickle_fail_memory(machine);
	while (at < end)
		if (*at == '\\' && end - at > 1)
			at = line_read_escape(at + 1, end, &to);
		else
			*to++ = *at++;
	step = ss_pickle_text(machine, out, (size_t)(to - out));
	ss_memory_free(machine->memory, out, length);
	return step;
}

static enum ss_pickle_step line_push_unicode(struct ss_pickle *machine, const char *line,
					     size_t length)
{
	/* a byte becomes two at most; eight digits become four */
	size_t room = length * 2 + 4;
	char *out = ss_memory_resize(machine->memory, NULL, 0, room);
	enum ss_pickle_step step;

	if (!out)
		return ss_pickle_fail_memory(machine);
	step = ss_pickle_text(machine, out, line_read_unicode(line, line + length, out));
	ss_memory_free(machine->memory, out, room);
	return step;
}

static enum ss_pickle_step line_push_word(struct ss_pickle *machine, enum ss_pickle_kind kind,
					  int64_t word)
{
	return ss_pickle_push(machine, kind, word) ? SS_PICKLE_ON : ss_pickle_fail_memory(machine);
}

static bool line_is_decimal(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (line[i] < '0' || line[i] > '9')
			return false;
	return length > 0;
}

/* False where the digits do not fit 64 bits. */
static bool line_read_digits(const char *line, size_t length, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < length; i++)
		if (__builtin_mul_overflow(*out, UINT64_C(10), out) ||
		    __builtin_add_overflow(*out, (uint64_t)(line[i] - '0'), out))
			return false;
	return true;
}

static enum ss_pickle_step line_push_integer(struct ss_pickle *machine, const char *line,
					     size_t length)
{
	bool is_negative = length && *line == '-';
	uint64_t value;

	line += is_negative;
	length -= is_negative;
	if (!line_is_decimal(line, length))
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "a number is malformed");
	if (!line_read_digits(line, length, &value))
		return line_push_word(machine, SS_PICKLE_WIDE, 0);
	if (value <= INT64_MAX)
		return line_push_word(machine, SS_PICKLE_INT,
				      is_negative ? -(int64_t)value : (int64_t)value);
	return line_push_word(machine, is_negative ? SS_PICKLE_WIDE : SS_PICKLE_UNSIGNED,
			      is_negative ? 0 : (int64_t)value);
}

static enum ss_pickle_step line_push_real(struct ss_pickle *machine, const char *line,
					  size_t length)
{
	struct ss_pickle_value *value;
	double real;

	if (!ss_number_double(line, length, &real))
		return line_push_word(machine, SS_PICKLE_NONE, 0); /* nan, inf */
	value = ss_pickle_push(machine, SS_PICKLE_REAL, 0);
	if (!value)
		return ss_pickle_fail_memory(machine);
	value->real = real;
	return SS_PICKLE_ON;
}

static enum ss_pickle_step line_recall_memo(struct ss_pickle *machine, char operation,
					    const char *line, size_t length)
{
	uint64_t index;

	if (!line_is_decimal(line, length) || !line_read_digits(line, length, &index))
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "a memo index is not a number");
	return operation == SS_PICKLE_OP_PUT ? ss_pickle_put(machine, index)
					     : ss_pickle_recall(machine, index);
}

enum ss_pickle_step ss_pickle_line(struct ss_pickle *machine, char operation, const char *line,
				   size_t length)
{
	if (length && line[length - 1] == '\r')
		length--;
	switch (operation) {
	case SS_PICKLE_OP_INT:
		if (length == 2 && line[0] == '0' && (line[1] == '0' || line[1] == '1'))
			return line_push_word(machine, SS_PICKLE_BOOL, line[1] == '1');
		return line_push_integer(machine, line, length);
	case SS_PICKLE_OP_LONG:
		return line_push_integer(machine, line,
					 length - (length && line[length - 1] == 'L'));
	case SS_PICKLE_OP_FLOAT:
		return line_push_real(machine, line, length);
	case SS_PICKLE_OP_STRING:
		return line_push_string(machine, line, length);
	case SS_PICKLE_OP_UNICODE:
		return line_push_unicode(machine, line, length);
	default:
		return line_recall_memo(machine, operation, line, length);
	}
}
