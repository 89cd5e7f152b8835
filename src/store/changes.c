/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - where the level of the steps of a job changed over weeks, and which rank's part did.
 *
 * The series of a job are medians of ten minutes: checkpoints and other steps that come at times do
 * not move them, and a month has 4,320. Changes are found as in live numbers and in checks
 * (base/change_points.h). Rank-minutes on both sides of a change say whose waiting grew with it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/change_points.h"
#include "base/system/clock.h"
#include "base/text.h"
#include "store/folder.h"
#include "store/tables.h"

#define BLOCK_S 600

/* Smaller changes are not told: the rule straggler begins to warn at the same share of a step. */
#define LEAST_SHARE 0.03

/* Minutes of ranks that are compared on either side of the ten minutes of the change. */
#define COMPARED_S 3600

/* A rank is named if its part explains this share of the change, as for live numbers. */
#define PART_SHARE "0.5"

static const struct ss_column columns[] = {
	{ "job", SS_COLUMN_TEXT, "job", 0 },
	{ "time", SS_COLUMN_TEXT, "when the new level began, to ten minutes (UTC)", 0 },
	{ "step", SS_COLUMN_ID, "number of its first step", 0 },
	{ "before_ns", SS_COLUMN_NS, "median step before, since the last change", 0 },
	{ "after_ns", SS_COLUMN_NS, "median step after, up to the next change", 0 },
	{ "change_percent", SS_COLUMN_PERCENT, "difference, in percent of before", 0 },
	{ "part", SS_COLUMN_TEXT,
	  "data or gc: the part of a rank that explains half of it; empty: none does", 0 },
	{ "rank", SS_COLUMN_ID, "rank whose part changed most; empty: most ranks alike, or none",
	  0 },
	{ "host", SS_COLUMN_TEXT, "its host", 0 },
	{ "part_before_ns", SS_COLUMN_NS, "the part in the hour before", SS_COLUMN_DETAIL },
	{ "part_after_ns", SS_COLUMN_NS, "the part in the hour after", SS_COLUMN_DETAIL },
};

const struct ss_view ss_store_changes_view = {
	.name = "store-changes",
	.summary = "Where steps of a job began to take longer, or less, for good",
	.empty = "No change: the store has no live numbers, or the steps kept their level.",
	SS_TABLE_COLUMNS(columns),
	.rankless = true,
};

struct changes_asking {
	struct ss_sql *sql;
	struct ss_table *out;
	const struct ss_run_store *store;
	struct ss_manifest manifest;
};

/* The columns of the blocks of a job, by time. */
enum { BLOCK_SECONDS, BLOCK_STEP, BLOCK_US };

static enum ss_status changes_fetch(struct ss_sql *sql, const struct ss_text *query,
				    struct ss_sql_answer *out, struct ss_error *err)
{
	const struct ss_sql_text text = { query->data, query->length };

	if (ss_text_failed(query))
		return ss_fail_memory(err, "the query");
	SS_TRY(ss_sql_begin(sql, &text, out, err));
	return ss_sql_fetch(out, 0, err);
}

/* "job = 'x'", also where it has no name; DuckDB compares faster where it has one. */
static void changes_add_job_is(const struct ss_cell *job, struct ss_text *out)
{
	SS_TEXT(name);

	ss_text_add(&name, job->is_null ? "" : job->value.text, job->is_null ? 0 : job->length);
	ss_text_add_string(out, job->is_null ? "job is not distinct from " : "job = ");
	ss_run_store_add_literal(out, job->is_null ? NULL : name.data ? name.data : "");
}

/* --- whose part changed ---------------------------------------------------------------------- */

static void changes_add_window(int64_t from_s, int64_t to_s, struct ss_text *out)
{
	ss_text_addf(out,
		     "minute >= make_timestamp(%" PRId64 ") and minute < make_timestamp(%" PRId64
		     ")",
		     from_s * 1000000, to_s * 1000000);
}

static void culprit_add_medians(const char *part, int64_t at_s, struct ss_text *out)
{
	ss_text_addf(out, ", median(%s_us) filter (", part);
	changes_add_window(at_s - COMPARED_S, at_s, out);
	ss_text_addf(out, ") as %s_before, median(%s_us) filter (", part, part);
	changes_add_window(at_s + BLOCK_S, at_s + BLOCK_S + COMPARED_S, out);
	ss_text_addf(out, ") as %s_after", part);
}

