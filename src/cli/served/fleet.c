/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.c - route: a query on all runs of the store (store/store.h), and the change points of a
 * job's step time.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/served/served.h"
#include "base/text.h"
#include "store/store.h"

/*
 * Routes: opens a run of the store, and answers requests about open runs.
 *
 * The store knows where the traces of a run are; a request names only the run, never a file.
 */

static struct fleet *fleet_of(const struct ss_viewer_request *asked)
{
	const struct served_context *context = asked->runs->own->context;

	return context->fleet;
}

static void fleet_run_close(struct fleet_run *run)
{
	served_end(&run->served);
	ss_runs_free(run->runs);
	ss_session_close(run->session);
	*run = (struct fleet_run){ 0 };
}

/* The open run with that id, which stays open until it is released; NULL: not open. */
static struct fleet_run *fleet_run_take(struct fleet *fleet, const char *id)
{
	struct fleet_run *found = NULL;

	ss_gate_lock(fleet->gate);
	for (uint32_t i = 0; id && *id && i < FLEET_RUNS_MAX; i++)
		if (strcmp(fleet->runs[i].id, id) == 0)
			found = &fleet->runs[i];
	if (found) {
		found->users++;
		found->used = ++fleet->clock;
	}
	ss_gate_unlock(fleet->gate);
	return found;
}

static void fleet_run_give_back(struct fleet *fleet, struct fleet_run *run)
{
	ss_gate_lock(fleet->gate);
	run->users--;
	ss_gate_unlock(fleet->gate);
}

/*
 * A free slot for a run, made by closing the least recently used one if needed. Only the worker
 * that calls this opens runs, and the other worker uses at most one, so there always is a slot.
 */
static struct fleet_run *fleet_free_slot(struct fleet *fleet)
{
	struct fleet_run *oldest = NULL, closing = { 0 };

	ss_gate_lock(fleet->gate);
	for (uint32_t i = 0; i < FLEET_RUNS_MAX; i++) {
		struct fleet_run *run = &fleet->runs[i];

		if (!run->users && (!oldest || run->used < oldest->used))
			oldest = run;
	}
	closing = *oldest;
	*oldest = (struct fleet_run){ 0 };
	ss_gate_unlock(fleet->gate);
	/* routes keep pointers to the slot, not to this copy; nobody calls them any more */
	fleet_run_close(&closing);
	return oldest;
}

/* The trace of a digest, where it was when the digest was made. */
static enum ss_status find_trace(const struct fleet *fleet, const char *id, struct ss_text *out,
				 struct ss_error *err)
{
	const struct ss_job *job = &fleet->digests->sessions[0]->job;
	unsigned long long number = strtoull(id, NULL, 16);
	const struct ss_job_file *file = number < job->file_count ? &job->files[number] : NULL;
	struct stat info;

	if (!file || !file->is_digest)
		return ss_fail(err, SS_ERR_MISSING, "file '%.40s' is no digest", id);
	if (access(file->source, R_OK) != 0 || stat(file->source, &info) != 0)
		return ss_fail(err, SS_ERR_IO,
			       "the trace of this digest is not where it was: cannot open "
			       "'%.200s': %s",
			       file->source, strerror(errno));
	/* its device and inode are others on another machine */
	if ((uint64_t)info.st_size != file->disk_bytes)
		return ss_fail(err, SS_ERR_IO,
			       "the trace of this digest was changed since: make the digest of "
			       "'%.200s' again",
			       file->source);
	ss_text_add_string(out, file->source);
	return ss_text_failed(out) ? ss_fail_memory(err, "the path") : SS_OK;
}

/* Asks the store where the traces of the run are. */
static enum ss_status find_source(struct fleet *fleet, const char *id, struct ss_text *out,
				  struct ss_error *err)
{
	struct ss_sql_answer answer = { 0 };
	struct ss_sql *sql = NULL;
	enum ss_status status;

	if (fleet->digests)
		return find_trace(fleet, id, out, err);
	SS_TRY(ss_fleet_open(&fleet->store, &fleet->limits, &sql, err));
	status = ss_fleet_ask(&fleet->store, sql, ss_fleet_query_find("source"), NULL, id, &answer,
			      err);
	if (status == SS_OK)
		status = ss_sql_fetch(&answer, 0, err);
	if (status == SS_OK && !answer.table.row_count)
		status = ss_fail(err, SS_ERR_MISSING, "the store has no run '%.40s'", id);
	if (status == SS_OK && !ss_table_is_null(&answer.table, 0, 0)) {
		struct ss_cell cell = ss_table_cell(&answer.table, 0, 0);

		ss_text_add(out, cell.value.text, cell.length);
	}
	ss_sql_end(&answer);
	ss_sql_close(sql);
	if (status == SS_OK && ss_text_failed(out))
		status = ss_fail_memory(err, "the path");
	return status;
}

