/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_none.c - replaces engine.c in static builds, which cannot load libraries.
 */
#include "sql/engine.h"

static const struct ss_engine none;

const struct ss_engine *ss_engine(void)
{
	return &none;
}

enum ss_status ss_engine_load(const char *path, engine_variable *variable, struct ss_error *err)
{
	(void)path;
	(void)variable;
	return ss_fail(err, SS_ERR_MISSING,
		       "the static command cannot load DuckDB, which SQL and stores need; install "
		       "the Debian package or the Python wheel of stepscope");
}

const char *ss_engine_path(void)
{
	return "";
}
