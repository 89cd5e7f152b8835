/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_files.c - dumps of the flight recorder and stack files among the files of a job.
 *
 * A dump does not say its rank: the name of the file does. Folders can have dumps of several
 * moments, or pickles and JSON of one: if a rank has several, those of the folder with the newest
 * record count, and pickles before JSON.
 */
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "load/files/open.h"
#include "load/job.h"

/* "nccl_trace_host12_3": whoever calls files after hosts puts the rank last. */
static int64_t rank_at_end(const char *path)
{
	size_t length = ss_find_stem(path, false), digits = 0;
	int64_t rank = 0;

	while (digits < length && digits < 9 && ss_char_is_digit(path[length - digits - 1]))
		digits++;
	for (size_t i = length - digits; i < length; i++)
		rank = rank * 10 + (path[i] - '0');
	return digits ? rank : -1;
}

static int64_t flight_rank(const char *path)
{
	int64_t rank = ss_find_rank_in_name(path);

	if (rank < 0)
		rank = rank_at_end(path);
	return rank < 0 ? ss_find_rank(path) : rank;
}

static void flight_release(struct ss_job *job, struct ss_job_flight *flight)
{
	if (flight->flight)
		ss_flight_release(flight->flight);
	if (flight->stacks)
		ss_flight_stacks_release(flight->stacks);
	ss_memory_free(job->memory, flight->flight, sizeof(*flight->flight));
	ss_memory_free(job->memory, flight->stacks, sizeof(*flight->stacks));
	flight->flight = NULL;
	flight->stacks = NULL;
}

static enum ss_status flight_read(struct ss_job *job, struct ss_job_flight *out,
				  struct ss_source *source, bool is_dump, struct ss_error *err)
{
	if (is_dump) {
		out->flight = ss_memory_zeroed(job->memory, sizeof(*out->flight));
		return out->flight ? ss_flight_load(source, job->memory, out->flight, err)
				   : ss_fail_memory(err, "a dump");
	}
	out->stacks = ss_memory_zeroed(job->memory, sizeof(*out->stacks));
	return out->stacks ? ss_flight_stacks_load(source, job->memory, out->stacks, err)
			   : ss_fail_memory(err, "the stacks");
}

enum ss_status ss_job_flight_load(struct ss_job *job, struct ss_job_file *file,
				  struct ss_source *source, struct ss_error *err)
{
	struct ss_job_flight *out = &file->flight;
	const char *path = file->subject.path, *next;
	enum ss_status status;
	size_t length;
	bool is_dump;

	SS_TRY(ss_source_peek(source, &next, &length, err));
	is_dump = ss_flight_is_dump(next, length);
	if (!is_dump && !ss_flight_stacks_is_name(path))
		return SS_OK;
	*out = (struct ss_job_flight){
		.path = path,
		.rank = is_dump ? flight_rank(path) : ss_find_rank_in_name(path),
		.number = file->number,
	};
	status = flight_read(job, out, source, is_dump, err);
	if (status != SS_OK) {
		flight_release(job, out);
		return status;
	}
	file->has_flight = true;
	return SS_OK;
}

/* --- one dump per rank ------------------------------------------------------------------- */

static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool is_same_folder(const struct ss_job_flight *a, const struct ss_job_flight *b)
{
	size_t length = folder_length(a->path);

	return length == folder_length(b->path) && memcmp(a->path, b->path, length) == 0;
}

static int64_t flight_newest_ns(const struct ss_flight *flight)
{
	int64_t newest_ns = 0;

	for (uint32_t i = 0; i < flight->entry_count; i++)
		if (flight->entries[i].created_ns > newest_ns)
			newest_ns = flight->entries[i].created_ns;
	return newest_ns;
}

SS_COMPARATOR(flight_compare, struct ss_job_flight,
	      SS_DESCENDING(flight != NULL) SS_ASCENDING(rank)
		      SS_ORDERED(ss_find_compare_names, path) SS_ASCENDING(number))

/* Whether `a` is to be preferred where both are of one rank. */
static bool flight_is_better(const struct ss_job_flight *a, const struct ss_job_flight *b)
{
	int64_t a_ns = flight_newest_ns(a->flight), b_ns = flight_newest_ns(b->flight);

	if (a_ns != b_ns)
		return a_ns > b_ns;
	return !a->flight->is_json && b->flight->is_json;
}

/* Puts them in order, and chooses one dump per rank. */
static void flights_sort(struct ss_job *job)
{
	const struct ss_job_flight *best = NULL;
	bool has_twins = false;

	SS_SORT(job->flights, job->flight_count, flight_compare);
	for (uint32_t i = 0; i < job->flight_count && job->flights[i].flight; i++) {
		has_twins |= i && job->flights[i].rank >= 0 &&
			     job->flights[i].rank == job->flights[i - 1].rank;
		if (!best || flight_is_better(&job->flights[i], best))
			best = &job->flights[i];
	}
	for (uint32_t i = 0; has_twins && i < job->flight_count && job->flights[i].flight; i++)
		job->flights[i].is_left_out = !is_same_folder(&job->flights[i], best);
}

void ss_job_take_flights(struct ss_job *job)
{
	for (uint32_t i = 0; i < job->file_count; i++) {
		struct ss_job_file *file = &job->files[i];

		if (!file->has_flight)
			continue;
		job->flights[job->flight_count++] = file->flight;
		file->has_flight = false;
		file->is_skipped = true;
	}
	flights_sort(job);
}

void ss_job_release_flights(struct ss_job *job)
{
	ss_hang_release(&job->hang);
	for (uint32_t i = 0; i < job->flight_count; i++)
		flight_release(job, &job->flights[i]);
	SS_FREE(job->memory, job->flights, job->flight_capacity);
}

enum ss_status ss_job_find_hang(struct ss_job *job, struct ss_error *err)
{
	struct ss_hang_input *inputs;
	enum ss_status status;

	if (job->hang.memory)
		return SS_OK;
	if (!SS_ALLOC(&job->arena, inputs, (size_t)job->flight_count + 1))
		return ss_fail_memory(err, "the dumps");
	for (uint32_t i = 0; i < job->flight_count; i++)
		inputs[i] = (struct ss_hang_input){
			.rank = job->flights[i].is_left_out ? -1 : job->flights[i].rank,
			.is_twin = job->flights[i].is_left_out && job->flights[i].rank >= 0,
			.path = job->flights[i].path,
			.flight = job->flights[i].flight,
			.stacks = job->flights[i].stacks,
		};
	status = ss_hang_make(&job->hang, inputs, job->flight_count, job->memory, err);
	/* half of it would be taken for the whole by the next request */
	if (status != SS_OK)
		ss_hang_release(&job->hang);
	return status;
}
