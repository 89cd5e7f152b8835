/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - adds live numbers to a store: steps of the job, minutes of its ranks.
 *
 * A ring of live numbers holds days, and is added every hour or so: only rows behind the last one
 * of the job that the store has are new. Their file has a name of its own, so nothing is replaced.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/session.h"
#include "base/hash/hash.h"
#include "base/system/clock.h"
#include "store/folder.h"
#include "store/store.h"
#include "store/tables.h"

struct live_adding {
	struct ss_run_store *store;
	struct ss_session *session;
	struct ss_sql *sql;
	struct ss_run_store_work work;
	char first_date[SS_DATE_BYTES]; /* of the rows */
	char name[SS_RUN_ID_BYTES];     /* of the files */
	const char *job;
	uint64_t bytes;
};

/* What was added, and no more than that, makes the name: the same rows have the same one. */
static void live_name_files(struct live_adding *adding)
{
	const struct ss_live *live = &adding->session->job.live;
	uint64_t hash = ss_hash_bytes(adding->job, strlen(adding->job));
	int64_t first_us = INT64_MAX;

	for (uint32_t i = 0; i < live->rank_count; i++) {
		const struct ss_live_file *file = live->ranks[i].file;

		hash = ss_hash_mix(hash, (uint64_t)file->rank);
		hash = ss_hash_mix(hash, (uint64_t)file->begin_ns);
		hash = ss_hash_mix(hash, (uint64_t)file->rows[file->row_count - 1].end_us);
		hash = ss_hash_mix(hash, ss_hash_bytes(file->host, strlen(file->host)));
		first_us = file->rows[0].end_us < first_us ? file->rows[0].end_us : first_us;
	}
	snprintf(adding->name, sizeof(adding->name), "%016" PRIx64, hash);
	ss_clock_utc(first_us * 1000, "%Y-%m-%d", adding->first_date, sizeof(adding->first_date));
}

/* Appends the files of the days that rows can be of; false: there are none. */
static enum ss_status live_add_files(const struct live_adding *adding, const char *table,
				     struct ss_text *out, bool *has, struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_STORE_NAMES(days);

	*has = false;
	SS_TRY(ss_run_store_path(adding->store, path, err, "%s", table));
	SS_TRY(ss_run_store_names_read(path, &days, err));
	for (uint32_t i = 0; i < days.count; i++) {
		const char *date = ss_run_store_date_of(days.items[i]);
		SS_STORE_NAMES(names);

		if (!date || strcmp(date, adding->first_date) < 0)
			continue;
		SS_TRY(ss_run_store_path(adding->store, path, err, "%s/date=%s", table, date));
		SS_TRY(ss_run_store_names_read(path, &names, err));
		for (uint32_t k = 0; k < names.count; k++) {
			if (!ss_run_store_is_compact(names.items[k]) &&
			    !ss_run_store_is_run(names.items[k]))
				continue;
			ss_text_add_string(out, *has ? ", '" : "'");
			ss_sql_add_quoted(out, path, '\'');
			ss_text_addf(out, "/%s'", names.items[k]);
			*has = true;
		}
	}
	return SS_OK;
}

/* Creates the table `known`: how far the store has the job. */
static enum ss_status live_make_known(struct live_adding *adding,
				      const struct ss_stored_table *table, struct ss_error *err)
{
	SS_TEXT(query);
	SS_TEXT(files);
	const char *group = strstr(table->known, "rank,") ? " group by rank" : "";
	bool has;

	SS_TRY(live_add_files(adding, table->name, &files, &has, err));
	ss_text_addf(&query, "create or replace temp table known as %s from ", table->known);
	if (has)
		ss_text_addf(&query,
			     "read_parquet([%s], hive_partitioning = false) r, this_job where "
			     "r.job is not distinct from this_job.job%s",
			     files.data, group);
	else
		ss_text_addf(&query, "(select null::timestamp as \"%s\", null::integer as rank)%s",
			     table->time, group);
	return ss_text_failed(&query) || ss_text_failed(&files)
		       ? ss_fail_memory(err, "the query")
		       : ss_sql_run(adding->sql, query.data, err);
}

/* Writes the new rows of a day, and renames the file. */
static enum ss_status live_write_day(struct live_adding *adding,
				     const struct ss_stored_table *table, const char *date,
				     struct ss_error *err)
{
	SS_TEXT(query);

