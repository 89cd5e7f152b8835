/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshots.c - the memory data of a session, computed on request, and the public interface to
 * snapshots.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/request/query.h"
#include "api/session.h"
#include "base/system/thread.h"

/* Lists the memory data of a session and computes it on request. */

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

/* The next entry of the rank after `number` (SS_NO_ROW: from the first on), or SS_NO_ROW. */
static uint32_t memories_find(const struct ss_job *job, int64_t rank, uint32_t number)
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
		memories->traced = ss_memory_zeroed(job->memory, bytes);
		if (!memories->traced)
			return ss_fail_memory(err, "the memory events");
		memories->count = job->file_count;
	}
	if (memories->traced[file])
		return SS_OK;
	opened = ss_memory_zeroed(job->memory, sizeof(*opened));
	if (!opened)
		return ss_fail_memory(err, "the memory events");
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
	SS_FREE(memory, memories->traced, (size_t)memories->count + 1);
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

static enum ss_status memory_request_run_views(struct ss_query *query,
					       const struct ss_snapshot_subject *whole,
					       struct ss_error *err)
{
	for (uint32_t i = 0; i < query->found.count; i++) {
		const struct ss_part *part = &query->found.parts[i];
		struct ss_snapshot_subject subject = *whole;

		subject.group = part->group;
		SS_TRY(part->view->run_snapshot(&subject, &query->tables[i], err));
		if (query->tables[i].failed)
			return ss_fail_memory(err, "the table");
		if (i) /* the notes on what is not known appear once */
			query->tables[i].note_count = 0;
	}
	return SS_OK;
}

/* All stages but rendering; end the query even if this failed. */
static enum ss_status memory_request_make(struct ss_query *query,
					  const struct ss_snapshot_subject *subject,
					  const struct ss_identity *run,
					  const struct ss_found *found,
					  const struct ss_wanted *wanted, struct ss_error *err)
{
	const struct ss_snapshot_subject *before = subject->before;

	*query = (struct ss_query){ .found = *found,
				    .trust = { .files = before ? 2 : 1 },
				    .run = *run };
	query->trust.lost = subject->snapshot->is_cut + (before && before->snapshot->is_cut);
	ss_query_begin(query, wanted, subject->history->memory);
	SS_TRY(memory_request_run_views(query, subject, err));
	return ss_query_arrange(query, err);
}

enum ss_status ss_session_run_memory(const struct ss_snapshot_subject *subject,
				     const struct ss_identity *run, const struct ss_found *found,
				     const struct ss_wanted *wanted, struct ss_text *out,
				     struct ss_error *err)
{
	SS_OWNED(ss_query_end) struct ss_query query = { 0 };

	SS_TRY(memory_request_make(&query, subject, run, found, wanted, err));
	return ss_query_render(&query, out, err);
}

/* --- of a session -------------------------------------------------------------------- */

/* Files that an error names. */
#define LISTED 3

static const char *memory_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Fails: several files match. The error says which, and how to choose one. */
static enum ss_status memory_fail_many(const struct ss_job *job, uint32_t count,
				       struct ss_error *err)
{
	bool has_ranks = true;
	char list[256] = "";
	struct ss_memory_entry entry;

	for (uint32_t i = 0; i < count && i < LISTED; i++) {
		char item[96];

		ss_memories_at(job, i, &entry);
		has_ranks &= entry.rank >= 0;
		if (entry.rank >= 0)
			snprintf(item, sizeof(item), "rank %" PRId64 " ('%.60s')", entry.rank,
				 memory_file_name(entry.path));
		else
			snprintf(item, sizeof(item), "'%.80s'", memory_file_name(entry.path));
		ss_text_list(list, sizeof(list), item);
	}
	return ss_fail(err, SS_ERR_USAGE, "%" PRIu32 " files contain memory events: %s%s; %s",
		       count, list, count > LISTED ? ", ..." : "",
		       has_ranks ? "choose one with option 'rank'" : "name the one to show");
}

static enum ss_status memory_fail_none_recorded(const struct ss_job *job, struct ss_error *err)
{
	for (uint32_t i = 0; i < job->file_count; i++)
		if (ss_quality_is_cut(&job->files[i].trace.quality))
			return ss_fail(err, SS_ERR_MISSING,
				       "'%.200s' is truncated, and the part that is there has "
				       "no memory events",
				       job->files[i].subject.path);
	return ss_fail(err, SS_ERR_MISSING,
		       "memory was not recorded in %s: use profile(profile_memory=True)",
		       job->file_count == 1 ? "this trace" : "these traces");
}

