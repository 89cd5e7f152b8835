/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opened.h - a snapshot with everything that is computed once when it is read.
 */
#ifndef SS_MEMORY_OPENED_H
#define SS_MEMORY_OPENED_H

#include "memory/subject.h"

struct ss_opened {
	struct ss_snapshot snapshot;
	struct ss_history history;
	struct ss_stack_places spots;
	struct ss_snapshot_subject subject; /* of the three above: must not be moved */
};

/*
 * True for the first bytes of a pickle, and of a memory timeline of the profiler. What is called
 * a pickle is one, unless it begins as JSON.
 */
bool ss_opened_is_snapshot(const char *bytes, size_t length, bool is_named);

/* `path` is lent. To be released when SS_OK came back. */
SS_MUST_USE
enum ss_status ss_opened_load(struct ss_opened *out, struct ss_source *source,
			      const struct ss_snapshot_options *options, const char *path,
			      struct ss_memory *memory, struct ss_error *err);
/*
 * The memory events of a trace (from_trace.h), which is not needed afterwards; fails
 * (SS_ERR_MISSING) where it has none.
 */
SS_MUST_USE
enum ss_status ss_opened_from_trace(struct ss_opened *out, const struct ss_trace *trace,
				    const char *path, struct ss_memory *memory,
				    struct ss_error *err);
void ss_opened_release(struct ss_opened *opened);

/* The device of that name ("0", "host", "cpu"), or the first one for NULL; NULL: there is none. */
const struct ss_device_memory *ss_opened_device(const struct ss_opened *opened, const char *name);

#endif
