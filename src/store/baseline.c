/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.c - reads earlier runs of a store as the baseline of a check.
 */
#include "store/store.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "store/folder.h"

struct baseline_reading {
	const struct ss_stored_baseline *wanted;
	struct ss_sql *sql;
	const struct ss_run_store *store;
	struct ss_manifest manifest;
	struct ss_check_run *runs;
	const char **ids; /* run ids, parallel to the list of runs */
	uint32_t count;
	struct ss_arena *arena;
};

/* --- queries ---------------------------------------------------------------------------- */

/* Some labels have their own columns: "job=pretrain". */
static void baseline_add_label(struct ss_text *query, const struct ss_stored_label *label)
{
	bool is_column = strcmp(label->key, "job") == 0 || strcmp(label->key, "commit") == 0;

	ss_text_add_string(query, " and ");
	if (is_column)
		ss_text_addf(query, "\"%s\" = '", label->key);
	else
		ss_text_add_string(query, "list_contains(map_extract(labels, '");
	if (!is_column) {
		ss_sql_add_quoted(query, label->key, '\'');
		ss_text_add_string(query, "'), '");
	}
	ss_sql_add_quoted(query, label->value, '\'');
	ss_text_add_string(query, is_column ? "'" : "')");
}

/* Creates a table with the newest runs that match. */
static enum ss_status baseline_choose_runs(struct baseline_reading *reading, struct ss_error *err)
{
	const struct ss_stored_baseline *wanted = reading->wanted;
	SS_TEXT(query);

	ss_text_add_string(&query, "create temp table chosen as select * from (select run_id, "
				   "any_value(ranks) as ranks, any_value(device) as device, "
				   "any_value(\"commit\") as \"commit\", "
				   "min(coalesce(started, added)) as moment, min(added) as "
				   "added from ");
	ss_manifest_add_files(reading->store, &reading->manifest, "runs", NULL, NULL, &query);
	ss_text_addf(&query, " where run_id <> '%s'", wanted->except ? wanted->except : "");
	if (wanted->has_moment)
		ss_text_addf(&query,
			     " and (started is null or started <= make_timestamp(%" PRId64 "))",
			     wanted->moment_ns / 1000);
	for (size_t i = 0; i < wanted->label_count; i++)
		baseline_add_label(&query, &wanted->labels[i]);
	ss_text_addf(&query, " group by run_id) order by moment desc, added desc, run_id limit %d",
		     SS_CHECK_RUNS_MAX);
	return ss_text_failed(&query) ? ss_fail_memory(err, "the query")
				      : ss_sql_run(reading->sql, query.data, err);
}

/* Calls `take` for each row of the query. */
static enum ss_status baseline_query(struct baseline_reading *reading, const char *query,
				     bool (*take)(struct baseline_reading *reading,
						  const struct ss_table *table, uint32_t row),
				     struct ss_error *err)
{
	struct ss_sql_answer answer;
	struct ss_sql_text text = { query, strlen(query) };
	enum ss_status status = ss_sql_begin(reading->sql, &text, &answer, err);

	if (status == SS_OK)
		status = ss_sql_fetch(&answer, 0, err);
	for (uint32_t i = 0; status == SS_OK && i < answer.table.row_count; i++)
		if (!take(reading, &answer.table, i))
			status = ss_fail_memory(err, "the baseline");
	ss_sql_end(&answer);
	return status;
}

/* The same for the rows of a table of the store that belong to the chosen runs. */
static enum ss_status ask_table(struct baseline_reading *reading, const char *columns,
				const char *table, const char *end,
				bool (*take)(struct baseline_reading *reading,
					     const struct ss_table *table, uint32_t row),
				struct ss_error *err)
{
	SS_TEXT(query);

	ss_text_addf(&query, "select %s from ", columns);
	ss_manifest_add_files(reading->store, &reading->manifest, table, NULL, NULL, &query);
	ss_text_addf(&query, " where run_id in (select run_id from chosen) %s", end);
	return ss_text_failed(&query) ? ss_fail_memory(err, "the query")
				      : baseline_query(reading, query.data, take, err);
}

/* --- rows ------------------------------------------------------------------------------- */

/* NULL if not recorded, or without memory. */
static const char *baseline_text_cell(struct baseline_reading *reading,
				      const struct ss_table *table, uint32_t row, uint32_t column)
{
	struct ss_cell cell = ss_table_cell(table, row, column);

	return cell.is_null ? NULL : ss_arena_copy(reading->arena, cell.value.text, cell.length);
}

/* The run of a row; rows come in any order. */
static struct ss_check_run *baseline_run_of_row(struct baseline_reading *reading,
						const struct ss_table *table, uint32_t row)
{
	struct ss_cell cell = ss_table_cell(table, row, 0);

	for (uint32_t i = 0; i < reading->count; i++)
		if (ss_cell_is_text(&cell, reading->ids[i]))
			return &reading->runs[i];
	return NULL;
}

static bool take_run(struct baseline_reading *reading, const struct ss_table *table, uint32_t row)
{
	struct ss_check_run *run = &reading->runs[reading->count];

	if (reading->count == SS_CHECK_RUNS_MAX)
		return true;
	*run = (struct ss_check_run){ .path = baseline_text_cell(reading, table, row, 0),
				      .ranks = (uint32_t)ss_table_int(table, row, 1),
				      .device = baseline_text_cell(reading, table, row, 2),
				      .commit = baseline_text_cell(reading, table, row, 3),
				      .on_device = !ss_table_is_null(table, row, 2),
				      .has_no_parts = true };
	reading->ids[reading->count++] = run->path;
	return run->path;
}

