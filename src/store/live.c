/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - adds live numbers to a store: steps of the job, minutes of its ranks.
 *
 * A ring of live numbers holds days, and is added every hour or so: only rows behind the last one
 * of the job that the store has are new. If another process adds rows of the same ranks meanwhile,
 * or compacts, it is looked for them again.
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
	struct ss_manifest manifest; /* whose rows are known */
	struct ss_run_store_made made;
	char first_date[SS_DATE_BYTES]; /* of the rows */
	char name[SS_RUN_ID_BYTES];     /* with which the files begin: of the job and its ranks */
	const char *job;
};

static void live_name_files(struct live_adding *adding)
{
	const struct ss_live *live = &adding->session->job.live;
	uint64_t hash = ss_hash_bytes(adding->job, strlen(adding->job));
	int64_t first_us = INT64_MAX;

	for (uint32_t i = 0; i < live->rank_count; i++) {
		const struct ss_live_file *file = live->ranks[i].file;

		hash = ss_hash_mix(hash, (uint64_t)file->rank);
		first_us = file->rows[0].end_us < first_us ? file->rows[0].end_us : first_us;
	}
	snprintf(adding->name, sizeof(adding->name), "%016" PRIx64, hash);
	ss_clock_utc(first_us * 1000, "%Y-%m-%d", adding->first_date, sizeof(adding->first_date));
}

/* Whether the rows of a file can be some of these. */
static bool live_may_have(const struct live_adding *adding, const struct ss_manifest_file *file)
{
	bool is_live = false;

	for (size_t i = 0; i < ss_stored_live_table_count; i++)
		is_live |= ss_manifest_counts(file, ss_stored_live_tables[i]->name, NULL);
	return is_live &&
	       strncmp(ss_manifest_date(file), adding->first_date, SS_DATE_BYTES - 1) >= 0;
}

/* Creates the table `known`: how far the store has the job. */
static enum ss_status live_make_known(struct live_adding *adding,
				      const struct ss_stored_table *table, struct ss_error *err)
{
	SS_TEXT(query);
	SS_TEXT(files);
	const char *group = strstr(table->known, "rank,") ? " group by rank" : "";
	bool has;

	has = ss_manifest_add_files(adding->store, &adding->manifest, table->name,
				    adding->first_date, NULL, &files);
	ss_text_addf(&query, "create or replace temp table known as %s from ", table->known);
	if (has)
		ss_text_addf(&query,
			     "(from %s union all by name select null::varchar as run_id where "
			     "false) r, this_job where r.job is not distinct from this_job.job%s",
			     files.data, group);
	else
		ss_text_addf(&query,
			     "(select null::timestamp as \"%s\", null::integer as rank, "
			     "null::varchar as run_id)%s",
			     table->time, group);
	return ss_text_failed(&query) || ss_text_failed(&files)
		       ? ss_fail_memory(err, "the query")
		       : ss_sql_run(adding->sql, query.data, err);
}

/* Writes the new rows of a day. */
static enum ss_status live_write_day(struct live_adding *adding,
				     const struct ss_stored_table *table, const char *date,
				     struct ss_error *err)
{
	SS_TEXT(query);

	ss_text_addf(&query, "from new_rows where \"%s\"::date = date '%s' order by %s",
		     table->time, date, table->order);
	return ss_run_store_write(adding->store, adding->sql, &query, table->name, date,
				  adding->name, &adding->made, err);
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

static enum ss_status live_make_job(struct live_adding *adding, struct ss_error *err)
{
	SS_TEXT(query);

	ss_text_add_string(&query, "create temp table this_job as select ");
	ss_run_store_add_literal(&query, adding->job);
	ss_text_add_string(&query, " as job");
	return ss_text_failed(&query) ? ss_fail_memory(err, "the query")
				      : ss_sql_run(adding->sql, query.data, err);
}

/* Whether rows that are not known came since: of these ranks, or of files of many. */
static bool live_has_others(const struct live_adding *adding, const struct ss_manifest *newest)
{
	for (uint32_t i = 0; i < newest->count; i++) {
		const struct ss_manifest_file *file = &newest->files[i];

		if (live_may_have(adding, file) &&
		    (!ss_manifest_is_single(file) ||
		     strncmp(ss_manifest_base(file), adding->name, SS_RUN_ID_BYTES - 1) == 0) &&
		    !ss_manifest_find(&adding->manifest, file->name))
			return true;
	}
	return false;
}

/* Names the files. *is_done is false if rows came since that must be known. */
static enum ss_status live_name_made(struct live_adding *adding, bool *is_done,
				     struct ss_error *err)
{
	SS_MANIFEST(newest);
	bool is_late = adding->made.count > 0;

	*is_done = true;
	while (is_late) {
		SS_TRY(ss_manifest_read(adding->store, &newest, err));
		*is_done = !live_has_others(adding, &newest);
		if (!*is_done)
			return SS_OK;
		SS_TRY(ss_run_store_name_made(adding->store, &adding->made, &newest, err));
		SS_TRY(ss_manifest_commit(adding->store, &newest, &is_late, err));
	}
	adding->made.count = 0;
	return SS_OK;
}

static enum ss_status live_write(struct live_adding *adding, struct ss_stored_live *out,
				 struct ss_error *err)
{
	uint64_t *const rows[] = { &out->steps, &out->minutes };
	bool is_done = false;

	SS_TRY(live_make_job(adding, err));
	while (!is_done) {
		out->steps = out->minutes = 0;
		SS_TRY(ss_manifest_read(adding->store, &adding->manifest, err));
		for (size_t i = 0; i < ss_stored_live_table_count; i++)
			SS_TRY(live_write_table(adding, ss_stored_live_tables[i], rows[i], err));
		SS_TRY(live_name_made(adding, &is_done, err));
		if (!is_done)
			ss_run_store_delete_made(adding->store, &adding->made);
	}
	return SS_OK;
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
	struct live_adding adding = { .store = store, .session = session };
	const struct ss_live *live = &session->job.live;
	enum ss_status status;

	*out = (struct ss_stored_live){ 0 };
	SS_TRY(ss_job_find_live(&session->job, err));
	if (!live->rank_count)
		return SS_OK;
	adding.job = run->job ? run->job : live->ranks[0].file->job;
	snprintf(out->job, sizeof(out->job), "%.63s", adding.job);
	live_name_files(&adding);
	status = ss_sql_open(session, &options, &adding.sql, err);
	if (status == SS_OK)
		status = live_write(&adding, out, err);
	ss_sql_close(adding.sql);
	ss_run_store_delete_made(store, &adding.made);
	ss_manifest_release(&adding.manifest);
	return status;
}
