/*
 * folder.c - writes all ranks on all threads; each takes the next that is left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "sim/folder.h"
#include "sim/writer/output.h"

#define PATH_BYTES 4096

struct work {
	const struct ss_sim_job *job;
	const struct ss_sim_folder_options *options;
	struct ss_gate *gate; /* guards what follows */
	uint32_t next, done;
	struct ss_sim_folder_figures figures;
	enum ss_status status;
	struct ss_error err;
};

static enum ss_status path_of(const struct ss_sim_folder_options *options, const char *name,
			      char out[PATH_BYTES], struct ss_error *err)
{
	int length = snprintf(out, PATH_BYTES, "%s/%s", options->path, name);

	if (length < 0 || length >= PATH_BYTES)
		return ss_fail(err, SS_ERR_USAGE, "the path '%.100s...' is too long",
			       options->path);
	return SS_OK;
}

/* "rank12.json", "rank12.json.gz", and what a killed run left of one. */
static bool is_trace(const char *name)
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

/* Whether truth.json of the folder is one of ours. */
static bool is_simulated(const struct ss_sim_folder_options *options)
{
	static const char schema[] = "stepscope.sim.truth/";
	char path[PATH_BYTES], begin[128] = { 0 };
	ssize_t length;
	int file;

	if (path_of(options, "truth.json", path, NULL) != SS_OK)
		return false;
	file = open(path, O_RDONLY);
	if (file < 0)
		return false;
	length = read(file, begin, sizeof(begin) - 1);
	close(file);
	return length > 0 && strstr(begin, schema) != NULL;
}

/*
 * A job of more ranks that was simulated into the same folder before would mix
 * with this one: its traces go. Traces that are not ours are not touched.
 */
static enum ss_status clear(const struct ss_sim_folder_options *options, struct ss_error *err)
{
	bool ours = is_simulated(options);
	DIR *folder = opendir(options->path);
	enum ss_status status = SS_OK;
	struct dirent *entry;
	char path[PATH_BYTES];

	if (!folder)
		return ss_fail(err, SS_ERR_IO, "cannot open the folder '%s': %s", options->path,
			       strerror(errno));
	while (status == SS_OK && (entry = readdir(folder)) != NULL) {
		if (!is_trace(entry->d_name))
			continue;
		if (!ours)
			status = ss_fail(err, SS_ERR_USAGE,
					 "the folder '%s' has traces that were not simulated (%s)",
					 options->path, entry->d_name);
		else if (path_of(options, entry->d_name, path, err) != SS_OK || unlink(path) != 0)
			status = ss_fail(err, SS_ERR_IO, "cannot remove '%s/%s': %s", options->path,
					 entry->d_name, strerror(errno));
	}
	closedir(folder);
	return status;
}

static enum ss_status write_rank(const struct work *work, uint32_t rank, uint64_t *rows,
				 uint64_t *bytes, struct ss_error *err)
{
	struct ss_sim_output *output;
	struct ss_sim_sink sink;
	enum ss_status status, closed;
	char name[32], path[PATH_BYTES];

	snprintf(name, sizeof(name), "rank%u.json", rank);
	SS_TRY(path_of(work->options, name, path, err));
	SS_TRY(ss_sim_output_open(path, !work->options->plain, work->job->memory, &output, err));
	sink = ss_sim_output_sink(output);
	status = ss_sim_job_write(work->job, rank, &sink, rows, err);
	closed = ss_sim_output_close(output, status == SS_OK, bytes, status == SS_OK ? err : NULL);
	return status == SS_OK ? closed : status;
}

static void add_result(struct work *work, enum ss_status status, uint64_t rows, uint64_t bytes,
		       const struct ss_error *err)
{
	const struct ss_sim_folder_options *options = work->options;

	ss_gate_lock(work->gate);
	if (status != SS_OK && work->status == SS_OK) {
		work->status = status;
		work->err = *err;
	}
	work->figures.rows += rows;
	work->figures.bytes += bytes;
	work->done++;
	if (work->status == SS_OK && options->progress &&
	    !options->progress(options->context, work->done, work->job->plan.rank_count))
		work->status = ss_fail(&work->err, SS_ERR_STOPPED, "stopped");
	ss_gate_unlock(work->gate);
}

static void write_some(void *context, uint32_t index)
{
	struct work *work = context;

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
		status = write_rank(work, rank, &rows, &bytes, &err);
		add_result(work, status, rows, bytes, &err);
	}
}

static enum ss_status write_truth(const struct ss_sim_job *job,
				  const struct ss_sim_folder_options *options, struct ss_error *err)
{
	struct ss_sim_output *output;
	struct ss_sim_sink sink;
	enum ss_status status, closed;
	char path[PATH_BYTES];

	SS_TRY(path_of(options, "truth.json", path, err));
	SS_TRY(ss_sim_output_open(path, false, job->memory, &output, err));
	sink = ss_sim_output_sink(output);
	status = ss_sim_job_truth(job, &sink, err);
	closed = ss_sim_output_close(output, status == SS_OK, NULL, status == SS_OK ? err : NULL);
	return status == SS_OK ? closed : status;
}

/* A part of a job is no job: what was written before it failed goes. */
static void remove_all(const struct ss_sim_folder_options *options)
{
	char path[PATH_BYTES];

	if (clear(options, NULL) == SS_OK && path_of(options, "truth.json", path, NULL) == SS_OK)
		unlink(path);
}

enum ss_status ss_sim_folder_write(const struct ss_sim_job *job,
				   const struct ss_sim_folder_options *options,
				   struct ss_sim_folder_figures *figures, struct ss_error *err)
{
	struct work work = { .job = job, .options = options };
	uint32_t threads = options->threads ? options->threads : ss_thread_cores();

	if (mkdir(options->path, 0777) != 0 && errno != EEXIST)
		return ss_fail(err, SS_ERR_IO, "cannot make the folder '%s': %s", options->path,
			       strerror(errno));
	SS_TRY(clear(options, err));
	/* the truth comes first: it marks the folder as ours */
	SS_TRY(write_truth(job, options, err));
	if (threads > job->plan.rank_count)
		threads = job->plan.rank_count;
	if (threads > SS_THREADS_MAX)
		threads = SS_THREADS_MAX;
	work.gate = ss_gate_open();
	if (!work.gate)
		return ss_fail_memory(err, "a lock");
	ss_thread_run(threads, write_some, &work);
	ss_gate_close(work.gate);
	*figures = work.figures;
	if (work.status == SS_OK)
		return SS_OK;
	remove_all(options);
	if (err)
		*err = work.err;
	return work.status;
}
