/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.h - a snapshot as its views see it, and cells that they share.
 *
 * To add a view of snapshots: src/snapshot/views/X.c, tests/snapshot/X.c, docs/snapshot/X.md,
 * and X in src/snapshot/views/meson.build. Its command is `stepscope snapshot FILE X`.
 */
#ifndef SS_MEMORY_SUBJECT_H
#define SS_MEMORY_SUBJECT_H

#include "memory/history/history.h"
#include "memory/purpose.h"
#include "memory/stack_places.h"
#include "table/view.h"

/* The memory of a device, as a trace states it. */
struct ss_device_size {
	int64_t device, bytes;
};

struct ss_device_sizes {
	const struct ss_device_size *items;
	uint32_t count;
};

struct ss_snapshot_subject {
	const char *path;
	const struct ss_snapshot *snapshot;
	const struct ss_history *history;
	const struct ss_stack_places *spots;
	const struct ss_snapshot_subject *before; /* of `diff`: the one to compare with, or NULL */
	uint32_t group;
	struct ss_device_sizes sizes; /* of the trace of the same run; none: not known */
};

/* All views of snapshots, in the order of src/snapshot/views/meson.build. */
extern const struct ss_view *const ss_snapshot_views[];
extern const size_t ss_snapshot_view_count;

/* NULL when there is none of that name, which is without its "snapshot-". */
const struct ss_view *ss_snapshot_view_find(const char *name);

#define SS_DEVICE_COLUMN_TEXT "number of the device; host: pinned host memory; cpu: CPU tensors"
#define SS_COLUMN_DEVICE                                                           \
	{                                                                          \
		"device", SS_COLUMN_TEXT, SS_DEVICE_COLUMN_TEXT, SS_COLUMN_CONTEXT \
	}

/* Room for the name of a device. */
#define SS_DEVICE_NAME_BYTES 24

/* "0", "host", "cpu" */
void ss_snapshot_device_text(const struct ss_device_memory *device,
			     char out[static SS_DEVICE_NAME_BYTES]);
const char *ss_snapshot_device_name(const struct ss_device_memory *device, struct ss_table *out);

/*
 * When an event was: from the first of its device, of a trace from the first event of any kind
 * (as in all views of traces). -1: not recorded.
 */
int64_t ss_snapshot_moment(const struct ss_snapshot *snapshot,
			   const struct ss_device_memory *device, uint32_t row);

/* From one event to another; -1: not recorded, or backwards. */
int64_t ss_snapshot_between(const struct ss_snapshot *snapshot, uint32_t from, uint32_t to);

/* "0x7f2a00000000" */
const char *ss_snapshot_address(uint64_t address, struct ss_table *out);

/* A stack on one line, innermost first, without what says nothing. */
void ss_snapshot_add_stack(const struct ss_snapshot_subject *subject, uint32_t stack,
			   struct ss_text *out);

/* The same as a cell; NULL: not recorded. */
const char *ss_snapshot_stack(const struct ss_snapshot_subject *subject, uint32_t stack,
			      struct ss_table *out);

/* The most of a memory timeline, and the point where it is; 0: it has none. */
int64_t ss_snapshot_curve_peak(const struct ss_snapshot *snapshot, uint32_t *point);

/* Says of an empty table where a trace does not have what a snapshot has: "Segments". */
void ss_snapshot_lacks(const struct ss_snapshot_subject *subject, const char *what,
		       struct ss_table *out);

/* Whether notes tell of a device: of the host's tensors where there is nothing else. */
bool ss_snapshot_is_noted(const struct ss_history *history, const struct ss_device_memory *device);

/* Notes below a table: what of the history is not known. */
void ss_snapshot_notes(const struct ss_snapshot_subject *subject, struct ss_table *out);

#endif
