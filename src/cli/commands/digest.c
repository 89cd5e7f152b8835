/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - command: reduces each rank's trace to a small file; any machine can analyze the job
 * from these files.
 *
 * Runs where the traces are, under any launcher: each process takes every N-th file of the sorted
 * list.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/thread.h"
#include "cli/digest/making.h"
#include "cli/stop.h"

/* --- several files in parallel --------------------------------------------------------- */

/*
 * Threads take files from a batch, one after the other. Large files are read alone, with all
 * threads: a compressed file needs several times its size in memory (88.8 MB of gzip took 436 MB).
 */
#define BATCH_BYTES ((uint64_t)64 << 20)
#define BATCH_FILES 256 /* threads start and wait for each other once per batch */

struct digest_batch {
	struct digesting *digesting;
	struct ready *items;
	uint32_t count, capacity, threads;
	_Atomic uint32_t next;
	uint64_t bytes; /* of the batch's files */
	struct ss_gate *gate;
	/* guards the following, and is_made of each file: */
	uint32_t written;
	bool is_stopped; /* a signal stopped one of them; reported only once */
	_Atomic bool is_full;
	int code;
};

/* Writes the digests that are made and whose predecessors are all written. Needs the lock. */
static void digest_write_ready(struct digest_batch *batch)
{
	while (batch->written < batch->count && batch->items[batch->written].is_made) {
		struct ready *ready = &batch->items[batch->written++];
		int own = EXIT_FINE;

		if (!batch->is_full && (ready->opened != SS_ERR_STOPPED || !batch->is_stopped)) {
			bool is_full = false;

			own = cli_digest_write_one(batch->digesting, ready, &is_full);
			batch->is_full = is_full;
			batch->digesting->tally.handled += !is_full &&
							   ready->opened != SS_ERR_STOPPED;
		}
		batch->is_stopped |= ready->opened == SS_ERR_STOPPED;
		batch->code = own != EXIT_FINE ? own : batch->code;
		cli_digest_release_ready(ready);
	}
}

static void make_some(void *context, uint32_t index)
{
	struct digest_batch *batch = context;
	uint32_t next;

	(void)index;
	while (!batch->is_full && !stop_asked() &&
	       (next = atomic_fetch_add(&batch->next, 1)) < batch->count) {
		cli_digest_make_one(&batch->items[next]);
		/* write at once: if the node dies, only the files in progress are lost */
		ss_gate_lock(batch->gate);
		batch->items[next].is_made = true;
		digest_write_ready(batch);
		ss_gate_unlock(batch->gate);
	}
}

/* Digests the files of the batch; returns the exit code of the last one that failed. */
static int digest_flush_batch(struct digest_batch *batch)
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
	stop_reading(true);
	ss_thread_run(workers, make_some, batch);
	stop_reading(false);
	for (uint32_t i = batch->written; i < batch->count; i++)
		cli_digest_release_ready(&batch->items[i]);
	batch->count = 0;
	batch->bytes = 0;
	return batch->code;
}

static uint64_t file_size(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && info.st_size > 0 ? (uint64_t)info.st_size : 0;
}

/* Adds a prepared file, and digests the batch when it is full. */
static int add_ready(struct digest_batch *batch, const struct ready *ready)
{
	uint64_t bytes = file_size(ready->path->path);
	int code = EXIT_FINE;

	if (batch->count && batch->bytes + bytes > BATCH_BYTES)
		code = digest_flush_batch(batch);
	batch->items[batch->count++] = *ready;
	batch->bytes += bytes;
	if (batch->count == batch->capacity) {
		int own = digest_flush_batch(batch);

		code = own != EXIT_FINE ? own : code;
	}
	return code;
}

/* With a memory limit files are read one at a time, because the limit applies to each file. */
static bool open_batch(struct digest_batch *batch, struct digesting *digesting,
		       struct ss_arena *arena)
{
	uint32_t threads = cli_option_count(digesting->arguments, "threads");

	/* beside training one is enough */
	if (!threads)
		threads = digesting->is_quiet ? 1 : share_threads(&digesting->share);
	batch->digesting = digesting;
	batch->threads = threads < SS_THREADS_MAX ? threads : SS_THREADS_MAX;
	digesting->threads = batch->threads;
	/* otherwise each line is printed as soon as its file is done */
	batch->capacity = threads > 1 && !cli_option_given(digesting->arguments, "memory-limit")
				  ? BATCH_FILES
				  : 1;
	batch->items = SS_ARENA_NEW(arena, struct ready, batch->capacity);
	batch->gate = ss_gate_open();
	return batch->items && batch->gate;
}

