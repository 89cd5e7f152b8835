/* SPDX-License-Identifier: Apache-2.0 */
/*
 * around.h - the context of a slice: the slices around it, the Python stack, what it launched and
 * what launched it.
 */
#ifndef SS_TIMELINE_AROUND_H
#define SS_TIMELINE_AROUND_H

#include "trace/trace.h"

/* At most this many parents and stack frames are listed: programs nest less deeply. */
#define SS_AROUND_MAX 512

/* At most this much device work of an operator or call is listed; the rest is counted. */
#define SS_FLOWS_MAX 64

/* Fills `out` with the slices that are open when the row starts, innermost first. */
uint32_t ss_around_parents(const struct ss_trace *trace, uint32_t row, uint32_t *out,
			   uint32_t room);

/* The self time of a host row: nothing was open within it. */
int64_t ss_around_self(const struct ss_trace *trace, uint32_t row);

/* A frame: a part of a text. */
struct ss_frame {
	const char *text;
	size_t length;
};

/* `row` owns the stack: the row itself, its launch, or the forward operator of backward work. */
struct ss_frames {
	struct ss_frame items[SS_AROUND_MAX]; /* innermost first */
	uint32_t count;
	uint32_t row;
};

/* Frames around the row, or the call stack of the operator around it. */
void ss_around_stack(const struct ss_trace *trace, uint32_t row, struct ss_frames *out);

enum ss_flow_kind { SS_FLOW_LAUNCH, SS_FLOW_OPERATOR, SS_FLOW_BACKWARD };

struct ss_slice_flow {
	enum ss_flow_kind kind;
	bool is_from; /* the other one stands before this one */
	uint32_t row; /* the other one */
};

struct ss_flows {
	struct ss_slice_flow items[SS_FLOWS_MAX + 2];
	uint32_t count;
	uint64_t all_count; /* listed or not */
};

/* Device work by its start. */
void ss_around_flows(const struct ss_trace *trace, uint32_t row, struct ss_flows *out);

#endif
