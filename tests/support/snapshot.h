/*
 * snapshot.h - snapshots of memory from a script, for the tests of src/snapshot.
 *
 * Statements are separated by ';', numbers are decimal or 0x:
 *
 *     segment ADDRESS SIZE [expandable]
 *     block ADDRESS SIZE REQUESTED used|free|pending [STACK]    of the segment before it
 *     alloc|request|free|segalloc|segfree|map|unmap ADDRESS SIZE [STACK]
 *     oom SIZE DEVICE_FREE [STACK]
 *     setting NAME VALUE
 *
 * STACK: fwd (model.py:14), head (model.py:20 below forward of model.py:9), bwd, opt (AdamW's
 * step), setup (a model's _apply), loop (train.py:7); none: not recorded. Events are 10
 * microseconds apart, all on device 0.
 */
#ifndef SS_TESTS_SUPPORT_SNAPSHOT_H
#define SS_TESTS_SUPPORT_SNAPSHOT_H

#include "snapshot/subject.h"
#include "support/support.h"

struct support_snapshot {
	struct ss_memory memory;
	struct ss_snapshot snapshot;
	struct ss_history history;
	struct ss_spots spots;
	struct ss_snapshot_subject subject;
	struct ss_arena arena;
	struct ss_table table; /* of support_snapshot_run() */
};

/* The test fails when the script cannot be read. */
void support_snapshot_open(struct support_snapshot *out, const char *script);
/* The memory events of a trace, from JSON. */
void support_snapshot_of_trace(struct support_snapshot *out, const char *json);
void support_snapshot_close(struct support_snapshot *snapshot);

/* Runs a view, "holders/category"; closed with the snapshot, or by the next run. */
void support_snapshot_run(struct support_snapshot *snapshot, const char *view);

#endif
