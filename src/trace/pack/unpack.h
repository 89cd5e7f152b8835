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
	size_t frame_bytes; /* not 0: the data is still a zstd frame */
	uint64_t bytes;     /* of its items, unpacked */
	uint32_t count;     /* of items */
};

struct ss_pack_pending {
	struct ss_unpacked parts[SS_PARTS]; /* columns of groups that are still packed */
	uint32_t there;                     /* enum ss_columns: these are unpacked and checked */
};

/* "the pack is damaged (...): pack the trace again" */
__attribute__((format(printf, 2, 3))) enum ss_status ss_unpack_fail(struct ss_error *err,
								    const char *format, ...);

/* later.c: the group that a part is needed for; 0: it is unpacked when the pack is opened. */
uint32_t ss_pack_group(enum ss_pack_part part);

/* later.c: decompresses the part where it is a frame. */
SS_MUST_USE
enum ss_status ss_unpack_part(struct ss_memory *memory, enum ss_pack_part index,
			      struct ss_unpacked *part, struct ss_error *err);

/* unpack_trace.c: makes the trace of the parts, and takes from them what it can use as it is. */
SS_MUST_USE
enum ss_status ss_unpack_trace(struct ss_unpacked parts[SS_PARTS], struct ss_trace *out,
			       struct ss_error *err);

/* unpack_check.c: checks all that the program relies on, except columns. */
SS_MUST_USE
enum ss_status ss_unpack_check(const struct ss_trace *trace, struct ss_error *err);

/* unpack_check.c: the same for groups of columns; those they depend on are unpacked. */
SS_MUST_USE
enum ss_status ss_unpack_check_columns(const struct ss_trace *trace, uint32_t columns,
				       struct ss_error *err);

#endif
