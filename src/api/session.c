/*
 * session.c - the public interface: open a job, run views on it.
 */
#include <stdlib.h>
#include <string.h>

#include "api/reports.h"

struct ss_session {
	struct ss_memory memory;
	struct ss_job job;
};

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
	return session;
}

static void session_free(struct ss_session *session)
{
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	assert(session->memory.used_bytes == 0);
	ss_memory_free(&outside, session, 0);
}

enum ss_status ss_session_open(const struct ss_open_options *options, struct ss_session **out,
			       struct ss_error *err)
{
	struct ss_session *session;
	enum ss_status status;

	if (!options->path_count)
		return ss_fail(err, SS_ERR_USAGE, "no trace files named");
	session = session_new(options->memory_limit_bytes);
	if (!session)
		return ss_fail_memory(err, "a session");
	status = ss_job_open(&session->job, options, &session->memory, err);
	if (status == SS_OK)
		*out = session;
	else
		session_free(session);
	return status;
}

enum ss_status ss_session_open_memory(const void *data, size_t length, const char *name,
				      struct ss_session **out, struct ss_error *err)
{
	struct ss_session *session = session_new(0);
	enum ss_status status;

	if (!session)
		return ss_fail_memory(err, "a session");
	status = ss_job_open_memory(&session->job, data, length, name, &session->memory, err);
	if (status == SS_OK)
		*out = session;
	else
		session_free(session);
	return status;
}

void ss_session_close(struct ss_session *session)
{
	if (!session)
		return;
	ss_job_close(&session->job);
	session_free(session);
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
		*out = (struct ss_offer){ ss_reports[index]->name, ss_reports[index]->summary,
					  true };
		return true;
	}
	index -= ss_report_count;
	if (index >= ss_view_count)
		return false;
	*out = (struct ss_offer){ ss_views[index]->name, ss_views[index]->summary, false };
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
		const struct ss_trace *trace = job->files[i].subject.trace;

		for (int odd = 0; trace && odd < SS_ODD_COUNT; odd++) {
			uint64_t count = trace->quality.rows[odd].count;

			switch (ss_oddity_info((enum ss_oddity)odd)->severity) {
			case SS_SEVERITY_LOST:
				out->lost += count;
				break;
			case SS_SEVERITY_MENDED:
				out->mended += count;
				break;
			case SS_SEVERITY_NOTE:
				out->notes += count;
				break;
			case SS_SEVERITY_ABSENT:
				out->absent += count;
				break;
			}
		}
	}
}

/* Runs a view on all files that are asked for. */
static enum ss_status run_view(const struct ss_job *job, const struct ss_view *view, int64_t rank,
			       struct ss_table *out, struct ss_error *err)
{
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_subject *subject = &job->files[i].subject;

		if ((rank != SS_EVERY_RANK && subject->rank != rank) ||
		    (!subject->trace && !view->wants_failed))
			continue;
		out->rank = subject->rank;
		SS_TRY(view->run(subject, out, err));
	}
	return out->failed ? ss_fail_memory(err, "the table") : SS_OK;
}

static enum ss_status check_rank(const struct ss_job *job, int64_t rank, struct ss_error *err)
{
	if (rank == SS_EVERY_RANK)
		return SS_OK;
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].subject.rank == rank)
			return SS_OK;
	return ss_fail(err, SS_ERR_USAGE,
		       "no file of rank %lld; stepscope files lists what there is",
		       (long long)rank);
}

/* People want the sum of many files, programs every file. */
static bool is_for_people(const struct ss_request *request)
{
	return request->format &&
	       (strcmp(request->format, "text") == 0 || strcmp(request->format, "markdown") == 0);
}

/* The views of a request: one, or those of a report. */
static enum ss_status find_views(const struct ss_request *request, bool many,
				 const struct ss_report **report,
				 const struct ss_view *views[SS_REPORT_VIEWS_MAX], uint32_t *count,
				 struct ss_error *err)
{
	const char *what = request->what ? request->what : "";

	*count = 0;
	*report = ss_report_find(what);
	if (*report) {
		for (size_t i = 0; i < SS_REPORT_VIEWS_MAX && (*report)->views[i]; i++) {
			const char *name = (*report)->views[i];

			if (many && is_for_people(request) && (*report)->single &&
			    strcmp(name, (*report)->single) == 0)
				continue;
			views[(*count)++] = ss_view_find(name);
		}
		return SS_OK;
	}
	views[0] = ss_view_find(what);
	*count = views[0] != NULL;
	return *count ? SS_OK : ss_fail(err, SS_ERR_USAGE, "no view or report called '%s'", what);
}

static enum ss_status render(struct ss_session *session, const struct ss_request *request,
			     const struct ss_report *report, const struct ss_table *tables,
			     uint32_t count, struct ss_text *out, struct ss_error *err)
{
	const char *format = request->format ? request->format : "json";
	const struct ss_renderer *renderer = ss_renderer_find(format);
	struct ss_render_options options = {
		.width = request->width ? request->width : 80,
		.color = request->color,
		.top = request->top,
	};
	struct ss_text headline = { 0 };

	if (!renderer)
		return ss_fail(err, SS_ERR_USAGE, "no format called '%s'", format);
	measure_trust(&session->job, &options.trust);
	if (report) {
		struct ss_report_parts parts = { report->name, "", tables, count };

		report->headline(&session->job, &headline);
		parts.headline = headline.data ? headline.data : "";
		renderer->report(&parts, &options, out);
		ss_text_release(&headline);
	} else {
		renderer->view(&tables[0], &options, out);
	}
	return ss_text_failed(out) ? ss_fail_memory(err, "the output") : SS_OK;
}

enum ss_status ss_session_run(struct ss_session *session, const struct ss_request *request,
			      struct ss_text *out, struct ss_error *err)
{
	const struct ss_view *views[SS_REPORT_VIEWS_MAX];
	struct ss_table tables[SS_REPORT_VIEWS_MAX] = { 0 };
	const struct ss_report *report;
	struct ss_arena scratch;
	bool many = session->job.file_count > 1 && request->rank == SS_EVERY_RANK;
	enum ss_status status;
	uint32_t count;

	SS_TRY(find_views(request, many, &report, views, &count, err));
	SS_TRY(check_rank(&session->job, request->rank, err));
	ss_arena_init(&scratch, &session->memory);
	status = SS_OK;
	for (uint32_t i = 0; i < count && status == SS_OK; i++) {
		ss_table_init(&tables[i], views[i], &scratch);
		status = run_view(&session->job, views[i], request->rank, &tables[i], err);
		if (status == SS_OK && report && views[i]->folds && is_for_people(request) &&
		    many && !ss_table_fold(&tables[i]))
			status = ss_fail_memory(err, "the table");
	}
	if (status == SS_OK)
		status = render(session, request, report, tables, count, out, err);
	for (uint32_t i = 0; i < count; i++)
		ss_table_release(&tables[i]);
	ss_arena_release(&scratch);
	return status;
}
