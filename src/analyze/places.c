/*
 * places.c - one pass over the host's rows, parents before children, and one that
 * moves what autograd runs to where its forward operator stood.
 */
#include <string.h>

#include "analyze/places.h"

/* What a frame's name says, looked at once. */
enum frame_kind { FRAME_NEW = 0, FRAME_FOREIGN, FRAME_OWN };

struct finder {
	struct ss_places *places;
	uint8_t *frames;       /* enum frame_kind, per name */
	uint32_t *name_lines;  /* line of a frame, per name; 0: not asked for yet */
	uint32_t *stack_lines; /* line of a call stack, per text */
	uint8_t *moved;        /* per row: stands where its forward operator stood */
	uint8_t *own;          /* per row: its line is of the user's own code */
};

/* Frames of built-in functions, modules and libraries: not what a user can change. */
static bool is_foreign(const char *name, size_t length)
{
	static const char *const parts[] = { "torch/", "site-packages/", "dist-packages/",
					     "lib/python", "nn.Module: " };
	static const char mark[] = ".py(";
	bool python = false;

	if (!length || name[0] == '<')
		return true;
	for (size_t i = 0; i < length; i++) {
		python |= strncmp(name + i, mark, sizeof(mark) - 1) == 0;
		for (size_t k = 0; k < SS_COUNT(parts); k++)
			if (strncmp(name + i, parts[k], strlen(parts[k])) == 0)
				return true;
	}
	return !python;
}

static uint32_t add_line(struct finder *finder, const char *text, size_t length)
{
	return ss_strings_add(&finder->places->lines, text, length);
}

/* The innermost frame of the user's in "inner.py(3): f;outer.py(7): g", else the innermost. */
static uint32_t line_of_stack(struct finder *finder, uint32_t text)
{
	const struct ss_string *stack = &finder->places->trace->texts.items[text];
	const char *at = stack->text, *end = at + stack->length;
	size_t first = 0;

	if (finder->stack_lines[text])
		return finder->stack_lines[text];
	while (at < end) {
		const char *stop = memchr(at, ';', (size_t)(end - at));
		size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);

		if (at == stack->text)
			first = length;
		if (!is_foreign(at, length))
			return finder->stack_lines[text] = add_line(finder, at, length);
		at += length + 1;
	}
	return finder->stack_lines[text] = add_line(finder, stack->text, first);
}

static uint32_t line_of_frame(struct finder *finder, uint32_t name)
{
	const struct ss_string *text = &finder->places->trace->names.items[name];

	if (!finder->name_lines[name])
		finder->name_lines[name] = add_line(finder, text->text, text->length);
	return finder->name_lines[name];
}

/* A frame of the user's own replaces any; one of a library only what is none of the user's. */
static void enter_frame(struct finder *finder, uint32_t row)
{
	const struct ss_trace *trace = finder->places->trace;
	uint32_t name = trace->slices.name[row];
	const struct ss_string *text = &trace->names.items[name];

	if (!finder->frames[name])
		finder->frames[name] = is_foreign(text->text, text->length) ? FRAME_FOREIGN
									    : FRAME_OWN;
	if (finder->frames[name] == FRAME_OWN || !finder->own[row])
		finder->places->line[row] = line_of_frame(finder, name);
	finder->own[row] |= finder->frames[name] == FRAME_OWN;
	if (trace->name_flags[name] & SS_NAME_MODULE)
		finder->places->module[row] = row;
}

static void enter_op(struct finder *finder, uint32_t row)
{
	const struct ss_trace *trace = finder->places->trace;
	const struct ss_op_args *args;

	if (trace->slices.args[row] == SS_NO_ARGS)
		return;
	args = ss_records_at(&trace->op_args, trace->slices.args[row]);
	if (args->call_stack)
		finder->places->line[row] = line_of_stack(finder, args->call_stack);
}

