/*
 * job.h - the traces of one job.
 */
#ifndef SS_JOB_JOB_H
#define SS_JOB_JOB_H

#include "analyze/view.h"
#include "job/find.h"

struct ss_job_file {
	struct ss_subject subject;
	struct ss_trace trace; /* empty when the subject has a problem */
};

struct ss_job {
	struct ss_memory *memory; /* lent */
	struct ss_arena arena;
	struct ss_job_file *files; /* by rank, then by name; those without a rank last */
	uint32_t file_count, file_capacity;
	uint32_t failed_count;  /* files that could not be read */
	uint32_t skipped_count; /* files of a folder that are no traces: not in the list */
};

/* Loads all files. Fails when none could be read, or the callback stopped it. */
SS_MUST_USE
enum ss_status ss_job_open(struct ss_job *job, const struct ss_open_options *options,
			   struct ss_memory *memory, struct ss_error *err);

/* A job of one trace that lies in memory. */
SS_MUST_USE
enum ss_status ss_job_open_memory(struct ss_job *job, const void *data, size_t length,
				  const char *name, struct ss_memory *memory, struct ss_error *err);

void ss_job_close(struct ss_job *job);

#endif
