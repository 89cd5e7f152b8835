/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.c - finds the files of an input, and changes them one at a time.
 */
#include "parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

#define MARK "=== "
#define MARK_BYTES (sizeof(MARK) - 1)

static bool is_mark(const uint8_t *data, size_t size, size_t at)
{
	return (at == 0 || data[at - 1] == '\n') && size - at >= MARK_BYTES &&
	       memcmp(data + at, MARK, MARK_BYTES) == 0;
}

/* Fills the name from the line at `at`; returns where the line ends. */
static size_t read_name(const uint8_t *data, size_t size, size_t at, struct part *part)
{
	size_t length = 0;

	for (; at < size && data[at] != '\n'; at++)
		if (length + 1 < PART_NAME_BYTES)
			part->name[length++] = isalnum(data[at]) || (data[at] &&
								     strchr(".-_/", data[at]))
						       ? (char)data[at]
						       : '_';
	part->name[length] = '\0';
	if (!length)
		snprintf(part->name, PART_NAME_BYTES, "x.json");
	return at < size ? at + 1 : size;
}

/* The next mark at or behind `at`, or the end. */
static size_t next_mark(const uint8_t *data, size_t size, size_t at)
{
	while (at < size && !is_mark(data, size, at)) {
		const uint8_t *line = memchr(data + at, '\n', size - at);

		at = line ? (size_t)(line - data) + 1 : size;
	}
	return at;
}

size_t parts_find(const uint8_t *data, size_t size, struct part *parts)
{
	size_t count = 0, at = next_mark(data, size, 0);

	if (at > 0) {
		parts[count++] = (struct part){ .name = "rank0.json", .to = at };
	}
	while (at < size && count < PARTS_MAX) {
		struct part *part = &parts[count++];

		part->head = at;
		part->from = read_name(data, size, at + MARK_BYTES, part);
		at = next_mark(data, size, part->from);
		part->to = at;
	}
	return count;
}

/* One file changed by what is known of its kind, or made a pack. */
static bool change_part(struct mutation *mutation, const struct part *part, bool packs)
{
	size_t length = part->to - part->from, room = mutation->max_size - mutation->size;
	struct mutation own = { .size = length, .max_size = length + room };
	bool done;

	own.data = malloc(length + room + 1);
	if (!own.data)
		return false;
	memcpy(own.data, mutation->data + part->from, length);
	if (!packs || is_pack(own.data, length) || !pack_trace(&own))
		own.size = mutate_file(own.data, length, length + room,
				       (unsigned int)draw(mutation, UINT32_MAX));
	done = replace(mutation, part->from, part->to, own.data, own.size);
	free(own.data);
	return done;
}

/* Another name: of a rank, of a snapshot beside it, of a pack. */
static bool rename_part(struct mutation *mutation, const struct part *part)
{
	static const char *const forms[] = { "rank%zu.json",      "rank%zu.pickle",
					     "rank%zu.stepscope", "a/rank%zu.json",
					     "b/rank%zu.json",    "x%zu.json" };
	char line[64];
	int length = snprintf(line, sizeof(line), MARK);

	length += snprintf(line + length, sizeof(line) - (size_t)length,
			   forms[draw(mutation, sizeof(forms) / sizeof(*forms))],
			   draw(mutation, PARTS_MAX));
	line[length++] = '\n';
	return replace(mutation, part->head, part->from, line, (size_t)length);
}

/* A part once more, under a name of its own: the ranks of a job resemble each other. */
static bool repeat_part(struct mutation *mutation, const struct part *part)
{
	size_t at = mutation->size;
	struct part copy = { .head = at + 1 };

	if (!replace_by_own(mutation, at, at, part->from, part->to - part->from) ||
	    !replace(mutation, at, at, "\n" MARK "\n", MARK_BYTES + 2))
		return false;
	copy.from = at + MARK_BYTES + 2;
	return rename_part(mutation, &copy);
}

size_t parts_mutate(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutation mutation = { data, size, max_size,
				     seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
	struct part parts[PARTS_MAX];
	size_t count = parts_find(data, size, parts);
	const struct part *part = &parts[draw(&mutation, count)];
	bool done = false;

	if (!count)
		return LLVMFuzzerMutate(data, size, max_size);
	switch (draw(&mutation, 16)) {
	case 0:
		done = count > 1 && replace(&mutation, part->head, part->to, "", 0);
		break;
	case 1:
		done = count < PARTS_MAX && repeat_part(&mutation, part);
		break;
	case 2:
		done = rename_part(&mutation, part);
		break;
	case 3:
		done = change_part(&mutation, part, true);
		break;
	default:
		done = change_part(&mutation, part, false);
	}
	return done ? mutation.size : mutate_file(data, size, max_size, seed);
}
