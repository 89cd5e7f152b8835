/*
 * text.c - appending to a text that grows.
 */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that failed holds no memory and refuses what comes: capacity says so. */
#define FAILED SIZE_MAX

static bool reserve(struct ss_text *text, size_t more)
{
	size_t wanted = text->capacity ? text->capacity : 256;
	char *moved;

	if (text->capacity == FAILED)
		return false;
	if (more < text->capacity && text->length + more < text->capacity)
		return true;
	while (wanted <= text->length + more)
		wanted *= 2;
	moved = realloc(text->data, wanted);
	if (!moved) {
		free(text->data);
		*text = (struct ss_text){ .capacity = FAILED };
		return false;
	}
	text->data = moved;
	text->capacity = wanted;
	return true;
}

void ss_text_add(struct ss_text *text, const char *bytes, size_t length)
{
	if (!reserve(text, length))
		return;
	if (length)
		memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void ss_text_add_string(struct ss_text *text, const char *string)
{
	ss_text_add(text, string, strlen(string));
}

void ss_text_fill(struct ss_text *text, char byte, size_t count)
{
	if (!reserve(text, count))
		return;
	memset(text->data + text->length, byte, count);
	text->length += count;
	text->data[text->length] = '\0';
}

void ss_text_add_int(struct ss_text *text, int64_t value)
{
	char digits[24];

	ss_text_add(text, digits, (size_t)snprintf(digits, sizeof(digits), "%" PRId64, value));
}

void ss_text_addf(struct ss_text *text, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || !reserve(text, (size_t)length))
		return;
	va_start(args, format);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
	va_end(args);
	text->length += (size_t)length;
}

bool ss_text_failed(const struct ss_text *text)
{
	return text->capacity == FAILED;
}

void ss_text_release(struct ss_text *text)
{
	free(text->data);
	*text = (struct ss_text){ 0 };
}

static bool begins_point(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t ss_text_columns(const char *bytes, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += begins_point(bytes[i]);
	return columns;
}

size_t ss_text_prefix(const char *bytes, size_t length, size_t columns)
{
	size_t i = 0;

	while (i < length && (columns > 0 || !begins_point(bytes[i]))) {
		columns -= begins_point(bytes[i]);
		i++;
	}
	return i;
}
