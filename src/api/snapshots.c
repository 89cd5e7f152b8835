/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshots.c - the public interface to snapshots of memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/first_sizes.h"
#include "api/session.h"
#include "api/snapshots.h"
#include "base/text.h"
#include "render/render.h"
#include "table/arrange.h"
#include "table/bound.h"
#include "table/totals.h"

bool ss_snapshots_offer_at(size_t index, struct ss_offer *out)
{
	struct ss_offer own = { 0 };

	if (index >= ss_snapshot_view_count)
		return false;
	own.name = strchr(ss_snapshot_views[index]->name, '-') + 1;
	own.summary = ss_snapshot_views[index]->summary;
	ss_sized_give(out, SS_FIRST_OFFER, &own, sizeof(own));
	return true;
}

const char *ss_snapshots_group_at(const char *view, size_t index)
{
	const struct ss_view *found = ss_snapshot_view_find(view);

	return found && index < SS_GROUPS_MAX ? found->groups[index] : NULL;
}

/* --- running ------------------------------------------------------------------------- */

struct on_device {
	const char *device;
	uint32_t column;
};

static bool is_on_device(const struct ss_table *table, uint32_t row, void *context)
{
	const struct on_device *only = context;
	struct ss_cell cell = ss_table_cell(table, row, only->column);

	return ss_cell_is_text(&cell, only->device);
}

/* Rows about another device go. */
static void keep_device(struct ss_table *table, const char *device)
{
	uint32_t columns = table->view->column_count;
	struct on_device only = { device, 0 };

	while (only.column < columns &&
	       strcmp(table->view->columns[only.column].name, "device") != 0)
		only.column++;
	if (only.column < columns)
		ss_table_filter(table, is_on_device, &only);
}

static enum ss_status run_view(const struct ss_snapshot_subject *whole, const struct ss_view *view,
			       uint32_t group, const struct ss_request *request,
			       struct ss_table *out, struct ss_error *err)
{
	struct ss_snapshot_subject subject = *whole;

	subject.group = group;
	out->group = view->groups[group];
	SS_TRY(view->run_snapshot(&subject, out, err));
	if (out->failed)
		return ss_fail_memory(err, "the table");
	if (request->device)
		keep_device(out, request->device);
	if (request->name && !ss_table_keep(out, request->name) && request->what)
		return ss_fail(err, SS_ERR_USAGE, "view '%s' has no names: --name does not apply",
			       request->what);
	if (request->what && !ss_table_add_up(out))
		return ss_fail_memory(err, "the table");
	if (request->sort && request->what)
		SS_TRY(ss_table_sort(out, request->sort, err));
	return ss_table_bound(out) ? SS_OK : ss_fail_memory(err, "the table");
}

static enum ss_status find_view(const struct ss_request *request, const struct ss_view **view,
				uint32_t *group, struct ss_error *err)
{
	char list[256] = "";

	*view = ss_snapshot_view_find(request->what);
	if (!*view) {
		for (size_t i = 0; i < ss_snapshot_view_count; i++)
			ss_text_list(list, sizeof(list),
				     strchr(ss_snapshot_views[i]->name, '-') + 1);
		return ss_fail(err, SS_ERR_USAGE, "snapshots have no view '%.60s'; they have %s",
			       request->what, list);
	}
	*group = ss_view_group(*view, request->group);
	if (*group < SS_GROUPS_MAX)
		return SS_OK;
	for (uint32_t i = 0; i < SS_GROUPS_MAX && (*view)->groups[i]; i++)
		ss_text_list(list, sizeof(list), (*view)->groups[i]);
	return ss_fail(err, SS_ERR_USAGE, "view '%s' has no group '%.60s'; it has %s",
		       request->what, request->group, *list ? list : "none");
}

/* What a report shows, and how many rows of it where nothing is said. */
static const struct {
	const char *view;
	uint32_t rows;
} report_views[] = { { "findings", 0 }, { "summary", 0 }, { "holders", 10 } };

static enum ss_status run_report(const struct ss_snapshot_subject *subject,
				 const struct ss_request *request,
				 const struct ss_renderer *renderer,
				 const struct ss_render_options *options, struct ss_text *out,
				 struct ss_error *err)
{
	struct ss_table tables[SS_COUNT(report_views)] = { 0 };
	struct ss_report_parts parts = { "snapshot", "", tables, SS_COUNT(report_views) };
	enum ss_status status = SS_OK;
	struct ss_arena scratch;

	if (request->group || request->sort)
		return ss_fail(err, SS_ERR_USAGE, "--%s is for one view: name it",
			       request->group ? "group" : "sort");
	ss_arena_init(&scratch, subject->history->memory);
	for (size_t i = 0; i < SS_COUNT(report_views) && status == SS_OK; i++) {
		const struct ss_view *view = ss_snapshot_view_find(report_views[i].view);

		ss_table_init(&tables[i], view, &scratch);
		status = run_view(subject, view, 0, request, &tables[i], err);
		if (i) /* what is not known is said once */
			tables[i].note_count = 0;
		if (report_views[i].rows && !request->top &&
		    tables[i].row_count > report_views[i].rows) {
			tables[i].uncut_count = tables[i].row_count;
			tables[i].row_count = report_views[i].rows;
		}
	}
	if (status == SS_OK)
		renderer->report(&parts, options, out);
	for (size_t i = 0; i < SS_COUNT(report_views); i++)
		ss_table_release(&tables[i]);
	ss_arena_release(&scratch);
	return status;
}

