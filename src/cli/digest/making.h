/* SPDX-License-Identifier: Apache-2.0 */
/*
 * making.h - the files that a process digests, one by one, for commands/digest.c.
 */
#ifndef SS_CLI_DIGEST_MAKING_H
#define SS_CLI_DIGEST_MAKING_H

#include <sys/stat.h>

#include "base/intern.h"
#include "cli/digest/digest.h"
#include "cli/output.h"
#include "cli/redaction.h"

/* State shared by the files of one run. */
struct digesting {
	const char *what;
	const struct arguments *arguments;
	const char *folder;
	struct ss_redactor *redactor; /* NULL: names stay */
	struct ss_strings *names;     /* of the digests of all shares: each name must be unique */
	struct output *output;
	struct ss_memory *memory;
	struct digest_share share;
	uint32_t threads;
	struct stat place; /* identifies the folder */
	struct digest_tally tally;
	const char *host; /* begins the names of digests that lack it; NULL: no name needs it */
	bool resumes, forces, is_quiet;
	bool is_mute;  /* what fails was named before */
	bool is_early; /* what is not whole is left for later */
};

/*
 * A file that is read in parallel with others. Its digest is built in memory, because digests are
 * small, and written in the order of the files: as soon as all earlier ones are written.
 */
struct ready {
	const struct digesting *digesting;
	const struct ss_path *path;
	char output[SS_PATH_BYTES], *origin;
	uint32_t threads;
	bool is_first; /* of those read in parallel: this one reports progress */
	bool is_made;
	enum ss_status opened, status;
	struct ss_error err;
	int64_t rank;
	bool has_problem, is_cut;
	uint64_t trace_bytes;
	struct ss_text problem, digest;
};

/* The name of the digest of a file. False: it is too long. */
bool cli_digest_output(const struct digesting *digesting, const struct ss_path *path,
		       char out[SS_PATH_BYTES]);

/* Says why a file has no digest; returns the exit code. */
int cli_digest_fail_file(const struct digesting *digesting, const char *path, const char *why);

/* Fills `ready` if the file must be digested; if not, returns false and sets *code. */
bool cli_digest_prepare_file(struct digesting *digesting, const struct ss_path *path,
			     struct ready *ready, int *code);

/* On any thread: fills `ready` with the digest of its file, or with the error. */
void cli_digest_make_one(struct ready *ready);

/*
 * Sets *is_full if the folder cannot take this digest, so that it would refuse the next one, too.
 */
int cli_digest_write_one(struct digesting *digesting, struct ready *ready, bool *is_full);

void cli_digest_release_ready(struct ready *ready);

#endif
