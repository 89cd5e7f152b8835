/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inner.h - which functions the time of a range goes to, by the self time of Python frames.
 *
 * Time belongs to the innermost function of the program; time in libraries and built-in functions
 * belongs to the function that calls them (the heaviest of these is kept as its leaf). If the
 * range has no function of the program, time belongs to the innermost library function.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_INNER_H
#define SS_DIAGNOSE_EVIDENCE_INNER_H

#include "diagnose/rule.h"

struct ss_inner_part {
	uint32_t name, leaf; /* ids into the trace's names; leaf may be the same */
	uint32_t row;        /* the first of the function */
	int64_t ns, leaf_ns;
};

/* Zeroed: may be released. */
struct ss_inner {
	struct ss_look *look;
	uint8_t *kinds;   /* per name */
	uint32_t *owners; /* per host row: the row that its time belongs to; only within ranges */
	struct ss_records keys;
	struct ss_inner_part *parts; /* the heaviest first, when sorted */
	uint32_t count, capacity;
	bool failed;
};

SS_MUST_USE
bool ss_inner_init(struct ss_inner *inner, struct ss_look *look, struct ss_arena *scratch);
void ss_inner_release(struct ss_inner *inner);

/* Adds what is inside of a host row, without the row itself. */
void ss_inner_add(struct ss_inner *inner, uint32_t row);

/* Merges the parts of each function, the heaviest first. */
void ss_inner_sort(struct ss_inner *inner);

#endif
