/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_runs.c - routes: opens a run of the store, and answers requests about open ones.
 *
 * The store says where the traces of a run are; a request names the run alone, and never a file.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/renderers.h"
#include "base/text.h"
#include "cli/served/fleet.h"
#include "store/fleet.h"

void cli_fleet_run_close(struct fleet_run *run)
{
	served_end(&run->served);
	ss_runs_free(run->runs);
	ss_session_close(run->session);
	*run = (struct fleet_run){ 0 };
}

/* The open run of that id, which stays open until it is given back; NULL: it is not open. */
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
 * A place for a run; closes the one that was used least recently. Only the worker that calls this
 * opens runs, and the other one uses at most one, so that there is a place.
 */
static struct fleet_run *free_place(struct fleet *fleet)
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
	/* the routes of a run know the place, not the copy; nobody asks them any more */
	cli_fleet_run_close(&closing);
	return oldest;
}

/* Where the store says that the traces are. */
static enum ss_status find_source(struct fleet *fleet, const char *id, struct ss_text *out,
				  struct ss_error *err)
{
	struct ss_sql_answer answer = { 0 };
	struct ss_sql *sql = NULL;
	enum ss_status status;

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

	/* how far the file is counts as the work of the answer */
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
	/* what several routes share is made by one */
	status = ss_ask(out->runs, "job", &unused, err);
	ss_text_release(&unused.body);
	return status;
}

static enum ss_status fleet_run_open(struct fleet *fleet, const char *id, struct ss_error *err)
{
	struct fleet_run *place = fleet_run_take(fleet, id);
	struct ss_text path = { 0 };
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
		place = free_place(fleet);
		status = fleet_run_load(fleet, path.data, place, err);
		ss_gate_lock(fleet->gate);
		if (status == SS_OK)
			snprintf(place->id, sizeof(place->id), "%s", id);
		ss_gate_unlock(fleet->gate);
		if (status != SS_OK)
			cli_fleet_run_close(place);
	}
	ss_text_release(&path);
	return status;
}

static enum ss_status run_open(const struct ss_viewer_request *asked, struct ss_answer *out,
			       struct ss_error *err)
{
	struct fleet *fleet = asked->runs->own->context;
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

/* Each kind has its worker: a route of one must not run on that of the other. */
static enum ss_status fleet_run_ask(const struct ss_viewer_request *asked, bool apart,
				    struct ss_answer *out, struct ss_error *err)
{
	struct fleet *fleet = asked->runs->own->context;
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
	.summary = "Loads the traces of a run of the store",
	.parameters = "id",
	.runless = true,
	.run = run_open,
};

const struct ss_route route_in = {
	.name = "in",
	.summary = "A request about an open run of the store",
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
