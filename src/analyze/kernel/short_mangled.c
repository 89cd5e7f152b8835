/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_mangled.c - short names of kernels with mangled names.
 *
 * This is not a demangler: the names of the path, which are stored with their lengths, and
 * the first name or floating-point type among the template arguments are enough.
 */
#include <string.h>

#include "analyze/kernel/short_name.h"
#include "base/text.h"

struct mangled_cursor {
	const char *at, *end;
};

/* Reads a name with its length, such as "6native"; false: there is none. */
static bool mangled_read_name(struct mangled_cursor *cursor, const char **name, size_t *length)
{
	size_t number = 0;
	const char *at = cursor->at;

	for (; at < cursor->end && ss_char_is_digit(*at) && number < 10000; at++)
		number = number * 10 + (size_t)(*at - '0');
	if (!number || number > (size_t)(cursor->end - at))
		return false;
	*name = at;
	*length = number;
	cursor->at = at + number;
	return true;
}

static void mangled_skip_past(struct mangled_cursor *cursor, char last)
{
	while (cursor->at < cursor->end && *cursor->at++ != last)
		;
}

/* The last name of a path "2at6nativeE", which may begin with NS_ or NK. */
static bool mangled_read_path(struct mangled_cursor *cursor, const char **name, size_t *length)
{
	bool found = false;

	while (cursor->at < cursor->end) {
		if (ss_char_is_digit(*cursor->at)) {
			if (!mangled_read_name(cursor, name, length))
				return false;
			found = true;
		} else if (*cursor->at == 'S' && cursor->at + 1 < cursor->end) {
			if (cursor->at[1] == 't' || cursor->at[1] == 'a')
				cursor->at += 2;
			else
				mangled_skip_past(cursor, '_');
		} else if (*cursor->at == 'K' && !found) {
			cursor->at++;
		} else {
			break;
		}
	}
	return found;
}

/* The first name, or 16 or 32 bit floating type, among template arguments. */
static bool mangled_first_argument(struct mangled_cursor *cursor, const char **name, size_t *length)
{
	while (cursor->at < cursor->end && *cursor->at != 'E') {
		size_t left = (size_t)(cursor->end - cursor->at);
		char c = *cursor->at;

		if (ss_char_is_digit(c))
			return mangled_read_name(cursor, name, length);
		if (c == 'f' || (c == 'D' && left > 4 && memcmp(cursor->at, "DF16", 4) == 0)) {
			*name = c == 'f' ? "float" : cursor->at[4] == 'b' ? "bf16" : "half";
			*length = strlen(*name);
			cursor->at += c == 'f' ? 1 : 5;
			return true;
		}
		cursor->at++;
		if (c == 'N')
			return mangled_read_path(cursor, name, length);
		if (c == 'L')
			mangled_skip_past(cursor, 'E');
		else if (c == 'S' || c == 'T' || c == 'A')
			mangled_skip_past(cursor, '_');
	}
	return false;
}

/* Kernels that only run their template argument. */
static bool mangled_is_wrapper(const char *name, size_t length)
{
	static const char *const wrappers[] = { "Kernel", "Kernel2", "kentry", "device_kernel" };

	for (size_t i = 0; i < SS_COUNT(wrappers); i++)
		if (strlen(wrappers[i]) == length && memcmp(name, wrappers[i], length) == 0)
			return true;
	return false;
}

static void mangled_put(char *out, size_t room, size_t *written, const char *text, size_t length)
{
	if (length > room - 1 - *written) {
		length = room - 1 - *written;
		while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	memcpy(out + *written, text, length);
	*written += length;
	out[*written] = '\0';
}

bool ss_short_name_mangled(const char *name, size_t length, char *out, size_t room, size_t *written)
{
	struct mangled_cursor cursor = { name, name + length };
	const char *found, *inner;
	size_t found_length, inner_length;

	*written = 0;
	if (length < 4 || memcmp(name, "_Z", 2) != 0)
		return false;
	cursor.at += memcmp(name, "_ZTS", 4) == 0 ? 4 : 2; /* SYCL names its kernels by type */
	cursor.at += *cursor.at == 'N';
	if (cursor.at >= cursor.end || !mangled_read_path(&cursor, &found, &found_length))
		return false;
	if (cursor.at >= cursor.end || *cursor.at++ != 'I' ||
	    !mangled_first_argument(&cursor, &inner, &inner_length)) {
		mangled_put(out, room, written, found, found_length);
		return true;
	}
	if (mangled_is_wrapper(found, found_length)) {
		mangled_put(out, room, written, inner, inner_length);
		return true;
	}
	mangled_put(out, room, written, found, found_length);
	mangled_put(out, room, written, "<", 1);
	mangled_put(out, room, written, inner, inner_length);
	mangled_put(out, room, written, ">", 1);
	return true;
}
