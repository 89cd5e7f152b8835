/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubts.h - what a reader must know before any figure: which files are truncated or lack
 * what most conclusions need, and which of several runs this is.
 */
#ifndef SS_LOAD_DOUBTS_H
#define SS_LOAD_DOUBTS_H

#include "load/job.h"

/* In the order in which they are reported. */
enum ss_doubt_kind {
	SS_DOUBT_CUT,       /* the file is truncated */
	SS_DOUBT_DAMAGED,   /* the compressed file fails its check */
	SS_DOUBT_SNAPSHOT,  /* a memory snapshot is truncated */
	SS_DOUBT_NO_DEVICE, /* no device events, though there is a device or it was called */
	SS_DOUBT_NO_CALLS,  /* device events, but no calls of the runtime */
	SS_DOUBT_ORDER,     /* ranks are numbered by the order of the files */
	SS_DOUBT_KINDS,
};

struct ss_doubt {
	enum ss_doubt_kind kind;
	const char *text;         /* one sentence about all files */
	uint32_t files, of_files; /* files that have it, of those that were read */
};

struct ss_doubts {
	struct ss_doubt items[SS_DOUBT_KINDS];
	uint32_t count;
};

/* "cut", "damaged", "snapshot-cut", "no-device-events", "no-runtime-calls", "ranks-by-order" */
const char *ss_doubt_name(enum ss_doubt_kind kind);

/*
 * For the files of one rank, or of all (SS_EVERY_RANK). The arena owns the texts. False: no memory.
 */
SS_MUST_USE
bool ss_job_doubts(const struct ss_job *job, int64_t rank, struct ss_arena *arena,
		   struct ss_doubts *out);

/* Whether any file has it. */
bool ss_doubts_have(const struct ss_doubts *doubts, enum ss_doubt_kind kind);

/* Whether a file has it. */
bool ss_doubt_has(const struct ss_job_file *file, enum ss_doubt_kind kind);

/* Which of several runs this is, and how to get the others; appends lines. */
void ss_job_add_runs(const struct ss_job_run *runs, uint32_t count, uint32_t chosen,
		     struct ss_text *out);

/* The same as a note below a table. */
void ss_job_note_runs(const struct ss_job *job, struct ss_table *table);

#endif
