/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.c - counts the steps that a table is about.
 */
#include "api/request/query.h"

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

		if (!subject->trace ||
		    (choice->rank != SS_EVERY_RANK && subject->rank != choice->rank) ||
		    !ss_choice_select(choice, subject->trace, &selection))
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
	table->basis = words;
}
