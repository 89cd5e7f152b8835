/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the verdict on a run: is it slower than its baseline, and what has changed; which
 * conditions hold.
 */
#ifndef SS_CHECK_CHECK_H
#define SS_CHECK_CHECK_H

#include "check/condition.h"
#include "check/measure.h"

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
};

#define SS_CHECK_CHANGES_MAX 12

struct ss_check {
	enum ss_check_verdict verdict; /* of the comparison and all conditions */
	bool has_baseline;
	/* of the comparison alone: */
	enum ss_check_verdict compared;
	const char *reason; /* why that is inconclusive: a sentence; NULL: it is not */
	struct ss_noise noise;
	struct ss_check_run after;
	const struct ss_check_run *before; /* runs of the baseline */
	uint32_t before_count;
	struct ss_check_change changes[SS_CHECK_CHANGES_MAX]; /* the cause first */
	uint32_t change_count;
	bool has_cause; /* the first change explains the verdict */
	struct ss_condition *conditions;
	uint32_t condition_count;
	const struct ss_diagnosis *diagnosis; /* of the run; lent */
	const char *series_note; /* the level of the baseline changed: a sentence; NULL: no */
	const char *path;        /* as it was asked for */
	const char *against;     /* likewise; NULL: no baseline */
};

/*
 * series.c: of many earlier runs, those like the run and after the last change point; `runs` is
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

#endif
