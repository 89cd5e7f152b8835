/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_folders.h - which folders hold files of different runs.
 *
 * A run has each rank once. So if a rank has files in two folders beside each other, the folders
 * are of two runs, and so are all files below them: "job1/" and "job2/". Folders of hosts or ranks,
 * "host0/" and "host1/", have no rank in common and may be of one run.
 */
#ifndef SS_LOAD_JOB_FOLDERS_H
#define SS_LOAD_JOB_FOLDERS_H

#include "load/job.h"

#define SS_JOB_FOLDERS_KNOWN 1024

struct ss_job_folders {
	const struct ss_job_file *files; /* those of one rank stand together */
	uint32_t *by_path, count;
	uint32_t *below, *beside; /* files of two folders that are compared */
	/* what was compared last, by the first files of the folders */
	struct ss_job_folders_pair {
		uint32_t first, second;
		bool is_known, are_apart;
	} known[SS_JOB_FOLDERS_KNOWN];
};

/* Of all files of the job; NULL: no memory. */
struct ss_job_folders *ss_job_folders_make(const struct ss_job *job, struct ss_arena *arena);

/* Whether two files are in folders of different runs. */
bool ss_job_folders_are_apart(struct ss_job_folders *folders, uint32_t file, uint32_t other);

/* The length of what the folders of two paths have in common. */
size_t ss_job_folders_shared(const char *a, const char *b);

#endif