/* --- all files ----------------------------------------------------------------------- */

/* Snapshots are read beside digests, and digests need no conversion. */
static bool digest_is_input(const struct ss_path *path)
{
	return !ss_find_is_digest(path->path) &&
	       (!path->from_folder || !ss_find_is_snapshot(path->path));
}

/* Whether the digest lies in the output folder: an earlier run wrote it. */
static bool digest_is_earlier_output(const struct digesting *digesting, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[SS_PATH_BYTES];
	struct stat info;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
		 slash ? path : ".");
	return stat(folder, &info) == 0 && info.st_dev == digesting->place.st_dev &&
	       info.st_ino == digesting->place.st_ino;
}

/* Counts the files; fails before reading any if two of them would get the same name. */
static int check_names(struct digesting *digesting, const struct ss_paths *paths, uint32_t *count)
{
	char name[SS_PATH_BYTES];

	for (uint32_t i = 0; i < paths->count; i++) {
		const struct ss_path *path = &paths->items[i];
		uint32_t had = digesting->names->count;

		if (ss_find_is_digest(path->path))
			digesting->tally.digests += !digest_is_earlier_output(digesting,
									      path->path);
		if (!digest_is_input(path))
			continue;
		if (strcmp(path->path, "-") == 0)
			return cli_digest_fail_file(
				digesting, path->path,
				"has no path that the digest could name: save the trace "
				"to a file first");
		if (!cli_digest_output(digesting, path, name))
			return cli_digest_fail_file(digesting, path->path,
						    "has a name that is too long");
		if (ss_strings_add(digesting->names, name, strlen(name)) != had)
			return cli_digest_fail_file(
				digesting, path->path,
				"would get the same name as the digest of another file: "
				"use one -o per folder");
		digesting->tally.inputs += (*count)++ % digesting->share.count ==
					   digesting->share.number;
	}
	return EXIT_FINE;
}

/* A file that cannot be read does not stop the others. */
static int digest_all(struct digesting *digesting, const struct ss_paths *paths,
		      struct digest_batch *batch)
{
	uint32_t number = 0;
	int code = EXIT_FINE, own;

	for (uint32_t i = 0; !batch->is_full && !stop_asked() && i < paths->count; i++) {
		struct ready ready;

		if (!digest_is_input(&paths->items[i]) ||
		    number++ % digesting->share.count != digesting->share.number)
			continue;
		if (cli_digest_prepare_file(digesting, &paths->items[i], &ready, &own))
			own = add_ready(batch, &ready);
		code = own != EXIT_FINE ? own : code;
	}
	own = digest_flush_batch(batch);
	if (digesting->tally.handled < digesting->tally.inputs && own == EXIT_FINE)
		return EXIT_FAILED; /* a signal requested a stop between two files */
	return own != EXIT_FINE ? own : code;
}

static int digest_paths(struct digesting *digesting, struct ss_paths *paths, struct ss_arena *arena)
{
	struct ss_pack_choice packs = { 0 };
	struct digest_batch batch = { 0 };
	struct ss_error err = { 0 };
	uint32_t count = 0;
	int code;

	if (ss_find_choose_packs(paths, arena->memory, &packs, &err) != SS_OK)
		return show_fail(digesting->what, &err);
	code = check_names(digesting, paths, &count);
	if (code != EXIT_FINE)
		return code;
	if (!count) {
		if (!digesting->is_quiet)
			cli_tally_print_nothing(&digesting->tally, digesting->what,
						digesting->arguments);
		return EXIT_FAILED;
	}
	if (open_batch(&batch, digesting, arena)) {
		digesting->tally.swept = ss_new_file_sweep(digesting->folder);
		code = digest_all(digesting, paths, &batch);
		if (!digesting->is_quiet)
			cli_tally_print(&digesting->tally, digesting->what, digesting->arguments,
					&digesting->share, digesting->threads);
	} else {
		code = cli_digest_fail_file(digesting, "the list of files",
					    "does not fit into memory");
	}
	ss_gate_close(batch.gate);
	return code;
}

