/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - the public interface: open a job, run views on it.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/facts.h"
#include "api/basis.h"
#include "api/choice.h"
#include "api/reports/reports.h"
#include "api/session.h"
#include "base/thread.h"
#include "diagnose/keep.h"
#include "job/doubts.h"
#include "job/join/notes.h"
#include "render/arrow.h"
#include "table/arrange.h"
#include "table/bound.h"
#include "table/rank_summary.h"
#include "table/totals.h"

static struct ss_session *session_new(uint64_t memory_limit_bytes)
{
	struct ss_memory outside;
	struct ss_session *session;

	/* the session itself is the one block that its own account cannot hold */
	ss_memory_init(&outside, 0);
	session = ss_memory_resize(&outside, NULL, 0, sizeof(*session));
	if (!session)
		return NULL;
	memset(session, 0, sizeof(*session));
	ss_memory_init(&session->memory, (size_t)memory_limit_bytes);
	session->memories.gate = ss_gate_open();
	if (session->memories.gate)
		return session;
	ss_memory_free(&outside, session, 0);
	return NULL;
}

static void session_free(struct ss_session *session)
{
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	assert(session->memory.used_bytes == 0);
	ss_memory_free(&outside, session, 0);
}

enum ss_status ss_session_begin(const struct ss_open_options *options, struct ss_session **out,
				struct ss_error *err)
{
	*out = session_new(options->memory_limit_bytes);
	if (!*out)
		return ss_fail_memory(err, "a session");
	ss_job_begin(&(*out)->job, options->diagnose ? &ss_diagnose_keeper : NULL, &(*out)->memory);
	(*out)->job.watch = &(*out)->watch;
	return SS_OK;
}

void ss_session_watch(struct ss_session *session,
		      bool (*progress)(void *context, const struct ss_progress *progress),
		      void *context)
{
	session->watch = (struct ss_watch){ .progress = progress, .context = context };
}

enum ss_status ss_session_add(struct ss_session *session, const struct ss_open_options *options,
			      struct ss_error *err)
{
	if (session->job.is_joined || session->job.digested_files)
		return ss_fail(err, SS_ERR_USAGE, "files cannot be added to a job that was used");
	return ss_job_add(&session->job, options, err);
}

enum ss_status ss_session_end(struct ss_session *session, struct ss_error *err)
{
	return ss_job_end(&session->job, err);
}

enum ss_status ss_session_open(const struct ss_open_options *options, struct ss_session **out,
			       struct ss_error *err)
{
	struct ss_session *session;
	enum ss_status status;

	if (!options->path_count && !options->input_count)
		return ss_fail(err, SS_ERR_USAGE, "no trace files named");
	SS_TRY(ss_session_begin(options, &session, err));
	status = ss_session_add(session, options, err);
	if (status == SS_OK)
		status = ss_session_end(session, err);
	if (status == SS_OK)
		*out = session;
	else
		ss_session_close(session);
	return status;
}

enum ss_status ss_session_open_memory(const void *data, size_t length, const char *name,
				      struct ss_session **out, struct ss_error *err)
{
	struct ss_input input = { .name = name, .data = data, .length = length };
	struct ss_open_options options = { .inputs = &input, .input_count = 1, .threads = 1 };

	return ss_session_open(&options, out, err);
}

void ss_session_close(struct ss_session *session)
{
	if (!session)
		return;
	ss_areas_release(&session->areas);
	ss_memories_release(&session->memories, &session->memory);
	ss_shown_path_release(&session->path);
	ss_diagnosis_release(&session->diagnosis);
	ss_timeline_release(&session->timeline);
	ss_facts_release(&session->facts);
	ss_job_close(&session->job);
	session_free(session);
}

uint32_t ss_session_unread_packs(const struct ss_session *session)
{
	return session->job.packs.unread;
}

uint32_t ss_session_cut_count(const struct ss_session *session)
{
	const struct ss_job *job = &session->job;
	uint32_t count = 0;

	for (uint32_t i = 0; i < job->file_count; i++)
		count += job->files[i].recording.is_cut || job->files[i].recording.is_damaged;
	for (uint32_t i = 0; i < job->snapshot_count; i++)
		count += job->snapshots[i].is_cut;
	return count;
}

uint32_t ss_session_failed_count(const struct ss_session *session)
{
	return session->job.failed_count;
}

