/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - converts DuckDB's vectors to cells of our tables.
 */
#ifndef SS_SQL_CELLS_H
#define SS_SQL_CELLS_H

#include "sql/database.h"

/* How a column of a result is read. */
struct ss_sql_source {
	int type; /* enum duck_type; of decimals and ENUMs the physical type */
	bool is_decimal, is_enum;
	uint8_t scale; /* of decimals: digits after the point */
	char **texts;  /* of ENUMs: allocated by DuckDB, each on first use */
	uint32_t text_count;
	duck_handle logical;
	const void *cells; /* of the current chunk */
	const uint64_t *known;
};

/* Whether our columns have such a type. */
bool ss_sql_source_is_read(const struct ss_sql_source *source);

/* Fills the view and the sources of the answer from its result. */
SS_MUST_USE
enum ss_status ss_sql_read_columns(struct ss_sql_answer *answer, struct ss_error *err);
void ss_sql_release_sources(struct ss_sql_answer *answer);

/* Appends the rows to the table. */
SS_MUST_USE
enum ss_status ss_sql_read_chunk(struct ss_sql_answer *answer, duck_handle chunk, uint32_t rows,
				 struct ss_error *err);

#endif
