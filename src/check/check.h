/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the verdict on a run: is it slower than its baseline, and what has changed; which
 * conditions hold.
 */
#ifndef SS_CHECK_CHECK_H
#define SS_CHECK_CHECK_H

#include "check/noise.h"
#include "diagnose/diagnose.h"
#include "load/step_parts.h"
#include "view/view.h"

/*
 * A condition of --fail-if: "idle_percent > 10", "steps.dur_ns > 2s".
 *
 *     condition = [ view "." ] column operator number [ unit ]
 *     operator  = "<" | "<=" | ">" | ">=" | "==" | "!="
 *     unit      = "ns" | "us" | "ms" | "s" | "%" | "B" | "kB" | "MB" | "GB" | "KiB" | "MiB" | "GiB"
 *
 * Without a view the column is one of the summary (check.h), which has one row. A condition on a
 * view holds if one of its rows meets it.
 */

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

/* --- a run -----------------------------------------------------------------------------------
 *
 * What a check keeps of a run: the lengths of its steps, and what they are made of. It is small,
 * and its texts are its own: the traces of a baseline can be closed before the next ones are
 * loaded. Times are of the mean step of a rank.
 */

/* A kernel (without a device: an operator) or a kind of collective. */
struct ss_check_item {
	const char *name;
	double ns;
	double calls; /* per step; 0: not counted */
};

struct ss_check_items {
	struct ss_check_item *items; /* by name */
	uint32_t count;
};

struct ss_check_finding {
	const struct ss_rule *rule;
	const char *title;
	double cost_ns; /* 0: it has no time */
	bool is_warning;
	bool is_timeless;
	int64_t rank; /* that causes it, from 1; 0: none does alone, or it is not known */
};

struct ss_check_run {
	const char *path;   /* of its first file */
	const char *device; /* NULL: not recorded */
	const char *commit; /* likewise */
	uint32_t ranks;
	bool on_device; /* events of a device are recorded */
	struct ss_noise_run steps;
	double step_ns;    /* the mean */
	bool has_no_parts; /* of a store: parts and phases are not known */
	double part_ns[SS_STEP_PARTS];
	double phase_ns[SS_PHASE_COUNT];
	struct ss_check_items kernels, collectives;
	double calls;                  /* of kernels, per step */
	struct ss_check_items modules; /* of the first rank; none: not recorded */
	struct ss_check_finding *findings;
	uint32_t finding_count;
};

/* measure.c: after the verdict on all ranks. All that it keeps is in the arena. */
SS_MUST_USE
enum ss_status ss_check_measure(struct ss_check_run *out, const struct ss_job *job,
				const struct ss_diagnosis *diagnosis, struct ss_arena *arena,
				struct ss_error *err);

/* --- the verdict --------------------------------------------------------------------------- */

/* More runs do not make the noise more certain. */
#define SS_CHECK_RUNS_MAX 64

/* What changed, as it is named to users. */
enum ss_check_kind {
	SS_CHECK_FINDING,
	SS_CHECK_PART,
	SS_CHECK_PHASE,
	SS_CHECK_KERNEL,
	SS_CHECK_COLLECTIVE,
};

const char *ss_check_kind_name(enum ss_check_kind kind);

/* Times are of the mean step of a rank; those of the baseline are means over its runs. */
struct ss_check_change {
	enum ss_check_kind kind;
	const char *name;  /* of the rule, the part, the kernel */
	const char *title; /* of the finding; else NULL */
	bool is_rest;      /* the finding is what no other rule explains */
	double before_ns, after_ns;
	/* of findings: */
	bool is_before, is_after; /* which runs have it */
	bool is_warning;          /* one of them warns of it */
	bool is_timeless;
	int64_t rank; /* as in struct ss_check_finding */
};

#define SS_CHECK_CHANGES_MAX 12

struct ss_check {
	enum ss_check_verdict verdict; /* of the comparison and all conditions */
	bool has_baseline;
	/* of the comparison alone: */
	enum ss_check_verdict compared;
	/* why that is inconclusive, or what decided although equal runs may differ that much */
	const char *reason; /* a sentence; NULL: none is needed */
	bool is_other_job;  /* and it is because the runs cannot be compared */
	struct ss_noise noise;
	struct ss_noise_history history; /* of earlier levels of the baseline */
	struct ss_check_run after;
	const struct ss_check_run *before; /* runs of the baseline */
	uint32_t before_count;
	struct ss_check_change changes[SS_CHECK_CHANGES_MAX]; /* the cause first */
	uint32_t change_count;
	bool has_cause;         /* the first change explains the verdict */
	const char *decided_by; /* "findings" or "operators"; NULL: the steps and their noise */
	struct ss_check_change *findings; /* of all runs, by how much they changed */
	uint32_t finding_count;
	struct ss_condition *conditions;
	uint32_t condition_count;
	const struct ss_diagnosis *diagnosis; /* of the run; lent */
	const char *series_note; /* the level of the baseline changed: a sentence; NULL: no */
	const char *path;        /* as it was asked for */
	const char *against;     /* likewise; NULL: no baseline */
};

/*
 * Of many earlier runs, those like the run and after the last change point; `runs` is
 * check->before.
 */
SS_MUST_USE
enum ss_status ss_check_choose_level(struct ss_check *check, struct ss_check_run *runs,
				     double threshold, struct ss_arena *arena,
				     struct ss_error *err);

/* Compares check->after with check->before, and finds what changed. */
SS_MUST_USE
enum ss_status ss_check_compare(struct ss_check *check, double threshold, struct ss_arena *arena,
				struct ss_error *err);

/* The verdict of the comparison and of the conditions, which have been evaluated. */
void ss_check_conclude(struct ss_check *check);

/* changes.c: fills check->changes, in the direction of the change. */
SS_MUST_USE
enum ss_status ss_check_find_changes(struct ss_check *check, struct ss_arena *arena,
				     struct ss_error *err);

/* operators.c: those (or kernels) that are called more or less often; times per step of a rank. */
struct ss_check_operators {
	double all_share; /* by which all others changed: the machine's part */
	double beyond_ns; /* by which these changed beyond that: the program's part */
	const char
		*most; /* the one that changed most; NULL: none, or too few are left to compare */
	struct ss_check_item most_before, most_after;
};

/* False: no memory. */
SS_MUST_USE
bool ss_check_measure_operators(struct ss_check_operators *out, const struct ss_check *check,
				struct ss_arena *arena);

/* --- a run in one row ------------------------------------------------------------------------
 *
 * The columns that a condition of --fail-if can name without a view. After the columns that are
 * declared there is one for each rule: what its findings cost, in percent of the mean step.
 */

/* measure.c: the view with all columns; NULL: no memory. */
const struct ss_view *ss_check_summary_view(struct ss_arena *arena);

/* Fills a table of that view with the row; the noise is known only with a baseline. */
void ss_check_summary_fill(const struct ss_check *check, struct ss_table *table);

#endif
