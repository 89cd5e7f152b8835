/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - command: what a job needs of each rank, as small files that any machine can join.
 *
 * Runs beside the files, under any launcher: each process takes every N-th file of the sorted list.
 */
#define _DEFAULT_SOURCE /* realpath() */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/session.h"
#include "base/intern.h"
#include "base/system/new_file.h"
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
	uint32_t share, shares;
	const char *shared_by; /* the variable that says so; NULL: the option, or nobody */
	uint32_t written, current, broken, other;
	uint32_t swept; /* unfinished files of killed processes that are gone */
	uint64_t trace_bytes, digest_bytes;
};

static int complain(const struct digesting *digesting, const char *path, const char *why)
{
	fprintf(stderr, "stepscope %s: '%s' %s\n", digesting->what, path, why);
	return EXIT_FAILED;
}

/* --- shares -------------------------------------------------------------------------- */

/*
 * What launchers tell each of their processes, the innermost first: mpirun starts its processes
 * from one of Slurm. Only steps of Slurm have SLURM_STEP_NUM_TASKS: a batch script is task 0, too,
 * and has all files to do.
 */
static const struct {
	const char *number, *count, *first;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL },
	{ "PMI_RANK", "PMI_SIZE", NULL },
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL },
	{ "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN" },
};

static bool read_count(const char *text, char end, uint32_t *out, const char **rest)
{
	char *stop;
	unsigned long number;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &stop, 10);
	if (errno || *stop != end || number > UINT32_MAX)
		return false;
	*out = (uint32_t)number;
	*rest = stop + 1;
	return true;
}

static bool read_variable(const char *name, uint32_t *out)
{
	const char *text = name ? getenv(name) : "0", *rest;

	return text && read_count(text, '\0', out, &rest);
}

static bool set_share(struct digesting *digesting)
{
	const char *text = option_text(digesting->arguments, "share"), *rest = NULL;

	digesting->shares = 1;
	if (text)
		return read_count(text, '/', &digesting->share, &rest) &&
		       read_count(rest, '\0', &digesting->shares, &rest) &&
		       digesting->share < digesting->shares;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		uint32_t share, shares, first;

		if (read_variable(launchers[i].number, &share) &&
		    read_variable(launchers[i].count, &shares) &&
		    read_variable(launchers[i].first, &first) && share >= first &&
		    (share -= first) < shares) {
			digesting->share = share;
			digesting->shares = shares;
			digesting->shared_by = launchers[i].number;
			break;
		}
	}
	return true;
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

static enum ss_status open_one(const struct digesting *digesting, const char *path,
			       struct ss_session **out, struct ss_error *err)
{
	struct ss_open_options open = show_loading(digesting->arguments, &path, 1);
	struct progress_bar bar;
	enum ss_status status;

	open.reduce = true;
	open.diagnose = true;
	open.progress = progress_step;
	open.progress_context = &bar;
	SS_TRY(ss_session_begin(&open, out, err));
	progress_begin(&bar, option_text(digesting->arguments, "progress"));
	status = ss_session_add(*out, &open, err);
	progress_end(&bar);
	return status;
}