/* Grows a list by doubling; the arena keeps the old copy. */
static void *baseline_grow_list(struct ss_arena *arena, const void *items, uint32_t count,
				size_t item_bytes)
{
	char *room;

	if (count & (count - 1))
		return (void *)(uintptr_t)items;
	room = ss_arena_alloc(arena, count ? 2 * (size_t)count : 1, item_bytes);
	if (room && count)
		memcpy(room, items, count * item_bytes);
	return room;
}

static bool baseline_take_step(struct baseline_reading *reading, const struct ss_table *table,
			       uint32_t row)
{
	struct ss_check_run *run = baseline_run_of_row(reading, table, row);
	double *steps, value = (double)ss_table_int(table, row, 1);

	if (!run)
		return true;
	steps = baseline_grow_list(reading->arena, run->steps.steps, run->steps.count,
				   sizeof(*steps));
	if (!steps)
		return false;
	steps[run->steps.count++] = value;
	run->steps.steps = steps;
	run->step_ns += (value - run->step_ns) / run->steps.count;
	return true;
}

static bool take_item(struct baseline_reading *reading, struct ss_check_items *list,
		      const struct ss_table *table, uint32_t row)
{
	struct ss_check_item item = { .name = baseline_text_cell(reading, table, row, 1),
				      .ns = (double)ss_table_int(table, row, 2) };

	list->items = baseline_grow_list(reading->arena, list->items, list->count, sizeof(item));
	if (!list->items || !item.name)
		return false;
	list->items[list->count++] = item;
	return true;
}

static bool take_kernel(struct baseline_reading *reading, const struct ss_table *table,
			uint32_t row)
{
	struct ss_check_run *run = baseline_run_of_row(reading, table, row);

	return !run || ss_table_is_null(table, row, 1) ||
	       take_item(reading, &run->kernels, table, row);
}

static bool take_collective(struct baseline_reading *reading, const struct ss_table *table,
			    uint32_t row)
{
	struct ss_check_run *run = baseline_run_of_row(reading, table, row);

	return !run || ss_table_is_null(table, row, 1) ||
	       take_item(reading, &run->collectives, table, row);
}

static bool take_finding(struct baseline_reading *reading, const struct ss_table *table,
			 uint32_t row)
{
	struct ss_check_run *run = baseline_run_of_row(reading, table, row);
	const char *name = baseline_text_cell(reading, table, row, 1);
	struct ss_check_finding finding = { .rule = name ? ss_rule_find(name) : NULL,
					    .title = baseline_text_cell(reading, table, row, 2),
					    .cost_ns = (double)ss_table_int(table, row, 3) };

	/* a rule of another version */
	if (!run || !finding.rule)
		return true;
	run->findings = baseline_grow_list(reading->arena, run->findings, run->finding_count,
					   sizeof(finding));
	if (!run->findings)
		return false;
	run->findings[run->finding_count++] = finding;
	return true;
}

static enum ss_status baseline_read_tables(struct baseline_reading *reading, struct ss_error *err)
{
	SS_TRY(baseline_choose_runs(reading, err));
	SS_TRY(baseline_query(
		reading,
		"select run_id, cast(ranks as bigint), device, \"commit\" from chosen order by "
		"moment, added, run_id",
		take_run, err));
	SS_TRY(ask_table(reading, "run_id, cast(avg(step_ns) as bigint) as step_ns", "rank_steps",
			 "group by run_id, step order by run_id, step", baseline_take_step, err));
	SS_TRY(ask_table(reading, "run_id, name, cast(total_ns as bigint) as total_ns", "kernels",
			 "", take_kernel, err));
	SS_TRY(ask_table(reading, "run_id, kind, cast(sum(exposed_ns) as bigint) as exposed_ns",
			 "collectives", "group by run_id, kind", take_collective, err));
	return ask_table(reading,
			 "run_id, rule, title, cast(coalesce(lost_ns, 0) as bigint) as lost_ns",
			 "findings", "order by position", take_finding, err);
}

enum ss_status ss_run_store_baseline(struct ss_run_store *store,
				     const struct ss_stored_baseline *wanted,
				     struct ss_check_run *runs, uint32_t *count,
				     struct ss_arena *arena, struct ss_error *err)
{
	struct baseline_reading reading = {
		.wanted = wanted, .store = store, .runs = runs, .arena = arena
	};
	enum ss_status status;
	bool has_runs = false;

	*count = 0;
	if (!SS_ALLOC(arena, reading.ids, SS_CHECK_RUNS_MAX))
		return ss_fail_memory(err, "the baseline");
	status = ss_manifest_read(store, &reading.manifest, err);
	for (uint32_t i = 0; i < reading.manifest.count; i++)
		has_runs |= ss_manifest_counts(&reading.manifest.files[i], "runs", NULL);
	if (status == SS_OK && has_runs) {
		status = ss_run_store_query_open(store, NULL, &reading.sql, err);
		if (status == SS_OK)
			status = baseline_read_tables(&reading, err);
		ss_sql_close(reading.sql);
	}
	ss_manifest_release(&reading.manifest);
	*count = reading.count;
	return status;
}