/* The rank and part that changed most, if that is half of the change of `us`; false: no minutes. */
static bool culprit_write_query(const struct changes_asking *asking, const struct ss_cell *job,
				int64_t at_s, double us, struct ss_text *out)
{
	char first[SS_DATE_BYTES], last[SS_DATE_BYTES];

	ss_clock_utc((at_s - COMPARED_S) * 1000000000, "%Y-%m-%d", first, sizeof(first));
	ss_clock_utc((at_s + BLOCK_S + COMPARED_S) * 1000000000, "%Y-%m-%d", last, sizeof(last));
	ss_text_add_string(out, "with sides as (select rank, any_value(host) as host");
	culprit_add_medians("data", at_s, out);
	culprit_add_medians("gc", at_s, out);
	ss_text_add_string(out, " from ");
	if (!ss_manifest_add_files(asking->store, &asking->manifest, ss_stored_live_tables[1]->name,
				   first, last, out))
		return false;
	ss_text_add_string(out, " where ");
	changes_add_window(at_s - COMPARED_S, at_s + BLOCK_S + COMPARED_S, out);
	ss_text_add_string(out, " and ");
	changes_add_job_is(job, out);
	ss_text_addf(out,
		     " group by rank), parts as (select rank, host, 'data' as part, data_before as "
		     "part_before, data_after as part_after from sides union all select rank, "
		     "host, 'gc', gc_before, gc_after from sides), grown as (select *, "
		     "(part_after - part_before) * %d as growth from parts where part_before is "
		     "not null and part_after is not null), usual as (select part, median(growth) "
		     "as usual, count(*) as ranks from grown group by part) select part, if(ranks "
		     "> 1 and 2 * usual >= growth, null, rank)::bigint as rank, if(ranks > 1 and "
		     "2 * usual >= growth, null, host) as host, part_before, part_after from "
		     "grown join usual using (part) where growth >= " PART_SHARE
		     " * %.17g order by growth desc, part desc limit 1",
		     us < 0 ? -1 : 1, us < 0 ? -us : us);
	return true;
}

static void changes_add_culprit(struct ss_table *out, const struct ss_sql_answer *answer)
{
	struct ss_cell cell;

	if (!answer || !answer->table.row_count) {
		for (uint32_t i = 6; i < SS_COUNT(columns); i++)
			ss_row_null(out);
		return;
	}
	for (uint32_t i = 0; i < 3; i++) {
		cell = ss_table_cell(&answer->table, 0, i);
		if (!cell.is_null && i != 1)
			cell.value.text = ss_arena_copy(out->arena, cell.value.text, cell.length);
		ss_row_cell(out, &cell);
	}
	for (uint32_t i = 3; i < 5; i++)
		ss_row_int(out, (int64_t)(ss_table_number(&answer->table, 0, i) * 1000));
}

/* --- changes --------------------------------------------------------------------------------- */

static enum ss_status changes_add_row(struct changes_asking *asking, const struct ss_cell *job,
				      const struct ss_table *blocks,
				      const struct ss_change_point *point, struct ss_error *err)
{
	int64_t at_s = ss_table_int(blocks, point->at, BLOCK_SECONDS);
	double us = point->after - point->before;
	struct ss_table *out = asking->out;
	struct ss_sql_answer answer = { 0 };
	char time[SS_CLOCK_SHOWN_BYTES];
	struct ss_cell name = *job;
	SS_TEXT(query);
	enum ss_status status = SS_OK;
	bool has_minutes;

	has_minutes = culprit_write_query(asking, job, at_s, us, &query);
	if (has_minutes)
		status = changes_fetch(asking->sql, &query, &answer, err);
	if (!name.is_null)
		name.value.text = ss_arena_copy(out->arena, job->value.text, job->length);
	ss_clock_utc(at_s * 1000000000, SS_CLOCK_SHOWN, time, sizeof(time));
	if (status == SS_OK) {
		ss_row_begin(out);
		ss_row_cell(out, &name);
		ss_row_text(out, time);
		ss_row_int(out, ss_table_int(blocks, point->at, BLOCK_STEP));
		ss_row_int(out, (int64_t)(point->before * 1000));
		ss_row_int(out, (int64_t)(point->after * 1000));
		ss_row_share(out, us, point->before);
		changes_add_culprit(out, has_minutes ? &answer : NULL);
		ss_row_end(out);
	}
	if (has_minutes)
		ss_sql_end(&answer);
	return status;
}

