/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.c - puts together what the files say about their run.
 *
 * Ranks can differ in their hosts and in a word of the command, so the first file that says
 * something speaks for all. The id that the profiler gives to each recording is that of the run
 * only if all files have the same one.
 */
#include "load/identity.h"

#include "base/system/clock.h"
#include "load/job.h"

/* Whether an earlier chosen file is from the same host. */
static bool is_known_host(const struct ss_job *job, int64_t rank, uint32_t file)
{
	const char *host = job->files[file].recording.run[SS_RUN_HOST];

	for (uint32_t i = 0; i < file; i++) {
		const char *other = job->files[i].recording.run[SS_RUN_HOST];

		if ((rank == SS_EVERY_RANK || job->files[i].subject.rank == rank) && other &&
		    strcmp(host, other) == 0)
			return true;
	}
	return false;
}

static void identity_add_recording(const struct ss_recording *recording, struct ss_identity *out)
{
	for (uint32_t i = 0; i < SS_RUN_FACTS; i++)
		if (!out->facts[i])
			out->facts[i] = recording->run[i];
	if (recording->has_clock && (!out->has_clock || recording->start_ns < out->start_ns))
		out->start_ns = recording->start_ns;
	out->has_clock |= recording->has_clock;
}

/* NULL: they differ, or one has none. */
static const char *shared_trace_id(const struct ss_job *job, int64_t rank)
{
	const char *id = NULL;

	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_recording *recording = &job->files[i].recording;

		if (!recording->is_noted ||
		    (rank != SS_EVERY_RANK && job->files[i].subject.rank != rank))
			continue;
		if (!recording->trace_id || (id && strcmp(id, recording->trace_id) != 0))
			return NULL;
		id = recording->trace_id;
	}
	return id;
}

void ss_identity_of_job(const struct ss_job *job, int64_t rank, struct ss_identity *out)
{
	*out = (struct ss_identity){ .is_known = true };
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_recording *recording = &job->files[i].recording;

		if (!recording->is_noted ||
		    (rank != SS_EVERY_RANK && job->files[i].subject.rank != rank))
			continue;
		identity_add_recording(recording, out);
		out->hosts += recording->run[SS_RUN_HOST] && !is_known_host(job, rank, i);
	}
	out->is_trace_id = !out->facts[SS_RUN_ID];
	if (out->is_trace_id)
		out->facts[SS_RUN_ID] = shared_trace_id(job, rank);
	for (uint32_t i = 0; i < job->snapshot_count && !out->has_clock; i++) {
		out->has_clock = job->snapshots[i].has_clock;
		out->start_ns = job->snapshots[i].start_ns;
	}
}

void ss_identity_of_file(const struct ss_job *job, uint32_t file, struct ss_identity *out)
{
	const struct ss_recording *recording = &job->files[file].recording;

	*out = (struct ss_identity){ .is_known = true };
	identity_add_recording(recording, out);
	out->hosts = recording->run[SS_RUN_HOST] != NULL;
	out->is_trace_id = !out->facts[SS_RUN_ID];
	if (out->is_trace_id)
		out->facts[SS_RUN_ID] = recording->trace_id;
}

void ss_identity_of_snapshot(const struct ss_job *job, const struct ss_job_snapshot *snapshot,
			     struct ss_identity *out)
{
	*out = (struct ss_identity){ .is_known = true };
	if (snapshot->file != SS_NO_ROW && !snapshot->is_other_run)
		ss_identity_of_file(job, snapshot->file, out);
	out->has_clock = snapshot->has_clock;
	out->start_ns = snapshot->start_ns;
}

void ss_identity_time(const struct ss_identity *identity, char out[SS_IDENTITY_TIME_BYTES])
{
	*out = '\0';
	if (identity->has_clock)
		ss_clock_utc(identity->start_ns, "%Y-%m-%dT%H:%M:%SZ", out, SS_IDENTITY_TIME_BYTES);
}