static bool fleet_run_on_progress(void *context, const struct ss_progress *progress)
{
	struct fleet *fleet = context;

	/* loading the file counts as work on the answer */
	return ss_server_work(fleet->server, progress) && !fleet->is_over();
}

static enum ss_status fleet_run_load(struct fleet *fleet, const char *path, struct fleet_run *out,
				     struct ss_error *err)
{
	struct ss_open_options open = fleet->open;
	struct ss_answer unused = { .size = sizeof(unused) };
	enum ss_status status;

	open.paths = &path;
	open.path_count = 1;
	open.snapshots = true;
	open.progress = fleet_run_on_progress;
	open.progress_context = fleet;
	SS_TRY(ss_session_open(&open, &out->session, err));
	ss_session_watch(out->session, ss_server_work, fleet->server);
	SS_TRY(ss_runs_new(&out->runs, err));
	SS_TRY(ss_runs_add(out->runs, out->session, err));
	out->served.sql.problem = fleet->problem;
	if (!served_begin(&out->served, open.threads, open.memory_limit_bytes, fleet->is_over))
		return ss_fail_memory(err, "the run");
	out->runs->own = &out->served.own;
	/* compute here what several routes share, so that no two workers do it at once */
	status = ss_ask(out->runs, "job", &unused, err);
	ss_text_release(&unused.body);
	return status;
}

/* Opens the run unless it is open; fails if its traces are not on this machine. */
static enum ss_status fleet_run_open(struct fleet *fleet, const char *id, struct ss_error *err)
{
	struct fleet_run *place = fleet_run_take(fleet, id);
	SS_TEXT(path);
	enum ss_status status;

	if (place) {
		fleet_run_give_back(fleet, place);
		return SS_OK;
	}
	status = find_source(fleet, id, &path, err);
	if (status == SS_OK && (!path.length || access(path.data, R_OK) != 0))
		status = ss_fail(err, SS_ERR_IO,
				 "the traces of this run are not on this machine: the store says "
				 "'%.200s'",
				 path.length ? path.data : "nothing");
	if (status == SS_OK) {
		place = fleet_free_slot(fleet);
		status = fleet_run_load(fleet, path.data, place, err);
		ss_gate_lock(fleet->gate);
		if (status == SS_OK)
			snprintf(place->id, sizeof(place->id), "%s", id);
		ss_gate_unlock(fleet->gate);
		if (status != SS_OK)
			fleet_run_close(place);
	}
	return status;
}

static enum ss_status run_open(const struct ss_viewer_request *asked, struct ss_answer *out,
			       struct ss_error *err)
{
	struct fleet *fleet = fleet_of(asked);
	const char *id = ss_viewer_text(asked, "id");
	struct ss_error problem = { 0 };
	enum ss_status status;

	if (!id || strlen(id) != SS_RUN_ID_BYTES - 1)
		return ss_fail(err, SS_ERR_USAGE, "'id' is the id of a run: 16 digits");
	status = fleet_run_open(fleet, id, &problem);
	ss_text_add_string(&out->body, "{\"error\":");
	if (status == SS_OK)
		ss_text_add_string(&out->body, "null");
	else
		ss_render_quoted(&out->body, problem.text);
	ss_text_add_string(&out->body, "}\n");
	return SS_OK;
}

static bool fleet_run_is_apart(const struct fleet_run *run, const char *request)
{
	size_t length = strcspn(request, "/?");
	const struct ss_route *route;

	for (size_t i = 0; (route = ss_route_of(run->runs->own, i)); i++)
		if (strlen(route->name) == length && memcmp(route->name, request, length) == 0)
			return route->apart;
	return false;
}

/* Each kind has its own worker: a route must not run on the worker of the other kind. */
static enum ss_status fleet_run_ask(const struct ss_viewer_request *asked, bool apart,
				    struct ss_answer *out, struct ss_error *err)
{
	struct fleet *fleet = fleet_of(asked);
	const char *request = ss_viewer_text(asked, "ask");
	struct fleet_run *run = fleet_run_take(fleet, ss_viewer_text(asked, "id"));
	struct ss_answer inner = { .size = sizeof(inner) };
	enum ss_status status;

