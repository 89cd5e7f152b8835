/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.c - the summary that `digest` prints at its end.
 */
#include "cli/digest/digest.h"

#include <stdio.h>

#include "api/find_files.h"
#include "cli/output.h"

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
