/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.c - runs views on the files of a session, or on all ranks together; counts the steps of a
 * table.
 */
#include "api/request/query.h"
#include "ranks/join.h"
#include "view/arrange.h"

/* Runs a view on the chosen part of a file. */
static enum ss_status view_run_on_selection(const struct ss_view *view,
					    const struct ss_choice *choice,
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
	/* cells may lend names of the whole trace, not of its part: texts are not copied */
	ss_trace_select_release(&selected);
	return status;
}

/* The session's facts, made anew if they are of another trace. */
static struct ss_facts *session_facts_of(struct ss_session *session, const struct ss_trace *trace)
{
	if (session->facts.trace != trace) {
		ss_facts_release(&session->facts);
		ss_facts_init(&session->facts, trace, &session->memory);
	}
	return &session->facts;
}

/* A digest has no events: fills the table with the rows that it keeps of the view. */
static enum ss_status view_show_digest(const struct ss_job_file *file, const struct ss_part *part,
				       const struct ss_choice *choice, struct ss_table *out,
				       struct ss_digest_rows *rows, struct ss_error *err)
{
	struct ss_subject subject = file->subject;
	uint32_t had = out->row_count, all = 0;
	enum ss_status status = SS_ERR_MISSING;

	out->rank = subject.rank;
	if (!choice->is_part)
		status = ss_job_tables_show(&file->tables, part->view, part->group, out, &all, err);
	if (status == SS_ERR_MISSING && part->view->wants_failed) {
		subject.problem = "only its digest is there, which has no events";
		return part->view->run(&subject, out, err);
	}
	if (status == SS_ERR_MISSING)
		return ss_choice_no_events(file, err);
	rows->files++;
	if (all > rows->all) {
		rows->all = all;
		rows->kept = out->row_count - had;
	}
	return status;
}

static const char *view_reword(const struct ss_trace *trace, const char *text, struct ss_table *out)
{
	size_t room = strlen(text) + SS_RECORDER_BYTES_MORE;
	char *reworded = ss_arena_alloc(out->arena, room, 1);

	out->failed |= !reworded;
	if (reworded)
		ss_recorder_text(trace->info.recorder, text, reworded, room);
	return reworded ? reworded : text;
}

/* What asks for settings of torch.profiler: notes, and the words for no rows. */
static void view_reword_notes(const struct ss_trace *trace, struct ss_table *out)
{
	const char *empty = ss_table_empty(out);

	if (!trace || trace->info.recorder == SS_RECORDER_TORCH)
		return;
	if (empty)
		out->empty = view_reword(trace, empty, out);
	for (uint32_t i = 0; i < out->note_count; i++)
		out->notes[i] = view_reword(trace, out->notes[i], out);
}

/* Runs a view of one rank on a file, or on the chosen part of it. */
static enum ss_status view_run_on_file(struct ss_session *session, const struct ss_part *part,
				       const struct ss_choice *choice,
				       const struct ss_job_file *file, struct ss_table *out,
				       struct ss_digest_rows *rows, struct ss_error *err)
{
	struct ss_subject subject = file->subject;
	uint32_t cut;

	if (ss_view_of_job(part->view))
		return SS_OK;
	if (ss_job_is_digest_only(file))
		return view_show_digest(file, part, choice, out, rows, err);
	if (!subject.trace && !part->view->wants_failed)
		return SS_OK;
	out->rank = subject.rank;
	subject.group = part->group;
	if (choice->is_part && subject.trace)
		return view_run_on_selection(part->view, choice, &subject, out, err);
	if (ss_job_tables_show(&file->whole, part->view, part->group, out, &cut, NULL) == SS_OK)
		return SS_OK;
	subject.facts = session_facts_of(session, subject.trace);
	SS_TRY(part->view->run(&subject, out, err));
	view_reword_notes(subject.trace, out);
	return SS_OK;
}

