/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_file.c - reads where threads are: what Python's faulthandler, torch.distributed.debug
 * (stacks_*.txt) and py-spy (pyspy_dump_*.txt) print.
 *
 *   === Rank 2: http://host:1234 ===            one file can have all ranks
 *   Thread 0x7f00 (most recent call first):     Thread 812 (idle): "MainThread"
 *     File "train.py", line 84 in step              step (train.py:84)
 *
 * Other lines are not looked at: a log around them does no harm.
 */
#include <string.h>

#include "base/text.h"
#include "hang/load/reader.h"
#include "read/number.h"

static const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool ss_flight_stacks_is_name(const char *path)
{
	const char *name = path_name(path);

	return (ss_string_begins_with(name, "stacks_") ||
		ss_string_begins_with(name, "pyspy_dump")) &&
	       (ss_string_ends_with(name, ".txt") || ss_string_ends_with(name, ".log"));
}

struct stack_reading {
	struct ss_stack_file *out;
	int64_t rank;
	bool failed; /* no memory */
};

static uint32_t stack_text(struct stack_reading *reading, const char *text, size_t length)
{
	uint32_t id = ss_strings_add(&reading->out->texts, text, length);

	reading->failed |= id == SS_NO_ID;
	return id == SS_NO_ID ? 0 : id;
}

static void stack_begin_thread(struct stack_reading *reading, const char *line, size_t length)
{
	struct ss_stack_file *out = reading->out;
	const char *quote = memchr(line, '"', length);
	const char *end = quote ? memchr(quote + 1, '"', length - (size_t)(quote + 1 - line))
				: NULL;
	struct ss_thread_stack thread = { .rank = reading->rank, .first = out->frame_count };

	if (end)
		thread.thread = stack_text(reading, quote + 1, (size_t)(end - quote - 1));
	if (!SS_GROW(out->memory, out->threads, out->thread_capacity, out->thread_count)) {
		reading->failed = true;
		return;
	}
	out->threads[out->thread_count++] = thread;
}

static void stack_add_frame(struct stack_reading *reading, struct ss_code_frame frame)
{
	struct ss_stack_file *out = reading->out;

	if (!out->thread_count || reading->failed)
		return;
	if (!SS_GROW(out->memory, out->frames, out->frame_capacity, out->frame_count)) {
		reading->failed = true;
		return;
	}
	out->frames[out->frame_count++] = frame;
	out->threads[out->thread_count - 1].count++;
}

/* The digits at the beginning. */
static uint32_t stack_line_number(const char *text, size_t length)
{
	size_t digits = 0;
	int64_t number = 0;

	while (digits < length && digits < 9 && ss_char_is_digit(text[digits]))
		digits++;
	return digits && ss_number_i64(text, digits, &number) ? (uint32_t)number : 0;
}

/* 'File "train.py", line 84 in step', as faulthandler writes it, or ', in step' of a traceback. */
static void stack_read_file_line(struct stack_reading *reading, const char *line, size_t length)
{
	static const char between[] = "\", line ";
	const char *end = line + length, *file = line + strlen("File \""), *at, *name;
	struct ss_code_frame frame = { 0 };

	for (at = file; at < end && *at != '"'; at++)
		;
	if ((size_t)(end - at) < strlen(between) || memcmp(at, between, strlen(between)) != 0)
		return;
	frame.file = stack_text(reading, file, (size_t)(at - file));
	at += strlen(between);
	frame.line = stack_line_number(at, (size_t)(end - at));
	for (name = at; name + 4 <= end && memcmp(name, " in ", 4) != 0; name++)
		;
	if (name + 4 <= end)
		frame.name = stack_text(reading, name + 4, (size_t)(end - name - 4));
	stack_add_frame(reading, frame);
}

/* 'step (train.py:84)' */
static void stack_read_spy_line(struct stack_reading *reading, const char *line, size_t length)
{
	const char *end = line + length - 1, *colon = end, *open;
	struct ss_code_frame frame = { 0 };

	while (colon > line && *colon != ':')
		colon--;
	frame.line = stack_line_number(colon + 1, (size_t)(end - colon) - (colon < end));
	for (open = colon; open > line && *open != '('; open--)
		;
	if (!frame.line || open == line || open[-1] != ' ')
		return;
	frame.name = stack_text(reading, line, (size_t)(open - 1 - line));
	frame.file = stack_text(reading, open + 1, (size_t)(colon - open - 1));
	stack_add_frame(reading, frame);
}

static void stack_read_line(struct stack_reading *reading, const char *line, size_t length)
{
	bool is_indented = length && (*line == ' ' || *line == '\t');

	while (length && (*line == ' ' || *line == '\t')) {
		line++;
		length--;
	}
	while (length && (line[length - 1] == '\r' || line[length - 1] == ' '))
		length--;
	if (ss_text_begins_with(line, length, "=== Rank "))
		reading->rank = stack_line_number(line + strlen("=== Rank "),
						  length - strlen("=== Rank "));
	else if (!is_indented && (ss_text_begins_with(line, length, "Thread ") ||
				  ss_text_begins_with(line, length, "Current thread ")))
		stack_begin_thread(reading, line, length);
	else if (ss_text_begins_with(line, length, "File \""))
		stack_read_file_line(reading, line, length);
	else if (is_indented && length > 4 && line[length - 1] == ')')
		stack_read_spy_line(reading, line, length);
}

enum ss_status ss_flight_stacks_load(struct ss_source *source, struct ss_memory *memory,
				     struct ss_stack_file *out, struct ss_error *err)
{
	struct stack_reading reading = { .out = out, .rank = -1 };
	struct ss_whole_file file = { .memory = memory };
	enum ss_status status;

	*out = (struct ss_stack_file){ .memory = memory };
	status = ss_strings_init(&out->texts, memory) ? ss_source_read_whole(source, &file, err)
						      : ss_fail_memory(err, "the stacks");
	for (size_t at = 0; status == SS_OK && at < file.length;) {
		const char *end = memchr(file.text + at, '\n', file.length - at);
		size_t length = end ? (size_t)(end - file.text) - at : file.length - at;

		stack_read_line(&reading, file.text + at, length);
		at += length + 1;
	}
	ss_whole_file_release(&file);
	if (reading.failed)
		status = ss_fail_memory(err, "the stacks");
	if (status == SS_OK && !out->frame_count)
		status = ss_fail(err, SS_ERR_FORMAT, "no stack of a thread is in it");
	if (status != SS_OK)
		ss_flight_stacks_release(out);
	return status;
}

void ss_flight_stacks_release(struct ss_stack_file *file)
{
	if (!file->memory)
		return;
	SS_FREE(file->memory, file->frames, file->frame_capacity);
	SS_FREE(file->memory, file->threads, file->thread_capacity);
	ss_strings_release(&file->texts);
	*file = (struct ss_stack_file){ 0 };
}