static enum ss_status memory_fail_no_rank(const struct ss_job *job, int64_t rank,
					  struct ss_error *err)
{
	uint32_t count = ss_memories_count(job);
	char words[SS_NUMBERS_BYTES + 64];
	struct ss_numbers ranks = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		struct ss_memory_entry entry;

		ss_memories_at(job, i, &entry);
		ss_numbers_add(&ranks, entry.rank);
	}
	ss_numbers_format(&ranks, "rank", "none of them says its rank", words);
	return ss_fail(err, SS_ERR_MISSING, "no file with memory events for rank %" PRId64 "; %s",
		       rank, words);
}

/* The number of the file with memory events that the request is about. */
static enum ss_status memory_request_choose(const struct ss_job *job,
					    const struct ss_wanted *wanted, uint32_t *out,
					    struct ss_error *err)
{
	uint32_t count = ss_memories_count(job);
	int64_t rank;
	bool compares;

	*out = 0;
	ss_choice_read_rank(wanted, &rank, &compares);
	if (!count)
		return memory_fail_none_recorded(job, err);
	if (rank == SS_EVERY_RANK)
		return count == 1 ? SS_OK : memory_fail_many(job, count, err);
	*out = memories_find(job, rank, SS_NO_ROW);
	if (*out == SS_NO_ROW)
		return memory_fail_no_rank(job, rank, err);
	if (memories_find(job, rank, *out) == SS_NO_ROW)
		return SS_OK;
	return ss_fail(err, SS_ERR_USAGE,
		       "several files with memory events are of rank %" PRId64 ": name one", rank);
}

static enum ss_status memory_request_open(struct ss_session *session,
					  const struct ss_wanted *wanted,
					  const struct ss_opened **out, struct ss_identity *run,
					  struct ss_error *err)
{
	uint32_t number;

	SS_TRY(memory_request_choose(&session->job, wanted, &number, err));
	SS_TRY(ss_session_need(session, err));
	ss_memories_identity(&session->job, number, run);
	return ss_memories_open(&session->memories, &session->job, number, out, err);
}

/* What the request is about: the chosen snapshot, and the one to compare it with. */
static enum ss_status memory_request_subject(struct ss_session *session, struct ss_session *before,
					     const struct ss_wanted *wanted,
					     struct ss_snapshot_subject *out,
					     struct ss_identity *run, struct ss_error *err)
{
	const struct ss_opened *opened;
	struct ss_identity other;

	SS_TRY(memory_request_open(session, wanted, &opened, run, err));
	*out = opened->subject;
	if (before) {
		SS_TRY(memory_request_open(before, wanted, &opened, &other, err));
		out->before = &opened->subject;
	}
	return SS_OK;
}

enum ss_status ss_session_memory(struct ss_session *session, struct ss_session *before,
				 const struct ss_request *request, struct ss_text *out,
				 struct ss_error *err)
{
	struct ss_snapshot_subject subject;
	struct ss_identity run;
	struct ss_wanted wanted;
	struct ss_found found;

	ss_session_start(session);
	SS_TRY(ss_wanted_read(request, &wanted, err));
	SS_TRY(ss_request_find_memory(&wanted, &found, err));
	SS_TRY(memory_request_subject(session, before, &wanted, &subject, &run, err));
	return ss_session_run_memory(&subject, &run, &found, &wanted, out, err);
}

enum ss_status ss_session_memory_table(struct ss_session *session, struct ss_session *before,
				       const struct ss_request *request,
				       struct ArrowArrayStream *out, struct ss_error *err)
{
	struct ss_snapshot_subject subject;
	struct ss_identity run;
	struct ss_wanted wanted;
	SS_OWNED(ss_query_end) struct ss_query query = { 0 };
	struct ss_found found;

	*out = (struct ArrowArrayStream){ 0 };
	ss_session_start(session);
	SS_TRY(ss_wanted_read(request, &wanted, err));
	wanted.format = NULL;
	SS_TRY(ss_request_find_memory(&wanted, &found, err));
	if (found.is_report)
		return ss_found_refuse(&found, "Arrow", err);
	SS_TRY(memory_request_subject(session, before, &wanted, &subject, &run, err));
	SS_TRY(memory_request_make(&query, &subject, &run, &found, &wanted, err));
	return ss_query_stream(&query, out, err);
}
