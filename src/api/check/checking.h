/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checking.h - a check of sessions: begin with the conditions, add the runs of the baseline one
 * after the other, end with the run.
 *
 * A run of the baseline is measured and can be closed; the run itself must stay open while the
 * check is rendered.
 */
#ifndef SS_API_CHECK_CHECKING_H
#define SS_API_CHECK_CHECKING_H

#include "api/session.h"
#include "base/change_points.h" /* for surfaces that show a series of runs */
#include "check/check.h"
#include "render/check/shown.h"

struct ss_checking {
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_check check;
	struct ss_check_run *before; /* SS_CHECK_RUNS_MAX */
	const struct ss_view *summary_view;
	struct ss_table summary;
	bool is_series;    /* the baseline is runs of a store or folder, by time */
	bool needs_traces; /* a condition is on a view of single ranks: the run is not reduced */
};

/*
 * Reads the conditions, separated by commas (NULL: none), and finds their views and columns: what
 * is wrong is reported before anything is loaded. Release it in any case.
 */
SS_MUST_USE
enum ss_status ss_checking_begin(struct ss_checking *checking, const char *conditions,
				 struct ss_error *err);
void ss_checking_release(struct ss_checking *checking);

/* Adds a run of the baseline; those beyond SS_CHECK_RUNS_MAX are left out. */
SS_MUST_USE
enum ss_status ss_checking_add(struct ss_checking *checking, struct ss_session *session,
			       struct ss_error *err);

/*
 * Judges the run; the threshold is a share. If the run itself is among those of the baseline, it is
 * not compared with itself.
 */
SS_MUST_USE
enum ss_status ss_checking_end(struct ss_checking *checking, struct ss_session *session,
			       double threshold, struct ss_error *err);

/* What renderers need to know of the session beside the check. */
void ss_checking_show(const struct ss_session *session, struct ss_rendered_check *out);

/* "2%", "0.5 %" or "2": a share of 0.02; false: it is none, or not below 100 %. */
bool ss_checking_read_threshold(const char *text, double *out);

/* The columns of the summary, which conditions can name without a view. */
SS_MUST_USE
enum ss_status ss_checking_list(const struct ss_request *request, struct ss_text *out,
				struct ss_error *err);

#endif
