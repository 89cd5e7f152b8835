/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c - lists the contents of a store: one row per day.
 */
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "sql/sql.h"
#include "store/folder.h"
#include "store/tables.h"

static const struct ss_column columns[] = {
	{ "date", SS_COLUMN_TEXT, "day the runs started (UTC)", 0 },
	{ "runs", SS_COLUMN_COUNT, "runs of that day", 0 },
	{ "files", SS_COLUMN_COUNT, "Parquet files; compact makes one per table", 0 },
	{ "size_bytes", SS_COLUMN_BYTES, "size of the files", 0 },
	{ "run_bytes", SS_COLUMN_BYTES, "size per run", 0 },
};

const struct ss_view ss_store_days_view = {
	.name = "store-days",
	.summary = "Days of the store",
	.empty = "The store has no runs.",
	SS_TABLE_COLUMNS(columns),
	.sums = "runs files size_bytes",
	.rankless = true,
};

static const struct ss_column column_columns[] = {
	{ "table", SS_COLUMN_TEXT, "name of the table, and of its folder", 0 },
	{ "column", SS_COLUMN_TEXT, "name of the column", 0 },
	{ "type", SS_COLUMN_TEXT, "type in SQL", 0 },
	{ "about", SS_COLUMN_TEXT, "what it is", SS_COLUMN_WRAP },
	{ "rows", SS_COLUMN_TEXT, "what the rows of the table are", SS_COLUMN_DETAIL },
};

const struct ss_view ss_store_columns_view = {
	.name = "store-columns",
	.summary = "Tables and columns of a store",
	.empty = "There are no tables.",
	SS_TABLE_COLUMNS(column_columns),
	.rankless = true,
};

static void list_add_column(const struct ss_stored_table *table,
			    const struct ss_stored_column *column, const char *name,
			    struct ss_table *out)
{
	ss_row_begin(out);
	ss_row_text(out, table->name);
	ss_row_text(out, name);
	ss_row_text(out, column->type);
	ss_row_text(out, column->about);
	ss_row_text(out, table->summary);
	ss_row_end(out);
}

static void list_add_account_parts(const struct ss_stored_table *table,
				   const struct ss_stored_column *column, struct ss_table *out)
{
	const char *part;

	for (size_t i = 0; (part = ss_sql_account_part_at(i)); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s_ns", part);
		list_add_column(table, column, name, out);
	}
}

static void list_add_table(const struct ss_stored_table *table, struct ss_table *out)
{
	for (uint32_t i = 0; i < table->column_count; i++)
		if (table->columns[i].expression)
			list_add_column(table, &table->columns[i], table->columns[i].name, out);
		else
			list_add_account_parts(table, &table->columns[i], out);
}

void ss_run_store_columns(struct ss_table *out)
{
	for (size_t i = ss_stored_table_count; i--;)
		list_add_table(ss_stored_tables[i], out);
	for (size_t i = 0; i < ss_stored_live_table_count; i++)
		list_add_table(ss_stored_live_tables[i], out);
}

struct day {
	uint64_t runs, files, bytes;
};

/* Counts the runs in one file of many. */
static enum ss_status count_many(const struct ss_run_store *store, const char *name, uint64_t *runs,
				 struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_TEXT(query);
	struct ss_sql_answer answer;
	struct ss_sql *sql = NULL;
	enum ss_status status;

	SS_TRY(ss_run_store_path(store, path, err, "%s", name));
	SS_TRY(ss_run_store_query_open(store, NULL, &sql, err));
	ss_text_add_string(&query, "select run_id from read_parquet('");
	ss_sql_add_quoted(&query, path, '\'');
	ss_text_add_string(&query, "')");
	if (ss_text_failed(&query)) {
		status = ss_fail_memory(err, "the query");
	} else {
		status = ss_sql_begin(sql, &(struct ss_sql_text){ query.data, query.length },
				      &answer, err);
		if (status == SS_OK)
			status = ss_sql_fetch(&answer, 0, err);
		if (status == SS_OK)
			*runs += answer.table.row_count;
		ss_sql_end(&answer);
	}
	ss_sql_close(sql);
	return status;
}

static enum ss_status count_day(const struct ss_run_store *store,
				const struct ss_manifest *manifest, const char *date,
				struct day *out, struct ss_error *err)
{
	for (uint32_t i = 0; i < manifest->count; i++) {
		const struct ss_manifest_file *file = &manifest->files[i];
		bool is_of_run = false, has_runs = ss_manifest_counts(file, "runs", date);

		for (size_t k = 0; k < ss_stored_table_count; k++)
			is_of_run |= ss_manifest_counts(file, ss_stored_tables[k]->name, date);
		if (!is_of_run)
			continue;
		out->files++;
		out->bytes += file->bytes;
		out->runs += has_runs && ss_manifest_is_single(file);
		if (has_runs && !ss_manifest_is_single(file))
			SS_TRY(count_many(store, file->name, &out->runs, err));
	}
	return SS_OK;
}

enum ss_status ss_run_store_list(struct ss_run_store *store, struct ss_table *out,
				 struct ss_error *err)
{
	SS_MANIFEST(manifest);
	char date[SS_DATE_BYTES] = "";

	SS_TRY(ss_manifest_read(store, &manifest, err));
	/* sorted by name: days of a table follow each other */
	for (uint32_t i = 0; i < manifest.count; i++) {
		struct day day = { 0 };

		if (!ss_manifest_counts(&manifest.files[i], "runs", NULL) ||
		    ss_manifest_counts(&manifest.files[i], "runs", date))
			continue;
		memcpy(date, ss_manifest_date(&manifest.files[i]), SS_DATE_BYTES - 1);
		SS_TRY(count_day(store, &manifest, date, &day, err));
		ss_row_begin(out);
		ss_row_text(out, date);
		ss_row_int(out, (int64_t)day.runs);
		ss_row_int(out, (int64_t)day.files);
		ss_row_int(out, (int64_t)day.bytes);
		ss_row_int(out, (int64_t)(day.runs ? day.bytes / day.runs : 0));
		ss_row_end(out);
	}
	return out->failed ? ss_fail_memory(err, "the list") : SS_OK;
}
