/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sized.c - public structs that can grow.
 */
#include "api/sized.h"
#include "stepscope.h"

#include <string.h>

static size_t sized_given_size(const void *given, size_t first_size)
{
	size_t size;

	memcpy(&size, given, sizeof(size));
	return size ? size : first_size;
}

enum ss_status ss_sized_take(void *own, size_t own_size, const void *given, size_t first_size,
			     const char *name, struct ss_error *err)
{
	size_t size = sized_given_size(given, first_size);
	const char *bytes = given;

	if (size < sizeof(size))
		return ss_fail(err, SS_ERR_USAGE, "struct %s: %zu is not a valid size", name, size);
	for (size_t i = own_size; i < size; i++)
		if (bytes[i])
			return ss_fail(err, SS_ERR_USAGE,
				       "struct %s: the program uses fields that libstepscope %s "
				       "does not have: update the library",
				       name, ss_version());
	memset(own, 0, own_size);
	memcpy(own, given, size < own_size ? size : own_size);
	memcpy(own, &own_size, sizeof(own_size));
	return SS_OK;
}

void ss_sized_give(void *given, size_t first_size, const void *own, size_t own_size)
{
	size_t size = sized_given_size(given, first_size), head = sizeof(size);

	if (size > own_size)
		size = own_size;
	if (size > head)
		memcpy((char *)given + head, (const char *)own + head, size - head);
}
