/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - parts of the command `digest`: which files a process takes, how their digests are
 * named, and the summary of a run.
 */
#ifndef SS_CLI_DIGEST_DIGEST_H
#define SS_CLI_DIGEST_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "api/find_files.h"
#include "base/system/new_file.h"
#include "base/text.h"
#include "cli/command.h"

/* --- which files a process takes, and the names of their digests ------------------ */

struct digest_share {
	uint32_t number, count;
	uint32_t beside; /* the launcher's processes on this machine, with this one; at least 1 */
	const char *by;  /* the variable that it was read from; NULL: the option, or no launcher */
};

/* `text` is the option "I/N"; NULL: use the launcher's variables. False: not a valid share. */
bool share_read(const char *text, struct digest_share *out);

/* The number of threads for this process, so that all processes together use the machine once. */
uint32_t share_threads(const struct digest_share *share);

/*
 * Digests are joined by names: with --redact, several processes, or one after the other, need one
 * key. Prints an error if it is missing.
 */
bool share_has_key(const char *what, const struct digest_share *share,
		   const struct arguments *arguments);

/* Whether the file can be a digest, damaged or not: no other file is ever replaced. */
bool cli_digest_is_file(const char *path);

/*
 * "JOB/node1/rank0.json.gz" of the folder JOB becomes "TO/node1-rank0.digest", with the names that
 * the redactor gives; NULL: none. With a host, "node1-" begins names that do not have it.
 * False: too long.
 */
bool cli_digest_name(const char *to, const char *host, const struct arguments *arguments,
		     const struct ss_path *path, struct ss_redactor *redactor,
		     char out[SS_PATH_BYTES]);

/* A path as digests have it. False: no memory. */
bool cli_digest_text(struct ss_redactor *redactor, const char *path, struct ss_text *out);

/* --- what happened to the files --------------------------------------------------- */

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

/*
 * Digests what the paths of the arguments name, and says nothing but errors. It writes what is
 * missing or out of date; the tally says whether all files were handled.
 */
struct digest_place {
	const char *folder, *host;
	bool is_mute;  /* files that are no traces were named before */
	bool is_early; /* files may still be written: only whole traces get digests */
};

int cli_digest_files(const char *what, const struct arguments *arguments,
		     struct ss_redactor *redactor, const struct digest_place *place,
		     struct digest_tally *tally);

void cli_tally_refuse(struct digest_refusal *refusal, const char *path);

/* Prints the summary of a run. */
void cli_tally_print(const struct digest_tally *tally, const char *what,
		     const struct arguments *arguments, const struct digest_share *share,
		     uint32_t threads);

/* Prints why there is nothing to do. */
void cli_tally_print_nothing(const struct digest_tally *tally, const char *what,
			     const struct arguments *arguments);

#endif
