/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.c - writes all ranks on all threads; each thread takes the next rank.
 *
 * The files are written to a temporary folder, which gets its name when all files are complete. If
 * a folder of that name exists, they are moved into it, one job at a time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/new_file.h"
#include "base/system/thread.h"
#include "sim/folder.h"
#include "sim/writer/writer.h"

/* Where the files go, and where they are until all are complete. */
struct folder_place {
	char path[SS_PATH_BYTES]; /* without slashes at its end */
	char part[SS_PATH_BYTES]; /* a folder in it, or beside it where it is not there yet */
	bool exists;
};

struct folder_work {
	const struct ss_sim_job *job;
	const struct ss_sim_folder_options *options;
	const struct folder_place *place;
	struct ss_gate *gate; /* guards what follows */
	uint32_t next, done;
	struct ss_sim_folder_figures figures;
	enum ss_status status;
	struct ss_error err;
};

static enum ss_status folder_path(const char *folder, const char *name, char out[SS_PATH_BYTES],
				  struct ss_error *err)
{
	int length = snprintf(out, SS_PATH_BYTES, "%s/%s", folder, name);

	if (length < 0 || length >= SS_PATH_BYTES)
		return ss_fail(err, SS_ERR_USAGE, "the path '%.100s...' is too long", folder);
	return SS_OK;
}