	if (!run)
		return ss_fail(err, SS_ERR_MISSING,
			       "this run was closed, because %d others were opened since: open it "
			       "again from the fleet",
			       FLEET_RUNS_MAX);
	if (!request || fleet_run_is_apart(run, request) != apart)
		status = ss_fail(err, SS_ERR_USAGE, "'ask' is a request for '%s'",
				 apart ? "in" : "in-apart");
	else
		status = ss_ask(run->runs, request, &inner, err);
	fleet_run_give_back(fleet, run);
	ss_text_release(&out->body);
	out->body = inner.body;
	if (inner.media_type)
		out->media_type = inner.media_type;
	return status;
}

static enum ss_status run_in(const struct ss_viewer_request *asked, struct ss_answer *out,
			     struct ss_error *err)
{
	return fleet_run_ask(asked, false, out, err);
}

static enum ss_status run_in_apart(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	return fleet_run_ask(asked, true, out, err);
}

const struct ss_route route_open = {
	.name = "open",
	.summary = "Loads the traces of a run of the store, or the trace of a digest",
	.parameters = "id",
	.runless = true,
	.run = run_open,
};

const struct ss_route route_in = {
	.name = "in",
	.summary = "A request about a run that was opened",
	.parameters = "id ask",
	.runless = true,
	.run = run_in,
};

const struct ss_route route_in_apart = {
	.name = "in-apart",
	.summary = "The same for routes that are apart",
	.parameters = "id ask",
	.apart = true,
	.runless = true,
	.run = run_in_apart,
};

/* Smallest change that gets a mark; 'stepscope check' uses the same threshold. */
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

/* Adds the change points of one job, whose rows are `from` up to but not including `to`. */
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

/* Changes of running jobs, from their live numbers. */
static enum ss_status fleet_answer_changes(struct fleet *fleet, struct ss_text *out,
					   struct ss_error *err)
{
	const struct ss_render_options options = { 0 };
	enum ss_status status = fleet->problem.code;
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	if (status != SS_OK)
		return ss_fail(err, status, "%s", fleet->problem.text);
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &ss_store_changes_view, &arena);
	status = ss_run_store_changes(&fleet->store, &fleet->limits, &table, err);
	if (status == SS_OK) {
		ss_text_add_string(out, ",\"table\":");
		ss_renderer_find("json")->view(&table, &options, out);
	}
	ss_table_release(&table);
	ss_arena_release(&arena);
	return status;
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

/* Errors are answers: the store may be empty, or DuckDB missing. */
static enum ss_status fleet_route_run(const struct ss_viewer_request *asked, struct ss_answer *out,
				      struct ss_error *err)
{
	struct fleet *fleet = fleet_of(asked);
	const struct ss_fleet_query *query = ss_fleet_query_find(asked->rest);
	bool is_changes = strcmp(asked->rest, "changes") == 0;
	struct ss_error problem = { 0 };
	SS_TEXT(body);
	enum ss_status status;

	if (!is_changes && (!query || strstr(query->text, "{run}")))
		return ss_fail(err, SS_ERR_MISSING, "no question called '%.40s' about the fleet",
			       asked->rest);
	status = is_changes ? fleet_answer_changes(fleet, &body, &problem)
			    : fleet_answer_query(fleet, query, ss_viewer_text(asked, "label"),
						 &body, &problem);
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

	*fleet = (struct fleet){ .own = { routes, SS_COUNT(routes), &fleet->context },
				 .context.fleet = fleet,
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

enum ss_status cli_fleet_of_digests(struct fleet *fleet, struct served *served,
				    const struct ss_open_options *open, bool (*is_over)(void),
				    struct ss_error *err)
{
	static const struct ss_route *const routes[] = { &route_sql,        &route_sql_stop,
							 &route_sql_schema, &route_open,
							 &route_in,         &route_in_apart };

	*fleet = (struct fleet){ .open = *open,
				 .problem = served->sql.problem,
				 .is_over = is_over,
				 .gate = ss_gate_open() };
	served->context.fleet = fleet;
	served->own.routes = routes;
	served->own.count = SS_COUNT(routes);
	return fleet->gate ? SS_OK : ss_fail_memory(err, "the server");
}

void cli_fleet_end(struct fleet *fleet)
{
	for (uint32_t i = 0; i < FLEET_RUNS_MAX; i++)
		fleet_run_close(&fleet->runs[i]);
	ss_sql_close(fleet->sql);
	if (fleet->gate)
		ss_gate_close(fleet->gate);
}
