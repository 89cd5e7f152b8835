/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_functions.h - the functions that take the time of preparing batches, and what they do.
 *
 * By the self time of Python frames: time belongs to the innermost function of the program; time in
 * libraries and built-in functions belongs to the function that calls them (the heaviest of these
 * is kept as its leaf). If the range has no function of the program, time belongs to the innermost
 * library function. The names of functions and leaves show what they do, and so what helps.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_INPUT_FUNCTIONS_H
#define SS_DIAGNOSE_EVIDENCE_INPUT_FUNCTIONS_H

#include "diagnose/rule.h"

struct ss_function_time {
	uint32_t name, leaf; /* ids into the trace's names; leaf may be the same */
	uint32_t row;        /* the first of the function */
	int64_t ns, leaf_ns;
};

/* Zeroed: may be released. */
struct ss_function_times {
	struct ss_rule_context *context;
	uint8_t *kinds;   /* per name */
	uint32_t *owners; /* per host row: the row that its time belongs to; only within ranges */
	struct ss_records keys;
	struct ss_function_time *parts; /* the heaviest first, when sorted */
	uint32_t count, capacity;
};

SS_MUST_USE
bool ss_function_times_init(struct ss_function_times *inner, struct ss_rule_context *context);
void ss_function_times_release(struct ss_function_times *inner);

/* Adds what is inside of a host row, without the row itself. */
void ss_function_times_add(struct ss_function_times *inner, uint32_t row);

/* Merges the parts of each function, the heaviest first. */
void ss_function_times_sort(struct ss_function_times *inner);

struct ss_input_kind {
	const char *words; /* parts of names in lower case, separated by spaces */
	const char *text;  /* "tokenizing" */
	const char *fix;
};

/* By the function, then by what it calls; NULL: neither is known. `leaf` may be NULL. */
const struct ss_input_kind *ss_input_kind_of(const char *function, const char *leaf);

#endif
