/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - how a function reports that it failed.
 *
 * A call that can fail returns a status, and writes one sentence for the user to
 * a struct ss_error that its caller owns (NULL is fine). Sentences begin in lower
 * case, say first what failed, quote the subject, say what works instead, and have
 * no full stop.
 */
#ifndef SS_BASE_ERROR_H
#define SS_BASE_ERROR_H

#include <assert.h>
#include <stdarg.h>

#include "stepscope_types.h"

#define SS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Before a variable: `release` is called with its address where its block is left. */
#define SS_OWNED(release) __attribute__((cleanup(release)))

/* Fills `err` and returns `code`: `return ss_fail(err, SS_ERR_IO, "cannot ...")`. */
__attribute__((format(printf, 3, 4))) enum ss_status ss_fail(struct ss_error *err,
							     enum ss_status code,
							     const char *format, ...);

/* Reports that there is not enough memory, and which option raises the limit. */
enum ss_status ss_fail_memory(struct ss_error *err, const char *what);

#define SS_TRY(call)                             \
	do {                                     \
		enum ss_status status_ = (call); \
		if (status_ != SS_OK)            \
			return status_;          \
	} while (0)

#endif