/* "rank12.json", "rank12.json.gz", and what a killed run left of one. */
static bool is_trace_name(const char *name)
{
	static const char *const endings[] = { ".json", ".json.gz", ".json.tmp", ".json.gz.tmp" };
	size_t digits;

	if (strncmp(name, "rank", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	for (size_t i = 0; digits && i < SS_COUNT(endings); i++)
		if (strcmp(name + 4 + digits, endings[i]) == 0)
			return true;
	return false;
}

/* The first bytes of a file; *length is what there is of them. */
static enum ss_status file_read_begin(const char *path, char *begin, size_t room, size_t *length,
				      struct ss_error *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), reason = errno;
	ssize_t count = 1;

	*length = 0;
	while (file >= 0 && count && *length < room) {
		count = read(file, begin + *length, room - *length);
		reason = errno;
		if (count < 0 && reason != EINTR)
			break;
		*length += count > 0 ? (size_t)count : 0;
	}
	if (file >= 0)
		close(file);
	if (file >= 0 ? count >= 0 : reason == ENOENT)
		return SS_OK;
	return ss_fail(err, SS_ERR_IO, "cannot read '%s': %s", path, strerror(reason));
}

/* Whether truth.json of the folder is one of ours. */
static enum ss_status folder_is_simulated(const char *folder, bool *is_ours, struct ss_error *err)
{
	static const char schema[] = "stepscope.sim.truth/";
	char path[SS_PATH_BYTES], begin[128] = { 0 };
	size_t length;

	SS_TRY(folder_path(folder, "truth.json", path, err));
	SS_TRY(file_read_begin(path, begin, sizeof(begin) - 1, &length, err));
	*is_ours = length && strstr(begin, schema) != NULL;
	return SS_OK;
}

/* Calls `each` for the names in a folder until one fails. */
static enum ss_status folder_for_names(const char *folder,
				       enum ss_status (*each)(const char *folder, const char *name,
							      const char *to, struct ss_error *err),
				       const char *to, struct ss_error *err)
{
	enum ss_status status = SS_OK;
	struct dirent *entry;
	DIR *names = opendir(folder);

	if (!names)
		return ss_fail(err, SS_ERR_IO, "cannot open the folder '%s': %s", folder,
			       strerror(errno));
	while (status == SS_OK && (errno = 0, entry = readdir(names)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			status = each(folder, entry->d_name, to, err);
	}
	if (status == SS_OK && errno)
		status = ss_fail(err, SS_ERR_IO, "cannot read the folder '%s': %s", folder,
				 strerror(errno));
	closedir(names);
	return status;
}

static enum ss_status folder_refuse_trace(const char *folder, const char *name, const char *to,
					  struct ss_error *err)
{
	(void)to;
	return is_trace_name(name)
		       ? ss_fail(err, SS_ERR_USAGE,
				 "the folder '%s' has other traces (%s): choose another one",
				 folder, name)
		       : SS_OK;
}

static enum ss_status folder_remove_file(const char *folder, const char *name, const char *to,
					 struct ss_error *err)
{
	char path[SS_PATH_BYTES];

	(void)to;
	SS_TRY(folder_path(folder, name, path, err));
	return unlink(path) == 0
		       ? SS_OK
		       : ss_fail(err, SS_ERR_IO, "cannot remove '%s': %s", path, strerror(errno));
}

static enum ss_status folder_remove_trace(const char *folder, const char *name, const char *to,
					  struct ss_error *err)
{
	return is_trace_name(name) ? folder_remove_file(folder, name, to, err) : SS_OK;
}

static enum ss_status folder_move_file(const char *folder, const char *name, const char *to,
				       struct ss_error *err)
{
	char old[SS_PATH_BYTES], new[SS_PATH_BYTES];

	SS_TRY(folder_path(folder, name, old, err));
	SS_TRY(folder_path(to, name, new, err));
	return rename(old, new) == 0
		       ? SS_OK
		       : ss_fail(err, SS_ERR_IO, "cannot write '%s': %s", new, strerror(errno));
}

/* Refuses a folder with traces that were not simulated. */
static enum ss_status folder_check_traces(const char *folder, struct ss_error *err)
{
	bool is_ours = false;

	SS_TRY(folder_is_simulated(folder, &is_ours, err));
	return is_ours ? SS_OK : folder_for_names(folder, folder_refuse_trace, NULL, err);
}

static enum ss_status folder_find_place(const char *path, struct folder_place *out,
					struct ss_error *err)
{
	size_t length = strlen(path);
	char beside[SS_PATH_BYTES];
	struct stat info;

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (!length || length >= sizeof(out->path))
		return ss_fail(err, SS_ERR_USAGE, "'%.100s' is not a valid folder name", path);
	memcpy(out->path, path, length);
	out->path[length] = '\0';
	out->exists = stat(out->path, &info) == 0;
	if (out->exists && !S_ISDIR(info.st_mode))
		return ss_fail(err, SS_ERR_USAGE, "'%s' exists and is not a folder", out->path);
	if (out->exists)
		SS_TRY(folder_check_traces(out->path, err));
	if (!ss_folder_of(out->path, beside))
		return ss_fail(err, SS_ERR_USAGE, "the path '%.100s...' is too long", path);
	return ss_new_folder(out->exists ? out->path : beside, out->part, err);
}

/*
 * Removes the traces of an earlier simulated job, which may have had more ranks, and moves the new
 * files in. The truth comes first: it marks the folder as ours.
 */
static enum ss_status folder_move_all(const struct folder_place *place, struct ss_error *err)
{
	int folder = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum ss_status status;

	if (folder < 0)
		return ss_fail(err, SS_ERR_IO, "cannot open the folder '%s': %s", place->path,
			       strerror(errno));
	/* another job that ends now waits; on file systems without locks nobody does */
	while (flock(folder, LOCK_EX) != 0 && errno == EINTR)
		;
	status = folder_check_traces(place->path, err);
	if (status == SS_OK)
		status = folder_for_names(place->path, folder_remove_trace, NULL, err);
	if (status == SS_OK)
		status = folder_move_file(place->part, "truth.json", place->path, err);
	if (status == SS_OK)
		status = folder_for_names(place->part, folder_move_file, place->path, err);
	if (status == SS_OK)
		status = ss_new_file_sync_folder(place->path, err);
	rmdir(place->part);
	close(folder);
	return status;
}

static enum ss_status folder_take_name(const struct folder_place *place, struct ss_error *err)
{
	char beside[SS_PATH_BYTES];

	if (place->exists)
		return folder_move_all(place, err);
	if (rename(place->part, place->path) == 0)
		return ss_folder_of(place->path, beside) ? ss_new_file_sync_folder(beside, err)
							 : SS_OK;
	/* somebody else has created it since */
	if (errno == EEXIST || errno == ENOTEMPTY)
		return folder_move_all(place, err);
	return ss_fail(err, SS_ERR_IO, "cannot create the folder '%s': %s", place->path,
		       strerror(errno));
}

/* Removes an incomplete job. By name: listing a folder needs memory, which may be what failed. */
static void folder_remove_part(const struct folder_work *work)
{
	const char *part = work->place->part;

	(void)folder_remove_file(part, "truth.json", NULL, NULL);
	for (uint32_t rank = 0; rank < work->job->plan.rank_count; rank++) {
		char name[32];

		snprintf(name, sizeof(name), "rank%u.json%s", rank,
			 work->options->plain ? "" : ".gz");
		(void)folder_remove_file(part, name, NULL, NULL);
	}
	rmdir(part);
}

/* A sink that asks for progress on each write, and refuses after a stop. */
struct watched_sink {
	struct ss_sim_sink sink;
	struct folder_work *work;
};

/* With the gate locked. */
static void folder_report_progress(struct folder_work *work)
{
	const struct ss_sim_folder_options *options = work->options;

	if (work->status == SS_OK && options->progress &&
	    !options->progress(options->context, work->done, work->job->plan.rank_count))
		work->status = ss_fail(&work->err, SS_ERR_STOPPED, "stopped");
}

static enum ss_status watched_write(void *context, const char *bytes, size_t length,
				    struct ss_error *err)
{
	struct watched_sink *watched = context;
	struct folder_work *work = watched->work;
	enum ss_status status;

	ss_gate_lock(work->gate);
	folder_report_progress(work);
	status = work->status;
	ss_gate_unlock(work->gate);
	if (status != SS_OK)
		return ss_fail(err, SS_ERR_STOPPED, "stopped");
	return watched->sink.write(watched->sink.context, bytes, length, err);
}

static enum ss_status folder_write_rank(struct folder_work *work, uint32_t rank, uint64_t *rows,
					uint64_t *bytes, struct ss_error *err)
{
	struct watched_sink watched = { .work = work };
	struct ss_sim_sink sink = { watched_write, &watched };
	struct ss_sim_output *output;
	enum ss_status status, closed;
	char name[32], path[SS_PATH_BYTES];

	snprintf(name, sizeof(name), "rank%u.json", rank);
	SS_TRY(folder_path(work->place->part, name, path, err));
	SS_TRY(ss_sim_output_open(path, !work->options->plain, work->job->memory, &output, err));
	watched.sink = ss_sim_output_sink(output);
	status = ss_sim_job_write(work->job, rank, &sink, rows, err);
	closed = ss_sim_output_close(output, status == SS_OK, bytes, status == SS_OK ? err : NULL);
	return status == SS_OK ? closed : status;
}

static void folder_add_result(struct folder_work *work, enum ss_status status, uint64_t rows,
			      uint64_t bytes, const struct ss_error *err)
{
	ss_gate_lock(work->gate);
	if (status != SS_OK && work->status == SS_OK) {
		work->status = status;
		work->err = *err;
	}
	work->figures.rows += rows;
	work->figures.bytes += bytes;
	work->done++;
	folder_report_progress(work);
	ss_gate_unlock(work->gate);
}

static void folder_write_ranks(void *context, uint32_t index)
{
	struct folder_work *work = context;

	(void)index;
	for (;;) {
		struct ss_error err = { 0 };
		uint64_t rows = 0, bytes = 0;
		enum ss_status status;
		uint32_t rank;

		ss_gate_lock(work->gate);
		rank = work->status == SS_OK ? work->next++ : UINT32_MAX;
		ss_gate_unlock(work->gate);
		if (rank >= work->job->plan.rank_count)
			return;
		status = folder_write_rank(work, rank, &rows, &bytes, &err);
		folder_add_result(work, status, rows, bytes, &err);
	}
}

static enum ss_status folder_write_truth(const struct folder_work *work, struct ss_error *err)
{
	struct ss_sim_output *output;
	struct ss_sim_sink sink;
	enum ss_status status, closed;
	char path[SS_PATH_BYTES];

	SS_TRY(folder_path(work->place->part, "truth.json", path, err));
	SS_TRY(ss_sim_output_open(path, false, work->job->memory, &output, err));
	sink = ss_sim_output_sink(output);
	status = ss_sim_job_truth(work->job, &sink, err);
	closed = ss_sim_output_close(output, status == SS_OK, NULL, status == SS_OK ? err : NULL);
	return status == SS_OK ? closed : status;
}

static enum ss_status folder_write_all(struct folder_work *work, struct ss_error *err)
{
	uint32_t threads = work->options->threads ? work->options->threads : ss_thread_cores();

	if (threads > work->job->plan.rank_count)
		threads = work->job->plan.rank_count;
	if (threads > SS_THREADS_MAX)
		threads = SS_THREADS_MAX;
	SS_TRY(folder_write_truth(work, err));
	ss_thread_run(threads, folder_write_ranks, work);
	if (work->status != SS_OK && err)
		*err = work->err;
	return work->status;
}

/* Replaces the temporary folder in an error by the one that the user gave. */
static void folder_name_in_error(const struct folder_place *place, struct ss_error *err)
{
	char *at = err ? strstr(err->text, place->part) : NULL;
	size_t had = strlen(place->part), has = strlen(place->path), rest;

	if (!at)
		return;
	rest = strlen(at + had) + 1;
	if ((size_t)(at - err->text) + has + rest > sizeof(err->text))
		return;
	memmove(at + has, at + had, rest);
	memcpy(at, place->path, has);
}

enum ss_status ss_sim_folder_write(const struct ss_sim_job *job,
				   const struct ss_sim_folder_options *options,
				   struct ss_sim_folder_figures *figures, struct ss_error *err)
{
	struct folder_work work = { .job = job, .options = options };
	struct folder_place place = { 0 };
	enum ss_status status;

	work.place = &place;
	work.gate = ss_gate_open();
	if (!work.gate)
		return ss_fail_memory(err, "a lock");
	folder_report_progress(&work);
	status = work.status == SS_OK ? folder_find_place(options->path, &place, err)
				      : ss_fail(err, work.status, "%s", work.err.text);
	if (status == SS_OK) {
		status = folder_write_all(&work, err);
		if (status == SS_OK)
			status = folder_take_name(&place, err);
		if (status != SS_OK) {
			folder_remove_part(&work);
			folder_name_in_error(&place, err);
		}
	}
	ss_gate_close(work.gate);
	*figures = work.figures;
	return status;
}
