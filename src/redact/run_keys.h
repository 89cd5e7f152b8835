/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_keys.h - metadata keys under which a recording says which run it is of.
 *
 * PyTorch writes some of them; the others come from programs that call prof.add_metadata(). Case
 * and separators do not matter: "git_commit", "GIT COMMIT" and "gitCommit" are one key.
 */
#ifndef SS_REDACT_RUN_KEYS_H
#define SS_REDACT_RUN_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ss_run_fact {
	SS_RUN_ID,
	SS_RUN_HOST,
	SS_RUN_COMMAND,
	SS_RUN_COMMIT, /* of the training code */
	SS_RUN_FACTS
};

struct ss_redact_run_key {
	enum ss_run_fact fact;
	uint32_t place; /* of several keys of one fact the first in the list counts; from 1 on */
};

/* False: the key says nothing about the run. */
bool ss_redact_run_key_find(const char *key, size_t length, struct ss_redact_run_key *out);

#endif
