/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.h - the tables of an SQLite file, read and nothing else.
 *
 * The bytes come through a source and stay in memory: libsqlite3 opens no file. Whatever the file
 * declares beside tables is left alone: views, triggers, virtual tables and functions never run.
 * A file whose pages are used twice ends in a sentence, not in endless rows.
 */
#ifndef SS_READ_DATABASE_H
#define SS_READ_DATABASE_H

#include "read/source.h"

struct ss_database;
struct ss_database_row;

/* Whether this build has libsqlite3. */
extern const bool ss_database_is_here;

/* Reads the source to its end. */
SS_MUST_USE
enum ss_status ss_database_open(struct ss_source *source, struct ss_database **out,
				struct ss_error *err);
void ss_database_close(struct ss_database *database);

/* How many bytes it has. */
size_t ss_database_bytes(const struct ss_database *database);

/*
 * Table number `index` of those whose names begin with `prefix`, in the order of names; NULL: there
 * are not as many.
 */
const char *ss_database_table(const struct ss_database *database, const char *prefix,
			      uint32_t index);

/* Whether it has the table. */
bool ss_database_has(const struct ss_database *database, const char *table);

typedef enum ss_status ss_database_visit(void *context, const struct ss_database_row *row,
					 struct ss_error *err);

/*
 * Visits the rows of a table; a table that does not exist has none. `columns` are names, the last
 * one NULL; those that the table lacks are null in every row.
 */
SS_MUST_USE
enum ss_status ss_database_each(struct ss_database *database, const char *table,
				const char *const *columns, ss_database_visit *visit, void *context,
				struct ss_error *err);

/* A value by its place in `columns`. */
bool ss_database_is_null(const struct ss_database_row *row, int column);

/* A whole number; `fallback` where there is none. */
int64_t ss_database_number(const struct ss_database_row *row, int column, int64_t fallback);

/* The bytes of a text or blob, until the next row; NULL: it is neither, and *length is 0. */
const char *ss_database_text(const struct ss_database_row *row, int column, size_t *length);

#endif
