/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepscope_arrow.h - tables of libstepscope as Arrow: columns in memory, nothing to parse.
 *
 *     struct ArrowArrayStream stream;
 *     if (ss_session_table(session, &request, &stream, &err) != SS_OK)
 *             fail(err.text);
 *     ... hand &stream to pyarrow, nanoarrow, DuckDB, polars, or read it ...
 *     if (stream.release)
 *             stream.release(&stream);
 *
 * The structs are those of Arrow's C data interface and C stream interface, word for word: a
 * program that has already defined them keeps its own. docs/formats/arrow.md describes the columns.
 */
#ifndef STEPSCOPE_ARROW_H
#define STEPSCOPE_ARROW_H

#include "stepscope.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

/*
 * Runs a view, or "diagnose" for its findings, and returns the table as a stream of at most one
 * batch. The format of the request is ignored. The stream owns its columns: it may be read and
 * released after the session was closed, and by another thread. If the call fails, the stream has
 * no release function. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_table(struct ss_session *session,
						   const struct ss_request *request,
						   struct ArrowArrayStream *out,
						   struct ss_error *err);

/*
 * The same for a view of memory, which request->what must name: see ss_session_memory().
 * Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_memory_table(struct ss_session *session,
							  struct ss_session *before,
							  const struct ss_request *request,
							  struct ArrowArrayStream *out,
							  struct ss_error *err);

/*
 * The same for a comparison of two runs, of the view that request->what must name: see
 * ss_compare(). Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_compare_table(const struct ss_runs *runs,
						   const struct ss_request *request,
						   struct ArrowArrayStream *out,
						   struct ss_error *err);

#ifdef __cplusplus
}
#endif

#endif
