/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name.c - how the digest of a trace is called.
 */
#include "cli/digest/name.h"

#include <stdio.h>
#include <string.h>

#define ENDING ".digest"

/* The path from the folder that was given on, else the name alone. */
static const char *within(const struct arguments *arguments, const struct ss_path *path)
{
	const char *slash = strrchr(path->path, '/');

	for (size_t i = 0; path->from_folder && i < arguments->path_count; i++) {
		size_t length = strlen(arguments->paths[i]);

		while (length && arguments->paths[i][length - 1] == '/')
			length--;
		if (strncmp(path->path, arguments->paths[i], length) == 0 &&
		    path->path[length] == '/')
			return path->path + length + strspn(path->path + length, "/");
	}
	return slash ? slash + 1 : path->path;
}

bool cli_digest_name(const char *to, const struct arguments *arguments, const struct ss_path *path,
		     char out[SS_PATH_BYTES])
{
	const char *name = within(arguments, path);
	size_t folder = strlen(to) + 1;
	int printed = snprintf(out, SS_PATH_BYTES, "%s/%.*s" ENDING, to,
			       (int)ss_find_stem(name, true), name);

	if (printed < 0 || printed >= SS_PATH_BYTES)
		return false;
	for (char *at = out + folder; *at; at++)
		if (*at == '/')
			*at = '-';
	return true;
}
