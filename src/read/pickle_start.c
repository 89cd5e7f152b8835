/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_start.c - recognizes the start of a pickle, also one without a protocol number.
 *
 * Protocols 2 and later begin with a mark; in older ones a list or dictionary written by Python
 * has a fixed beginning. A malicious file can begin with any other value: its operations are
 * followed until one of them is decisive, an import or the end. Nothing that begins like JSON,
 * gzip or zstd is taken for a pickle.
 */
#include <string.h>

#include "read/pickle.h"
#include "read/pickle_machine.h"
#include "base/utf8.h"

/* Operations that are followed: a file that has no import by then is read as what it looks like. */
#define STEPS_MAX 64

struct pickle_scan {
	const unsigned char *at, *end;
};

/* The argument is the rest of the line. False: the line does not end here. */
static bool scan_skip_line(struct pickle_scan *walk)
{
	const unsigned char *end = memchr(walk->at, '\n', (size_t)(walk->end - walk->at));

	if (!end)
		return false;
	walk->at = end + 1;
	return true;
}

static bool scan_skip_bytes(struct pickle_scan *walk, size_t count)
{
	if ((size_t)(walk->end - walk->at) < count)
		return false;
	walk->at += count;
	return true;
}

/* A text after its length, which has `width` bytes. */
static bool scan_skip_counted(struct pickle_scan *walk, size_t width)
{
	size_t length = 0;

	if ((size_t)(walk->end - walk->at) < width)
		return false;
	for (size_t i = width; i-- > 0;)
		length = length << 8 | walk->at[i];
	walk->at += width;
	return scan_skip_bytes(walk, length);
}

static bool is_name_byte(unsigned char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte >= 0x80;
}

/* A line that can be the name of a module or of something in it: os, a.b.C. */
static bool scan_skip_name(struct pickle_scan *walk)
{
	const unsigned char *first = walk->at;

	while (walk->at < walk->end && is_name_byte(*walk->at))
		walk->at++;
	return walk->at > first && walk->at < walk->end && *walk->at++ == '\n';
}

/* Skips one operation and its argument. False: it is unknown, or not an operation of data. */
static bool scan_skip_operation(struct pickle_scan *walk)
{
	switch (*walk->at++) {
	case SS_PICKLE_OP_NONE:
	case SS_PICKLE_OP_EMPTY_TUPLE:
	case SS_PICKLE_OP_MARK:
	case SS_PICKLE_OP_EMPTY_LIST:
	case SS_PICKLE_OP_EMPTY_DICT:
	case SS_PICKLE_OP_LIST:
	case SS_PICKLE_OP_DICT:
	case SS_PICKLE_OP_TUPLE:
	case SS_PICKLE_OP_APPEND:
	case SS_PICKLE_OP_APPENDS:
	case SS_PICKLE_OP_SETITEM:
	case SS_PICKLE_OP_SETITEMS:
	case SS_PICKLE_OP_POP:
	case SS_PICKLE_OP_POP_MARK:
	case SS_PICKLE_OP_DUP:
		return true;
	case SS_PICKLE_OP_INT:
	case SS_PICKLE_OP_LONG:
	case SS_PICKLE_OP_FLOAT:
	case SS_PICKLE_OP_STRING:
	case SS_PICKLE_OP_UNICODE:
	case SS_PICKLE_OP_PERSID:
	case SS_PICKLE_OP_PUT:
	case SS_PICKLE_OP_GET:
		return scan_skip_line(walk);
	case SS_PICKLE_OP_BININT1:
	case SS_PICKLE_OP_BINPUT:
	case SS_PICKLE_OP_BINGET:
		return scan_skip_bytes(walk, 1);
	case SS_PICKLE_OP_BININT2:
		return scan_skip_bytes(walk, 2);
	case SS_PICKLE_OP_BININT:
		return scan_skip_bytes(walk, 4);
	case SS_PICKLE_OP_BINFLOAT:
		return scan_skip_bytes(walk, 8);
	case SS_PICKLE_OP_SHORT_BINSTRING:
		return scan_skip_counted(walk, 1);
	case SS_PICKLE_OP_BINSTRING:
	case SS_PICKLE_OP_BINUNICODE:
		return scan_skip_counted(walk, 4);
	default:
		return false;
	}
}

/* Those that can come first; the rest needs something before it, or begins a JSON text. */
static const char first_operations[] = {
	SS_PICKLE_OP_GLOBAL,      SS_PICKLE_OP_INST,
	SS_PICKLE_OP_NONE,        SS_PICKLE_OP_LIST,
	SS_PICKLE_OP_DICT,        SS_PICKLE_OP_PERSID,
	SS_PICKLE_OP_INT,         SS_PICKLE_OP_STRING,
	SS_PICKLE_OP_UNICODE,     SS_PICKLE_OP_LONG,
	SS_PICKLE_OP_FLOAT,       SS_PICKLE_OP_BININT1,
	SS_PICKLE_OP_BININT2,     SS_PICKLE_OP_BININT,
	SS_PICKLE_OP_BINFLOAT,    SS_PICKLE_OP_SHORT_BINSTRING,
	SS_PICKLE_OP_BINSTRING,   SS_PICKLE_OP_BINUNICODE,
	SS_PICKLE_OP_EMPTY_TUPLE,
};

