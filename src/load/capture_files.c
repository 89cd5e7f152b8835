/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_files.c - captures of CUDA and HIP graphs among the files of a job.
 *
 * Whether a file has captures or replays is known when it was read. Files that replay graphs are
 * then read again with the captures: their own, or else those of the other files. A file whose
 * captures explain the replays of another one is not a step of the job: it is left out.
 */
#include <string.h>

#include "base/sort.h"
#include "base/system/thread.h"
#include "load/job.h"

enum ss_status ss_job_note_graphs(struct ss_job *job, struct ss_job_file *file,
				  struct ss_gate *gate, struct ss_error *err)
{
	enum ss_status status = SS_OK;
	uint32_t had;

	file->has_replays = ss_trace_has_replays(&file->trace);
	if (!ss_trace_has_captures(&file->trace))
		return SS_OK;
	SS_TRY(ss_trace_need_columns(&file->trace, SS_COLUMNS_ALL, 1, err));
	ss_gate_lock(gate);
	if (!job->captures.memory)
		status = ss_captures_init(&job->captures, job->memory, err);
	had = job->captures.count;
	if (status == SS_OK)
		status = ss_captures_add(&job->captures, &file->trace, file->number, err);
	file->has_captures = job->captures.count > had;
	ss_gate_unlock(gate);
	return status;
}

/* Files are read in any order. */
SS_COMPARATOR(capture_compare, struct ss_capture, SS_ASCENDING(source) SS_ASCENDING(first_row))

/* The trace of a pack that was joined when it was made has its rows already. */
static bool file_is_joined(const struct ss_job_file *file)
{
	return file->recording.joined_graphs > 0;
}

uint32_t ss_job_plan_joins(struct ss_job *job, uint32_t first)
{
	uint32_t count = 0;

	if (!job->captures.count)
		return 0;
	SS_SORT(job->captures.items, job->captures.count, capture_compare);
	for (uint32_t i = first; i < job->file_count; i++) {
		struct ss_job_file *file = &job->files[i];
		struct ss_job_file kept = { .subject = { .path = file->subject.path, .rank = -1 },
					    .source = file->source,
					    .number = file->number,
					    .has_captures = file->has_captures,
					    .wants_captures = true };

		if (!file->has_replays || file->subject.problem || file_is_joined(file) ||
		    file->is_read_once)
			continue;
		ss_job_file_release(job, file);
		*file = kept;
		count++;
	}
	return count;
}

void ss_job_take_captures(struct ss_job *job, uint32_t first)
{
	for (uint32_t i = first; i < job->file_count; i++) {
		const struct ss_job_file *replay = &job->files[i];

		if (replay->has_captures || !file_is_joined(replay))
			continue;
		for (uint32_t k = first; k < job->file_count; k++) {
			struct ss_job_file *file = &job->files[k];

			if (!file->has_captures || file->is_skipped ||
			    (file->subject.rank >= 0 && file->subject.rank != replay->subject.rank))
				continue;
			ss_job_file_release(job, file);
			file->is_skipped = true;
		}
	}
}

void ss_job_file_release(struct ss_job *job, struct ss_job_file *file)
{
	if (file->summary)
		(job->summarizer ? job->summarizer : job->reader)->release(file->summary);
	file->summary = NULL;
	ss_trace_release(&file->trace);
	memset(&file->trace, 0, sizeof(file->trace));
	ss_digest_release(&file->digest);
	memset(&file->digest, 0, sizeof(file->digest));
	ss_job_tables_release(&file->tables);
	ss_job_tables_release(&file->whole);
	ss_recording_release(&file->recording, job->memory);
	file->recording = (struct ss_recording){ 0 };
}
