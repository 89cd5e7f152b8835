/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - counts what happened to the files of one run of `digest`, and prints the summary.
 */
#ifndef SS_CLI_DIGEST_TALLY_H
#define SS_CLI_DIGEST_TALLY_H

#include "base/system/new_file.h"
#include "cli/command.h"
#include "cli/digest/share.h"

/* Digests that were not replaced: one line reports all of them. */
struct digest_refusal {
	uint32_t count;
	char first[SS_PATH_BYTES];
};

struct digest_tally {
	uint32_t inputs;  /* in this share */
	uint32_t handled; /* of these, with any result */
	uint32_t written, current, broken, other;
	uint32_t digests; /* given as inputs, outside of the output folder */
	uint32_t swept;   /* unfinished files of killed processes that were removed */
	struct digest_refusal existing, foreign;
	uint64_t trace_bytes, digest_bytes;
};

void cli_tally_refuse(struct digest_refusal *refusal, const char *path);

/* Prints the summary of a run. */
void cli_tally_print(const struct digest_tally *tally, const char *what,
		     const struct arguments *arguments, const struct digest_share *share,
		     uint32_t threads);

/* Prints why there is nothing to do. */
void cli_tally_print_nothing(const struct digest_tally *tally, const char *what,
			     const struct arguments *arguments);

#endif
