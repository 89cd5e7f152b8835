/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.c - queries on all runs of a store.
 */
#include "store/store.h"

#include <string.h>

#include "base/text.h"
#include "store/folder.h"

/* Start of a run, to the second; UTC. */
#define STARTED "strftime(coalesce(started, added), '%Y-%m-%d %H:%M:%S') as started"

/* GPU seconds of a run's recorded steps. */
#define SECONDS "(ranks::double * steps * step_mean_ns / 1e9)"

/* GPU seconds that a finding costs in those steps. */
#define LOST "(ranks::double * steps * f.found_ns / 1e9)"

/* Findings that cost time; each assumes that those above it are fixed, so they add up. */
#define FOUND "(select run_id, rule, title, lost_ns as found_ns from findings where lost_ns > 0) f"

/* The value of the label, or a placeholder for runs without it. */
#define VALUE "if({label} = '', 'all runs', coalesce(map_extract(labels, {label})[1], '(none)'))"

/*
 * A rank is late in a run if it is late by 3 % of the mean step, where the rule straggler begins to
 * warn, and by 4 times the median rank's lateness: in a healthy job the ranks are late by turns,
 * and none stands out.
 */
#define LATE "late_ns >= 0.03 * step_ns and late_ns >= 4 * usual_ns"

static const struct ss_fleet_query queries[] = {
	{ "total", "What the fleet loses in the recorded steps",
	  "select count(*) as runs, count(distinct job) as jobs, "
	  "sum(" SECONDS ") as recorded_s, any_value(l.lost_s) as lost_s, "
	  "100 * any_value(l.lost_s) / nullif(sum(" SECONDS "), 0) as lost_percent, "
	  "min(date)::varchar as first_day, max(date)::varchar as last_day, "
	  "count(distinct date) as days from runs, (select coalesce(sum(" LOST
	  "), 0) as lost_s from " FOUND " join runs using (run_id)) l" },
	{ "labels", "Keys of labels",
	  "select key, count(*) as runs, count(distinct value) as \"values\" from (select "
	  "unnest(map_keys(labels)) as key, unnest(map_values(labels)) as value from runs) "
	  "group by key order by runs desc, key" },
	{ "losses", "GPU seconds lost by cause, and by the values of a label",
	  "with whole as (select " VALUE " as value, sum(" SECONDS
	  ") as recorded, count(*) as all_runs from runs group by 1) "
	  "select value, rule as cause, coalesce(map_extract(map {titles}, rule)[1], "
	  "mode(f.title)) as title, count(distinct run_id) as runs, "
	  "any_value(all_runs) as of_runs, sum(" LOST ") as lost_s, 100 * sum(" LOST
	  ") / nullif(any_value(recorded), 0) as share_percent from (select *, " VALUE
	  " as value from runs) join " FOUND " using (run_id) join whole using (value) "
	  "group by value, rule order by lost_s desc, value, cause" },
	{ "days", "GPU seconds recorded and lost per day",
	  "select date::varchar as day, count(*) as runs, sum(" SECONDS
	  ") as recorded_s, coalesce(sum(lost), 0) as lost_s, 100 * coalesce(sum(lost), 0) "
	  "/ nullif(sum(" SECONDS
	  "), 0) as lost_percent from runs left join (select run_id, sum(" LOST
	  ") as lost from " FOUND " join runs using (run_id) group by run_id) "
	  "using (run_id) group by date order by date desc" },
	{ "series", "The median step of each run, by job and time",
	  "select coalesce(job, '(no job)') as job, run_id, " STARTED
	  ", step_median_ns, \"commit\" from (from runs where step_median_ns is not null "
	  "order by coalesce(started, added) desc limit " SS_FLEET_NEWEST
	  ") order by count(*) over (partition by job) desc, job, coalesce(started, added), "
	  "run_id" },
	{ "late", "Hosts and GPUs that are late in several runs",
	  "with per_rank as (select run_id, rank, any_value(host) as host, "
	  "any_value(device_index) as gpu, avg(late_ns) as late_ns, avg(step_ns) as step_ns "
	  "from rank_steps where host is not null group by run_id, rank), "
	  "usual as (select run_id, median(late_ns) as usual_ns from per_rank group by run_id), "
	  "late as (select * from per_rank join usual using (run_id) where " LATE "), "
	  "found as (select host, gpu, count(distinct run_id) as late_runs, "
	  "median(late_ns)::bigint as late_ns, 100 * median(late_ns / step_ns) as late_percent, "
	  "string_agg(distinct job, ', ' order by job) as jobs from late "
	  "join (select run_id, job from runs) using (run_id) "
	  "group by host, gpu having late_runs >= 2) "
	  "select f.host, f.gpu, late_runs, n.runs, late_ns, late_percent, jobs from found f "
	  "join (select host, gpu, count(distinct run_id) as runs from per_rank "
	  "group by host, gpu) n on n.host = f.host and n.gpu is not distinct from f.gpu "
	  "order by late_runs desc, late_ns desc, f.host, f.gpu" },
	{ "runs", "The runs, the newest first",
	  "select run_id, " STARTED ", job, \"commit\", ranks, "
	  "device, steps, step_median_ns, step_p95_ns, cause, lost_ns, gain_percent, "
	  "array_to_string(list_transform(map_entries(labels), x -> x.key || '=' || x.value), ', "
	  "') as labels, source from runs order by coalesce(started, added) desc, run_id "
	  "limit " SS_FLEET_NEWEST },
	{ "source", "Where the traces of a run are",
	  "select source from runs where run_id = {run}" },
};

