/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - what the files that read a pack share: its parts, in memory.
 */
#ifndef SS_TRACE_PACK_UNPACK_H
#define SS_TRACE_PACK_UNPACK_H

#include "trace/pack/pack.h"

/* One part. */
struct ss_unpacked {
	void *data; /* NULL: empty, or taken by the trace */
	size_t capacity;
	uint64_t bytes;
	uint32_t count; /* of items */
};

/* "the pack is damaged (...): pack the trace again" */
__attribute__((format(printf, 2, 3))) enum ss_status ss_unpack_fail(struct ss_error *err,
								    const char *format, ...);

/* unpack_trace.c: makes the trace of the parts, and takes from them what it can use as it is. */
SS_MUST_USE
enum ss_status ss_unpack_trace(struct ss_unpacked parts[SS_PARTS], uint32_t threads,
			       struct ss_trace *out, struct ss_error *err);

/* unpack_check.c: all that the rest of the program relies on, before anything is nested. */
SS_MUST_USE
enum ss_status ss_unpack_check(const struct ss_trace *trace, struct ss_error *err);

#endif
