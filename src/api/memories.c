/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memories.c - lists the memory data of a session and computes it on request.
 */
#include "api/memories.h"

#include <string.h>

#include "base/system/thread.h"

static bool file_has_memory_events(const struct ss_job_file *file)
{
	return file->subject.trace && file->trace.allocations.count;
}

uint32_t ss_memories_count(const struct ss_job *job)
{
	uint32_t count = job->snapshot_count;

	for (uint32_t i = 0; i < job->file_count; i++)
		count += file_has_memory_events(&job->files[i]);
	return count;
}

void ss_memories_at(const struct ss_job *job, uint32_t number, struct ss_memory_entry *out)
{
	uint32_t file = 0;

	if (number < job->snapshot_count) {
		const struct ss_job_snapshot *snapshot = &job->snapshots[number];

		*out = (struct ss_memory_entry){ snapshot->path, ss_find_rank(snapshot->path),
						 SS_NO_ROW, snapshot->opened };
		return;
	}
	number -= job->snapshot_count;
	while (!file_has_memory_events(&job->files[file]) || number--)
		file++;
	*out = (struct ss_memory_entry){ job->files[file].subject.path,
					 job->files[file].subject.rank, file, NULL };
}

uint32_t ss_memories_find(const struct ss_job *job, int64_t rank, uint32_t number)
{
	uint32_t count = ss_memories_count(job);

	for (uint32_t i = number == SS_NO_ROW ? 0 : number + 1; i < count; i++) {
		struct ss_memory_entry entry;

		ss_memories_at(job, i, &entry);
		if (entry.rank == rank)
			return i;
	}
	return SS_NO_ROW;
}

void ss_memories_identity(const struct ss_job *job, uint32_t number, struct ss_identity *out)
{
	struct ss_memory_entry entry;

	ss_memories_at(job, number, &entry);
	if (entry.file == SS_NO_ROW)
		ss_identity_of_snapshot(job, &job->snapshots[number], out);
	else
		ss_identity_of_file(job, entry.file, out);
}

/* Computes the memory data of a trace unless it is there; the caller holds the gate. */
static enum ss_status memories_make_traced(struct ss_memories *memories, const struct ss_job *job,
					   uint32_t file, struct ss_error *err)
{
	const struct ss_subject *subject = &job->files[file].subject;
	size_t bytes = ((size_t)job->file_count + 1) * sizeof(*memories->traced);
	struct ss_opened *opened;
	enum ss_status status;

	if (!memories->traced) {
		memories->traced = ss_memory_resize(job->memory, NULL, 0, bytes);
		if (!memories->traced)
			return ss_fail_memory(err, "the memory events");
		memset(memories->traced, 0, bytes);
		memories->count = job->file_count;
	}
	if (memories->traced[file])
		return SS_OK;
	opened = ss_memory_resize(job->memory, NULL, 0, sizeof(*opened));
	if (!opened)
		return ss_fail_memory(err, "the memory events");
	memset(opened, 0, sizeof(*opened));
	status = ss_opened_from_trace(opened, subject->trace, subject->path, job->memory, err);
	if (status == SS_OK) {
		const struct ss_recording *recording = &job->files[file].recording;

		opened->subject.sizes = (struct ss_device_sizes){ recording->sizes,
								  recording->size_count };
		memories->traced[file] = opened;
	} else {
		ss_memory_free(job->memory, opened, sizeof(*opened));
	}
	return status;
}

enum ss_status ss_memories_open(struct ss_memories *memories, const struct ss_job *job,
				uint32_t number, const struct ss_opened **out, struct ss_error *err)
{
	struct ss_memory_entry entry;
	enum ss_status status = SS_OK;

	ss_memories_at(job, number, &entry);
	if (entry.file != SS_NO_ROW) {
		ss_gate_lock(memories->gate);
		status = memories_make_traced(memories, job, entry.file, err);
		if (status == SS_OK)
			entry.opened = memories->traced[entry.file];
		ss_gate_unlock(memories->gate);
	}
	*out = entry.opened;
	if (status == SS_OK && !entry.opened)
		return ss_fail(
			err, SS_ERR_MISSING,
			"cannot show the memory of '%.200s': the session was opened to compare "
			"ranks and kept only its problems",
			entry.path);
	return status;
}

void ss_memories_release(struct ss_memories *memories, struct ss_memory *memory)
{
	for (uint32_t i = 0; i < memories->count; i++) {
		if (!memories->traced[i])
			continue;
		ss_opened_release(memories->traced[i]);
		ss_memory_free(memory, memories->traced[i], sizeof(*memories->traced[i]));
	}
	ss_memory_free(memory, memories->traced,
		       ((size_t)memories->count + 1) * sizeof(*memories->traced));
	memories->traced = NULL;
	memories->count = 0;
	ss_gate_close(memories->gate);
	memories->gate = NULL;
}

/* --- areas --------------------------------------------------------------------------------
 *
 * A cache of the areas drawn last: the viewer requests the same area again when it zooms.
 */

enum ss_status ss_areas_find(struct ss_areas *areas, const struct ss_opened *opened,
			     const struct ss_device_memory *device, enum ss_area_group group,
			     const struct ss_area **out, struct ss_error *err)
{
	struct ss_area made;
	enum ss_status status;

	for (uint32_t i = 0; i < areas->count; i++)
		if (areas->items[i].opened == opened && areas->items[i].device == device &&
		    areas->items[i].group == group) {
			*out = &areas->items[i];
			return SS_OK;
		}
	status = ss_area_make(&made, opened, device, group, err);
	if (status != SS_OK) {
		ss_area_release(&made);
		return status;
	}
	if (areas->count == SS_AREAS_MAX) {
		ss_area_release(&areas->items[0]);
		memmove(areas->items, areas->items + 1, --areas->count * sizeof(*areas->items));
	}
	areas->items[areas->count] = made;
	*out = &areas->items[areas->count++];
	return SS_OK;
}

void ss_areas_release(struct ss_areas *areas)
{
	for (uint32_t i = 0; i < areas->count; i++)
		ss_area_release(&areas->items[i]);
	areas->count = 0;
}
