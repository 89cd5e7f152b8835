/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - command: what a job needs of each rank, as small files that any machine can join.
 *
 * Runs beside the files, under any launcher: each process takes every N-th file of the sorted list.
 */
#define _DEFAULT_SOURCE /* realpath() */

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/session.h"
#include "base/intern.h"
#include "base/system/thread.h"
#include "base/text.h"
#include "base/system/new_file.h"
#include "cli/digest/share.h"
#include "cli/output.h"
#include "cli/stop.h"
#include "diagnose/keep.h"
#include "job/digest_files.h"
#include "job/files/find.h"

#define PATH_BYTES 4096
#define ENDING ".digest"

/* What the files of one run share. */
struct digesting {
	const char *what;
	const struct arguments *arguments;
	const char *folder;
	struct ss_strings *names; /* of digests, of all shares: no two files may have one */
	struct output *output;
	struct output_inputs inputs;
	struct ss_memory *memory;
	struct share share;
	uint32_t threads;
	uint32_t written, current, broken, other;
	uint32_t swept; /* unfinished files of killed processes that are gone */
	uint64_t trace_bytes, digest_bytes;
};

static int complain(const struct digesting *digesting, const char *path, const char *why)
{
	fprintf(stderr, "stepscope %s: '%s' %s\n", digesting->what, path, why);
	return EXIT_FAILED;
}

/* --- names --------------------------------------------------------------------------- */

/* How much of the path stands before its ending. */
static size_t stem_length(const char *path)
{
	static const char *const endings[] = { ".json.gz", ".json.zst", ".json", ".stepscope" };
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t end = strlen(endings[i]);

		if (length > end && strcmp(path + length - end, endings[i]) == 0)
			return length - end;
	}
	return length;
}

/* The path from the folder that was given on, else the name alone. */
static const char *within(const struct arguments *arguments, const struct ss_path *path)
{
	const char *slash = strrchr(path->path, '/');

	for (size_t i = 0; path->from_folder && i < arguments->path_count; i++) {
		size_t length = strlen(arguments->paths[i]);

		while (length && arguments->paths[i][length - 1] == '/')
			length--;
		if (strncmp(path->path, arguments->paths[i], length) == 0 &&
		    path->path[length] == '/')
			return path->path + length + strspn(path->path + length, "/");
	}
	return slash ? slash + 1 : path->path;
}

/* "JOB/node1/rank0.json.gz" of the folder JOB becomes "FOLDER/node1-rank0.digest". */
static bool name_of_digest(const struct digesting *digesting, const struct ss_path *path,
			   char out[PATH_BYTES])
{
	const char *name = within(digesting->arguments, path);
	size_t folder = strlen(digesting->folder) + 1;
	int printed = snprintf(out, PATH_BYTES, "%s/%.*s" ENDING, digesting->folder,
			       (int)stem_length(name), name);

	if (printed < 0 || printed >= PATH_BYTES)
		return false;
	for (char *at = out + folder; *at; at++)
		if (*at == '/')
			*at = '-';
	return true;
}

/* --- one file ------------------------------------------------------------------------ */

/*
 * A file that is read beside others. Its digest is made in memory: digests are small, and each is
 * written as soon as all before it are, in the order of the files.
 */
struct ready {
	const struct digesting *digesting;
	const struct ss_path *path;
	char output[PATH_BYTES], *origin;
	uint32_t threads;
	bool is_first; /* of those that are read at once: it shows how far it is */
	bool is_made;
	enum ss_status opened, status;
	struct ss_error err;
	int64_t rank;
	bool has_problem;
	uint64_t trace_bytes;
	struct ss_text problem, digest;
};

static bool go_on(void *context, const struct ss_progress *progress)
{
	(void)context;
	(void)progress;
	return !stop_asked();
}

static enum ss_status open_one(const struct ready *ready, struct ss_session **out,
			       struct ss_error *err)
{
	const struct arguments *arguments = ready->digesting->arguments;
	struct ss_open_options open = show_loading(arguments, &ready->path->path, 1);
	struct progress_bar bar;
	enum ss_status status;

