/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - earlier runs of a store, as a check compares with them.
 */
#ifndef SS_STORE_BASELINE_H
#define SS_STORE_BASELINE_H

#include "api/check/checking.h"
#include "store/store.h"

struct ss_stored_baseline {
	const struct ss_stored_label *labels; /* all must match; "job" and "commit" are columns */
	size_t label_count;
	const char *except; /* id of the run that is checked; NULL: none */
	bool has_moment;    /* runs that started later are no baseline: */
	int64_t moment_ns;  /* since 1970 */
};

/*
 * The newest runs that match, at most SS_CHECK_RUNS_MAX, by time. DuckDB is loaded. What they keep
 * is in the arena.
 */
SS_MUST_USE
enum ss_status ss_run_store_baseline(struct ss_run_store *store,
				     const struct ss_stored_baseline *wanted,
				     struct ss_check_run *runs, uint32_t *count,
				     struct ss_arena *arena, struct ss_error *err);

#endif
