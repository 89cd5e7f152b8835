/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables of a store: which columns they have, and how a run fills them.
 *
 * A table is a query on the tables of SQL (src/sql), column by column, so a store has the figures
 * of the views and nothing of its own. To add one: src/store/tables/X.c, and X in
 * src/store/meson.build. New columns go to the end: files of older runs read as NULL there.
 */
#ifndef SS_STORE_TABLES_H
#define SS_STORE_TABLES_H

#include "base/text.h"

struct ss_stored_column {
	const char *name;
	const char *type; /* of SQL */
	/* NULL: one column per part of the account, "compute_ns" */
	const char *expression;
	const char *about; /* one line */
};

/*
 * Expressions may use this_run: one row with run_id, job, commit, labels, source, damaged_files,
 * rank_steps (of all ranks, at least 1); and collective_kind(name).
 */
struct ss_stored_table {
	const char *name;
	const char *summary;
	const struct ss_stored_column *columns;
	uint32_t column_count;
	const char *from; /* what follows the columns in the query */
};

/* In the order in which they are written: `runs`, which says that a run is whole, is the last. */
extern const struct ss_stored_table *const ss_stored_tables[];
extern const size_t ss_stored_table_count;

/* Appends the query that fills the table. */
void ss_stored_table_query(const struct ss_stored_table *table, struct ss_text *out);

#endif