static enum ss_status run_one(const struct ss_snapshot_subject *subject,
			      const struct ss_request *request, const struct ss_renderer *renderer,
			      const struct ss_render_options *options, struct ss_text *out,
			      struct ss_error *err)
{
	const struct ss_view *view;
	struct ss_arena scratch;
	struct ss_table table;
	enum ss_status status;
	uint32_t group = 0;

	SS_TRY(find_view(request, &view, &group, err));
	ss_arena_init(&scratch, subject->history->memory);
	ss_table_init(&table, view, &scratch);
	status = run_view(subject, view, group, request, &table, err);
	if (status == SS_OK)
		renderer->view(&table, options, out);
	ss_table_release(&table);
	ss_arena_release(&scratch);
	return status;
}

enum ss_status ss_snapshot_run(const struct ss_snapshot_subject *subject,
			       const struct ss_request *request, struct ss_text *out,
			       struct ss_error *err)
{
	const char *format = request->format ? request->format : "json";
	const struct ss_renderer *renderer = ss_renderer_find(format);
	const struct ss_snapshot_subject *before = subject->before;
	struct ss_render_options options = { .width = request->width ? request->width : 80,
					     .color = request->color,
					     .top = request->top,
					     .trust = { .files = before ? 2 : 1 } };
	enum ss_status status;

	if (!renderer)
		return ss_fail(err, SS_ERR_USAGE, "no format called '%s'", format);
	options.trust.lost = subject->snapshot->is_cut + (before && before->snapshot->is_cut);
	status = request->what ? run_one(subject, request, renderer, &options, out, err)
			       : run_report(subject, request, renderer, &options, out, err);
	if (status == SS_OK && ss_text_failed(out))
		return ss_fail_memory(err, "the output");
	return status;
}

/* --- of a session -------------------------------------------------------------------- */

/* As many as a sentence names. */
#define LISTED 3

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Several: which there are, and what to type. */
static enum ss_status fail_many(const struct ss_job *job, uint32_t count, struct ss_error *err)
{
	bool has_ranks = true;
	char list[256] = "";
	struct ss_memory_entry entry;

	for (uint32_t i = 0; i < count && i < LISTED; i++) {
		char item[96];

		ss_memories_at(job, i, &entry);
		has_ranks &= entry.rank >= 0;
		if (entry.rank >= 0)
			snprintf(item, sizeof(item), "rank %" PRId64 " ('%.60s')", entry.rank,
				 name_of(entry.path));
		else
			snprintf(item, sizeof(item), "'%.80s'", name_of(entry.path));
		ss_text_list(list, sizeof(list), item);
	}
	return ss_fail(err, SS_ERR_USAGE, "%" PRIu32 " files hold memory: %s%s; %s", count, list,
		       count > LISTED ? ", ..." : "",
		       has_ranks ? "--rank N chooses one" : "name the one to show");
}

static enum ss_status none_recorded(const struct ss_job *job, struct ss_error *err)
{
	for (uint32_t i = 0; i < job->file_count; i++)
		if (ss_quality_is_cut(&job->files[i].trace.quality))
			return ss_fail(err, SS_ERR_MISSING,
				       "'%.200s' ends in the middle, and no memory is recorded up "
				       "to there",
				       job->files[i].subject.path);
	return ss_fail(err, SS_ERR_MISSING,
		       "memory was not recorded in %s: profile(profile_memory=True) records it",
		       job->file_count == 1 ? "this trace" : "these traces");
}

static enum ss_status choose(const struct ss_job *job, int64_t rank, uint32_t *out,
			     struct ss_error *err)
{
	uint32_t count = ss_memories_count(job);

	*out = 0;
	if (!count)
		return none_recorded(job, err);
	if (rank == SS_COMPARED_RANKS)
		return ss_fail(err, SS_ERR_USAGE, "views of memory are of one rank: --rank N");
	if (rank != SS_EVERY_RANK) {
		*out = ss_memories_find(job, rank, SS_NO_ROW);
		if (*out == SS_NO_ROW)
			return ss_fail(err, SS_ERR_MISSING,
				       "no file with memory is of rank %" PRId64, rank);
		if (ss_memories_find(job, rank, *out) == SS_NO_ROW)
			return SS_OK;
		return ss_fail(err, SS_ERR_USAGE,
			       "several files with memory are of rank %" PRId64 ": name one", rank);
	}
	return count == 1 ? SS_OK : fail_many(job, count, err);
}

static enum ss_status open_chosen(struct ss_session *session, int64_t rank,
				  const struct ss_opened **out, struct ss_error *err)
{
	uint32_t number;

	SS_TRY(choose(&session->job, rank, &number, err));
	return ss_memories_open(&session->memories, &session->job, number, out, err);
}

enum ss_status ss_session_memory(struct ss_session *session, struct ss_session *before,
				 const struct ss_request *request, struct ss_text *out,
				 struct ss_error *err)
{
	struct ss_snapshot_subject subject;
	const struct ss_opened *opened;

	ss_session_start(session);
	SS_TRY(open_chosen(session, request->rank, &opened, err));
	subject = opened->subject;
	if (before) {
		SS_TRY(open_chosen(before, request->rank, &opened, err));
		subject.before = &opened->subject;
	}
	return ss_snapshot_run(&subject, request, out, err);
}
