/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - which run the files belong to, as every output states it.
 */
#ifndef SS_LOAD_IDENTITY_H
#define SS_LOAD_IDENTITY_H

#include "redact/redact.h"

struct ss_job;
struct ss_job_snapshot;

/* Texts are lent by the job; NULL: not recorded. */
struct ss_identity {
	bool is_known; /* false: the output is not about a run */
	/* of the first file that says it, in the order of ranks */
	const char *facts[SS_RUN_FACTS];
	bool is_trace_id; /* no id was recorded: this is the profiler's own id of the recording */
	uint32_t hosts;   /* different ones; 0: not recorded */
	bool has_clock;
	int64_t start_ns; /* of the first event, since 1970 */
};

/* Of all files, or with `rank` other than SS_EVERY_RANK of those of a rank. */
void ss_identity_of_job(const struct ss_job *job, int64_t rank, struct ss_identity *out);

/* Of one file, and of a snapshot: what the trace of its rank says, and its own time. */
void ss_identity_of_file(const struct ss_job *job, uint32_t file, struct ss_identity *out);
void ss_identity_of_snapshot(const struct ss_job *job, const struct ss_job_snapshot *snapshot,
			     struct ss_identity *out);

/* "2026-11-16T05:16:12Z"; "" without a clock. */
#define SS_IDENTITY_TIME_BYTES 40
void ss_identity_time(const struct ss_identity *identity, char out[SS_IDENTITY_TIME_BYTES]);

#endif
