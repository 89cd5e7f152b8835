/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepscope_types.h - what every call of libstepscope has in common: status, error, text.
 *
 * stepscope.h includes it. It is separate so that the library's own files do not depend on the
 * public calls.
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
	SS_ERR_IO,      /* the system: a file, a pipe, a thread */
	SS_ERR_FORMAT,  /* the input has the wrong format */
	SS_ERR_LIMIT,   /* a limit was reached, most often --memory-limit */
	SS_ERR_MISSING, /* not in this build, or not found */
	SS_ERR_USAGE,   /* the caller asked for something that does not exist */
	SS_ERR_STOPPED, /* the progress callback or ss_session_cancel() asked to stop */
};

/* Why a call failed. Since 0.1. Stable. */
struct ss_error {
	enum ss_status code;
	char text[512]; /* fixed size: reporting a failed allocation must not allocate */
};

/*
 * Bytes that a call returns. Zero it before the first call; calls append to it. Release it with
 * ss_text_release(). Since 0.1. Stable.
 */
struct ss_text {
	char *data; /* NUL-terminated, NULL while empty */
	size_t length;
	size_t capacity;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Frees the bytes and leaves the text empty. Since 0.1. Stable. */
SS_API void ss_text_release(struct ss_text *text);

#ifdef __cplusplus
}
#endif

#endif
