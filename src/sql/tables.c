/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - the list of tables: raw columns, findings, the account, and all views.
 */
#include <string.h>

#include "base/closest_name.h"
#include "sql/database.h"

#define SS_RAW(name) extern const struct ss_raw_table ss_raw_##name;
#include "raw_tables.inc"
#undef SS_RAW

const struct ss_raw_table *const ss_raw_tables[] = {
#define SS_RAW(name) &ss_raw_##name,
#include "raw_tables.inc"
#undef SS_RAW
};

const size_t ss_raw_table_count = SS_COUNT(ss_raw_tables);

const struct ss_raw_table *ss_raw_table_of(const struct ss_view *view)
{
	for (size_t i = 0; i < ss_raw_table_count; i++)
		if (ss_raw_tables[i]->view == view)
			return ss_raw_tables[i];
	return NULL;
}

const struct ss_view *ss_sql_table_at(size_t index)
{
	if (index < ss_raw_table_count)
		return ss_raw_tables[index]->view;
	index -= ss_raw_table_count;
	if (index == 0)
		return &ss_findings_view;
	if (index == 1)
		return &ss_account_view;
	index -= 2;
	return index < ss_view_count ? ss_views[index] : NULL;
}

void ss_sql_table_name(const struct ss_view *table, char out[SS_SQL_NAME_BYTES])
{
	size_t length = strlen(table->name);

	assert(length < SS_SQL_NAME_BYTES);
	/* the table is named after its content, not after the command */
	if (table == &ss_findings_view) {
		memcpy(out, "findings", sizeof("findings"));
		return;
	}
	for (size_t i = 0; i <= length; i++)
		out[i] = table->name[i] == '-' ? '_' : table->name[i];
}

bool ss_sql_guess(const char *typed, char out[SS_SQL_NAME_BYTES])
{
	struct ss_closest_name guess = ss_closest_name_begin(typed);
	const struct ss_view *table;
	char name[SS_SQL_NAME_BYTES];

	for (size_t i = 0; (table = ss_sql_table_at(i)); i++) {
		ss_sql_table_name(table, name);
		ss_closest_name_add(&guess, name);
		if (guess.best == name) {
			memcpy(out, name, sizeof(name));
			guess.best = out;
		}
	}
	return guess.best;
}

const char *ss_sql_column_type(const struct ss_view *table, uint32_t column)
{
	const struct ss_raw_table *raw = ss_raw_table_of(table);

	if (table->columns[column].type == SS_COLUMN_TEXT)
		return raw && raw->columns[column].domain ? "ENUM" : "VARCHAR";
	return ss_column_has_fraction(&table->columns[column]) ? "DOUBLE" : "BIGINT";
}

static const char *const names[] = {
	[SS_PARAMETER_RANK] = "rank",     [SS_PARAMETER_FROM] = "from_ns",
	[SS_PARAMETER_TO] = "to_ns",      [SS_PARAMETER_GROUP] = "by",
	[SS_PARAMETER_STEP] = "step",     [SS_PARAMETER_DEVICE] = "device",
	[SS_PARAMETER_STREAM] = "stream", [SS_PARAMETER_NAME] = "name",
};

const char *ss_parameter_name(enum ss_parameter parameter)
{
	return names[parameter];
}

/* In SQL the parameter has another name, because GROUP is a keyword. */
const char *ss_parameter_option(enum ss_parameter parameter)
{
	return parameter == SS_PARAMETER_GROUP ? "group" : names[parameter];
}

bool ss_parameter_applies(enum ss_parameter parameter, const struct ss_view *table)
{
	bool is_of_raw = parameter == SS_PARAMETER_FROM || parameter == SS_PARAMETER_TO;

	if (ss_raw_table_of(table))
		return is_of_raw || parameter == SS_PARAMETER_RANK;
	if (is_of_raw)
		return false;
	if (table == &ss_findings_view || table == &ss_account_view)
		return parameter == SS_PARAMETER_RANK;
	return ss_option_applies(ss_parameter_option(parameter), table->name);
}

const char *ss_sql_parameter_at(const struct ss_view *table, size_t index)
{
	for (int i = 0; i < SS_PARAMETER_COUNT; i++)
		if (ss_parameter_applies((enum ss_parameter)i, table) && !index--)
			return names[i];
	return NULL;
}
