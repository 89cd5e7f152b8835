/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - a view: a name, columns, and a function that fills a table.
 *
 * To add one: src/analyze/views/X.c, tests/analyze/views/X.c, docs/views/X.md, and X in
 * src/analyze/views/meson.build. Help, JSON, docs and tests follow from the struct.
 */
#ifndef SS_VIEW_VIEW_H
#define SS_VIEW_VIEW_H

#include <stddef.h>

#include "table/table.h"
#include "trace/trace.h"

struct ss_facts;

/* One file of the job, as a view sees it. */
struct ss_subject {
	const char *path;
	int64_t rank;                 /* -1: not known */
	bool rank_by_name;            /* from the file's name, not the file */
	bool rank_by_order;           /* not even that: its position in the list of files */
	const struct ss_trace *trace; /* NULL: could not be read */
	const char *problem;          /* why; NULL when it could */
	double load_seconds;          /* how long reading took */
	struct ss_facts *facts;       /* of the trace: what views share */
	uint32_t group;               /* what rows are about: index into the view's groups */
};

#define SS_GROUPS_MAX 8
#define SS_ORDER_MAX 3

/* What moments of a view (SS_COLUMN_MOMENT) count from. */
enum ss_zero {
	SS_ZERO_FILE,        /* the first event of the row's file */
	SS_ZERO_COLLECTIVES, /* the first collective of the job */
	SS_ZERO_STEPS,       /* the first measured step of the first rank that has one */
	SS_ZERO_PATH,        /* the start of the critical path */
};

/* What the times and counts of a row are of. */
enum ss_basis {
	SS_BASIS_NONE,  /* steps do not matter */
	SS_BASIS_FILE,  /* sums over the file; with --step over what was called in the steps */
	SS_BASIS_STEPS, /* sums over the measured steps */
	SS_BASIS_MEAN,  /* the mean step */
	SS_BASIS_STEP,  /* one step per row */
	SS_BASIS_EVENT, /* one event per row */
};

struct ss_joined;           /* ranks/join.h */
struct ss_replay;           /* replay/replay.h */
struct ss_snapshot_subject; /* memory/subject.h */

struct ss_view {
	union { /* first: a table sees no more of its view */
		struct {
			SS_TABLE_SCHEMA
		};
		struct ss_table_schema schema;
	};
	const char *sums; /* columns whose rows add up, names separated by spaces */
	uint32_t nested;  /* groups, a bit each, whose rows hold each other: they do not */
	const char *wide; /* details that a page has room for, likewise */
	enum ss_basis basis, bases[SS_GROUPS_MAX]; /* of all groups, and of those that differ */
	/* --group: what a row can be about, the first by default; NULL ends the list */
	const char *groups[SS_GROUPS_MAX];
	/*
	 * Rows with the most of the first column come first, of equal ones those with the most
	 * of the next: of one rank and of all. None: rows have an order of their own (time, a
	 * tree, a scale).
	 */
	const char *order[SS_ORDER_MAX];
	uint32_t own_order; /* groups, a bit each, whose rows keep an order of their own anyway */
	uint32_t events;    /* groups whose rows happened once: ranks have no median of them */
	enum ss_zero zero;  /* of moments */
	/*
	 * --step: true for views that cut time at the ends of the steps themselves; they
	 * see all rows. The others see what was called or launched in the steps.
	 */
	bool by_moment;
	/* enum ss_columns: what it reads of a trace; 0: all of it */
	uint32_t reads;
	uint32_t reads_all; /* groups, a bit each, that read all of it anyway: by facts */
	bool of_device;     /* about GPUs alone: of no use where none was recorded */
	bool wants_failed;  /* also called for files that could not be read */
	bool folds;         /* reports for people sum it over the files */
	/* One of these: of one file, of the ranks of the job together, or of their replay. */
	enum ss_status (*run)(const struct ss_subject *subject, struct ss_table *out,
			      struct ss_error *err);
	enum ss_status (*run_job)(const struct ss_joined *joined, uint32_t group,
				  struct ss_table *out, struct ss_error *err);
	enum ss_status (*run_replay)(const struct ss_replay *replay, uint32_t group,
				     struct ss_table *out, struct ss_error *err);
	/* Of a snapshot of memory, which is no file of a job: see memory/subject.h. */
	enum ss_status (*run_snapshot)(const struct ss_snapshot_subject *subject,
				       struct ss_table *out, struct ss_error *err);
};

_Static_assert(offsetof(struct ss_view, schema) == 0, "struct ss_table relies on it");

/* True for views of all ranks together. */
static inline bool ss_view_of_job(const struct ss_view *view)
{
	return view->run_job || view->run_replay;
}

/* All views, in the order of the lists of src/analyze/views, src/ranks/views and src/replay. */
extern const struct ss_view *const ss_views[];
extern const size_t ss_view_count;

/* NULL if there is no view of that name. */
const struct ss_view *ss_view_find(const char *name);

/* The number of the group of that name (NULL: the first), or SS_GROUPS_MAX: no such group. */
uint32_t ss_view_group(const struct ss_view *view, const char *name);

/* Whether rows of a table of this group are ordered by `order`. */
bool ss_view_is_ordered(const struct ss_view *view, uint32_t group);

/* Whether a list of names, such as `sums`, has the name; NULL is an empty list. */
bool ss_view_lists(const char *list, const char *name);

/* Columns that views share. */
#define SS_COLUMN_FILES                                                                           \
	{                                                                                         \
		"files", SS_COLUMN_COUNT, "files that this row covers: 1, more in summed tables", \
			SS_COLUMN_CONTEXT | SS_COLUMN_QUIET                                       \
	}
#define SS_COLUMN_RANK                                                                        \
	{                                                                                     \
		"rank", SS_COLUMN_ID, "rank of the file; empty if unknown", SS_COLUMN_CONTEXT \
	}

#endif