	open.reduce = true;
	open.diagnose = true;
	open.threads = ready->threads;
	open.progress = ready->is_first ? progress_step : go_on;
	open.progress_context = &bar;
	SS_TRY(ss_session_begin(&open, out, err));
	if (ready->is_first)
		progress_begin(&bar, option_text(arguments, "progress"));
	status = ss_session_add(*out, &open, err);
	if (ready->is_first)
		progress_end(&bar);
	return status;
}

static bool keep_bytes(void *context, const char *bytes, size_t length)
{
	struct ss_text *digest = context;

	ss_text_add(digest, bytes, length);
	return !ss_text_failed(digest);
}

static void make_digest(struct ready *ready)
{
	struct ss_sink sink = { keep_bytes, &ready->digest };
	struct ss_file file = { .size = sizeof(file) };
	struct ss_session *session = NULL;
	uint64_t bytes;

	ready->opened = open_one(ready, &session, &ready->err);
	if (ready->opened == SS_OK)
		ready->status = ss_session_file(session, 0, &file, &ready->err);
	if (ready->opened == SS_OK && ready->status == SS_OK) {
		ready->rank = file.rank;
		ready->has_problem = file.problem != NULL;
		ss_text_add_string(&ready->problem, file.problem ? file.problem : "");
		ready->trace_bytes = session->job.files[0].disk_bytes;
		ready->status = ss_session_digest(session, 0, ready->origin, &sink, &bytes,
						  &ready->err);
	}
	ss_session_close(session);
}

