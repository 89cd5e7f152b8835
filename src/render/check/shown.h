/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown.h - the verdict of a check for people, for programs and for the services of CI systems.
 */
#ifndef SS_RENDER_CHECK_SHOWN_H
#define SS_RENDER_CHECK_SHOWN_H

#include "check/check.h"
#include "render/render.h"

struct ss_rendered_check {
	const struct ss_check *check;
	const struct ss_table *summary; /* its one row */
	const char *name;               /* of the job, in series over many runs */
	uint32_t width;                 /* of the text, in columns */
	bool color;
	struct ss_trust trust;
	struct ss_identity run;
};

/* One file each. */
void ss_render_check_text(const struct ss_rendered_check *shown, struct ss_text *out);
void ss_render_check_json(const struct ss_rendered_check *shown, struct ss_text *out);
void ss_render_check_markdown(const struct ss_rendered_check *shown, struct ss_text *out);
/* JUnit XML: a test case for the step time, and one per condition. */
void ss_render_check_junit(const struct ss_rendered_check *shown, struct ss_text *out);
/* SARIF 2.1.0: the findings that have a line of code. */
void ss_render_check_sarif(const struct ss_rendered_check *shown, struct ss_text *out);
/* Bencher Metric Format: JSON. */
void ss_render_check_bencher(const struct ss_rendered_check *shown, struct ss_text *out);
/* "customSmallerIsBetter" of github-action-benchmark: JSON. */
void ss_render_check_benchmark(const struct ss_rendered_check *shown, struct ss_text *out);
/* Annotations of GitHub Actions: workflow commands. */
void ss_render_check_github(const struct ss_rendered_check *shown, struct ss_text *out);

/* GitHub refuses larger summaries of a step (1 MiB). */
#define SS_RENDER_CHECK_SUMMARY_BYTES 1000000

/* The same as Markdown, below that size. */
void ss_render_check_step_summary(const struct ss_rendered_check *shown, struct ss_text *out);

/* text.c: lines that are broken at spaces, with a label before the first part. */
void ss_render_check_line(uint32_t width, const char *label, const char *text, struct ss_text *out);

/* --- sentences.c: what the formats share ------------------------------------------------ */

/* "Regression: the mean step takes 127 ms, 49.3 % longer than in the baseline (85.0 ms)." */
void ss_render_check_headline(const struct ss_check *check, struct ss_text *out);

/* "Rank 0 computes more slowly than the others (straggler): 0 -> 41.9 ms per step"; or nothing. */
void ss_render_check_cause(const struct ss_check *check, struct ss_text *out);

/* "±6.4 % at 98 % confidence, from 10 steps of 1 baseline run; can see changes of 8.7 % or more" */
void ss_render_check_noise(const struct ss_check *check, struct ss_text *out);

/* "is true: 25.5 (rank 0)" */
void ss_render_check_condition(const struct ss_condition *condition, struct ss_text *out);

/* A line of the user's program: "train.py(55): log_loss". */
struct ss_render_check_location {
	const char *file;
	size_t file_length;
	uint32_t line;
};

/* The line of the heaviest evidence that has one; false: none has. */
bool ss_render_check_location(const struct ss_finding *finding,
			      struct ss_render_check_location *out);

/* Figures of the summary by name; false: not known. */
bool ss_render_check_figure(const struct ss_rendered_check *shown, const char *column, double *out);

#endif