/* Runs a view of all ranks together. */
static enum ss_status view_run_on_job(struct ss_session *session, const struct ss_part *part,
				      int64_t rank, struct ss_table *out, struct ss_error *err)
{
	struct ss_job *job = &session->job;

	if (part->view->run_hang) {
		SS_TRY(ss_job_find_hang(job, err));
		SS_TRY(part->view->run_hang(&job->hang, part->group, out, err));
		if (!job->flight_count)
			out->empty = "No dump of the flight recorder is among the files.";
		return out->failed ? ss_fail_memory(err, "the table") : SS_OK;
	}
	if (part->view->run_live) {
		SS_TRY(ss_job_find_live(job, err));
		SS_TRY(part->view->run_live(&job->live, part->group, out, err));
		if (!job->live_count)
			out->empty = "No live numbers are among the files.";
		return out->failed ? ss_fail_memory(err, "the table") : SS_OK;
	}
	if (part->view->run_replay)
		SS_TRY(ss_session_replay(session, part->view, part->group, out, err));
	else
		SS_TRY(ss_job_join(job, err));
	if (part->view->run_job)
		SS_TRY(part->view->run_job(&job->joined, part->group, out, err));
	if (rank != SS_EVERY_RANK)
		ss_view_keep_rank(out, rank);
	if (part->view->run_job)
		ss_joined_add_notes(&job->joined, out);
	return out->failed ? ss_fail_memory(err, "the table") : SS_OK;
}

/* The columns that the views read of a file; choosing a part of it needs all. */
static uint32_t query_columns(const struct ss_query *query)
{
	uint32_t columns = 0;

	for (uint32_t i = 0; i < query->found.count; i++) {
		const struct ss_part *part = &query->found.parts[i];
		bool all = !part->view->reads || query->choice.is_part ||
			   (part->view->reads_all >> part->group & 1);

		/* ranks are compared by all of them: who is left out is known before the tables */
		columns |= all || ss_view_of_job(part->view) ? SS_COLUMNS_ALL : part->view->reads;
	}
	return columns;
}

/*
 * Runs all views on one file before the next: they share its facts, which are kept of one file
 * only.
 */
enum ss_status ss_query_views(struct ss_query *query, struct ss_session *session,
			      struct ss_error *err)
{
	const struct ss_part *parts = query->found.parts;
	const struct ss_choice *choice = &query->choice;

	ss_progress_begin_part(&session->watch, "Computing the table", 0, 1);
	for (uint32_t i = 0; i < session->job.file_count; i++) {
		const struct ss_subject *file = &session->job.files[i].subject;
		bool had_events;

		if (ss_progress_is_cancelled(&session->watch) ||
		    (choice->rank == SS_EVERY_RANK &&
		     !ss_progress_report_done(&session->watch, i, session->job.file_count)))
			return ss_fail(err, SS_ERR_STOPPED, "stopped");
		if (choice->rank != SS_EVERY_RANK && file->rank != choice->rank)
			continue;
		had_events = file->trace != NULL;
		SS_TRY(ss_job_need(&session->job, &session->job.files[i], query_columns(query),
				   err));
		if (had_events && !file->trace && choice->rank != SS_EVERY_RANK)
			return ss_fail(err, SS_ERR_FORMAT, "'%.300s': %s", file->path,
				       file->problem);
		for (uint32_t k = 0; k < query->found.count; k++)
			SS_TRY(view_run_on_file(session, &parts[k], choice, &session->job.files[i],
						&query->tables[k], &query->digests[k], err));
	}
	for (uint32_t k = 0; k < query->found.count; k++) {
		if (ss_view_of_job(parts[k].view))
			SS_TRY(view_run_on_job(session, &parts[k], choice->rank, &query->tables[k],
					       err));
		if (query->tables[k].failed)
			return ss_fail_memory(err, "the table");
	}
	return SS_OK;
}

/* Counts the steps that a table is about. */

/* Ranks that a table is about, and the fewest and most steps that one of them has. */
struct basis_scope {
	uint32_t ranks, least, most;
	uint32_t number; /* of the only step that was chosen; UINT32_MAX: all, or several */
};

static uint32_t selected_steps(const struct ss_trace *trace, const struct ss_selection *selection)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->steps.count; i++)
		count += !trace->steps.items[i].dropped &&
			 (!selection->has_steps ||
			  (i >= selection->first_step && i <= selection->last_step));
	return count;
}

static void basis_scope_add_rank(struct basis_scope *scope, uint32_t steps)
{
	if (!scope->ranks++ || steps < scope->least)
		scope->least = steps;
	if (steps > scope->most)
		scope->most = steps;
}

/* Ranks and steps of the chosen files. */
static struct basis_scope basis_scope_of_files(const struct ss_job *job,
					       const struct ss_choice *choice)
{
	struct basis_scope scope = { .number = UINT32_MAX };

	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_subject *subject = &job->files[i].subject;
		struct ss_selection selection;

		const struct ss_digest *digest = NULL;

		if (choice->rank != SS_EVERY_RANK && subject->rank != choice->rank)
			continue;
		if (ss_job_is_digest_only(&job->files[i]))
			digest = ss_job_file_digest(job, &job->files[i]);
		if (digest)
			basis_scope_add_rank(&scope, digest->step_count);
		if (!subject->trace || !ss_choice_select(choice, subject->trace, &selection))
			continue;
		basis_scope_add_rank(&scope, selected_steps(subject->trace, &selection));
		if (selection.has_steps && selection.first_step == selection.last_step)
			scope.number = selection.first_step;
	}
	return scope;
}

