/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition.c - reads conditions and asks tables about them.
 */
#include "check/check.h"

#include <stdio.h>

#include "base/closest_name.h"
#include "base/text.h"

#define NUMBER_DIGITS_MAX 15

static const struct {
	const char *text;
	enum ss_operator operation;
} condition_operators[] = {
	/* the longer ones first */
	{ "<=", SS_OPERATOR_LESS_EQUAL }, { ">=", SS_OPERATOR_MORE_EQUAL },
	{ "==", SS_OPERATOR_EQUAL },      { "!=", SS_OPERATOR_OTHER },
	{ "<", SS_OPERATOR_LESS },        { ">", SS_OPERATOR_MORE },
};

static const struct {
	const char *text;
	enum ss_column_type type;
	double factor;
} condition_units[] = {
	{ "ns", SS_COLUMN_NS, 1 },
	{ "us", SS_COLUMN_NS, 1e3 },
	{ "ms", SS_COLUMN_NS, 1e6 },
	{ "s", SS_COLUMN_NS, 1e9 },
	{ "%", SS_COLUMN_PERCENT, 1 },
	{ "B", SS_COLUMN_BYTES, 1 },
	{ "kB", SS_COLUMN_BYTES, 1e3 },
	{ "MB", SS_COLUMN_BYTES, 1e6 },
	{ "GB", SS_COLUMN_BYTES, 1e9 },
	{ "KiB", SS_COLUMN_BYTES, 1024 },
	{ "MiB", SS_COLUMN_BYTES, 1024.0 * 1024 },
	{ "GiB", SS_COLUMN_BYTES, 1024.0 * 1024 * 1024 },
};

/* --- reading ---------------------------------------------------------------------------- */

static bool condition_is_name_letter(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
}

static const char *condition_skip_spaces(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\n')
		at++;
	return at;
}

static enum ss_status condition_fail_unreadable(const char *text, struct ss_error *err)
{
	return ss_fail(err, SS_ERR_USAGE,
		       "'%.80s' is no condition: expected a column, an operator and a number, for "
		       "example 'exposed_communication_percent > 10' or 'steps.dur_ns > 2s'",
		       text);
}

/* "12", "-0.5"; NULL: there is no number. */
static const char *condition_read_number(const char *at, double *out)
{
	double sign = *at == '-' ? -1 : 1, place = 1;
	uint32_t digits = 0;
	bool is_fraction = false;

	*out = 0;
	for (at += *at == '-'; (*at >= '0' && *at <= '9') || (*at == '.' && !is_fraction); at++) {
		if (*at == '.') {
			is_fraction = true;
			continue;
		}
		if (++digits > NUMBER_DIGITS_MAX)
			return NULL;
		*out = *out * 10 + (*at - '0');
		place *= is_fraction ? 10 : 1;
	}
	*out *= sign / place;
	return digits ? at : NULL;
}

/* Columns are snake_case and views kebab-case; both separators are accepted. */
static const char *condition_copy_name(struct ss_arena *arena, const char *from, size_t length,
				       char wrong, char right)
{
	char *name = ss_arena_copy(arena, from, length);

	for (size_t i = 0; name && i < length; i++)
		if (name[i] == wrong)
			name[i] = right;
	return name;
}

/* Reads the name and the operator; `at` moves behind them. False: one of them is missing. */
static bool condition_read_left(struct ss_condition *out, const char **at, struct ss_arena *arena,
				bool *is_fine)
{
	const char *from = *at, *to = from, *point = NULL;

	for (; condition_is_name_letter(*to); to++)
		if (*to == '.')
			point = to;
	*at = condition_skip_spaces(to);
	if (to == from || point == from || point == to - 1)
		return false;
	if (point)
		out->view = condition_copy_name(arena, from, (size_t)(point - from), '_', '-');
	from = point ? point + 1 : from;
	out->column = condition_copy_name(arena, from, (size_t)(to - from), '-', '_');
	*is_fine = out->column && (out->view || !point);
	for (size_t i = 0; i < SS_COUNT(condition_operators); i++) {
		size_t length = strlen(condition_operators[i].text);

		if (strncmp(*at, condition_operators[i].text, length) != 0)
			continue;
		out->operation = condition_operators[i].operation;
		*at = condition_skip_spaces(*at + length);
		return true;
	}
	return false;
}

enum ss_status ss_condition_read(struct ss_condition *out, const char *text, size_t length,
				 struct ss_arena *arena, struct ss_error *err)
{
	const char *at, *number;
	bool is_fine = true;
	char *own;

	while (length && strchr(" \t\n", text[length - 1]))
		length--;
	for (; length && strchr(" \t\n", *text); length--)
		text++;
	own = ss_arena_copy(arena, text, length);
	if (!own)
		return ss_fail_memory(err, "the conditions");
	*out = (struct ss_condition){ .text = own };
	at = own;
	if (!condition_read_left(out, &at, arena, &is_fine))
		return condition_fail_unreadable(own, err);
	if (!is_fine)
		return ss_fail_memory(err, "the conditions");
	number = condition_read_number(at, &out->number);
	if (!number)
		return condition_fail_unreadable(own, err);
	out->unit = condition_skip_spaces(number);
	return SS_OK;
}

/* --- binding ---------------------------------------------------------------------------- */