static void find_places(struct finder *finder)
{
	struct ss_places *places = finder->places;
	const struct ss_slices *slices = &places->trace->slices;

	for (uint32_t row = 0; row < places->row_count; row++) {
		uint32_t parent = slices->parent[row];

		places->line[row] = parent == SS_NO_ROW ? 0 : places->line[parent];
		places->module[row] = parent == SS_NO_ROW ? SS_NO_ROW : places->module[parent];
		finder->own[row] = parent != SS_NO_ROW && finder->own[parent];
		if (slices->kind[row] == SS_KIND_PYTHON)
			enter_frame(finder, row);
		else if (slices->kind[row] == SS_KIND_OP)
			enter_op(finder, row);
		places->has_lines |= places->line[row] != 0;
		places->has_modules |= places->module[row] != SS_NO_ROW;
	}
}

/*
 * A backward operator and what is in it, up to frames of its own: a Python backward
 * is code of its own line.
 */
static void move_backward(struct finder *finder)
{
	struct ss_places *places = finder->places;
	const struct ss_slices *slices = &places->trace->slices;

	for (uint32_t row = 0; row < places->row_count; row++) {
		uint32_t parent = slices->parent[row], from = SS_NO_ROW;

		if (slices->kind[row] == SS_KIND_OP && slices->link[row] < places->row_count)
			from = slices->link[row];
		else if (parent != SS_NO_ROW && finder->moved[parent] &&
			 slices->kind[row] != SS_KIND_PYTHON)
			from = parent;
		if (from == SS_NO_ROW)
			continue;
		finder->moved[row] = 1;
		if (places->line[from])
			places->line[row] = places->line[from];
		if (places->module[from] != SS_NO_ROW)
			places->module[row] = places->module[from];
	}
}

static bool prepare(struct finder *finder, struct ss_arena *scratch)
{
	struct ss_places *places = finder->places;
	size_t count = (size_t)places->row_count + 1;

	finder->frames = SS_ARENA_NEW(scratch, uint8_t, (size_t)places->trace->names.count + 1);
	finder->name_lines = SS_ARENA_NEW(scratch, uint32_t,
					  (size_t)places->trace->names.count + 1);
	finder->stack_lines = SS_ARENA_NEW(scratch, uint32_t,
					   (size_t)places->trace->texts.count + 1);
	finder->moved = SS_ARENA_NEW(scratch, uint8_t, count);
	finder->own = SS_ARENA_NEW(scratch, uint8_t, count);
	places->line = ss_memory_resize(places->memory, NULL, 0, count * sizeof(*places->line));
	places->module = ss_memory_resize(places->memory, NULL, 0, count * sizeof(*places->module));
	return finder->frames && finder->name_lines && finder->stack_lines && finder->moved &&
	       finder->own && places->line && places->module;
}

void ss_places_release(struct ss_places *places)
{
	size_t count = (size_t)places->row_count + 1;

	if (!places->memory)
		return;
	ss_memory_free(places->memory, places->line, count * sizeof(*places->line));
	ss_memory_free(places->memory, places->module, count * sizeof(*places->module));
	ss_strings_release(&places->lines);
	*places = (struct ss_places){ 0 };
}

enum ss_status ss_places_init(struct ss_places *places, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err)
{
	struct finder finder = { .places = places };
	struct ss_arena scratch;
	bool whole;

	*places = (struct ss_places){ .trace = trace,
				      .memory = memory,
				      .row_count = trace->device_from };
	ss_arena_init(&scratch, memory);
	whole = ss_strings_init(&places->lines, memory) && prepare(&finder, &scratch);
	if (whole) {
		find_places(&finder);
		move_backward(&finder);
	}
	ss_arena_release(&scratch);
	/* a line that could not be stored is SS_NO_ID somewhere */
	for (uint32_t row = 0; whole && row < places->row_count; row++)
		whole = places->line[row] != SS_NO_ID;
	if (whole)
		return SS_OK;
	ss_places_release(places);
	return ss_fail_memory(err, "the lines of the program");
}

const char *ss_places_line(const struct ss_places *places, uint32_t row, struct ss_table *out)
{
	if (row >= places->row_count || !places->line[row])
		return NULL;
	return ss_table_print(out, "%s", ss_strings_text(&places->lines, places->line[row]));
}