/* The same for views of all ranks, which leave out steps without length. */
static struct basis_scope basis_scope_of_ranks(const struct ss_joined *joined,
					       const struct ss_choice *choice)
{
	struct basis_scope scope = { .number = UINT32_MAX };

	for (uint32_t i = 0; i < joined->rank_count; i++)
		if (choice->rank == SS_EVERY_RANK || joined->ranks[i].rank == choice->rank)
			basis_scope_add_rank(&scope, joined->ranks[i].step_count);
	return scope;
}

/* "4 steps", "step 2" where it alone was chosen. */
static const char *basis_steps_words(struct ss_table *table, const struct basis_scope *scope)
{
	if (scope->number != UINT32_MAX)
		return ss_table_print(table, "step %u", scope->number);
	if (scope->least != scope->most)
		return ss_table_print(table, "%u to %u steps", scope->least, scope->most);
	return ss_table_print(table, "%u step%s", scope->most, scope->most == 1 ? "" : "s");
}

/* What the figures of a table refer to, in words; NULL: steps do not matter. */
static const char *basis_words(struct ss_table *table, enum ss_basis basis,
			       const struct basis_scope *scope, bool chosen)
{
	const char *steps = basis_steps_words(table, scope);

	switch (basis) {
	case SS_BASIS_NONE:
		break;
	case SS_BASIS_FILE:
		if (chosen)
			return ss_table_print(table, "sum over %s", steps);
		return scope->most ? ss_table_print(table, "sum over the whole file (%s)", steps)
				   : "sum over the whole file";
	case SS_BASIS_STEPS:
		return ss_table_print(table, "sum over %s", steps);
	case SS_BASIS_MEAN:
		if (scope->number != UINT32_MAX)
			return ss_table_print(table, "%s alone", steps);
		return ss_table_print(table, "per step, mean of %s", steps);
	case SS_BASIS_STEP:
		return "one row per step";
	case SS_BASIS_EVENT:
		return "one row per event";
	}
	return NULL;
}

void ss_query_describe_basis(const struct ss_session *session, const struct ss_choice *choice,
			     uint32_t group, struct ss_table *table)
{
	const struct ss_view *view = table->view;
	enum ss_basis basis = view->bases[group] ? view->bases[group] : view->basis;
	const struct ss_job *job = &session->job;
	struct basis_scope scope = ss_view_of_job(view) && job->is_joined
					   ? basis_scope_of_ranks(&job->joined, choice)
					   : basis_scope_of_files(job, choice);
	const char *words;

	if (!table->row_count || !scope.ranks)
		return;
	words = basis_words(table, basis, &scope, choice->step != NULL);
	if (words && scope.ranks > 1 && !ss_view_of_job(view))
		words = ss_table_print(table,
				       choice->compares ? "%s, median of %u ranks" : "%s, %u ranks",
				       words, scope.ranks);
	table->figures = table->basis = words;
}

void ss_query_describe_digests(struct ss_query *query, uint32_t index)
{
	const struct ss_digest_rows *rows = &query->digests[index];
	const struct ss_part *part = &query->found.parts[index];
	struct ss_table *table = &query->tables[index];
	bool is_tree = part->view->nested >> part->group & 1;
	const char *words = "all rows", *from = "a digest";

	if (!rows->files)
		return;
	if (rows->files > 1)
		from = ss_table_print(table, "%u digests", rows->files);
	if (rows->all)
		words = ss_table_print(table, "the %u largest of %u rows%s; %s",
				       is_tree ? rows->kept : rows->kept - 1, rows->all,
				       rows->files > 1 ? " of a rank" : "",
				       is_tree ? "smaller ones are left out"
					       : "\"" SS_DIGEST_REST "\" is the sum of the others");
	table->lead = ss_table_print(table, "From %s: %s.", from, words);
	table->basis = ss_table_print(table, "%s%sfrom %s", table->basis ? table->basis : "",
				      table->basis ? ", " : "", from);
	if (rows->all)
		table->basis = ss_table_print(table, "%s: at most %u rows of a rank", table->basis,
					      rows->kept);
}