	ss_text_addf(&query, "from new_rows where \"%s\"::date = date '%s' order by %s",
		     table->time, date, table->order);
	SS_TRY(ss_run_store_write(&adding->work, adding->sql, &query, table->name, &adding->bytes,
				  err));
	return ss_run_store_place(adding->store, &adding->work, table->name, date, adding->name,
				  err);
}

/* Adds the rows of a table that are new, day by day. */
static enum ss_status live_write_table(struct live_adding *adding,
				       const struct ss_stored_table *table, uint64_t *rows,
				       struct ss_error *err)
{
	SS_TEXT(query);
	SS_TEXT(days);
	struct ss_sql_answer answer;
	enum ss_status status;

	SS_TRY(live_make_known(adding, table, err));
	ss_text_add_string(&query, "create or replace temp table new_rows as ");
	ss_stored_table_query(table, &query);
	ss_text_addf(&days,
		     "select strftime(\"%s\", '%%Y-%%m-%%d') as day, count(*) as n from new_rows "
		     "group by day order by day",
		     table->time);
	if (ss_text_failed(&query) || ss_text_failed(&days))
		return ss_fail_memory(err, "the query");
	SS_TRY(ss_sql_run(adding->sql, query.data, err));
	status = ss_sql_begin(adding->sql, &(struct ss_sql_text){ days.data, days.length }, &answer,
			      err);
	if (status == SS_OK)
		status = ss_sql_fetch(&answer, 0, err);
	for (uint32_t i = 0; status == SS_OK && i < answer.table.row_count; i++) {
		char date[SS_DATE_BYTES] = "";
		struct ss_cell cell = ss_table_cell(&answer.table, i, 0);

		memcpy(date, cell.value.text, cell.length < sizeof(date) ? cell.length : 0);
		*rows += (uint64_t)ss_table_int(&answer.table, i, 1);
		status = live_write_day(adding, table, date, err);
	}
	ss_sql_end(&answer);
	return status;
}

/* Nobody compacts between the look at what is there and the new file. */
static enum ss_status live_write(struct live_adding *adding, struct ss_stored_live *out,
				 struct ss_error *err)
{
	uint64_t *const rows[] = { &out->steps, &out->minutes };
	SS_TEXT(query);
	enum ss_status status;

	ss_text_add_string(&query, "create temp table this_job as select ");
	ss_run_store_add_literal(&query, adding->job);
	ss_text_add_string(&query, " as job");
	if (ss_text_failed(&query))
		return ss_fail_memory(err, "the query");
	SS_TRY(ss_sql_run(adding->sql, query.data, err));
	SS_TRY(ss_run_store_lock(adding->store, false, err));
	status = SS_OK;
	for (size_t i = 0; status == SS_OK && i < ss_stored_live_table_count; i++)
		status = live_write_table(adding, ss_stored_live_tables[i], rows[i], err);
	ss_run_store_unlock(adding->store);
	return status;
}

enum ss_status ss_run_store_add_live(struct ss_run_store *store, struct ss_session *session,
				     const struct ss_stored_run *run, struct ss_stored_live *out,
				     struct ss_error *err)
{
	const struct ss_sql_options options = { .threads = run->threads,
						.memory_limit_bytes = run->memory_limit_bytes,
						.folder = store->path,
						.is_stopped = run->is_stopped,
						.context = run->context };
	struct live_adding adding = { .store = store, .session = session, .work = { .fd = -1 } };
	const struct ss_live *live = &session->job.live;
	enum ss_status status;

	*out = (struct ss_stored_live){ 0 };
	SS_TRY(ss_job_find_live(&session->job, err));
	if (!live->rank_count)
		return SS_OK;
	adding.job = run->job ? run->job : live->ranks[0].file->job;
	snprintf(out->job, sizeof(out->job), "%.63s", adding.job);
	live_name_files(&adding);
	SS_TRY(ss_run_store_work_begin(store, &adding.work, err));
	status = ss_sql_open(session, &options, &adding.sql, err);
	if (status == SS_OK)
		status = live_write(&adding, out, err);
	ss_sql_close(adding.sql);
	ss_run_store_work_end(&adding.work);
	return status;
}
