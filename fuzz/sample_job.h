/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_job.h - a simulated job of two ranks, for targets that ask about one.
 */
#ifndef SS_FUZZ_SAMPLE_JOB_H
#define SS_FUZZ_SAMPLE_JOB_H

#include "check.h"

#define SAMPLE_JOB_FOLDER "/tmp/stepscope_fuzz_XXXXXX"

/* Makes the folder, as mkdtemp() does, and simulates the job there. */
void sample_job_write(char folder[sizeof(SAMPLE_JOB_FOLDER)]);

/* All files of the folder, with their snapshots. */
struct ss_session *sample_job_open(const char *folder);

/* Removes the files of the folder. */
void sample_job_remove_files(const char *folder);

/* All of that: the session of a job whose files are gone. */
struct ss_session *sample_job(void);

#endif
