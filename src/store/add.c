/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add.c - computes the id of a run and writes its tables.
 *
 * The id depends only on the events. Hashes of events and files are added up, so their order does
 * not matter: a later version that sorts rows differently computes the same id. Two runs of one
 * program differ at least in the time of their first event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/session.h"
#include "base/hash/hash.h"
#include "store/folder.h"
#include "store/store.h"
#include "store/tables.h"

/* --- the id of a run ----------------------------------------------------------------------- */

static uint64_t hash_events(const struct ss_job_file *file)
{
	return file->subject.trace ? ss_trace_hash_events(file->subject.trace) : file->events_hash;
}

void ss_run_id_of(const struct ss_session *session, char out[SS_RUN_ID_BYTES])
{
	const struct ss_job *job = &session->job;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < job->file_count; i++)
		if (!job->files[i].subject.problem)
			hash += ss_hash_mix(hash_events(&job->files[i]),
					    (uint64_t)job->files[i].subject.rank) *
				SS_HASH_FACTOR;
	snprintf(out, SS_RUN_ID_BYTES, "%016" PRIx64, ss_hash_mix(SS_HASH_SEED, hash));
}

struct adding {
	struct ss_run_store *store;
	struct ss_session *session;
	const struct ss_stored_run *run;
	struct ss_stored_added *out;
	struct ss_manifest manifest;
	struct ss_text asked; /* files of many runs that do not have this one, each in its line */
	struct ss_run_store_made made;
	bool has_clock; /* the date does not depend on when the run is added */
};

/* --- is the run in the store? ---------------------------------------------------------- */

/* Whether a file of many runs has the run. */
static enum ss_status ask_many(struct adding *adding, const char *name, bool *has,
			       struct ss_error *err)
{
	char path[SS_PATH_BYTES];
	SS_TEXT(text);
	struct ss_sql *sql = NULL;
	struct ss_sql_answer answer;
	enum ss_status status;

	SS_TRY(ss_run_store_path(adding->store, path, err, "%s", name));
	SS_TRY(ss_run_store_query_open(adding->store, adding->run, &sql, err));
	ss_text_add_string(&text, "select run_id from read_parquet('");
	ss_sql_add_quoted(&text, path, '\'');
	ss_text_addf(&text, "') where run_id = '%s'", adding->out->run_id);
	if (ss_text_failed(&text)) {
		status = ss_fail_memory(err, "the query");
	} else {
		status = ss_sql_begin(sql, &(struct ss_sql_text){ text.data, text.length }, &answer,
				      err);
		if (status == SS_OK)
			status = ss_sql_fetch(&answer, 0, err);
		*has = status == SS_OK && answer.table.row_count > 0;
		ss_sql_end(&answer);
	}
	ss_sql_close(sql);
	ss_text_addf(&adding->asked, "%s\n", name);
	return status;
}

/* Whether the newest manifest has the run; one without a clock has the date of its file then. */
static enum ss_status adding_find_run(struct adding *adding, bool *has, struct ss_error *err)
{
	const char *date = adding->has_clock ? adding->out->date : NULL;

	*has = false;
	SS_TRY(ss_manifest_read(adding->store, &adding->manifest, err));
	for (uint32_t i = 0; !*has && i < adding->manifest.count; i++) {
		const struct ss_manifest_file *file = &adding->manifest.files[i];

		if (!ss_manifest_counts(file, "runs", date))
			continue;
		if (ss_manifest_is_single(file))
			*has = strncmp(ss_manifest_base(file), adding->out->run_id,
				       SS_RUN_ID_BYTES - 1) == 0;
		else if (!adding->asked.data || !strstr(adding->asked.data, file->name))
			SS_TRY(ask_many(adding, file->name, has, err));
		if (*has)
			memcpy(adding->out->date, ss_manifest_date(file), SS_DATE_BYTES - 1);
	}
	return SS_OK;
}

/* --- its tables ----------------------------------------------------------------------- */

static void add_labels(const struct ss_stored_run *run, struct ss_text *out)
{
	ss_text_add_string(out, "cast(map([");
	for (size_t i = 0; i < run->label_count; i++) {
		ss_text_add_string(out, i ? ", " : "");
		ss_run_store_add_literal(out, run->labels[i].key);
	}
	ss_text_add_string(out, "], [");
	for (size_t i = 0; i < run->label_count; i++) {
		ss_text_add_string(out, i ? ", " : "");
		ss_run_store_add_literal(out, run->labels[i].value);
	}
	ss_text_add_string(out, "]) as map(varchar, varchar))");
}

/* Creates the table this_run: what the store records besides the traces. */
static enum ss_status make_this_run(struct adding *adding, struct ss_sql *sql, struct ss_error *err)
{
	const struct ss_stored_run *run = adding->run;
	SS_TEXT(text);

	ss_text_addf(&text, "create temp table this_run as select '%s' as run_id, ",
		     adding->out->run_id);
	ss_run_store_add_literal(&text, run->job);
	ss_text_add_string(&text, " as job, ");
	ss_run_store_add_literal(&text, run->commit);
	ss_text_add_string(&text, " as \"commit\", ");
	add_labels(run, &text);
	ss_text_add_string(&text, " as labels, ");
	ss_run_store_add_literal(&text, run->source);
	ss_text_addf(&text,
		     " as source, %u as damaged_files, make_timestamp(%" PRId64
		     ") as added, (select greatest(sum(steps), 1) from files) as rank_steps",
		     ss_session_failed_count(adding->session) +
			     ss_session_cut_count(adding->session),
		     (int64_t)time(NULL) * 1000000);
	return ss_text_failed(&text) ? ss_fail_memory(err, "the query")
				     : ss_sql_run(sql, text.data, err);
}

