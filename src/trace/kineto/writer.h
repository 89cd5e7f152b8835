/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - what the two files share that write a trace as JSON: see write.h.
 */
#ifndef SS_TRACE_KINETO_WRITER_H
#define SS_TRACE_KINETO_WRITER_H

#include "base/text.h"
#include "read/source.h"
#include "trace/trace.h"

enum ss_writer_stage {
	SS_WRITER_HEAD,
	SS_WRITER_ROWS,
	SS_WRITER_ALLOCATIONS,
	SS_WRITER_COUNTERS,
	SS_WRITER_DONE
};

struct ss_kineto_writer {
	struct ss_source source; /* first: a pointer to it is a pointer to us */
	struct ss_trace trace;
	const char *keys[SS_ARG_COUNT];
	struct ss_text text, value; /* what was made, and a text that is looked at */
	size_t given;               /* of the text */
	enum ss_writer_stage stage;
	uint32_t at;                          /* the next row, allocation or counter */
	uint32_t comm, sequence, sync, other; /* the next ones: they are sorted by row */
	bool has_events, has_args;
	bool has_arrows; /* from forward to backward; else sequence numbers gave the links */
};

/* Texts: as a list or number if they are one, else in quotes; a text of the trace. */
void ss_writer_add_value(struct ss_kineto_writer *writer, const char *text, size_t length);
void ss_writer_add_text(struct ss_kineto_writer *writer, uint32_t text);

/* What the file says about itself, up to its first event. */
void ss_writer_add_head(struct ss_kineto_writer *writer);

#endif