static int digest(struct digesting *digesting, struct ss_memory *memory)
{
	const struct arguments *arguments = digesting->arguments;
	struct ss_strings names = { 0 };
	struct ss_paths paths = { .limit = cli_option_count(arguments, "file-limit") };
	struct ss_error err = { 0 };
	SS_SCRATCH(arena, memory);
	int code;

	digesting->names = &names;
	digesting->memory = memory;
	if (!ss_strings_init(&names, memory))
		code = cli_digest_fail_file(digesting, "the list of files",
					    "does not fit into memory");
	else if (ss_find_files(arguments->paths, arguments->path_count, &arena, &paths, &err) !=
		 SS_OK)
		code = show_fail(digesting->what, &err);
	else
		code = digest_paths(digesting, &paths, &arena);
	ss_find_release(&paths, memory);
	ss_strings_release(&names);
	return code;
}

/* Creates the folder if it is missing. Fails before anything is read if it is not writable. */
static bool open_folder(struct digesting *digesting, bool *made)
{
	const char *verb = "create";

	*made = mkdir(digesting->folder, 0777) == 0;
	if (*made || errno == EEXIST) {
		verb = "write into";
		errno = stat(digesting->folder, &digesting->place) == 0 &&
					!S_ISDIR(digesting->place.st_mode)
				? ENOTDIR
				: 0;
		if (!errno && access(digesting->folder, W_OK | X_OK) == 0)
			return true;
	}
	fprintf(stderr, "stepscope %s: cannot %s the folder '%s': %s\n", digesting->what, verb,
		digesting->folder, strerror(errno));
	return false;
}

/* Writes the digests into the folder, which exists then. */
static int digest_into(struct digesting *digesting, struct redaction *redaction)
{
	const struct output_inputs inputs = { .paths = digesting->arguments->paths,
					      .path_count = digesting->arguments->path_count };
	struct ss_memory memory;
	bool made;
	int code;

	redaction->is_quiet = !redaction->is_on;
	if (!share_has_key(digesting->what, &digesting->share, digesting->arguments))
		return EXIT_USAGE;
	code = redaction_begin(digesting->what, redaction, &inputs, digesting->folder,
			       &digesting->redactor);
	if (code != EXIT_FINE)
		return code;
	if (open_folder(digesting, &made)) {
		stop_made(made ? digesting->folder : NULL);
		ss_memory_init(&memory, 0);
		code = digest(digesting, &memory);
		/* another process of the launcher may use the folder */
		if (made && !digesting->tally.written && digesting->share.count == 1)
			rmdir(digesting->folder);
	} else {
		code = EXIT_FAILED;
	}
	return redaction_end(digesting->what, redaction, digesting->redactor, NULL,
			     digesting->tally.written, code);
}

int cli_digest_files(const char *what, const struct arguments *arguments,
		     struct ss_redactor *redactor, const struct digest_place *place,
		     struct digest_tally *tally)
{
	struct output output;
	struct digesting digesting = { .what = what,
				       .arguments = arguments,
				       .folder = place->folder,
				       .redactor = redactor,
				       .output = &output,
				       .share = { .count = 1, .beside = 1 },
				       .host = place->host,
				       .resumes = true,
				       .is_quiet = true,
				       .is_mute = place->is_mute,
				       .is_early = place->is_early };
	struct ss_memory memory;
	bool made;
	int code;

	if (!open_folder(&digesting, &made))
		return EXIT_FAILED;
	ss_memory_init(&memory, 0);
	code = digest(&digesting, &memory);
	*tally = digesting.tally;
	return code;
}

static int digest_run(const struct command *command, const struct arguments *arguments)
{
	struct output output;
	struct digesting digesting = { .what = command->name,
				       .arguments = arguments,
				       .folder = cli_option_text(arguments, "output"),
				       .output = &output,
				       .resumes = cli_option_given(arguments, "resume"),
				       .forces = cli_option_given(arguments, "force") };
	struct redaction redaction = redaction_of(arguments);

	if (!show_check(command->name, arguments))
		return EXIT_USAGE;
	if (!digesting.folder)
		return cli_fail(EXIT_USAGE, command->name,
				"no folder for the digests: add -o FOLDER");
	if (!share_read(cli_option_text(arguments, "share"), &digesting.share))
		return cli_fail(EXIT_USAGE, command->name,
				"--share %s is not I/N with I from 0 to N - 1, such as 0/4",
				cli_option_text(arguments, "share"));
	return digest_into(&digesting, &redaction);
}

const struct command command_digest = {
	.name = "digest",
	.summary = "Reduce each trace to a small digest, to join many nodes on one machine",
	.usage = "[OPTIONS] PATH... -o FOLDER",
	.takers = SS_TAKER_DIGEST,
	.run = digest_run,
};
