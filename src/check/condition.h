/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition.h - a condition of --fail-if: "idle_percent > 10", "steps.dur_ns > 2s".
 *
 *     condition = [ view "." ] column operator number [ unit ]
 *     operator  = "<" | "<=" | ">" | ">=" | "==" | "!="
 *     unit      = "ns" | "us" | "ms" | "s" | "%" | "B" | "kB" | "MB" | "GB" | "KiB" | "MiB" | "GiB"
 *
 * Without a view the column is one of the summary (check.h), which has one row. A condition on a
 * view holds if one of its rows meets it.
 */
#ifndef SS_CHECK_CONDITION_H
#define SS_CHECK_CONDITION_H

#include "view/view.h"

enum ss_operator {
	SS_OPERATOR_LESS,
	SS_OPERATOR_LESS_EQUAL,
	SS_OPERATOR_MORE,
	SS_OPERATOR_MORE_EQUAL,
	SS_OPERATOR_EQUAL,
	SS_OPERATOR_OTHER,
};

struct ss_condition {
	const char *text; /* as it was written, without spaces around it */
	const char *view; /* NULL: the summary */
	const char *column;
	enum ss_operator operation;
	double number; /* in the unit of the column, once it is bound */
	const char *unit;
	const struct ss_column *declared; /* lent */
	uint32_t index;                   /* of the column */
	/* the answer */
	bool is_known;     /* a row has the figure, or there are no rows */
	bool is_met;       /* on one row at least */
	double found;      /* the figure of that row, else the one that is nearest to it */
	uint32_t rows;     /* that meet it, */
	uint32_t of_rows;  /* of those that have the figure; 0: `found` is none */
	const char *where; /* which row it is: its texts; NULL: there is only one */
};

/* Reads one condition; its texts are copied to the arena. */
SS_MUST_USE
enum ss_status ss_condition_read(struct ss_condition *out, const char *text, size_t length,
				 struct ss_arena *arena, struct ss_error *err);

/* Finds the column in the view; the number is then in its unit. */
SS_MUST_USE
enum ss_status ss_condition_bind(struct ss_condition *condition, const struct ss_view *view,
				 struct ss_error *err);

/* Looks at all rows of the view's table. False: no memory. */
SS_MUST_USE
bool ss_condition_evaluate(struct ss_condition *condition, const struct ss_table *table,
			   struct ss_arena *arena);

#endif
