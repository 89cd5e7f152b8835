/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.h - tables to text: the only place that knows formats.
 *
 * To add a format: src/render/X.c, tests/render/X.c, docs/formats/X.md, and X in
 * src/render/meson.build.
 */
#ifndef SS_RENDER_RENDER_H
#define SS_RENDER_RENDER_H

#include "base/text.h"
#include "load/identity.h"
#include "view/view.h"

struct ss_diagnosis; /* diagnose/diagnose.h */
struct ss_doubts;    /* load/doubts.h */
struct ss_job_run;   /* load/job.h */

/* How trustworthy the files behind a table are; every JSON document carries it. */
struct ss_trust {
	uint64_t files, unreadable_files;
	uint64_t cut_files;                     /* that are truncated; only text shows it */
	uint64_t lost, repaired, notes, absent; /* sums of the counts in the view "quality" */
};

struct ss_render_options {
	uint32_t width; /* text: columns of the terminal */
	bool color;
	uint32_t top;  /* at most this many rows; 0: all */
	uint32_t rows; /* text of one view: at most this many of those; 0: all */
	bool verbose;  /* a verdict with everything that is known */
	/* a verdict: paths and options of the session, as a shell takes them; NULL: not known */
	const char *shell_paths;
	struct ss_trust trust;
	struct ss_identity run; /* not known: the output is not about a run */
};

/* Several tables under one headline. */
struct ss_report_parts {
	const char *name;
	const char *headline; /* lines, each with its newline */
	const struct ss_table *tables;
	uint32_t table_count;
};

struct ss_renderer {
	const char *name; /* --format NAME */
	void (*view)(const struct ss_table *table, const struct ss_render_options *options,
		     struct ss_text *out);
	/* appends the next rows of a table that comes in parts; NULL: a table is rendered whole */
	void (*more)(const struct ss_table *table, const struct ss_render_options *options,
		     struct ss_text *out);
	/* NULL: the format holds one table, so that reports cannot be rendered */
	void (*report)(const struct ss_report_parts *parts, const struct ss_render_options *options,
		       struct ss_text *out);
	void (*diagnosis)(const struct ss_diagnosis *diagnosis,
			  const struct ss_render_options *options, struct ss_text *out);
};

extern const struct ss_renderer *const ss_renderers[];
extern const size_t ss_renderer_count;

/* NULL when there is none of that name. */
const struct ss_renderer *ss_renderer_find(const char *name);

/* The rows of the table that are shown. */
uint32_t ss_render_rows(const struct ss_table *table, const struct ss_render_options *options);

/* units.c: a cell as people read it: "12.3 ms", "1,204,113", "35.2 MB". */
void ss_render_cell(const struct ss_column *column, const struct ss_cell *cell,
		    struct ss_text *out);
void ss_render_ns(int64_t ns, struct ss_text *out);
/* The unit in which a time reads best, in nanoseconds; times next to it use the same. */
int64_t ss_render_scale(int64_t ns);
/* "0.941 ms", three digits in the unit of that scale. */
void ss_render_ns_in(int64_t ns, int64_t scale, struct ss_text *out);
/* "9.41 to 18.8 ms", or "up to 18.8 ms". */
void ss_render_ns_range(int64_t low_ns, int64_t high_ns, int64_t scale, struct ss_text *out);
void ss_render_bytes(int64_t bytes, struct ss_text *out);
void ss_render_count(int64_t count, struct ss_text *out);

/* units.c: a cell as programs read it: plain numbers, 6 digits for shares. */
void ss_render_plain(const struct ss_column *column, const struct ss_cell *cell,
		     struct ss_text *out);

/* "ns", "bytes", "percent", "count", "" */
const char *ss_render_unit(enum ss_column_type type);

/* json.c: a cell of a row; null where it is not known. */
void ss_render_json_cell(const struct ss_column *column, const struct ss_cell *cell,
			 struct ss_text *out);

/* json.c: a text in quotes, and the member "quality" of every document. */
void ss_render_quoted(struct ss_text *out, const char *text);
/* "key":"text" and "key":12; null where it is NULL or not known */
void ss_render_text_member(struct ss_text *out, const char *key, const char *text);
void ss_render_ns_member(struct ss_text *out, const char *key, int64_t ns, bool is_known);
void ss_render_trust(const struct ss_trust *trust, struct ss_text *out);

/* json.c: the values of the members "quality", "notes" and "totals". */
void ss_render_quality(const struct ss_trust *trust, struct ss_text *out);
void ss_render_notes(const struct ss_table *table, struct ss_text *out);
void ss_render_totals(const struct ss_table *table, struct ss_text *out);

/* runs.c: the run as an object, and as the member "run" with the comma behind it. */
void ss_render_identity(const struct ss_identity *run, struct ss_text *out);
void ss_render_run_member(const struct ss_identity *run, struct ss_text *out);

/*
 * runs.c: "Run: 3fq1x7 · 2026-11-16 05:16:12 UTC · host node-3 · commit 1a2b3c4 · python train.py",
 * of what is recorded, cut to the width (0: not cut); nothing if nothing is recorded.
 */
void ss_render_run_line(const struct ss_identity *run, uint32_t width, struct ss_text *out);

/* runs.c: an array of runs: number, name, time, ranks, whether complete and whether chosen. */
void ss_render_recorded_runs(const struct ss_job_run *runs, uint32_t count, uint32_t chosen,
			     struct ss_text *out);

/* runs.c: an array of objects: what it is, how many files have it, and the sentence. */
void ss_render_doubts(const struct ss_doubts *doubts, struct ss_text *out);

/* markdown.c: escapes what is markup in Markdown and HTML. */
void ss_render_escaped(struct ss_text *out, const char *text);

/* markdown.c: the line about the run, and an empty one; nothing if nothing is recorded. */
void ss_render_markdown_run(const struct ss_identity *run, struct ss_text *out);

#endif
