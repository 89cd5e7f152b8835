/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - reads --share and the environment variables of launchers, names digests, and prints
 * the summary at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/digest/digest.h"
#include "base/system/thread.h"
#include "cli/output.h"

/*
 * Variables that launchers set for each process, the innermost launcher first: mpirun may run
 * inside a Slurm task. Only Slurm job steps have SLURM_STEP_NUM_TASKS: a batch script is task 0 as
 * well, but has to handle all files.
 */
static const struct {
	const char *number, *count, *first;
	const char *beside; /* processes per node: one number, or a list such as "4(x2),3" */
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, "OMPI_COMM_WORLD_LOCAL_SIZE" },
	{ "PMI_RANK", "PMI_SIZE", NULL, "MPI_LOCALNRANKS" },
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, "SLURM_STEP_TASKS_PER_NODE" },
	{ "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", NULL },
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

/* The entry for a node in "4(x2),3": 4 for nodes 0 and 1, 3 for node 2. 0: not given. */
static uint32_t in_list(const char *list, uint32_t node)
{
	while (list && *list) {
		char *end;
		unsigned long tasks = strtoul(list, &end, 10), nodes = 1;

		if (end == list || tasks > UINT32_MAX)
			return 0;
		if (strncmp(end, "(x", 2) == 0)
			nodes = strtoul(end + 2, &end, 10);
		if (node < nodes)
			return (uint32_t)tasks;
		node -= (uint32_t)nodes;
		list = strchr(end, ',');
		list = list ? list + 1 : NULL;
	}
	return 0;
}

/* Only Slurm has a list, and numbers its nodes. */
static uint32_t read_beside(const char *name)
{
	const char *list = name ? getenv(name) : NULL;
	uint32_t node = 0, beside;

	if (list && strpbrk(list, "(,"))
		read_variable("SLURM_NODEID", &node);
	beside = in_list(list, node);
	return beside ? beside : 1;
}

bool share_read(const char *text, struct digest_share *out)
{
	const char *rest = NULL;

	*out = (struct digest_share){ .count = 1, .beside = 1 };
	if (text)
		return read_count(text, '/', &out->number, &rest) &&
		       read_count(rest, '\0', &out->count, &rest) && out->number < out->count;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		uint32_t number, count, first;

		if (read_variable(launchers[i].number, &number) &&
		    read_variable(launchers[i].count, &count) &&
		    read_variable(launchers[i].first, &first) && number >= first &&
		    (number -= first) < count) {
			*out = (struct digest_share){ number, count,
						      read_beside(launchers[i].beside),
						      launchers[i].number };
			break;
		}
	}
	return true;
}

/*
 * Not all launchers bind processes to separate cores: otherwise each of 8 processes would start a
 * thread, and keep a file in memory, for every core of the machine.
 */
uint32_t share_threads(const struct digest_share *share)
{
	uint32_t own = ss_thread_cores(), cores = own, granted;
	long machine = sysconf(_SC_NPROCESSORS_ONLN);

	if (share->beside < 2)
		return own;
	if (machine > 0)
		cores = (uint32_t)machine;
	if (read_variable("SLURM_CPUS_ON_NODE", &granted) && granted && granted < cores)
		cores = granted;
	cores /= share->beside;
	if (cores > own)
		cores = own;
	return cores ? cores : 1;
}

bool share_has_key(const char *what, const struct digest_share *share,
		   const struct arguments *arguments)
{
	bool resumes = cli_option_given(arguments, "resume");

	if (!cli_option_given(arguments, "redact") || cli_option_given(arguments, "key") ||
	    (share->count == 1 && !resumes))
		return true;
	fprintf(stderr,
		"stepscope %s: --redact with %s needs --key FILE, so that a name is replaced alike "
		"each time\n",
		what, resumes ? "--resume" : "several processes");
	return false;
}

/* --- names of digests ---------------------------------------------------------------------- */

#define ENDING ".digest"

bool cli_digest_text(struct ss_redactor *redactor, const char *path, struct ss_text *out)
{
	if (redactor)
		return ss_redactor_name(redactor, path, out, NULL) == SS_OK;
	ss_text_add_string(out, path);
	return !ss_text_failed(out);
}

bool cli_digest_name(const char *to, const char *host, const struct arguments *arguments,
		     const struct ss_path *path, struct ss_redactor *redactor,
		     char out[SS_PATH_BYTES])
{
	const char *below = output_path_below(arguments, path);
	bool lacks_host = host && !strstr(below, host);
	size_t folder = strlen(to) + 1;
	int printed = -1;
	SS_TEXT(name);

	if (cli_digest_text(redactor, below, &name))
		printed = snprintf(out, SS_PATH_BYTES, "%s/%s%s%.*s" ENDING, to,
				   lacks_host ? host : "", lacks_host ? "-" : "",
				   (int)ss_find_stem(name.data, true), name.data);
	if (printed < 0 || printed >= SS_PATH_BYTES)
		return false;
	for (char *at = out + folder; *at; at++)
		if (*at == '/')
			*at = '-';
	return true;
}

