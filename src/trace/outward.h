/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outward.h - finds the innermost enclosing row of some kind.
 *
 * Most threads nest a few dozen levels, and walking up the parents is the fastest way. A file can
 * also hold rows inside of each other by the ten thousand, with as many rows at the bottom: there
 * each row knows a second one further out, and what stands between the two, so that a
 * walk takes as many steps as the depth has digits.
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
 * Rows that are looked at one by one on the way out where a walk ends at a moment, and no mark
 * tells it: as deep as nesting is told apart.
 */
#define SS_OUTWARD_MAX 4096

/* Rows of one sort around each other that are gone through: no program has more. */
#define SS_OUTWARD_ALIKE 64

/* Makes the shortcuts where a thread is deep: after nesting, before anybody walks outwards. */
SS_MUST_USE
enum ss_status ss_outward_init(struct ss_trace *trace, struct ss_error *err);

/* The first row from `row` outwards with one of the marks, or SS_NO_ROW. */
uint32_t ss_outward_find(const struct ss_trace *trace, uint32_t row, uint32_t marks);

#endif
