/* SPDX-License-Identifier: Apache-2.0 */
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
 * STACK: fwd (model.py:14); head, tail, third (model.py:20, 21, 22, called by model.py:9); first,
 * second (model.py:20, 21, called by a Sequential of model.py:8); bwd, opt (AdamW's step), setup
 * (a model's _apply), loop (train.py:7), empty (torch.cuda.empty_cache() of train.py:8); none: not
 * recorded. Events are 10 microseconds apart, all on device 0.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_SNAPSHOT_H
#define SS_TESTS_SUPPORT_MAKE_SNAPSHOT_H

#include "memory/subject.h"
#include "support/support.h"

struct support_snapshot {
	struct ss_memory memory;
	struct ss_snapshot snapshot;
	struct ss_history history;
	struct ss_snapshot_places spots;
	struct ss_snapshot_subject subject;
	struct ss_arena arena;
	struct ss_table table; /* of support_snapshot_run() */
};

/* The test fails when the script cannot be read. */
void support_snapshot_open(struct support_snapshot *out, const char *script);
/* The memory events of a trace, from JSON. */
void support_snapshot_of_trace(struct support_snapshot *out, const char *json);
void support_snapshot_close(struct support_snapshot *snapshot);

/* The same as a file: a pickle of protocol 0, whose first event is at `start_us`. */
void support_snapshot_pickle(const char *script, int64_t start_us, struct ss_text *out);

/* Runs a view, "holders/category"; closed with the snapshot, or by the next run. */
void support_snapshot_run(struct support_snapshot *snapshot, const char *view);

#endif
