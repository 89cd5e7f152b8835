/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - where the command finds DuckDB.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/new_file.h"
#include "cli/sql/query.h"

void cli_engine_prepare(struct ss_error *problem)
{
	char folder[SS_PATH_BYTES];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *slash;

	folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	if (ss_engine_load(getenv("STEPSCOPE_DUCKDB"), slash ? folder : NULL, problem) == SS_OK)
		problem->code = SS_OK;
}
