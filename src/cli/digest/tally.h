/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - what became of the files of one run of `digest`, and the lines that say so.
 */
#ifndef SS_CLI_DIGEST_TALLY_H
#define SS_CLI_DIGEST_TALLY_H

#include "base/system/new_file.h"
#include "cli/command.h"
#include "cli/digest/share.h"

/* Digests that are left as they are: one line for all of them. */
struct digest_refusal {
	uint32_t count;
	char first[SS_PATH_BYTES];
};

struct digest_tally {
	uint32_t inputs;  /* of this share */
	uint32_t handled; /* of these, whatever became of them */
	uint32_t written, current, broken, other;
	uint32_t digests; /* given instead of traces, and not of the folder that is written */
	uint32_t swept;   /* unfinished files of killed processes that are gone */
	struct digest_refusal existing, foreign;
	uint64_t trace_bytes, digest_bytes;
};

void cli_tally_refuse(struct digest_refusal *refusal, const char *path);

/* Prints all lines at the end of a run. */
void cli_tally_print(const struct digest_tally *tally, const char *what,
		     const struct arguments *arguments, const struct digest_share *share,
		     uint32_t threads);

/* Prints why there is nothing to do. */
void cli_tally_print_nothing(const struct digest_tally *tally, const char *what,
			     const struct arguments *arguments);

#endif
