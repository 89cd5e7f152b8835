/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.h - a snapshot with everything that is computed once when it is read, as its views
 * see it, and cells that they share.
 *
 * To add a view of snapshots: src/memory/views/X.c, docs/snapshot/X.md, and X in
 * src/memory/views/meson.build; tests/memory/views/views.c runs it. Its command is
 * `stepscope snapshot FILE X`.
 */
#ifndef SS_MEMORY_SUBJECT_H
#define SS_MEMORY_SUBJECT_H

#include "memory/history/history.h"
#include "memory/stack_places.h"
#include "view/view.h"

/*
 * What an allocation was for, by where it was made and where it was freed.
 *
 *   made in        freed in             is
 *   optimizer      its step             temporary
 *   optimizer      elsewhere, never     optimizer state
 *   backward       backward             temporary
 *   backward       elsewhere, never     gradient
 *   forward        forward              temporary
 *   forward        elsewhere, never     activation
 *   making or loading a model           parameter
 *   before events  backward             activation
 *   before events  zero_grad()          gradient
 *   before events  optimizer            optimizer state
 *
 * Everything else is unknown: inputs, what no stack was recorded of. Where the file has a
 * category of its own it is taken.
 */

enum ss_purpose {
	SS_PURPOSE_PARAMETER,
	SS_PURPOSE_OPTIMIZER,
	SS_PURPOSE_GRADIENT,
	SS_PURPOSE_ACTIVATION,
	SS_PURPOSE_TEMPORARY,
	SS_PURPOSE_INPUT,    /* only where the file says so */
	SS_PURPOSE_AUTOGRAD, /* the same: details of autograd */
	SS_PURPOSE_UNKNOWN,
	SS_PURPOSE_COUNT,
};

/* "activation" */
const char *ss_purpose_name(enum ss_purpose purpose);

/* Of an allocation in the events. */
enum ss_purpose ss_purpose_of(const struct ss_history *history,
			      const struct ss_snapshot_places *spots, uint32_t row);

/* Of a block that was in use when the events begin. */
enum ss_purpose ss_purpose_of_old(const struct ss_history *history,
				  const struct ss_snapshot_places *spots,
				  const struct ss_old_block *old);

/* Of a category of a memory timeline. */
enum ss_purpose ss_purpose_of_curve(enum ss_curve_category category);

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
	const struct ss_snapshot_places *spots;
	const struct ss_snapshot_subject *before; /* of `diff`: the one to compare with, or NULL */
	uint32_t group;
	struct ss_device_sizes sizes; /* of the trace of the same run; none: not known */
};

/* What is read of a file, or made of a trace. */
struct ss_opened {
	struct ss_snapshot snapshot;
	struct ss_history history;
	struct ss_snapshot_places spots;
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

/* All views of snapshots, in the order of src/memory/views/meson.build. */
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
int64_t ss_snapshot_time_ns(const struct ss_snapshot *snapshot,
			    const struct ss_device_memory *device, uint32_t row);

/* From one event to another; -1: not recorded, or backwards. */
int64_t ss_snapshot_span_ns(const struct ss_snapshot *snapshot, uint32_t from, uint32_t to);

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

/* Explains an empty table of a trace: `what` ("Segments") is only in snapshots. */
void ss_snapshot_explain_empty(const struct ss_snapshot_subject *subject, const char *what,
			       struct ss_table *out);

/* Whether notes cover a device: the CPU's tensors only if there is nothing else. */
bool ss_snapshot_is_noted(const struct ss_history *history, const struct ss_device_memory *device);

/* Notes below a table: what is unknown of the history. */
void ss_snapshot_notes(const struct ss_snapshot_subject *subject, struct ss_table *out);

#endif
