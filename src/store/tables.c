/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - the list of tables, and their queries.
 */
#include "store/tables.h"

#include "sql/sql.h"

#define SS_STORED_TABLE(name) extern const struct ss_stored_table ss_stored_table_##name;
#include "store_tables.inc"
#undef SS_STORED_TABLE

const struct ss_stored_table *const ss_stored_tables[] = {
#define SS_STORED_TABLE(name) &ss_stored_table_##name,
#include "store_tables.inc"
#undef SS_STORED_TABLE
};

const size_t ss_stored_table_count = SS_COUNT(ss_stored_tables);

extern const struct ss_stored_table ss_stored_table_job_steps, ss_stored_table_rank_minutes;

const struct ss_stored_table *const ss_stored_live_tables[] = {
	&ss_stored_table_job_steps,
	&ss_stored_table_rank_minutes,
};

const size_t ss_stored_live_table_count = SS_COUNT(ss_stored_live_tables);

/* One column per part of the account, so that they can be summed without a join. */
static void table_add_account(const char *type, struct ss_text *out)
{
	const char *part;

	for (size_t i = 0; (part = ss_sql_account_part_at(i)); i++)
		ss_text_addf(out,
			     "%scast((select time_ns from account where part = '%s') as %s) as "
			     "%s_ns",
			     i ? ", " : "", part, type, part);
}

void ss_stored_table_query(const struct ss_stored_table *table, struct ss_text *out)
{
	ss_text_add_string(out, "select ");
	for (uint32_t i = 0; i < table->column_count; i++) {
		const struct ss_stored_column *column = &table->columns[i];

		if (i)
			ss_text_add_string(out, ", ");
		if (column->expression)
			ss_text_addf(out, "cast(%s as %s) as \"%s\"", column->expression,
				     column->type, column->name);
		else
			table_add_account(column->type, out);
	}
	ss_text_addf(out, " from %s", table->from);
}
