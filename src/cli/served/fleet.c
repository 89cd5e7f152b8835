/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.c - route: a question about all runs of the store (store/fleet.h), and where the step of a
 * job changed for good.
 */
#include "cli/served/fleet.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/check/checking.h"
#include "api/renderers.h"
#include "base/text.h"
#include "store/fleet.h"

/* Changes that are worth a mark; 'stepscope check' judges by the same. */
#define CHANGE_SHARE 0.03

/* Columns of the query "series". */
enum { SERIES_JOB, SERIES_RUN, SERIES_STARTED, SERIES_STEP };

static bool fleet_is_stopped(void *context)
{
	const struct fleet *fleet = context;

	return fleet->is_over();
}

static void fleet_add_number(struct ss_text *out, const char *name, double value)
{
	ss_text_addf(out, ",\"%s\":%.0f", name, value);
}

/* The change points of one job, whose rows are `from` to before `to`. */
static bool fleet_add_change_points(const struct ss_table *table, uint32_t from, uint32_t to,
				    struct ss_text *out, const char **comma)
{
	struct ss_change_points found;
	struct ss_memory memory;
	struct ss_arena arena;
	double *values;
	bool is_fine;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	values = SS_ARENA_NEW(&arena, double, to - from);
	for (uint32_t i = from; values && i < to; i++)
		values[i - from] = (double)ss_table_int(table, i, SERIES_STEP);
	is_fine = values && ss_change_points_find(&found, values, to - from, CHANGE_SHARE, &arena);
	for (uint32_t i = 0; is_fine && i < found.count; i++) {
		const struct ss_change_point *point = &found.items[i];

		ss_text_addf(out, "%s{\"row\":%" PRIu32, *comma, from + point->at);
		fleet_add_number(out, "before_ns", point->before);
		fleet_add_number(out, "after_ns", point->after);
		ss_text_add_string(out, "}");
		*comma = ",";
	}
	ss_arena_release(&arena);
	return is_fine;
}

static enum ss_status add_all_changes(const struct ss_table *table, struct ss_text *out,
				      struct ss_error *err)
{
	const char *comma = "";
	uint32_t from = 0;

	ss_text_add_string(out, ",\"changes\":[");
	for (uint32_t row = 1; row <= table->row_count; row++) {
		if (row < table->row_count && ss_table_same(table, SERIES_JOB, from, row))
			continue;
		if (!fleet_add_change_points(table, from, row, out, &comma))
			return ss_fail_memory(err, "the change points");
		from = row;
	}
	ss_text_add_string(out, "]");
	return SS_OK;
}

static enum ss_status fleet_answer_query(struct fleet *fleet, const struct ss_fleet_query *query,
					 const char *label, struct ss_text *out,
					 struct ss_error *err)
{
	const struct ss_render_options options = { 0 };
	struct ss_sql_answer answer;
	enum ss_status status;

	if (fleet->problem.code != SS_OK)
		return ss_fail(err, fleet->problem.code, "%s", fleet->problem.text);
	if (!fleet->sql)
		SS_TRY(ss_fleet_open(&fleet->store, &fleet->limits, &fleet->sql, err));
	status = ss_fleet_ask(&fleet->store, fleet->sql, query, label, NULL, &answer, err);
	if (status == SS_OK)
		status = ss_sql_fetch(&answer, 0, err);
	if (status == SS_OK) {
		ss_text_add_string(out, ",\"table\":");
		ss_renderer_find("json")->view(&answer.table, &options, out);
		if (strcmp(query->name, "series") == 0)
			status = add_all_changes(&answer.table, out, err);
	}
	ss_sql_end(&answer);
	return status;
}

/* What is wrong is an answer: a store may be empty, or DuckDB missing. */
static enum ss_status fleet_route_run(const struct ss_viewer_request *asked, struct ss_answer *out,
				      struct ss_error *err)
{
	struct fleet *fleet = asked->runs->own->context;
	const struct ss_fleet_query *query = ss_fleet_query_find(asked->rest);
	struct ss_error problem = { 0 };
	struct ss_text body = { 0 };
	enum ss_status status;

	if (!query || strstr(query->text, "{run}"))
		return ss_fail(err, SS_ERR_MISSING, "no question called '%.40s' about the fleet",
			       asked->rest);
	status = fleet_answer_query(fleet, query, ss_viewer_text(asked, "label"), &body, &problem);
	ss_text_add_string(&out->body, "{\"schema\":\"stepscope.fleet/1\",\"store\":");
	ss_render_quoted(&out->body, fleet->store.path);
	ss_text_add_string(&out->body, ",\"error\":");
	if (status == SS_OK && body.data) {
		ss_text_add_string(&out->body, "null");
		ss_text_add(&out->body, body.data, body.length);
	} else {
		ss_render_quoted(&out->body, problem.text);
	}
	ss_text_add_string(&out->body, "}\n");
	ss_text_release(&body);
	return SS_OK;
}

static const struct ss_route route_fleet = {
	.name = "fleet",
	.summary = "A question about all runs of the store: total, losses, days, runs, ...",
	.parameters = "label",
	.takes_rest = true,
	.apart = true,
	.runless = true,
	.run = fleet_route_run,
};

enum ss_status cli_fleet_begin(struct fleet *fleet, const char *store, const struct served *served,
			       const struct ss_open_options *open, bool (*is_over)(void),
			       struct ss_error *err)
{
	static const struct ss_route *const routes[] = { &route_fleet, &route_open, &route_in,
							 &route_in_apart };

	*fleet = (struct fleet){ .own = { routes, SS_COUNT(routes), fleet },
				 .store.fd = -1,
				 .limits = { .threads = open->threads,
					     .memory_limit_bytes = open->memory_limit_bytes,
					     .is_stopped = fleet_is_stopped,
					     .context = fleet },
				 .open = *open,
				 .problem = served->sql.problem,
				 .is_over = is_over,
				 .gate = ss_gate_open() };
	if (!fleet->gate)
		return ss_fail_memory(err, "the store");
	return ss_run_store_open(store, false, &fleet->store, err);
}

void cli_fleet_end(struct fleet *fleet)
{
	for (uint32_t i = 0; i < FLEET_RUNS_MAX; i++)
		cli_fleet_run_close(&fleet->runs[i]);
	ss_sql_close(fleet->sql);
	if (fleet->store.fd >= 0)
		ss_run_store_close(&fleet->store);
	if (fleet->gate)
		ss_gate_close(fleet->gate);
}
