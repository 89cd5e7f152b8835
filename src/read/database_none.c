/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_none.c - the twin for builds without libsqlite3, and for the browser.
 */
#include "read/database.h"

const bool ss_database_is_here = false;

enum ss_status ss_database_open(struct ss_source *source, struct ss_database **out,
				struct ss_error *err)
{
	(void)source;
	*out = NULL;
	return ss_fail(
		err, SS_ERR_FORMAT,
		"it is an SQLite database, and this build of stepscope lacks libsqlite3: use "
		"the command from a build that has it ('stepscope version --json' shows it)");
}

void ss_database_close(struct ss_database *database)
{
	(void)database;
}

size_t ss_database_bytes(const struct ss_database *database)
{
	(void)database;
	return 0;
}

const char *ss_database_table(const struct ss_database *database, const char *prefix,
			      uint32_t index)
{
	(void)database;
	(void)prefix;
	(void)index;
	return NULL;
}

bool ss_database_has(const struct ss_database *database, const char *table)
{
	(void)database;
	(void)table;
	return false;
}

enum ss_status ss_database_each(struct ss_database *database, const char *table,
				const char *const *columns, ss_database_visit *visit, void *context,
				struct ss_error *err)
{
	(void)database;
	(void)table;
	(void)columns;
	(void)visit;
	(void)context;
	(void)err;
	return SS_OK;
}

bool ss_database_is_null(const struct ss_database_row *row, int column)
{
	(void)row;
	(void)column;
	return true;
}

int64_t ss_database_number(const struct ss_database_row *row, int column, int64_t fallback)
{
	(void)row;
	(void)column;
	return fallback;
}

const char *ss_database_text(const struct ss_database_row *row, int column, size_t *length)
{
	(void)row;
	(void)column;
	*length = 0;
	return NULL;
}
