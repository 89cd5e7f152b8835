/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - from DuckDB's vectors to cells of our tables.
 */
#ifndef SS_SQL_CELLS_H
#define SS_SQL_CELLS_H

#include "sql/database.h"

/* How a column of a result is read. */
struct ss_sql_source {
	int type; /* enum duck_type; of decimals and ENUMs the type inside */
	bool is_decimal, is_enum;
	uint8_t scale; /* of decimals: digits behind the point */
	char **texts;  /* of ENUMs: DuckDB's, each when it is first seen */
	uint32_t text_count;
	duck_handle logical;
	const void *cells; /* of the chunk that is read */
	const uint64_t *known;
};

/* False: of a type that our columns do not have. */
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
