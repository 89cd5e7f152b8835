/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writing.h - passes the output of a call to the caller's sink and counts its bytes.
 */
#ifndef SS_API_WRITE_WRITING_H
#define SS_API_WRITE_WRITING_H

#include "load/job.h"
#include "stepscope.h"

struct ss_writing {
	const struct ss_sink *sink;
	const char *what;                       /* "the packed trace" */
	const struct ss_progress_report *watch; /* of the session; NULL: nobody cancels */
	uint64_t bytes;
};

/* The callback `write` of all writers; `context` is a struct ss_writing. */
SS_MUST_USE
enum ss_status ss_writing_put(void *context, const char *bytes, size_t length,
			      struct ss_error *err);

/*
 * merge.c: opens a trace of a session once more, to copy its events, or the JSON beside a pack;
 * fails if it is not on disk, is not JSON, or was changed. `verb` and `title` are for errors:
 * "merge", "rank 3".
 */
SS_MUST_USE
enum ss_status ss_writing_reopen(const char *verb, const char *title, const char *path,
				 uint64_t stamp, struct ss_redactor *redactor,
				 struct ss_memory *memory, struct ss_source **out,
				 struct ss_error *err);

#endif