const struct ss_fleet_query *ss_fleet_query_find(const char *name)
{
	for (size_t i = 0; i < SS_COUNT(queries); i++)
		if (strcmp(queries[i].name, name) == 0)
			return &queries[i];
	return NULL;
}

static void fleet_add_literal(struct ss_text *out, const char *text)
{
	ss_text_add_string(out, "'");
	ss_sql_add_quoted(out, text ? text : "", '\'');
	ss_text_add_string(out, "'");
}

/* The titles of the rules, because the title of a finding names its rank. */
static void fleet_add_rule_titles(struct ss_text *out)
{
	for (size_t i = 0; i < ss_rule_count; i++) {
		ss_text_add_string(out, i ? ", " : "{");
		fleet_add_literal(out, ss_rules[i]->name);
		ss_text_add_string(out, ": ");
		fleet_add_literal(out, ss_rules[i]->title);
	}
	ss_text_add_string(out, "}");
}

/*
 * Writes the query after definitions of the tables that it reads; merges its own "with" into them.
 */
static void write_query(const struct ss_run_store *store, const struct ss_manifest *manifest,
			const struct ss_fleet_query *query, const char *label, const char *run,
			struct ss_text *out)
{
	static const char *const tables[] = { "findings", "rank_steps", "runs" };
	const char *text = query->text, *between = "with ";

	for (size_t i = 0; i < SS_COUNT(tables); i++)
		if (strstr(text, tables[i])) {
			ss_text_addf(out, "%s%s as (from ", between, tables[i]);
			ss_manifest_add_files(store, manifest, tables[i], NULL, NULL, out);
			ss_text_add_string(out, ")");
			between = ", ";
		}
	if (strncmp(text, "with ", 5) == 0) {
		ss_text_add_string(out, ",");
		text += 4;
	}
	ss_text_add_string(out, " ");
	while (*text) {
		if (strncmp(text, "{label}", 7) == 0) {
			fleet_add_literal(out, label);
			text += 7;
		} else if (strncmp(text, "{titles}", 8) == 0) {
			fleet_add_rule_titles(out);
			text += 8;
		} else if (strncmp(text, "{run}", 5) == 0) {
			fleet_add_literal(out, run);
			text += 5;
		} else {
			ss_text_add(out, text++, 1);
		}
	}
}

enum ss_status ss_fleet_ask(const struct ss_run_store *store, struct ss_sql *sql,
			    const struct ss_fleet_query *query, const char *label, const char *run,
			    struct ss_sql_answer *out, struct ss_error *err)
{
	SS_MANIFEST(manifest);
	SS_TEXT(text);
	bool has_runs = false;

	*out = (struct ss_sql_answer){ .sql = sql };
	SS_TRY(ss_manifest_read(store, &manifest, err));
	for (uint32_t i = 0; i < manifest.count; i++)
		has_runs |= ss_manifest_counts(&manifest.files[i], "runs", NULL);
	if (!has_runs)
		return ss_fail(err, SS_ERR_MISSING,
			       "the store has no runs yet; add one with 'stepscope store add %s "
			       "PATH'",
			       store->path);
	write_query(store, &manifest, query, label, run, &text);
	return ss_text_failed(&text)
		       ? ss_fail_memory(err, "the query")
		       : ss_sql_begin(sql, &(struct ss_sql_text){ text.data, text.length }, out,
				      err);
}

enum ss_status ss_fleet_open(const struct ss_run_store *store, const struct ss_stored_run *run,
			     struct ss_sql **out, struct ss_error *err)
{
	return ss_run_store_query_open(store, run, out, err);
}
