/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables of a store: which columns they have, and how a run fills them.
 *
 * A table is a query on the SQL tables (src/sql), declared column by column, so a store has exactly
 * the figures of the views. To add one: src/store/tables/X.c, and X in src/store/meson.build. New
 * columns go to the end: in files of older runs they read as NULL.
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
 * Expressions may use this_run, one row with run_id, job, commit, labels, source, damaged_files and
 * rank_steps (over all ranks, at least 1), and collective_kind(name). Those of live numbers use
 * this_job, one row with job, and known.
 */
struct ss_stored_table {
	const char *name;
	const char *summary;
	const struct ss_stored_column *columns;
	uint32_t column_count;
	const char *from; /* what follows the select list in the query */
	/* of tables of live numbers; NULL: of runs */
	const char *order; /* of the rows in a file */
	const char *time;  /* column of the moment: whose day the file is of */
	/* selects what the table `known` has of rows of the job that are in the store: "last" */
	const char *known;
};

/* In the order of writing: `runs`, which marks a run as complete, is the last. */
extern const struct ss_stored_table *const ss_stored_tables[];
extern const size_t ss_stored_table_count;

/* The rows of `job_steps` that a run with a job has. */
extern const struct ss_stored_table ss_stored_job_steps_of_run;

/* The tables of live numbers (live.c): days of their own, kept as long as you want. */
extern const struct ss_stored_table *const ss_stored_live_tables[];
extern const size_t ss_stored_live_table_count;

/* Appends the query that fills the table. */
void ss_stored_table_query(const struct ss_stored_table *table, struct ss_text *out);

#endif
