/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepscope_types.h - what every call of libstepscope has in common: status, error, text.
 *
 * stepscope.h includes it. It stands apart so that the library's own files need not know the
 * calls that are made of them.
 */
#ifndef STEPSCOPE_TYPES_H
#define STEPSCOPE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SS_API __attribute__((visibility("default")))
#define SS_MUST_USE __attribute__((warn_unused_result))
#else
#define SS_API
#define SS_MUST_USE
#endif

/* How a call ended. Since 0.1. Stable; later versions may add values. */
enum ss_status {
	SS_OK = 0,
	SS_ERR_IO,      /* the outside world: a file, a pipe, a thread */
	SS_ERR_FORMAT,  /* the input is not what it should be */
	SS_ERR_LIMIT,   /* a limit was reached, most often --memory-limit */
	SS_ERR_MISSING, /* something was not built in or not found */
	SS_ERR_USAGE,   /* the caller asked for what does not exist */
	SS_ERR_STOPPED, /* the progress callback or ss_session_cancel() asked to stop */
};

/* Why a call failed. Since 0.1. Stable. */
struct ss_error {
	enum ss_status code;
	char text[512]; /* no allocation on the way out of a failed allocation */
};

/*
 * Bytes that a call hands to its caller; zeroed before the first call. Calls append to it; release
 * it with ss_text_release(). Since 0.1. Stable.
 */
struct ss_text {
	char *data; /* NUL-terminated, NULL while empty */
	size_t length;
	size_t capacity;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Frees the bytes; the text is empty then. Since 0.1. Stable. */
SS_API void ss_text_release(struct ss_text *text);

#ifdef __cplusplus
}
#endif

#endif
