/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_work.h - what a function that prepares batches does, judged by its name, and what helps.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_INPUT_WORK_H
#define SS_DIAGNOSE_EVIDENCE_INPUT_WORK_H

struct ss_input_kind {
	const char *words; /* parts of names in lower case, separated by spaces */
	const char *text;  /* "tokenizing" */
	const char *fix;
};

/* By the function, then by what it calls; NULL: neither is known. `leaf` may be NULL. */
const struct ss_input_kind *ss_input_kind_of(const char *function, const char *leaf);

#endif
