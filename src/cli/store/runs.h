/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - adds runs to a store; shared by the commands `store` and `watch`.
 */
#ifndef SS_CLI_STORE_RUNS_H
#define SS_CLI_STORE_RUNS_H

#include "cli/redaction.h"
#include "cli/store/exits.h"
#include "store/store.h"

struct store_runs {
	const char *what; /* the command */
	const struct arguments *arguments;
	struct ss_run_store store;
	struct ss_stored_label *labels;
	size_t label_count;
	char *label_texts;
	struct redaction redaction;
	struct ss_redactor *redactor; /* NULL: names stay */
	struct ss_stored_added last;
	uint32_t added;            /* runs that were not there */
	struct watch_exits *exits; /* of `watch`; NULL: none */
};

/* Opens or creates the store and reads the labels; prints errors and returns the exit code. */
int cli_store_runs_open(const char *what, const struct arguments *arguments, const char *store,
			const struct output_inputs *inputs, struct store_runs *out);

/* Loads, diagnoses and adds the traces at the path as one run; returns the exit code. */
int cli_store_runs_add(struct store_runs *runs, const char *path);

enum store_runs_result {
	STORE_RUNS_ADDED, /* or they were in the store already */
	STORE_RUNS_FAILED,
	STORE_RUNS_NOT_WHOLE, /* ranks are missing */
	STORE_RUNS_STOPPED,   /* by a signal */
};

/*
 * The same for all runs that the files contain; `name` is shown and becomes their source. Adds runs
 * with missing ranks only with `takes_partial`.
 */
enum store_runs_result cli_store_runs_add_all(struct store_runs *runs, const char *name,
					      const char *const *paths, size_t path_count,
					      bool takes_partial);

/* Also after opening failed. Returns `code`, or that of a failure to write the list of names. */
int cli_store_runs_close(struct store_runs *runs, int code);

#endif
