/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - what the capture of a CUDA or HIP graph recorded, for the kernels of its replays.
 *
 * While a stream captures, launches do not run: the trace has operators, modules and frames, but no
 * kernels. A replay has kernels, but one launch call for all of them. A capture is kept here as the
 * tree of ranges around its launches; finish/graphs.c puts it into the launch calls of replays.
 */
#ifndef SS_TRACE_CAPTURE_H
#define SS_TRACE_CAPTURE_H

#include "trace/trace.h"

/* A range around launches, or a launch (SS_KIND_OTHER): parents before their children. */
struct ss_capture_row {
	uint32_t name;     /* of the range, or of the kernel that is launched; 0: not recorded */
	uint32_t category; /* both: ids into texts */
	uint32_t args;     /* record in op_args or SS_NO_ARGS */
	uint32_t last;     /* last row inside it; itself: none */
	uint8_t kind;
	uint8_t work; /* of a launch: SS_KIND_KERNEL, SS_KIND_MEMCPY or SS_KIND_MEMSET */
};

struct ss_capture {
	uint32_t first_row, row_count;
	uint32_t first_node, node_count; /* launches, in the order in which they were captured */
	uint32_t source;                 /* the caller's number of the trace */
	int64_t rank;                    /* -1: not recorded */
	int64_t batch; /* number in the name of the range around the capture; -1: none */
};

struct ss_captures {
	struct ss_memory *memory; /* lent */
	struct ss_strings texts;
	struct ss_records op_args; /* struct ss_op_args with ids into texts */
	struct ss_capture_row *rows;
	uint32_t row_count, row_capacity;
	uint32_t *nodes; /* their rows */
	uint32_t node_count, node_capacity;
	struct ss_capture *items;
	uint32_t count, capacity;
};

SS_MUST_USE
enum ss_status ss_captures_init(struct ss_captures *captures, struct ss_memory *memory,
				struct ss_error *err);
void ss_captures_release(struct ss_captures *captures);

/* Adds the captures of a trace, of which all columns are there. */
SS_MUST_USE
enum ss_status ss_captures_add(struct ss_captures *captures, const struct ss_trace *trace,
			       uint32_t source, struct ss_error *err);

/* Whether the trace has calls that begin a capture, and whether it has graph launches. */
bool ss_trace_has_captures(const struct ss_trace *trace);
bool ss_trace_has_replays(const struct ss_trace *trace);

/* The first number in a name ("capture_32_FULL", "execute_32_context_0"); -1: none. */
int64_t ss_capture_batch(const char *name);

#endif