const char *ss_version(void)
{
	return SS_VERSION;
}

bool ss_offer_at(size_t index, struct ss_offer *out)
{
	if (index < ss_report_count) {
		*out = (struct ss_offer){ ss_reports[index]->name, ss_reports[index]->summary, true,
					  false, false };
		return true;
	}
	index -= ss_report_count;
	if (index >= ss_view_count)
		return false;
	*out = (struct ss_offer){ ss_views[index]->name, ss_views[index]->summary, false,
				  ss_view_of_job(ss_views[index]),
				  ss_views[index]->run_replay != NULL };
	return true;
}

const char *ss_format_at(size_t index)
{
	return index < ss_renderer_count ? ss_renderers[index]->name : NULL;
}

static void measure_trust(const struct ss_job *job, struct ss_trust *out)
{
	*out = (struct ss_trust){ .files = job->file_count, .unreadable_files = job->failed_count };
	for (uint32_t i = 0; i < job->file_count; i++) {
		const uint64_t *oddities = job->files[i].oddities;

		out->cut_files += job->files[i].recording.is_cut;
		out->lost += oddities[SS_SEVERITY_LOST];
		out->mended += oddities[SS_SEVERITY_MENDED];
		out->notes += oddities[SS_SEVERITY_NOTE];
		out->absent += oddities[SS_SEVERITY_ABSENT];
	}
}

/* Runs a view on a part of a file. */
static enum ss_status run_part(const struct ss_view *view, const struct ss_choice *choice,
			       const struct ss_subject *subject, struct ss_table *out,
			       struct ss_error *err)
{
	struct ss_subject part = *subject;
	struct ss_selection selection;
	struct ss_trace selected;
	struct ss_facts facts;
	enum ss_status status;

	if (!ss_choice_select(choice, subject->trace, &selection))
		return SS_OK;
	selection.by_moment = view->by_moment;
	SS_TRY(ss_trace_select(subject->trace, &selection, out->arena->memory, &selected, err));
	ss_facts_init(&facts, &selected, out->arena->memory);
	part.trace = &selected;
	part.facts = &facts;
	status = view->run(&part, out, err);
	ss_facts_release(&facts);
	ss_trace_select_release(&selected);
	return status;
}

static bool is_of_rank(const struct ss_table *table, uint32_t row, void *context)
{
	const int64_t *rank = context;

	return !ss_table_is_null(table, row, 0) && ss_table_int(table, row, 0) == *rank;
}

/* Of a table about all ranks the rows of one. */
static void keep_rank(struct ss_table *table, int64_t rank)
{
	if (rank != SS_EVERY_RANK)
		ss_table_filter(table, is_of_rank, &rank);
}

/* Runs a view of all ranks together. */
static enum ss_status run_job_view(struct ss_session *session, const struct ss_view *view,
				   uint32_t group, int64_t rank, struct ss_table *out,
				   struct ss_error *err)
{
	struct ss_job *job = &session->job;

	if (view->run_replay)
		SS_TRY(ss_session_replay(session, view, group, out, err));
	else
		SS_TRY(ss_job_join(job, err));
	if (view->run_job)
		SS_TRY(view->run_job(&job->joined, group, out, err));
	keep_rank(out, rank);
	if (view->run_job)
		ss_joined_note(&job->joined, out);
	return out->failed ? ss_fail_memory(err, "the table") : SS_OK;
}

/* People want the sum of many files, programs every file. */
static bool is_for_people(const struct ss_request *request)
{
	return request->format &&
	       (strcmp(request->format, "text") == 0 || strcmp(request->format, "markdown") == 0);
}

/* A view and what its rows are about. */
struct part {
	const struct ss_view *view;
	uint32_t group;
};

/* Makes the session's facts those of the trace. */
static struct ss_facts *facts_of(struct ss_session *session, const struct ss_trace *trace)
{
	if (session->facts.trace != trace) {
		ss_facts_release(&session->facts);
		ss_facts_init(&session->facts, trace, &session->memory);
	}
	return &session->facts;
}

static enum ss_status run_on_file(struct ss_session *session, const struct part *part,
				  const struct ss_choice *choice, const struct ss_subject *file,
				  struct ss_table *out, struct ss_error *err)
{
	struct ss_subject subject = *file;

