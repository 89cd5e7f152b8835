/*
 * same_run.c - which trace a snapshot of memory was taken beside.
 *
 * By rank: a number in the snapshot's name, as of traces (ss_find_rank()); without one, the
 * only rank that the job has. Files of several runs can lie in one folder: where both have
 * the time of day and are further apart than a day, they are of two.
 */
#include <string.h>

#include "base/hash.h"
#include "job/snapshot_files.h"

/* Longer than anybody records: what lies further apart was started anew in between. */
#define DAY_NS (INT64_C(24) * 3600 * 1000000000)

/* Whether any event is a collective, whatever recorded it. */
static bool has_collectives(const struct ss_trace *trace)
{
	const uint32_t flags = SS_NAME_COMM_KERNEL | SS_NAME_COMM_RANGE | SS_NAME_COMM_OP;

	for (uint32_t id = 0; id < trace->names.count; id++)
		if (trace->name_flags[id] & flags)
			return true;
	return trace->comm_count > 0;
}

static uint64_t first_step(const struct ss_trace *trace)
{
	const char *name;

	if (trace->steps.anchor != SS_STEPS_PROFILER || !trace->steps.count)
		return 0;
	name = ss_strings_text(&trace->names, trace->steps.items[0].name);
	return ss_hash_bytes(name, strlen(name));
}

bool ss_recording_note(struct ss_recording *out, const struct ss_trace *trace,
		       struct ss_memory *memory)
{
	int64_t base_ns = trace->info.base_time_ns > 0 ? trace->info.base_time_ns : 0;

	*out = (struct ss_recording){
		.is_noted = true,
		.world_size = trace->info.world_size > 0 ? trace->info.world_size : -1,
		.events = trace->event_count,
		.first_step = first_step(trace),
		.has_collectives = has_collectives(trace),
		.is_cut = ss_quality_is_cut(&trace->quality),
		.is_damaged = trace->quality.rows[SS_ODD_COMPRESSED_CORRUPT].count > 0,
		.is_one_step = trace->steps.count == 1,
		.lacks_calls = trace->quality.rows[SS_ODD_NO_CALLS].count > 0,
		.lacks_device = trace->quality.rows[SS_ODD_NO_DEVICE_EVENTS].count > 0,
	};
	if (out->is_cut)
		out->cut_steps = trace->steps.count - trace->steps.kept_count;
	out->has_clock = !__builtin_add_overflow(trace->origin_ns, base_ns, &out->start_ns) &&
			 !__builtin_add_overflow(out->start_ns, trace->span_ns, &out->end_ns) &&
			 out->start_ns >= SS_WALL_CLOCK_MIN;
	for (uint32_t i = 0; i < trace->info.device_count; i++) {
		const struct ss_device *device = &trace->info.devices[i];

		if (device->memory_bytes <= 0)
			continue;
		if (!ss_memory_reserve(memory, (void **)&out->sizes, &out->size_capacity,
				       (size_t)out->size_count + 1, sizeof(*out->sizes)))
			return false;
		out->sizes[out->size_count++] = (struct ss_device_size){ device->id,
									 device->memory_bytes };
	}
	return true;
}

void ss_recording_release(struct ss_recording *recording, struct ss_memory *memory)
{
	ss_memory_free(memory, recording->sizes,
		       (size_t)recording->size_capacity * sizeof(*recording->sizes));
	*recording = (struct ss_recording){ 0 };
}

static bool is_apart(const struct ss_recording *recording, const struct ss_job_snapshot *snapshot)
{
	return recording->has_clock && snapshot->has_clock &&
	       (snapshot->start_ns - DAY_NS > recording->end_ns ||
		snapshot->end_ns < recording->start_ns - DAY_NS);
}

#define NO_RANK (-2)

/*
 * The rank of all files that could be read, -1 where the only one tells none; NO_RANK: there
 * are several, or no files.
 */
static int64_t only_rank(const struct ss_job *job)
{
	int64_t rank = NO_RANK;

	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_job_file *file = &job->files[i];

		if (!file->recording.is_noted)
			continue;
		if (rank == -1 || (rank != NO_RANK && rank != file->subject.rank))
			return NO_RANK;
		rank = file->subject.rank;
	}
	return rank;
}

/* A trace of the same run where there is one, else another one of the rank. */
static void match(const struct ss_job *job, struct ss_job_snapshot *snapshot, int64_t only)
{
	int64_t rank = snapshot->rank < 0 || only == -1 ? only : snapshot->rank;

	snapshot->file = SS_NO_ROW;
	snapshot->is_other_run = false;
	for (uint32_t i = 0; i < job->file_count && rank != NO_RANK; i++) {
		const struct ss_job_file *file = &job->files[i];
		bool apart;

		if (!file->recording.is_noted || file->subject.rank != rank)
			continue;
		apart = is_apart(&file->recording, snapshot);
		if (snapshot->file == SS_NO_ROW || (snapshot->is_other_run && !apart)) {
			snapshot->file = i;
			snapshot->is_other_run = apart;
		}
	}
}

static void match_by(const struct ss_job *job, struct ss_job_snapshot *snapshot, int64_t only)
{
	struct ss_device_sizes sizes = { 0 };

	snapshot->rank = ss_find_rank(snapshot->path);
	match(job, snapshot, only);
	if (!snapshot->opened)
		return;
	if (snapshot->file != SS_NO_ROW && !snapshot->is_other_run) {
		const struct ss_recording *own = &job->files[snapshot->file].recording;

		sizes = (struct ss_device_sizes){ own->sizes, own->size_count };
	}
	snapshot->opened->subject.sizes = sizes;
}

void ss_job_match_snapshot(const struct ss_job *job, struct ss_job_snapshot *snapshot)
{
	match_by(job, snapshot, only_rank(job));
}

void ss_job_match_snapshots(struct ss_job *job)
{
	int64_t only = only_rank(job);

	for (uint32_t i = 0; i < job->snapshot_count; i++)
		match_by(job, &job->snapshots[i], only);
}
