/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fix.c - a fix as it stands in a terminal: lines that can be pasted.
 *
 * Code keeps its lines, however long they are. A comment that is too long becomes several
 * comments; behind code it moves above it.
 */
#include "render/verdict/diagnosis.h"

#define FIX_INDENT (SS_FINDING_INDENT + 3)

struct fix_lines {
	struct ss_text *out;
	uint32_t width;
	bool has_lines;
};

/* A line of a fix, behind the arrow or below it. */
static void fix_begin_line(struct fix_lines *fix, size_t in)
{
	ss_text_fill(fix->out, ' ', fix->has_lines ? FIX_INDENT : SS_FINDING_INDENT);
	ss_text_add_string(fix->out, fix->has_lines ? "" : "-> ");
	ss_text_fill(fix->out, ' ', in);
	fix->has_lines = true;
}

/* A comment, broken at spaces into comments of the same indent. */
static void fix_add_comment(struct fix_lines *fix, const char *text, size_t length, size_t in)
{
	size_t room = fix->width > FIX_INDENT + in + 22 ? fix->width - FIX_INDENT - in - 2 : 20;

	while (length && (*text == '#' || *text == ' ')) {
		text++;
		length--;
	}
	while (length) {
		size_t cut = ss_text_prefix(text, length, room), space = cut;

		while (cut < length && space > 0 && text[space] != ' ')
			space--;
		if (cut < length && space)
			cut = space;
		if (!cut)
			cut = length;
		fix_begin_line(fix, in);
		ss_text_add_string(fix->out, "# ");
		ss_text_add(fix->out, text, cut);
		ss_text_add_string(fix->out, "\n");
		for (; cut < length && text[cut] == ' ';)
			cut++;
		text += cut;
		length -= cut;
	}
}

/* Where a comment after code begins; `length`: nowhere. */
static size_t fix_find_comment(const char *line, size_t length)
{
	for (size_t i = 2; i + 1 < length; i++)
		if (line[i] == '#' && line[i - 1] == ' ' && line[i - 2] == ' ')
			return i;
	return length;
}

/* A line of code; a comment that is too long moves above it. */
static void fix_add_line(struct fix_lines *fix, const char *line, size_t length)
{
	size_t in = strspn(line, " "), code = length;

	if (length + FIX_INDENT > fix->width) {
		code = line[in] == '#' ? 0 : fix_find_comment(line, length);
		fix_add_comment(fix, line + code, length - code, in);
		while (code > 0 && line[code - 1] == ' ')
			code--;
	}
	if (!code)
		return;
	fix_begin_line(fix, 0);
	ss_text_add(fix->out, line, code);
	ss_text_add_string(fix->out, "\n");
}

/* Where the comments begin that end the fix; the end: code ends it, or there is none. */
static const char *fix_last_comments(const char *fix)
{
	const char *found = fix + strlen(fix);
	bool has_code = false;

	for (const char *line = fix; *line;) {
		size_t length = strcspn(line, "\n");

		if (line[strspn(line, " ")] != '#') {
			has_code = true;
			found = fix + strlen(fix);
		} else if (has_code && !*found) {
			found = line;
		}
		line += length + (line[length] == '\n');
	}
	return found;
}

void ss_render_verdict_fix(const char *text, uint32_t width, uint32_t most, struct ss_text *out)
{
	struct fix_lines fix = { .out = out, .width = width };
	const char *end = text + strlen(text);
	uint32_t lines = 1;

	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	if (lines > most)
		end = fix_last_comments(text);
	for (const char *line = text; line < end;) {
		size_t length = strcspn(line, "\n");

		fix_add_line(&fix, line, length);
		line += length + (line[length] == '\n');
	}
}