	if (ss_view_of_job(part->view) || (!subject.trace && !part->view->wants_failed))
		return SS_OK;
	out->rank = subject.rank;
	subject.group = part->group;
	if (choice->is_part && subject.trace)
		return run_part(part->view, choice, &subject, out, err);
	subject.facts = facts_of(session, subject.trace);
	return part->view->run(&subject, out, err);
}

/* All views on one file before the next: they share what is held of one file only. */
static enum ss_status run_views(struct ss_session *session, const struct part *parts,
				uint32_t count, const struct ss_choice *choice,
				struct ss_table *tables, struct ss_error *err)
{
	ss_watch_part(&session->watch, "Making the table", 0, 1);
	for (uint32_t i = 0; i < session->job.file_count; i++) {
		const struct ss_subject *file = &session->job.files[i].subject;

		if (choice->rank == SS_EVERY_RANK &&
		    !ss_watch_tell(&session->watch, i, session->job.file_count))
			return ss_fail(err, SS_ERR_STOPPED, "stopped");
		if (choice->rank != SS_EVERY_RANK && file->rank != choice->rank)
			continue;
		for (uint32_t k = 0; k < count; k++)
			SS_TRY(run_on_file(session, &parts[k], choice, file, &tables[k], err));
	}
	for (uint32_t k = 0; k < count; k++) {
		if (ss_view_of_job(parts[k].view))
			SS_TRY(run_job_view(session, parts[k].view, parts[k].group, choice->rank,
					    &tables[k], err));
		if (tables[k].failed)
			return ss_fail_memory(err, "the table");
	}
	return SS_OK;
}

/* "budget/part" */
static struct part part_of_report(const char *name)
{
	struct part part = { 0 };
	const char *slash = strchr(name, '/');
	char view[64] = "";

	strncat(view, name, slash ? (size_t)(slash - name) : sizeof(view) - 1);
	part.view = ss_view_find(view);
	part.group = ss_view_group(part.view, slash ? slash + 1 : NULL);
	assert(part.view && part.group < SS_GROUPS_MAX);
	return part;
}

static enum ss_status find_group(const struct ss_view *view, const char *group, uint32_t *out,
				 struct ss_error *err)
{
	char list[256] = "";

	*out = ss_view_group(view, group);
	if (*out < SS_GROUPS_MAX)
		return SS_OK;
	for (uint32_t i = 0; i < SS_GROUPS_MAX && view->groups[i]; i++)
		ss_text_list(list, sizeof(list), view->groups[i]);
	return ss_fail(err, SS_ERR_USAGE, "view '%s' has no group '%s'; it has %s", view->name,
		       group, *list ? list : "none");
}

/* Whether the report has a form for several ranks, and it is wanted. */
static bool compares_ranks(const struct ss_request *request, const struct ss_report *report)
{
	return report->job_views[0] && is_for_people(request) && !request->step &&
	       !request->device && !request->stream;
}

/* The parts of a request: one view, or those of a report. */
static enum ss_status find_parts(const struct ss_request *request, bool joined,
				 const struct ss_report **report,
				 struct part parts[SS_REPORT_VIEWS_MAX], uint32_t *count,
				 struct ss_error *err)
{
	const char *what = request->what ? request->what : "", *const * views;

	*count = 0;
	*report = ss_report_find(what);
	if (!*report) {
		parts[0].view = ss_view_find(what);
		*count = 1;
		return parts[0].view
			       ? find_group(parts[0].view, request->group, &parts[0].group, err)
			       : ss_fail(err, SS_ERR_USAGE, "no view or report called '%s'", what);
	}
	if (request->group || request->sort)
		return ss_fail(err, SS_ERR_USAGE, "--%s is for one view; '%s' has several",
			       request->group ? "group" : "sort", what);
	views = joined && compares_ranks(request, *report) ? (*report)->job_views
							   : (*report)->views;
	for (size_t i = 0; i < SS_REPORT_VIEWS_MAX && views[i]; i++) {
		const char *name = views[i];

		if (!joined || !is_for_people(request) || !(*report)->single ||
		    strcmp(name, (*report)->single) != 0)
			parts[(*count)++] = part_of_report(name);
	}
	return SS_OK;
}

enum ss_status ss_session_has_trace(const struct ss_session *session, struct ss_error *err)
{
	return session->job.file_count || !session->job.snapshot_count
		       ? SS_OK
		       : ss_fail(err, SS_ERR_MISSING,
				 "there is no trace, only snapshots of memory");
}

