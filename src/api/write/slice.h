/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.h - a part of each trace of a session as a small trace.
 */
#ifndef SS_API_WRITE_SLICE_H
#define SS_API_WRITE_SLICE_H

#include "stepscope.h"

/* What a slice has: one of `step`, `around`, or a range of time. */
struct ss_slice_options {
	const char *rank;       /* "3"; NULL: every rank; with `around` the rank that has most */
	const char *step;       /* as in ss_request; NULL: see below */
	const char *around;     /* a finding of "diagnose": "finding 1", or its rule; or NULL */
	int64_t from_ns, to_ns; /* from the first event of all ranks on, on the common clock */
	bool members;           /* also the ranks that take part in its collectives */
	bool compressed;        /* gzip */
	const struct ss_sink *sink;
	/* Called with the index of a file before its slice; return false to stop. May be NULL. */
	bool (*begin_file)(void *context, uint32_t index);
	void *begin_file_context;
};

/* The result of a slice. */
struct ss_sliced {
	uint64_t files, events, bytes;
	uint64_t broken; /* events that could not be read */
};

/*
 * Writes a part of each chosen file as a small trace: the events of the steps or of the time, what
 * explains them (launches, the calls around them, their neighbours on each stream), and all
 * metadata. Views of the steps give the same figures as for the whole file. Reads the files again,
 * so all must be JSON on disk.
 */
SS_MUST_USE
enum ss_status ss_session_slice(struct ss_session *session, const struct ss_slice_options *options,
				struct ss_sliced *out, struct ss_error *err);

#endif
