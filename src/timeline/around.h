/* SPDX-License-Identifier: Apache-2.0 */
/*
 * around.h - what belongs to a slice: what it is in, the Python stack, what it launched or
 * was launched by.
 */
#ifndef SS_TIMELINE_AROUND_H
#define SS_TIMELINE_AROUND_H

#include "trace/trace.h"

/* Slices around a slice and frames of a stack that are listed: programs nest less. */
#define SS_AROUND_MAX 512

/* Device work of an operator or call that is listed; the rest is counted. */
#define SS_FLOWS_MAX 64

/* Fills `out` with the slices that are open when the row starts, innermost first. */
uint32_t ss_around_parents(const struct ss_trace *trace, uint32_t row, uint32_t *out,
			   uint32_t room);

/* The time of a host row in which nothing was open inside of it. */
int64_t ss_around_self(const struct ss_trace *trace, uint32_t row);

/* A frame: a part of a text. */
struct ss_frame {
	const char *text;
	size_t length;
};

/* `row` is whose it is: the row itself, its launch, of backward work the forward operator. */
struct ss_frames {
	struct ss_frame items[SS_AROUND_MAX]; /* innermost first */
	uint32_t count;
	uint32_t row;
};

/* Frames around the row, or the call stack of the operator around it. */
void ss_around_stack(const struct ss_trace *trace, uint32_t row, struct ss_frames *out);

enum ss_flow_kind { SS_FLOW_LAUNCH, SS_FLOW_OPERATOR, SS_FLOW_BACKWARD };

struct ss_flow {
	enum ss_flow_kind kind;
	bool is_from; /* the other one stands before this one */
	uint32_t row; /* the other one */
};

struct ss_flows {
	struct ss_flow items[SS_FLOWS_MAX + 2];
	uint32_t count;
	uint64_t all_count; /* told or not */
};

/* Device work by its start. */
void ss_around_flows(const struct ss_trace *trace, uint32_t row, struct ss_flows *out);

#endif