enum ss_status ss_session_format(const struct ss_session *session, const struct ss_request *request,
				 const struct ss_renderer **renderer,
				 struct ss_render_options *options, struct ss_error *err)
{
	const char *format = request->format ? request->format : "json";

	*renderer = ss_renderer_find(format);
	*options = (struct ss_render_options){
		.width = request->width ? request->width : 80,
		.color = request->color,
		.top = request->top,
	};
	measure_trust(&session->job, &options->trust);
	return *renderer ? SS_OK : ss_fail(err, SS_ERR_USAGE, "no format called '%s'", format);
}

static enum ss_status render(struct ss_session *session, const struct ss_request *request,
			     const struct ss_report *report, const struct ss_table *tables,
			     uint32_t count, struct ss_text *out, struct ss_error *err)
{
	const struct ss_renderer *renderer;
	struct ss_render_options options;
	struct ss_text headline = { 0 };

	/* notes are added to a table that was whole before */
	for (uint32_t i = 0; i < count; i++)
		if (tables[i].failed)
			return ss_fail_memory(err, "the table");
	SS_TRY(ss_session_format(session, request, &renderer, &options, err));
	if (report) {
		struct ss_report_parts parts = { report->name, "", tables, count };

		report->headline(&session->job, &headline);
		parts.headline = headline.data ? headline.data : "";
		renderer->report(&parts, &options, out);
		ss_text_end(&headline, out);
	} else {
		renderer->view(&tables[0], &options, out);
	}
	return ss_text_failed(out) ? ss_fail_memory(err, "the output") : SS_OK;
}

const char *ss_group_at(const char *view, size_t index)
{
	const struct ss_view *found = ss_view_find(view);

	return found && index < SS_GROUPS_MAX ? found->groups[index] : NULL;
}

/* Puts the ranks' figures side by side. */
static bool compare(struct ss_table *table)
{
	struct ss_table across;
	bool whole = ss_table_sum_up_ranks(table, &across);

	ss_table_release(whole ? table : &across);
	if (whole)
		*table = across;
	return whole;
}

/*
 * What was asked for of the finished table: sums, rows that match, their order, at most so
 * many of each rank. Rows of all ranks in one order are cut when they are rendered.
 */
static enum ss_status arrange(const struct ss_request *request, const struct ss_report *report,
			      bool folds, bool compared, struct ss_table *table,
			      struct ss_error *err)
{
	bool by_rank = !table->view->rankless && !ss_view_of_job(table->view);
	bool compares = by_rank && (request->rank == SS_COMPARED_RANKS || compared);
	bool named = true;

	/* totals of the ranks are of the rows that stay */
	if (compares && request->name)
		named = ss_table_keep_keys(table, request->name);
	if (compares ? !compare(table) : folds && !ss_table_fold(table))
		return ss_fail_memory(err, "the table");
	if (!compares && request->name)
		named = ss_table_keep(table, request->name);
	if (!named && !report)
		return ss_fail(err, SS_ERR_USAGE, "view '%s' has no names: --name does not apply",
			       table->view->name);
	if (report)
		table->totals = NULL; /* its tables are parts of one picture */
	else if (!compares && !ss_table_add_up(table))
		return ss_fail_memory(err, "the table");
	if (request->sort)
		return ss_table_sort(table, request->sort, err);
	if (request->top && by_rank && !compares && !folds)
		ss_table_cut(table, request->top);
	return SS_OK;
}

enum ss_status ss_session_rows(struct ss_session *session, const struct ss_request *request,
			       struct ss_arena *arena, struct ss_table *out, struct ss_error *err)
{
	struct part part = { .view = ss_view_find(request->what) };
	struct ss_choice choice;

	*out = (struct ss_table){ 0 };
	SS_TRY(ss_session_has_trace(session, err));
	if (!part.view)
		return ss_fail(err, SS_ERR_USAGE, "no view called '%.40s'", request->what);
	SS_TRY(find_group(part.view, request->group, &part.group, err));
	SS_TRY(ss_choice_read(request, &session->job, &choice, err));
	ss_table_init(out, part.view, arena);
	out->group = part.view->groups[part.group];
	SS_TRY(run_views(session, &part, 1, &choice, out, err));
	if (part.view->folds && !ss_table_fold(out))
		return ss_fail_memory(err, "the table");
	if (request->name && !ss_table_keep(out, request->name))
		return ss_fail(err, SS_ERR_USAGE, "view '%s' has no names: --name does not apply",
			       part.view->name);
	return SS_OK;
}