static void tell(struct digesting *digesting, const char *path, const struct ss_file *file,
		 uint64_t trace_bytes, uint64_t bytes)
{
	char size[BYTES_WORDS], before[BYTES_WORDS], rank[32] = "";

	bytes_in_words(bytes, size);
	bytes_in_words(trace_bytes, before);
	if (file->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %lld, ", (long long)file->rank);
	if (file->problem)
		printf("%s: %sthe trace could not be read: %s\n", path, rank, file->problem);
	else
		printf("%s: %s%s from %s\n", path, rank, size, before);
	digesting->written++;
	digesting->broken += file->problem != NULL;
	digesting->trace_bytes += trace_bytes;
	digesting->digest_bytes += bytes;
}

/* Other JSON lies beside traces; what is called after a rank should have been one. */
static bool is_other(const struct ss_path *path, enum ss_status status, const struct ss_file *file)
{
	return path->from_folder && (status == SS_ERR_MISSING ||
				     (file->problem && ss_find_rank_in_name(path->path) < 0));
}

static int write_digest(struct digesting *digesting, struct ss_session *session,
			const struct ss_path *path, const char *origin, const char *output)
{
	struct ss_sink sink = { output_write, digesting->output };
	struct ss_file file = { .size = sizeof(file) };
	struct ss_error err = { 0 };
	uint64_t bytes = 0;
	enum ss_status status;
	int code = output_open(digesting->what, output, &digesting->inputs, digesting->output);

	if (code != EXIT_FINE)
		return code;
	status = ss_session_file(session, 0, &file, &err);
	if (status == SS_OK)
		status = ss_session_digest(session, 0, origin, &sink, &bytes, &err);
	if (is_other(path, status, &file)) {
		output_drop(digesting->output);
		digesting->other++;
		return EXIT_FINE;
	}
	if (status != SS_OK)
		return output_fail(digesting->what, digesting->output, &err);
	code = output_close(digesting->what, digesting->output);
	if (code == EXIT_FINE)
		tell(digesting, output, &file, session->job.files[0].disk_bytes, bytes);
	return code;
}

static int digest_file(struct digesting *digesting, const struct ss_path *path, const char *origin,
		       const char *output)
{
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	int code;

	if (open_one(digesting, path->path, &session, &err) != SS_OK)
		code = show_fail(digesting->what, &err);
	else
		code = write_digest(digesting, session, path, origin, output);
	ss_session_close(session);
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

static int digest_one(struct digesting *digesting, const struct ss_path *path, uint32_t number)
{
	uint32_t had = digesting->names->count;
	char output[PATH_BYTES], *origin;
	int code = EXIT_FINE;

	if (!name_of_digest(digesting, path, output))
		return complain(digesting, path->path, "has a name that is too long");
	if (ss_strings_add(digesting->names, output, strlen(output)) != had)
		return complain(digesting, path->path,
				"would get the same name as the digest of another file: use one -o "
				"per folder");
	if (number % digesting->shares != digesting->share)
		return EXIT_FINE;
	origin = realpath(path->path, NULL);
	if (!origin) {
		fprintf(stderr, "stepscope %s: cannot open '%s': %s\n", digesting->what, path->path,
			strerror(errno));
		return EXIT_FAILED;
	}
	if (is_wanted(digesting, origin, output, &code))
		code = digest_file(digesting, path, origin, output);
	free(origin);
	return code;
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
	char size[BYTES_WORDS], before[BYTES_WORDS], share[96] = "", current[48] = "";

	bytes_in_words(digesting->digest_bytes, size);
	bytes_in_words(digesting->trace_bytes, before);
	if (digesting->shares > 1)
		snprintf(share, sizeof(share), "Share %u of %u%s%s: ", digesting->share,
			 digesting->shares, digesting->shared_by ? " by " : "",
			 digesting->shared_by ? digesting->shared_by : "");
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
	struct ss_error err = { 0 };
	uint32_t number = 0;
	int code = EXIT_FINE;

	if (ss_find_choose(paths, arena->memory, &packs, &err) != SS_OK)
		return show_fail(digesting->what, &err);
	if (!list_inputs(digesting, paths, arena))
		return complain(digesting, "the list of files", "does not fit into memory");
	digesting->swept = ss_new_file_sweep(digesting->folder);
	/* one that fails does not stop the others */
	for (uint32_t i = 0; code != EXIT_USAGE && !stop_asked() && i < paths->count; i++) {
		int own;

		if (!is_input(&paths->items[i]))
			continue;
		own = digest_one(digesting, &paths->items[i], number++);
		code = own != EXIT_FINE ? own : code;
	}
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
	if (!set_share(&digesting)) {
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
	if (made && !digesting.written && digesting.shares == 1)
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