bool cli_digest_is_file(const char *path)
{
	char begin[SS_DIGEST_MAGIC_BYTES] = { 0 };
	FILE *file = fopen(path, "rb");
	size_t got = file ? fread(begin, 1, sizeof(begin), file) : 0;

	if (file)
		fclose(file);
	return file && (!got || memcmp(begin, "\x28\xb5\x2f\xfd", 4) == 0 ||
			memcmp(begin, SS_DIGEST_MAGIC, sizeof(begin)) == 0);
}

/* The summary that `digest` prints at its end. */

#define SHOWN_PATHS 3 /* in a command to paste: as many as fit on a line */

void cli_tally_refuse(struct digest_refusal *refusal, const char *path)
{
	if (!refusal->count++)
		snprintf(refusal->first, sizeof(refusal->first), "%s", path);
}

static const char *plural(uint32_t count)
{
	return count == 1 ? "" : "s";
}

static void put_paths(FILE *to, const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->path_count && i < SHOWN_PATHS; i++)
		fprintf(to, " %s", arguments->paths[i]);
	if (arguments->path_count > SHOWN_PATHS)
		fprintf(to, " ...");
}

/* "stepscope digest: 'out/rank0.digest' and 3 others" */
static void begin_refusal(const char *what, const struct digest_refusal *refusal)
{
	fprintf(stderr, "stepscope %s: '%s'", what, refusal->first);
	if (refusal->count > 1)
		fprintf(stderr, " and %u other%s", refusal->count - 1, plural(refusal->count - 1));
}

static void tell_refusals(const struct digest_tally *tally, const char *what)
{
	bool is_one = tally->existing.count == 1;

	if (tally->existing.count) {
		begin_refusal(what, &tally->existing);
		fprintf(stderr,
			" exist%s already; --resume writes only what is missing or out of date, "
			"--force replaces %s\n",
			is_one ? "s" : "", is_one ? "it" : "them");
	}
	is_one = tally->foreign.count == 1;
	if (tally->foreign.count) {
		begin_refusal(what, &tally->foreign);
		fprintf(stderr,
			" %s of traces in another folder: choose another -o, or add --force to "
			"replace %s\n",
			is_one ? "is" : "are", is_one ? "it" : "them");
	}
}

static void tell_written(const struct digest_tally *tally, const struct digest_share *share,
			 uint32_t threads)
{
	char size[BYTES_WORDS], before[BYTES_WORDS];

	if (share->count > 1)
		printf("Share %u of %u%s%s with %u thread%s: ", share->number, share->count,
		       share->by ? " by " : "", share->by ? share->by : "", threads,
		       plural(threads));
	printf("%u digest%s written", tally->written, plural(tally->written));
	if (tally->current)
		printf(", %u up to date", tally->current);
	if (tally->written) {
		cli_bytes_in_words(tally->digest_bytes, size);
		cli_bytes_in_words(tally->trace_bytes, before);
		printf(", %s from %s", size, before);
	}
	putchar('\n');
}

void cli_tally_print(const struct digest_tally *tally, const char *what,
		     const struct arguments *arguments, const struct digest_share *share,
		     uint32_t threads)
{
	const char *folder = cli_option_text(arguments, "output");
	uint32_t left = tally->inputs - tally->handled;

	tell_refusals(tally, what);
	tell_written(tally, share, threads);
	if (left)
		printf("Not done: %u file%s. Run the same command with --resume to continue.\n",
		       left, plural(left));
	if (tally->broken)
		printf("Could not be read: %u trace%s; 'stepscope files %s' says why.\n",
		       tally->broken, plural(tally->broken), folder);
	if (tally->swept)
		printf("Removed in the folder: %u unfinished file%s of killed runs.\n",
		       tally->swept, plural(tally->swept));
	if (tally->other)
		printf("Skipped in the folder: %u file%s.\n", tally->other,
		       tally->other == 1 ? " that is not a trace" : "s that are not traces");
	if (tally->digests) {
		printf("Skipped: %u file%s already; 'stepscope %s", tally->digests,
		       tally->digests == 1 ? " that is a digest" : "s that are digests", folder);
		put_paths(stdout, arguments);
		printf("' reads all.\n");
	}
}

void cli_tally_print_nothing(const struct digest_tally *tally, const char *what,
			     const struct arguments *arguments)
{
	const char *path = arguments->paths[0];

	fprintf(stderr, "stepscope %s: '%s'", what, path);
	if (!tally->digests) {
		fprintf(stderr, " has no traces\n");
		return;
	}
	if (arguments->path_count > 1)
		fprintf(stderr, " and other paths have %u digest%s and no traces", tally->digests,
			plural(tally->digests));
	else if (ss_find_is_digest(path))
		fprintf(stderr, " is a digest already");
	else
		fprintf(stderr, " has %u digest%s and no traces", tally->digests,
			plural(tally->digests));
	fprintf(stderr, ": 'stepscope");
	put_paths(stderr, arguments);
	fprintf(stderr, "' reads %s\n", tally->digests == 1 ? "it" : "them");
}
