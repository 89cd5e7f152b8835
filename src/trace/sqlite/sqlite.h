/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.h - traces in SQLite files.
 *
 * The first bytes of a file say only that it is SQLite; its tables say whose it is. To add a kind:
 * a const struct ss_sqlite_kind ss_sqlite_kind_X in a file of src/trace/, and X in `sqlite_kinds`
 * of src/trace/meson.build.
 */
#ifndef SS_TRACE_SQLITE_SQLITE_H
#define SS_TRACE_SQLITE_SQLITE_H

#include "trace/import/import.h"

struct ss_sqlite_kind {
	/* By its tables. */
	bool (*matches)(const struct ss_database *database);
	/*
	 * How many processes have work of a device in it: each can be a trace of its own. Of the
	 * import only source, memory and database are there.
	 */
	uint32_t (*count_parts)(struct ss_import *import);
	ss_import_read *read;
};

/* ss_database_each() with ss_import_take(). */
SS_MUST_USE
enum ss_status ss_sqlite_each(struct ss_import *import, const char *table, const char *columns,
			      ss_database_visit *visit, struct ss_error *err);

/* Adds the names of a table, by two columns: number and text. */
SS_MUST_USE
enum ss_status ss_sqlite_read_texts(struct ss_import *import, int list, const char *table,
				    const char *columns, struct ss_error *err);

/*
 * For tables of names and values: the major number of the version that the row has under `name`,
 * and its text; -1: the row is another one.
 */
#define SS_SQLITE_VERSION_BYTES 32
int ss_sqlite_version(const struct ss_database_row *row, const char *name,
		      char text[SS_SQLITE_VERSION_BYTES]);

#endif