/* Creates collective_kind(): the traces name collectives in many ways, the tables store kinds. */
static enum ss_status make_collective_kinds(struct ss_sql *sql, struct ss_error *err)
{
	SS_TEXT(text);
	enum ss_collective_kind kind;
	const char *word;

	ss_text_add_string(&text, "create temp macro collective_kind(name) as case");
	for (size_t i = 0; (word = ss_collective_kind_word(i, &kind)); i++)
		ss_text_addf(&text,
			     " when contains(lower(replace(split_part(name, '(', 1), '_', '')), "
			     "'%s') then '%s'",
			     word, ss_collective_kind_name(kind));
	ss_text_addf(&text, " else '%s' end", ss_collective_kind_name(SS_COLLECTIVE_OTHER));
	return ss_text_failed(&text) ? ss_fail_memory(err, "the query")
				     : ss_sql_run(sql, text.data, err);
}

static enum ss_status write_table(struct adding *adding, struct ss_sql *sql,
				  const struct ss_stored_table *table, struct ss_error *err)
{
	SS_TEXT(query);

	ss_stored_table_query(table, &query);
	return ss_run_store_write(adding->store, sql, &query, table->name, adding->out->date,
				  adding->out->run_id, &adding->made, err);
}

static enum ss_status write_tables(struct adding *adding, struct ss_error *err)
{
	const struct ss_stored_run *run = adding->run;
	const struct ss_sql_options options = { .threads = run->threads,
						.memory_limit_bytes = run->memory_limit_bytes,
						.folder = adding->store->path,
						.is_stopped = run->is_stopped,
						.context = run->context };
	const struct ss_diagnose_options every_rank = { .rank = SS_EVERY_RANK };
	const struct ss_diagnosis *verdict;
	struct ss_sql *sql = NULL;
	enum ss_status status;

	/* its replays take most memory: they are over when DuckDB begins */
	SS_TRY(ss_session_verdict(adding->session, &every_rank, &verdict, err));
	status = ss_sql_open(adding->session, &options, &sql, err);
	if (status == SS_OK)
		status = make_collective_kinds(sql, err);
	if (status == SS_OK)
		status = make_this_run(adding, sql, err);
	for (size_t i = 0; status == SS_OK && i < ss_stored_table_count; i++)
		status = write_table(adding, sql, ss_stored_tables[i], err);
	if (status == SS_OK && run->job)
		status = write_table(adding, sql, &ss_stored_job_steps_of_run, err);
	ss_sql_close(sql);
	return status;
}

/* --- the manifest ------------------------------------------------------------------------- */

/* Names the files, unless another process has added the run in the meantime. */
static enum ss_status adding_name_files(struct adding *adding, struct ss_error *err)
{
	bool is_late = true;

	while (is_late) {
		SS_TRY(adding_find_run(adding, &adding->out->was_there, err));
		if (adding->out->was_there)
			return SS_OK;
		SS_TRY(ss_run_store_name_made(adding->store, &adding->made, &adding->manifest,
					      err));
		SS_TRY(ss_manifest_commit(adding->store, &adding->manifest, &is_late, err));
	}
	for (uint32_t i = 0; i < adding->made.count; i++)
		adding->out->bytes += adding->made.files[i].bytes;
	adding->made.count = 0;
	return SS_OK;
}

/* The day on which the run started, or today if no time is recorded. */
static void find_date(struct adding *adding)
{
	struct ss_identity identity;
	struct tm day = { 0 };
	time_t seconds;

	ss_identity_of_job(&adding->session->job, SS_EVERY_RANK, &identity);
	adding->has_clock = identity.has_clock;
	seconds = identity.has_clock ? (time_t)(identity.start_ns / 1000000000) : time(NULL);
	if (!gmtime_r(&seconds, &day) ||
	    strftime(adding->out->date, SS_DATE_BYTES, "%Y-%m-%d", &day) != SS_DATE_BYTES - 1)
		memcpy(adding->out->date, "1970-01-01", SS_DATE_BYTES);
}

/* Refuses a file that was truncated before its first event: it is a trace, but describes no run. */
static enum ss_status adding_check_events(const struct ss_session *session, struct ss_error *err)
{
	for (uint32_t i = 0; i < session->job.file_count; i++)
		if (hash_events(&session->job.files[i]))
			return SS_OK;
	return ss_fail(err, SS_ERR_FORMAT, "'%.200s' has no events",
		       session->job.files[0].subject.path);
}

enum ss_status ss_run_store_add(struct ss_run_store *store, struct ss_session *session,
				const struct ss_stored_run *run, struct ss_stored_added *out,
				struct ss_error *err)
{
	struct adding adding = { .store = store, .session = session, .run = run, .out = out };
	enum ss_status status;

	*out = (struct ss_stored_added){ 0 };
	SS_TRY(ss_session_has_trace(session, err));
	SS_TRY(adding_check_events(session, err));
	SS_TRY(ss_session_need(session, err));
	ss_run_id_of(session, out->run_id);
	find_date(&adding);
	status = adding_find_run(&adding, &out->was_there, err);
	if (status == SS_OK && !out->was_there)
		status = write_tables(&adding, err);
	if (status == SS_OK && !out->was_there)
		status = adding_name_files(&adding, err);
	ss_run_store_delete_made(store, &adding.made);
	ss_manifest_release(&adding.manifest);
	ss_text_release(&adding.asked);
	return status;
}
