/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outward.h - finds the innermost enclosing row of some kind.
 *
 * Most threads nest a few dozen levels, and walking up the parents is the fastest way. But a file
 * can nest ten thousand rows, with as many rows at the bottom: there each row also knows an
 * ancestor further out and the marks of the rows between, so that a walk takes a number of steps
 * that is logarithmic in the depth.
 */
#ifndef SS_TRACE_OUTWARD_H
#define SS_TRACE_OUTWARD_H

#include "trace/names.h"
#include "trace/trace.h"

/* Marks of rows: flags of their names (enum ss_name_flag) and these. */
enum {
	SS_ROW_OP = 1 << 26,
	SS_ROW_CALL = 1 << 27,
	SS_ROW_COMM = 1 << 28, /* has arguments of a collective */
	SS_ROW_PYTHON = 1 << 29,
};

/*
 * How many ancestors are checked one by one if a walk ends at a time instead of a mark: the depth
 * up to which levels are distinguished.
 */
#define SS_OUTWARD_MAX 4096

/* How many nested rows of one kind are followed: no program has more. */
#define SS_OUTWARD_ALIKE 64

/* Makes the shortcuts for deep threads: after nesting, before the first walk. */
SS_MUST_USE
enum ss_status ss_outward_init(struct ss_trace *trace, struct ss_error *err);

/* The first row from `row` outwards with one of the marks, or SS_NO_ROW. */
uint32_t ss_outward_find(const struct ss_trace *trace, uint32_t row, uint32_t marks);

#endif
