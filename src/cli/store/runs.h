/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - adds runs to a store; shared by the commands `store` and `watch`.
 */
#ifndef SS_CLI_STORE_RUNS_H
#define SS_CLI_STORE_RUNS_H

#include "cli/redaction.h"
#include "cli/store/exits.h"
#include "store/store.h"

/* Labels that the folders of a run can give. */
#define BY_PATH_MAX 8

struct store_runs {
	const char *what; /* the command */
	const struct arguments *arguments;
	struct ss_run_store store;
	struct ss_stored_label *labels;
	size_t label_count;
	char *label_texts;
	/* of `watch`: what the folders of the run that is added say; job and commit may be NULL */
	const char *job, *commit;
	uint32_t by_path_count; /* labels behind the others */
	bool is_mute;           /* these files were no traces before: an error named them */
	struct redaction redaction;
	struct ss_redactor *redactor; /* NULL: names stay */
	struct ss_stored_added last;
	uint32_t added;            /* runs that were not there */
	struct watch_exits *exits; /* of `watch`; NULL: none */
};

/* Opens or creates the store and reads the labels; prints errors and returns the exit code. */
int cli_store_runs_open(const char *what, const struct arguments *arguments, const char *store,
			const struct output_inputs *inputs, struct store_runs *out);

/*
 * Takes job, commit and labels from the folders of a run, "nlp/pretrain-7b/2026-11-18", as the rule
 * "{team}/{job}" says. A run whose folders do not match has none. False: no memory.
 */
bool cli_store_runs_by_path(struct store_runs *runs, const char *rule, const char *below,
			    struct ss_arena *arena);

/* Whether it is such a rule. */
bool cli_store_runs_is_rule(const char *rule);

/* Loads, diagnoses and adds the traces at the path as one run; returns the exit code. */
int cli_store_runs_add(struct store_runs *runs, const char *path);

enum store_runs_result {
	STORE_RUNS_ADDED, /* or they were in the store already */
	STORE_RUNS_FAILED,
	STORE_RUNS_NOT_WHOLE, /* ranks are missing */
	STORE_RUNS_STOPPED,   /* by a signal */
};

/* Which runs are added; the others come later. */
enum store_runs_taken {
	STORE_RUNS_SURE, /* their files say how many ranks there are, and all can be read */
	STORE_RUNS_WHOLE,
	STORE_RUNS_ALL, /* also with missing ranks and truncated files */
};

/*
 * The same for all runs that the files contain; `name` is shown and becomes their source. Of files
 * that may not be whole yet (STORE_RUNS_SURE) nothing fails and no error is printed.
 */
enum store_runs_result cli_store_runs_add_all(struct store_runs *runs, const char *name,
					      const char *const *paths, size_t path_count,
					      enum store_runs_taken taken);

/* Adds the live numbers of a folder that the store does not have, if there are some. */
int cli_store_runs_add_lives(struct store_runs *runs, const char *folder);

/* Also after opening failed. Returns `code`, or that of a failure to write the list of names. */
int cli_store_runs_close(struct store_runs *runs, int code);

#endif