static enum ss_status changes_of_blocks(struct changes_asking *asking, const struct ss_cell *job,
					const struct ss_table *blocks, struct ss_error *err)
{
	SS_SCRATCH(scratch, asking->out->arena->memory);
	struct ss_change_points points;
	double *values;

	if (!SS_ALLOC(&scratch, values, (size_t)blocks->row_count + 1))
		return ss_fail_memory(err, "the changes");
	for (uint32_t i = 0; i < blocks->row_count; i++)
		values[i] = ss_table_number(blocks, i, BLOCK_US);
	if (!ss_change_points_find(&points, values, blocks->row_count, LEAST_SHARE, &scratch))
		return ss_fail_memory(err, "the changes");
	for (uint32_t i = 0; i < points.count; i++)
		SS_TRY(changes_add_row(asking, job, blocks, &points.items[i], err));
	return SS_OK;
}

/* One job at a time: medians need all of its steps in memory. */
static enum ss_status changes_of_job(struct changes_asking *asking, const struct ss_cell *job,
				     bool is_recorded, struct ss_error *err)
{
	struct ss_sql_answer blocks = { 0 };
	SS_TEXT(query);
	enum ss_status status;

	ss_text_addf(&query,
		     "select (epoch(time)::bigint // %d) * %d as seconds, min(step)::bigint as "
		     "step, median(step_us)::double as us from ",
		     BLOCK_S, BLOCK_S);
	ss_manifest_add_files(asking->store, &asking->manifest, ss_stored_live_tables[0]->name,
			      NULL, NULL, &query);
	/* steps that the profiler made longer count only if the job has no others */
	ss_text_addf(&query, " where %srecorded and step_us is not null and ",
		     is_recorded ? "" : "not ");
	changes_add_job_is(job, &query);
	ss_text_add_string(&query, " group by all order by seconds");
	status = changes_fetch(asking->sql, &query, &blocks, err);
	if (status == SS_OK)
		status = changes_of_blocks(asking, job, &blocks.table, err);
	ss_sql_end(&blocks);
	return status;
}

static enum ss_status changes_of_jobs(struct changes_asking *asking, const char *only,
				      struct ss_error *err)
{
	struct ss_sql_answer jobs = { 0 };
	SS_TEXT(query);
	enum ss_status status;

	ss_text_add_string(&query, "select job, bool_and(recorded)::bigint as recorded from ");
	ss_manifest_add_files(asking->store, &asking->manifest, ss_stored_live_tables[0]->name,
			      NULL, NULL, &query);
	if (only) {
		ss_text_add_string(&query, " where job = ");
		ss_run_store_add_literal(&query, only);
	}
	ss_text_add_string(&query, " group by job order by job");
	status = changes_fetch(asking->sql, &query, &jobs, err);
	for (uint32_t i = 0; status == SS_OK && i < jobs.table.row_count; i++) {
		struct ss_cell job = ss_table_cell(&jobs.table, i, 0);

		status = changes_of_job(asking, &job, ss_table_int(&jobs.table, i, 1), err);
	}
	ss_sql_end(&jobs);
	return status;
}

enum ss_status ss_run_store_changes(struct ss_run_store *store, const struct ss_stored_run *run,
				    struct ss_table *out, struct ss_error *err)
{
	struct changes_asking asking = { .store = store, .out = out };
	enum ss_status status = ss_manifest_read(store, &asking.manifest, err);
	bool has_steps = false;

	for (uint32_t i = 0; i < asking.manifest.count; i++)
		has_steps |= ss_manifest_counts(&asking.manifest.files[i],
						ss_stored_live_tables[0]->name, NULL);
	if (status == SS_OK && has_steps) {
		status = ss_run_store_query_open(store, run, &asking.sql, err);
		if (status == SS_OK)
			status = changes_of_jobs(&asking, run->job, err);
		ss_sql_close(asking.sql);
	}
	ss_manifest_release(&asking.manifest);
	return status == SS_OK && out->failed ? ss_fail_memory(err, "the changes") : status;
}