/* Operations of data up to an import or to the end. */
static bool scan_is_program(const char *bytes, size_t length)
{
	struct pickle_scan walk = { (const unsigned char *)bytes,
				    (const unsigned char *)bytes + length };

	if (!length || !memchr(first_operations, *bytes, sizeof(first_operations)))
		return false;
	for (int i = 0; i < STEPS_MAX && walk.at < walk.end; i++) {
		if (*walk.at == SS_PICKLE_OP_STOP)
			return true;
		if (*walk.at == SS_PICKLE_OP_GLOBAL || *walk.at == SS_PICKLE_OP_INST) {
			walk.at++;
			return scan_skip_name(&walk) && scan_skip_name(&walk);
		}
		if (!scan_skip_operation(&walk))
			return false;
	}
	return false;
}

bool ss_pickle_is_start(const char *bytes, size_t length)
{
	if (length >= 2 && (unsigned char)bytes[0] == SS_PICKLE_OP_PROTO)
		return (unsigned char)bytes[1] >= 2 && (unsigned char)bytes[1] <= 5;
	if (length >= 2 && bytes[0] == SS_PICKLE_OP_MARK)
		return bytes[1] == SS_PICKLE_OP_DICT || bytes[1] == SS_PICKLE_OP_LIST;
	if (length >= 2 &&
	    (bytes[0] == SS_PICKLE_OP_EMPTY_DICT || bytes[0] == SS_PICKLE_OP_EMPTY_LIST))
		return bytes[1] == SS_PICKLE_OP_BINPUT;
	return scan_is_program(bytes, length);
}

/* Operations that would run something, and the error for each. */

static const struct pickle_refusal {
	unsigned char operation;
	const char *name, *what;
} refusals[] = {
	{ SS_PICKLE_OP_GLOBAL, "GLOBAL", "import a name" },
	{ SS_PICKLE_OP_STACK_GLOBAL, "STACK_GLOBAL", "import a name" },
	{ SS_PICKLE_OP_REDUCE, "REDUCE", "call a function" },
	{ SS_PICKLE_OP_BUILD, "BUILD", "set the state of an object" },
	{ SS_PICKLE_OP_INST, "INST", "create an object of a class" },
	{ SS_PICKLE_OP_OBJ, "OBJ", "create an object of a class" },
	{ SS_PICKLE_OP_NEWOBJ, "NEWOBJ", "create an object of a class" },
	{ SS_PICKLE_OP_NEWOBJ_EX, "NEWOBJ_EX", "create an object of a class" },
	{ SS_PICKLE_OP_EXT1, "EXT1", "import a name by number" },
	{ SS_PICKLE_OP_EXT2, "EXT2", "import a name by number" },
	{ SS_PICKLE_OP_EXT4, "EXT4", "import a name by number" },
	{ SS_PICKLE_OP_PERSID, "PERSID", "load an object from elsewhere" },
	{ SS_PICKLE_OP_BINPERSID, "BINPERSID", "load an object from elsewhere" },
	{ SS_PICKLE_OP_NEXT_BUFFER, "NEXT_BUFFER", "use a buffer from elsewhere" },
	{ SS_PICKLE_OP_READONLY_BUFFER, "READONLY_BUFFER", "use a buffer from elsewhere" },
};

/* The next line for an error message, or "" where it cannot be shown. */
static void spell_line(struct ss_pickle *machine, char out[64])
{
	size_t length = 0;

	out[0] = '\0';
	if (ss_pickle_find_line(machine, &length) != SS_PICKLE_ON)
		return;
	if (length < 64 && !ss_utf8_check(machine->at, length)) {
		memcpy(out, machine->at, length);
		out[length] = '\0';
	}
	machine->at += length + 1;
}

/* The text `down` places below the top of the stack. */
static void spell_value(const struct ss_pickle *machine, uint32_t down, char out[64])
{
	const struct ss_pickle_value *value;
	const struct ss_string *text;

	out[0] = '\0';
	if (machine->stack_count <= down)
		return;
	value = &machine->stack[machine->stack_count - 1 - down];
	if (value->kind != SS_PICKLE_TEXT)
		return;
	text = &machine->reader->texts->items[value->word];
	if (text->length < 64)
		memcpy(out, text->text, (size_t)text->length + 1);
}

enum ss_pickle_step ss_pickle_refuse(struct ss_pickle *machine, unsigned char operation)
{
	const struct pickle_refusal *refusal = NULL;
	char module[64] = "", name[64] = "";

	for (size_t i = 0; i < SS_COUNT(refusals); i++)
		if (refusals[i].operation == operation)
			refusal = &refusals[i];
	if (!refusal)
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "0x%02x is not a pickle operation",
				      operation);
	if (operation == SS_PICKLE_OP_GLOBAL || operation == SS_PICKLE_OP_INST) {
		spell_line(machine, module);
		spell_line(machine, name);
	} else if (operation == SS_PICKLE_OP_STACK_GLOBAL) {
		spell_value(machine, 1, module);
		spell_value(machine, 0, name);
	}
	if (module[0] || name[0])
		return ss_pickle_fail(
			machine, SS_ERR_FORMAT,
			"%s tries to %s: '%s.%s', which no snapshot of "
			"torch.cuda.memory._dump_snapshot() does; stepscope refused it and ran "
			"nothing",
			refusal->name, refusal->what, module, name);
	return ss_pickle_fail(machine, SS_ERR_FORMAT,
			      "%s tries to %s, which no snapshot of "
			      "torch.cuda.memory._dump_snapshot() does; stepscope refused it and "
			      "ran nothing",
			      refusal->name, refusal->what);
}
