/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - one sentence per failure.
 */
#include "base/error.h"

#include <stdio.h>

enum ss_status ss_fail(struct ss_error *err, enum ss_status code, const char *format, ...)
{
	va_list args;

	assert(code != SS_OK);
	if (!err)
		return code;
	err->code = code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

enum ss_status ss_fail_memory(struct ss_error *err, const char *what)
{
	return ss_fail(err, SS_ERR_LIMIT,
		       "not enough memory for %s: raise option 'memory-limit', or load fewer files",
		       what);
}
