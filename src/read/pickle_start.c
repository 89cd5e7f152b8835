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

/* Goes past one operation and its argument. False: it is none, or not one of data. */
static bool scan_skip_operation(struct pickle_scan *walk)
{
	switch (*walk->at++) {
	case 'N':
	case ')':
	case '(':
	case ']':
	case '}':
	case 'l':
	case 'd':
	case 't':
	case 'a':
	case 'e':
	case 's':
	case 'u':
	case '0':
	case '1':
	case '2':
		return true;
	case 'I':
	case 'L':
	case 'F':
	case 'S':
	case 'V':
	case 'P':
	case 'p':
	case 'g':
		return scan_skip_line(walk);
	case 'K':
	case 'q':
	case 'h':
		return scan_skip_bytes(walk, 1);
	case 'M':
		return scan_skip_bytes(walk, 2);
	case 'J':
		return scan_skip_bytes(walk, 4);
	case 'G':
		return scan_skip_bytes(walk, 8);
	case 'U':
		return scan_skip_counted(walk, 1);
	case 'T':
	case 'X':
		return scan_skip_counted(walk, 4);
	default:
		return false;
	}
}

/* Operations of data up to an import or to the end. */
static bool scan_is_program(const char *bytes, size_t length)
{
	struct pickle_scan walk = { (const unsigned char *)bytes,
				    (const unsigned char *)bytes + length };

	/* these can come first; the rest needs something before it, or begins a JSON text */
	if (!length || !*bytes || !strchr("ciNldPISVLFKMJGUTX)", *bytes))
		return false;
	for (int i = 0; i < STEPS_MAX && walk.at < walk.end; i++) {
		if (*walk.at == '.')
			return true;
		if (*walk.at == 'c' || *walk.at == 'i') {
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
	if (length >= 2 && (unsigned char)bytes[0] == 0x80)
		return (unsigned char)bytes[1] >= 2 && (unsigned char)bytes[1] <= 5;
	if (length >= 2 && bytes[0] == '(')
		return bytes[1] == 'd' || bytes[1] == 'l';
	if (length >= 2 && (bytes[0] == '}' || bytes[0] == ']'))
		return bytes[1] == 'q';
	return scan_is_program(bytes, length);
}
