/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_files.c - live numbers among the files of a job.
 */
#include <string.h>

#include "load/job.h"

enum ss_status ss_job_live_load(struct ss_job *job, struct ss_job_file *file,
				struct ss_source *source, struct ss_error *err)
{
	const char *next;
	size_t length;

	SS_TRY(ss_source_peek(source, &next, &length, err));
	if (!ss_live_is_file(next, length))
		return SS_OK;
	/* it grows while it is read, and its reader knows which rows are whole */
	source->stamp = 0;
	SS_TRY(ss_live_load(source, job->memory, &file->live, err));
	file->has_live = true;
	return SS_OK;
}

void ss_job_take_lives(struct ss_job *job)
{
	for (uint32_t i = 0; i < job->file_count; i++) {
		struct ss_job_file *file = &job->files[i];

		if (!file->has_live)
			continue;
		job->lives[job->live_count++] = file->live;
		file->has_live = false;
		file->is_skipped = true;
	}
}

void ss_job_release_lives(struct ss_job *job)
{
	ss_live_release(&job->live);
	for (uint32_t i = 0; i < job->live_count; i++)
		ss_live_file_release(&job->lives[i]);
	SS_FREE(job->memory, job->lives, job->live_capacity);
}

enum ss_status ss_job_choose_live(struct ss_job *job, const char *name, struct ss_error *err)
{
	const struct ss_live_file **files;
	enum ss_status status;
	uint32_t count = 0;

	ss_live_release(&job->live);
	if (!SS_ALLOC(&job->arena, files, (size_t)job->live_count + 1))
		return ss_fail_memory(err, "live numbers");
	for (uint32_t i = 0; i < job->live_count; i++)
		if (!name || strcmp(job->lives[i].job, name) == 0)
			files[count++] = &job->lives[i];
	status = ss_live_make(&job->live, files, count, job->memory, err);
	/* half of it would be taken for the whole by the next request */
	if (status != SS_OK)
		ss_live_release(&job->live);
	return status;
}

enum ss_status ss_job_find_live(struct ss_job *job, struct ss_error *err)
{
	return job->live.memory ? SS_OK : ss_job_choose_live(job, NULL, err);
}