/* A report has no columns of its own: which views it is made of. */
static enum ss_status fail_report(const struct ss_report *report, struct ss_error *err)
{
	char list[256] = "";

	for (size_t i = 0; i < SS_REPORT_VIEWS_MAX && report->views[i]; i++)
		ss_text_list(list, sizeof(list), report->views[i]);
	return ss_fail(err, SS_ERR_USAGE,
		       "'%s' is made of several tables; ask for one of its views: %s", report->name,
		       list);
}

static enum ss_status stream(const struct ss_session *session, const struct ss_request *request,
			     struct ss_table *table, struct ArrowArrayStream *out,
			     struct ss_error *err)
{
	struct ss_render_options options = { .top = request->top };

	measure_trust(&session->job, &options.trust);
	return table->failed ? ss_fail_memory(err, "the table")
			     : ss_arrow_stream(table, &options, out, err);
}

/* What a view or report is made into: one of these. */
struct answer {
	struct ss_text *text;
	struct ArrowArrayStream *stream;
};

static enum ss_status answer(struct ss_session *session, const struct ss_request *request,
			     const struct answer *out, struct ss_error *err)
{
	struct part parts[SS_REPORT_VIEWS_MAX];
	struct ss_table tables[SS_REPORT_VIEWS_MAX] = { 0 };
	const struct ss_report *report;
	struct ss_arena scratch;
	bool joined = session->job.file_count > 1 &&
		      (request->rank == SS_EVERY_RANK || request->rank == SS_COMPARED_RANKS);
	enum ss_status status;
	struct ss_choice choice;
	uint32_t count;

	SS_TRY(find_parts(request, joined, &report, parts, &count, err));
	if (out->stream && report)
		return fail_report(report, err);
	SS_TRY(ss_session_has_trace(session, err));
	if (ss_view_of_job(parts[0].view) && (request->step || request->device || request->stream))
		return ss_fail(err, SS_ERR_USAGE,
			       "view '%s' is about the whole job: --step, --device and --stream do "
			       "not apply",
			       parts[0].view->name);
	SS_TRY(ss_choice_read(request, &session->job, &choice, err));
	ss_arena_init(&scratch, &session->memory);
	for (uint32_t i = 0; i < count; i++) {
		ss_table_init(&tables[i], parts[i].view, &scratch);
		tables[i].group = parts[i].view->groups[parts[i].group];
	}
	status = run_views(session, parts, count, &choice, tables, err);
	if (count)
		ss_job_note_runs(&session->job, &tables[0]);
	for (uint32_t i = 0; i < count && status == SS_OK; i++) {
		bool folds = report && parts[i].view->folds && is_for_people(request) && joined;

		bool compared = report && joined && compares_ranks(request, report);

		if (!report)
			ss_basis_say(session, &choice, request->rank == SS_COMPARED_RANKS,
				     parts[i].group, &tables[i]);
		status = arrange(request, report, folds, compared, &tables[i], err);
		if (status == SS_OK && !ss_table_bound(&tables[i]))
			status = ss_fail_memory(err, "the table");
	}
	if (status == SS_OK)
		status = out->stream
				 ? stream(session, request, &tables[0], out->stream, err)
				 : render(session, request, report, tables, count, out->text, err);
	for (uint32_t i = 0; i < count; i++)
		ss_table_release(&tables[i]);
	ss_arena_release(&scratch);
	return status;
}

enum ss_status ss_session_run(struct ss_session *session, const struct ss_request *request,
			      struct ss_text *out, struct ss_error *err)
{
	if (request->what && ss_session_diagnoses(request->what))
		return ss_session_diagnose(session, request, out, err);
	return answer(session, request, &(struct answer){ .text = out }, err);
}

enum ss_status ss_session_table(struct ss_session *session, const struct ss_request *request,
				struct ArrowArrayStream *out, struct ss_error *err)
{
	struct ss_request plain = *request;

	*out = (struct ArrowArrayStream){ 0 };
	plain.format = NULL; /* every file, not what is summed up for people */
	if (request->what && ss_session_diagnoses(request->what))
		return ss_session_findings(session, &plain, out, err);
	return answer(session, &plain, &(struct answer){ .stream = out }, err);
}
