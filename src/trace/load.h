/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - a trace from a stream of bytes.
 */
#ifndef SS_TRACE_LOAD_H
#define SS_TRACE_LOAD_H

#include "read/source.h"
#include "trace/trace.h"

struct ss_load_options {
	uint32_t threads;   /* at least 1 */
	bool lazy;          /* columns of a pack are unpacked by ss_trace_need_columns(), not now */
	size_t block_bytes; /* how much is read at once; 0: the default. For tests */
	/* Called after every block; false stops the load. May be NULL. */
	bool (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes,
			 uint64_t event_count);
	void *progress_context;
};

/* For loaders, after every block: reports the progress. Fails if the load is to stop. */
SS_MUST_USE
enum ss_status ss_trace_report_load(const struct ss_load_options *options,
				    const struct ss_source *source, uint64_t event_count,
				    struct ss_error *err);

/*
 * Reads the whole source into `out`, which must not be released if this fails. The result does not
 * depend on threads and blocks.
 */
SS_MUST_USE
enum ss_status ss_trace_load(struct ss_source *source, const struct ss_load_options *options,
			     struct ss_memory *memory, struct ss_trace *out, struct ss_error *err);

#endif
