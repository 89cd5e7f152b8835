/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.h - the tables of an SQLite file, read and nothing else.
 *
 * The bytes come through a source and stay in memory: libsqlite3 opens no file. Whatever the file
 * declares beside tables is left alone: views, triggers, virtual tables and functions never run.
 * A file whose pages are used twice ends in a sentence, not in endless rows.
 *
 * Only builds with libsqlite3 have it; a row is what readers of other files use, too.
 */
#ifndef SS_READ_DATABASE_H
#define SS_READ_DATABASE_H

#include "read/source.h"

struct ss_database;

/* Columns that are read at once. */
#define SS_ROW_COLUMNS_MAX 20

/* Neither number nor text: it is null. Texts are there until the next row. */
struct ss_database_cell {
	const char *text;
	size_t length;
	int64_t number;
	bool is_number;
};

struct ss_database_row {
	struct ss_database_cell cells[SS_ROW_COLUMNS_MAX];
};

/* A whole number; `fallback` where there is none. */
static inline int64_t ss_database_number(const struct ss_database_row *row, int column,
					 int64_t fallback)
{
	return row->cells[column].is_number ? row->cells[column].number : fallback;
}

/* The bytes of a text or blob; NULL: it is neither, and *length is 0. */
static inline const char *ss_database_text(const struct ss_database_row *row, int column,
					   size_t *length)
{
	*length = row->cells[column].length;
	return row->cells[column].text;
}

static inline bool ss_database_is_null(const struct ss_database_row *row, int column)
{
	return !row->cells[column].is_number && !row->cells[column].text;
}

typedef enum ss_status ss_database_visit(void *context, const struct ss_database_row *row,
					 struct ss_error *err);

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

/*
 * Visits the rows of a table; a table that does not exist has none. `columns` are names with a
 * space between them; those that the table lacks are null in every row.
 */
SS_MUST_USE
enum ss_status ss_database_each(struct ss_database *database, const char *table,
				const char *columns, ss_database_visit *visit, void *context,
				struct ss_error *err);

#endif