/* Always fails: the error suggests a similar column, or says where columns are listed. */
static enum ss_status condition_fail_no_column(const struct ss_condition *condition,
					       const struct ss_view *view, struct ss_error *err)
{
	struct ss_closest_name guess = ss_closest_name_begin(condition->column);
	char where[64] = "";

	for (uint32_t i = 0; i < view->column_count; i++)
		ss_closest_name_add(&guess, view->columns[i].name);
	if (condition->view)
		snprintf(where, sizeof(where), " in '%s'", view->name);
	if (guess.best)
		return ss_fail(err, SS_ERR_USAGE, "no column called '%.60s'%s; did you mean '%s'?",
			       condition->column, where, guess.best);
	if (condition->view)
		return ss_fail(err, SS_ERR_USAGE,
			       "no column called '%.60s'%s; 'stepscope explain %s' lists its "
			       "columns",
			       condition->column, where, view->name);
	return ss_fail(err, SS_ERR_USAGE,
		       "no column called '%.60s'; 'stepscope check --list' lists them, and columns "
		       "of a view are written as VIEW.COLUMN",
		       condition->column);
}

/* Converts the number to the unit of its column. */
static enum ss_status condition_convert_unit(struct ss_condition *condition, struct ss_error *err)
{
	const struct ss_column *column = condition->declared;

	if (!*condition->unit)
		return SS_OK;
	for (size_t i = 0; i < SS_COUNT(condition_units); i++)
		if (strcmp(condition_units[i].text, condition->unit) == 0 &&
		    condition_units[i].type == column->type) {
			condition->number *= condition_units[i].factor;
			return SS_OK;
		}
	return ss_fail(err, SS_ERR_USAGE, "'%.20s' is no unit of '%s': %s", condition->unit,
		       column->name,
		       column->type == SS_COLUMN_NS        ? "ns, us, ms or s"
		       : column->type == SS_COLUMN_BYTES   ? "B, kB, MB, GB, KiB, MiB or GiB"
		       : column->type == SS_COLUMN_PERCENT ? "%"
							   : "it has none");
}

enum ss_status ss_condition_bind(struct ss_condition *condition, const struct ss_view *view,
				 struct ss_error *err)
{
	for (uint32_t i = 0; i < view->column_count; i++)
		if (strcmp(view->columns[i].name, condition->column) == 0) {
			condition->declared = &view->columns[i];
			condition->index = i;
		}
	if (!condition->declared)
		return condition_fail_no_column(condition, view, err);
	if (condition->declared->type == SS_COLUMN_TEXT)
		return ss_fail(err, SS_ERR_USAGE, "'%s' is a text: conditions are about numbers",
			       condition->column);
	return condition_convert_unit(condition, err);
}

/* --- asking ----------------------------------------------------------------------------- */

static bool operator_is_met(enum ss_operator operation, double figure, double number)
{
	switch (operation) {
	case SS_OPERATOR_LESS:
		return figure < number;
	case SS_OPERATOR_LESS_EQUAL:
		return figure <= number;
	case SS_OPERATOR_MORE:
		return figure > number;
	case SS_OPERATOR_MORE_EQUAL:
		return figure >= number;
	case SS_OPERATOR_EQUAL:
		return figure == number;
	case SS_OPERATOR_OTHER:
		break;
	}
	return figure != number;
}

/* Whether the figure says more than the one that was found before. */
static bool condition_is_worse(const struct ss_condition *condition, double figure)
{
	bool is_small = condition->operation == SS_OPERATOR_LESS ||
			condition->operation == SS_OPERATOR_LESS_EQUAL;

	return is_small ? figure < condition->found : figure > condition->found;
}

/* The texts and numbers that name a row: "rank 3, ProfilerStep#12". */
static const char *condition_name_row(const struct ss_table *table, uint32_t row,
				      struct ss_arena *arena)
{
	char name[256] = "";

	for (uint32_t i = 0; i < table->view->column_count; i++) {
		const struct ss_column *column = &table->view->columns[i];
		char part[128];

		if (ss_table_is_null(table, row, i))
			continue;
		if (column->type == SS_COLUMN_ID) {
			snprintf(part, sizeof(part), "%s %lld", column->name,
				 (long long)ss_table_int(table, row, i));
			ss_text_list(name, sizeof(name), part);
		} else if (ss_column_has_names(column)) {
			struct ss_cell cell = ss_table_cell(table, row, i);

			snprintf(part, sizeof(part), "%.*s",
				 (int)(cell.length < 100 ? cell.length : 100), cell.value.text);
			ss_text_list(name, sizeof(name), part);
			break;
		}
	}
	return ss_arena_copy(arena, name, strlen(name));
}

bool ss_condition_evaluate(struct ss_condition *condition, const struct ss_table *table,
			   struct ss_arena *arena)
{
	uint32_t worst = 0;

	for (uint32_t row = 0; row < table->row_count; row++) {
		double figure;
		bool is_met;

		if (ss_table_is_null(table, row, condition->index))
			continue;
		figure = ss_column_has_fraction(condition->declared)
				 ? ss_table_number(table, row, condition->index)
				 : (double)ss_table_int(table, row, condition->index);
		is_met = operator_is_met(condition->operation, figure, condition->number);
		condition->of_rows++;
		condition->rows += is_met;
		if (!condition->is_known || (is_met && !condition->is_met) ||
		    (is_met == condition->is_met && condition_is_worse(condition, figure))) {
			condition->found = figure;
			worst = row;
		}
		condition->is_known = true;
		condition->is_met = condition->is_met || is_met;
	}
	if (condition->of_rows && condition->view)
		condition->where = condition_name_row(table, worst, arena);
	/* without rows nothing meets the condition */
	condition->is_known = condition->is_known || !table->row_count;
	return !condition->of_rows || !condition->view || condition->where;
}
