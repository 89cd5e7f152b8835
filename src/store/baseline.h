/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - reads earlier runs of a store as the baseline of a check.
 */
#ifndef SS_STORE_BASELINE_H
#define SS_STORE_BASELINE_H

#include "api/check/checking.h"
#include "store/store.h"

struct ss_stored_baseline {
	const struct ss_stored_label *labels; /* all must match; "job" and "commit" are columns */
	size_t label_count;
	const char *except; /* id of the run being checked; NULL: none */
	bool has_moment;    /* excludes runs that started after this moment: */
	int64_t moment_ns;  /* since 1970 */
};

/*
 * Reads the newest runs that match, at most SS_CHECK_RUNS_MAX, in order of time. Load DuckDB first.
 * The arena owns what the runs refer to.
 */
SS_MUST_USE
enum ss_status ss_run_store_baseline(struct ss_run_store *store,
				     const struct ss_stored_baseline *wanted,
				     struct ss_check_run *runs, uint32_t *count,
				     struct ss_arena *arena, struct ss_error *err);

#endif
