/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baselines.h - the runs that a check compares against.
 */
#ifndef SS_CLI_CHECK_BASELINES_H
#define SS_CLI_CHECK_BASELINES_H

#include "api/check/checking.h"
#include "cli/output.h"

/*
 * Before the sandbox is entered, loads DuckDB if --against names a store.
 */
void cli_stored_baseline_begin(const struct arguments *arguments);

/* Whether the text is STORE or STORE:key=value... */
bool cli_stored_baseline_is(const char *text);

/* baselines.c: loads and measures the runs that --against names, one after the other. */
SS_MUST_USE
enum ss_status cli_baselines_add(const struct arguments *arguments,
				 const struct ss_session *session, struct ss_checking *checking,
				 struct ss_error *err);

#endif
