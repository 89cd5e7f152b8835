/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_refuse.c - operations that would run something, and the error for each.
 */
#include <string.h>

#include "base/utf8.h"
#include "read/pickle_machine.h"

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