static void tell(struct digesting *digesting, const struct ready *ready)
{
	char size[BYTES_WORDS], before[BYTES_WORDS], rank[32] = "";

	bytes_in_words(ready->digest.length, size);
	bytes_in_words(ready->trace_bytes, before);
	if (ready->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %lld, ", (long long)ready->rank);
	if (ready->has_problem)
		printf("%s: %sthe trace could not be read: %s\n", ready->output, rank,
		       ready->problem.data ? ready->problem.data : "");
	else
		printf("%s: %s%s from %s\n", ready->output, rank, size, before);
	digesting->written++;
	digesting->broken += ready->has_problem;
	digesting->trace_bytes += ready->trace_bytes;
	digesting->digest_bytes += ready->digest.length;
}

/* Other JSON lies beside traces; what is called after a rank should have been one. */
static bool is_other(const struct ready *ready)
{
	return ready->path->from_folder &&
	       (ready->status == SS_ERR_MISSING ||
		(ready->has_problem && ss_find_rank_in_name(ready->path->path) < 0));
}

static int write_digest(struct digesting *digesting, struct ready *ready)
{
	int code;

	if (ready->opened != SS_OK)
		return show_fail(digesting->what, &ready->err);
	if (is_other(ready)) {
		digesting->other++;
		return EXIT_FINE;
	}
	code = output_open(digesting->what, ready->output, &digesting->inputs, digesting->output);
	if (code != EXIT_FINE)
		return code;
	if (ready->status != SS_OK ||
	    !output_write(digesting->output, ready->digest.data, ready->digest.length))
		return output_fail(digesting->what, digesting->output, &ready->err);
	code = output_close(digesting->what, digesting->output);
	if (code == EXIT_FINE)
		tell(digesting, ready);
	return code;
}

/* Whether it can be one, damaged or not: nothing else that has such a name is replaced. */
static bool is_digest(const char *path)
{
	char begin[SS_DIGEST_MAGIC_BYTES] = { 0 };
	FILE *file = fopen(path, "rb");
	size_t got = file ? fread(begin, 1, sizeof(begin), file) : 0;

	if (file)
		fclose(file);
	return file && (!got || memcmp(begin, "\x28\xb5\x2f\xfd", 4) == 0 ||
			memcmp(begin, SS_DIGEST_MAGIC, sizeof(begin)) == 0);
}

/* Whether the digest is to be written; *code says what is wrong if not. */
static bool is_wanted(struct digesting *digesting, const char *origin, const char *output,
		      int *code)
{
	bool resumes = option_given(digesting->arguments, "resume");
	struct stat info;

	if (stat(output, &info) != 0)
		return true;
	if (resumes &&
	    ss_job_digest_is_current(output, origin, &ss_diagnose_keeper, digesting->memory)) {
		digesting->current++;
		return false;
	}
	if (!resumes && !option_given(digesting->arguments, "force"))
		*code = complain(digesting, output,
				 "exists already; --resume writes only what is missing or out of "
				 "date, --force replaces it");
	else if (!S_ISREG(info.st_mode) || (info.st_size && !is_digest(output)))
		*code = complain(digesting, output,
				 "exists and is not a digest: it was not replaced");
	return *code == EXIT_FINE;
}

/* Whether the file is to be digested: then it is `ready`; else *code says what is wrong. */
static bool prepare(struct digesting *digesting, const struct ss_path *path, uint32_t number,
		    struct ready *ready, int *code)
{
	uint32_t had = digesting->names->count;

	*ready = (struct ready){ .digesting = digesting, .path = path, .rank = -1 };
	*code = EXIT_FINE;
	if (!name_of_digest(digesting, path, ready->output))
		*code = complain(digesting, path->path, "has a name that is too long");
	else if (ss_strings_add(digesting->names, ready->output, strlen(ready->output)) != had)
		*code = complain(digesting, path->path,
				 "would get the same name as the digest of another file: use one "
				 "-o per folder");
	if (*code != EXIT_FINE || number % digesting->share.count != digesting->share.number)
		return false;
	ready->origin = realpath(path->path, NULL);
	if (!ready->origin) {
		fprintf(stderr, "stepscope %s: cannot open '%s': %s\n", digesting->what, path->path,
			strerror(errno));
		*code = EXIT_FAILED;
		return false;
	}
	if (is_wanted(digesting, ready->origin, ready->output, code))
		return true;
	free(ready->origin);
	return false;
}

/* --- several at once ------------------------------------------------------------------ */

/*
 * Files that each thread takes the next of. Large ones are read alone, with all threads: a
 * compressed file takes several times its bytes in memory (88.8 MB of gzip took 436 MB).
 */
#define BATCH_BYTES ((uint64_t)64 << 20)
#define BATCH_FILES 256 /* threads start and wait for each other once per batch */

struct batch {
	struct digesting *digesting;
	struct ready *items;
	uint32_t count, capacity, threads;
	_Atomic uint32_t next;
	uint64_t bytes; /* of their files */
	struct ss_gate *gate;
	/* what it guards, with is_made of each: */
	uint32_t written;
	bool is_stopped; /* one of them says so */
	int code;
};

/* Writes what is ready and has nothing before it that is not. The gate is locked. */
static void write_some(struct batch *batch)
{
	while (batch->written < batch->count && batch->items[batch->written].is_made) {
		struct ready *ready = &batch->items[batch->written++];
		int own = EXIT_FINE;

		if (ready->opened != SS_ERR_STOPPED || !batch->is_stopped)
			own = write_digest(batch->digesting, ready);
		batch->is_stopped |= ready->opened == SS_ERR_STOPPED;
		batch->code = own != EXIT_FINE ? own : batch->code;
		ss_text_release(&ready->problem);
		ss_text_release(&ready->digest);
		free(ready->origin);
	}
}

static void make_some(void *context, uint32_t index)
{
	struct batch *batch = context;
	uint32_t next;

	(void)index;
	while ((next = atomic_fetch_add(&batch->next, 1)) < batch->count) {
		make_digest(&batch->items[next]);
		/* at once: a node that dies loses only what it is reading */
		ss_gate_lock(batch->gate);
		batch->items[next].is_made = true;
		write_some(batch);
		ss_gate_unlock(batch->gate);
	}
}

/* Digests what is in the batch; returns the code of the last one that failed. */
static int flush(struct batch *batch)
{
	uint32_t workers;

	if (!batch->count)
		return EXIT_FINE;
	workers = batch->count < batch->threads ? batch->count : batch->threads;
	for (uint32_t i = 0; i < batch->count; i++) {
		batch->items[i].threads = batch->threads / workers;
		batch->items[i].is_first = i == 0;
	}
	batch->next = batch->written = 0;
	batch->code = EXIT_FINE;
	batch->is_stopped = false;
	ss_thread_run(workers, make_some, batch);
	batch->count = 0;
	batch->bytes = 0;
	return batch->code;
}

static uint64_t size_of(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && info.st_size > 0 ? (uint64_t)info.st_size : 0;
}

/* Adds a file that is ready, and digests the batch when it is full. */
static int add_ready(struct batch *batch, const struct ready *ready)
{
	uint64_t bytes = size_of(ready->path->path);
	int code = EXIT_FINE;

	if (batch->count && batch->bytes + bytes > BATCH_BYTES)
		code = flush(batch);
	batch->items[batch->count++] = *ready;
	batch->bytes += bytes;
	if (batch->count == batch->capacity) {
		int own = flush(batch);

		code = own != EXIT_FINE ? own : code;
	}
	return code;
}

/* A limit of memory is for each file that is read: then it is one at a time. */
static bool open_batch(struct batch *batch, struct digesting *digesting, struct ss_arena *arena)
{
	uint32_t threads = option_count(digesting->arguments, "threads");

	threads = threads ? threads : share_threads(&digesting->share);
	batch->digesting = digesting;
	batch->threads = threads < SS_THREADS_MAX ? threads : SS_THREADS_MAX;
	digesting->threads = batch->threads;
	/* else each line is printed as soon as its file is done */
	batch->capacity = threads > 1 && !option_given(digesting->arguments, "memory-limit")
				  ? BATCH_FILES
				  : 1;
	batch->items = SS_ARENA_NEW(arena, struct ready, batch->capacity);
	batch->gate = ss_gate_open();
	return batch->items && batch->gate;
}

/* --- all files ----------------------------------------------------------------------- */

/* Snapshots are read beside digests, and digests are digests already. */
static bool is_input(const struct ss_path *path)
{
	return !path->from_folder ||
	       (!ss_find_is_snapshot(path->path) && !ss_find_is_digest(path->path));
}

static bool list_inputs(struct digesting *digesting, const struct ss_paths *paths,
			struct ss_arena *arena)
{
	const char **list = SS_ARENA_NEW(arena, const char *, (size_t)paths->count + 1);

	digesting->inputs.paths = list;
	for (uint32_t i = 0; list && i < paths->count; i++)
		if (is_input(&paths->items[i]))
			list[digesting->inputs.path_count++] = paths->items[i].path;
	return list;
}

static void tell_all(const struct digesting *digesting)
{
	char size[BYTES_WORDS], before[BYTES_WORDS], share[128] = "", current[48] = "";

	bytes_in_words(digesting->digest_bytes, size);
	bytes_in_words(digesting->trace_bytes, before);
	if (digesting->share.count > 1)
		snprintf(share, sizeof(share),
			 "Share %u of %u%s%s with %u thread%s: ", digesting->share.number,
			 digesting->share.count, digesting->share.by ? " by " : "",
			 digesting->share.by ? digesting->share.by : "", digesting->threads,
			 digesting->threads == 1 ? "" : "s");
	if (digesting->current)
		snprintf(current, sizeof(current), ", %u up to date", digesting->current);
	printf("%s%u digest%s written%s, %s from %s\n", share, digesting->written,
	       digesting->written == 1 ? "" : "s", current, size, before);
	if (digesting->broken)
		printf("Could not be read: %u trace%s; 'stepscope files %s' says why.\n",
		       digesting->broken, digesting->broken == 1 ? "" : "s", digesting->folder);
	if (digesting->swept)
		printf("Removed in the folder: %u unfinished file%s of killed runs.\n",
		       digesting->swept, digesting->swept == 1 ? "" : "s");
	if (digesting->other)
		printf("Skipped in the folder: %u file%s.\n", digesting->other,
		       digesting->other == 1 ? " that is not a trace" : "s that are not traces");
}

static int digest_paths(struct digesting *digesting, struct ss_paths *paths, struct ss_arena *arena)
{
	struct ss_pack_choice packs = { 0 };
	struct batch batch = { 0 };
	struct ss_error err = { 0 };
	uint32_t number = 0;
	int code = EXIT_FINE, own;

	if (ss_find_choose(paths, arena->memory, &packs, &err) != SS_OK)
		return show_fail(digesting->what, &err);
	if (!list_inputs(digesting, paths, arena) || !open_batch(&batch, digesting, arena)) {
		ss_gate_close(batch.gate);
		return complain(digesting, "the list of files", "does not fit into memory");
	}
	digesting->swept = ss_new_file_sweep(digesting->folder);
	/* one that fails does not stop the others */
	for (uint32_t i = 0; code != EXIT_USAGE && !stop_asked() && i < paths->count; i++) {
		struct ready ready;

		if (!is_input(&paths->items[i]))
			continue;
		if (prepare(digesting, &paths->items[i], number++, &ready, &own))
			own = add_ready(&batch, &ready);
		code = own != EXIT_FINE ? own : code;
	}
	own = flush(&batch);
	code = own != EXIT_FINE ? own : code;
	ss_gate_close(batch.gate);
	if (!number)
		return complain(digesting, digesting->arguments->paths[0], "has no traces");
	tell_all(digesting);
	return code;
}

static int digest(struct digesting *digesting, struct ss_memory *memory)
{
	const struct arguments *arguments = digesting->arguments;
	struct ss_strings names = { 0 };
	struct ss_paths paths = { 0 };
	struct ss_error err = { 0 };
	struct ss_arena arena;
	int code;

	ss_arena_init(&arena, memory);
	digesting->names = &names;
	digesting->memory = memory;
	if (!ss_strings_init(&names, memory))
		code = complain(digesting, "the list of files", "does not fit into memory");
	else if (ss_find_files(arguments->paths, arguments->path_count, &arena, &paths, &err) !=
		 SS_OK)
		code = show_fail(digesting->what, &err);
	else
		code = digest_paths(digesting, &paths, &arena);
	ss_find_release(&paths, memory);
	ss_strings_release(&names);
	ss_arena_release(&arena);
	return code;
}

static int run(const struct command *command, const struct arguments *arguments)
{
	struct output output;
	struct digesting digesting = { .what = command->name,
				       .arguments = arguments,
				       .folder = option_text(arguments, "output"),
				       .output = &output };
	struct ss_memory memory;
	bool made;
	int code;

	if (!show_check(command->name, arguments))
		return EXIT_USAGE;
	if (!digesting.folder) {
		fprintf(stderr, "stepscope %s: no folder for the digests: add -o FOLDER\n",
			command->name);
		return EXIT_USAGE;
	}
	if (!share_read(option_text(arguments, "share"), &digesting.share)) {
		fprintf(stderr,
			"stepscope %s: --share %s is not I/N with I from 0 to N - 1, such as 0/4\n",
			command->name, option_text(arguments, "share"));
		return EXIT_USAGE;
	}
	made = mkdir(digesting.folder, 0777) == 0;
	if (!made && errno != EEXIST) {
		fprintf(stderr, "stepscope %s: cannot create the folder '%s': %s\n", command->name,
			digesting.folder, strerror(errno));
		return EXIT_FAILED;
	}
	stop_made(made ? digesting.folder : NULL);
	ss_memory_init(&memory, 0);
	code = digest(&digesting, &memory);
	/* another process of the launcher may use it */
	if (made && !digesting.written && digesting.share.count == 1)
		rmdir(digesting.folder);
	return code;
}

const struct command command_digest = {
	.name = "digest",
	.summary = "Reduce each trace to a small digest, to join many nodes on one machine",
	.usage = "[OPTIONS] PATH... -o FOLDER",
	.takers = SS_TAKER_DIGEST,
	.run = run,
};
