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
	bool rank_by_name;            /* from the name of the file, not its contents */
	bool rank_by_order;           /* from its position in the list of files */
	const struct ss_trace *trace; /* NULL: could not be read */
	const char *problem;          /* why; NULL when it could */
	double load_seconds;          /* how long reading took */
	struct ss_facts *facts;       /* of the trace: what views share */
	uint32_t group;               /* index into the view's groups */
};

#define SS_GROUPS_MAX 8
#define SS_ORDER_MAX 3

/* What is time 0 in the moments of a view (SS_COLUMN_MOMENT). */
enum ss_zero {
	SS_ZERO_FILE,        /* the first event of the row's file */
	SS_ZERO_COLLECTIVES, /* the first collective of the job */
	SS_ZERO_STEPS,       /* the first measured step of the first rank that has one */
	SS_ZERO_PATH,        /* the start of the critical path */
};

/* What the times and counts of a row cover. */
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
struct ss_hang;             /* hang/hang.h */
struct ss_live;             /* live/live.h */

struct ss_view {
	union { /* first: a table sees no more of its view */
		struct {
			SS_TABLE_SCHEMA
		};
		struct ss_table_schema schema;
	};
	const char *sums; /* columns whose rows add up, names separated by spaces */
	uint32_t nested;  /* groups, a bit each, whose rows contain each other: no sums */
	const char *wide; /* details that pages show, likewise */
	enum ss_basis basis, bases[SS_GROUPS_MAX]; /* of all groups, and of those that differ */
	/* --group: what a row can be about, the first by default; NULL ends the list */
	const char *groups[SS_GROUPS_MAX];
	/*
	 * Rows are sorted by these columns, the largest first, in tables of one rank and of all.
	 * None: rows have an order of their own (time, a tree, a scale).
	 */
	const char *order[SS_ORDER_MAX];
	uint32_t own_order; /* groups, a bit each, whose rows keep an order of their own anyway */
	uint32_t events;    /* groups whose rows happened once: ranks have no median of them */
	enum ss_zero zero;  /* of moments */
	/*
	 * --step: true for views that cut time at the ends of steps themselves: they see all
	 * rows. Other views see only what was called or launched in the selected steps.
	 */
	bool by_moment;
	/* enum ss_columns: the columns of the trace that it reads; 0: all */
	uint32_t reads;
	uint32_t reads_all; /* groups, a bit each, that read all columns, through facts */
	/*
	 * Rows that a digest keeps, by group: at most that many, the largest first, the others as
	 * their sum. 0: none.
	 */
	uint32_t kept[SS_GROUPS_MAX];
	bool of_device;    /* about GPUs only: left out if none was recorded */
	bool wants_failed; /* also called for files that could not be read */
	bool folds;        /* reports for people sum it over all files */
	/* One of these: for one file, for all ranks of the job, or for their replay. */
	enum ss_status (*run)(const struct ss_subject *subject, struct ss_table *out,
			      struct ss_error *err);
	enum ss_status (*run_job)(const struct ss_joined *joined, uint32_t group,
				  struct ss_table *out, struct ss_error *err);
	enum ss_status (*run_replay)(const struct ss_replay *replay, uint32_t group,
				     struct ss_table *out, struct ss_error *err);
	/* For flight recorder dumps: see hang/hang.h. */
	enum ss_status (*run_hang)(const struct ss_hang *hang, uint32_t group, struct ss_table *out,
				   struct ss_error *err);
	/* For live numbers: see live/live.h. */
	enum ss_status (*run_live)(const struct ss_live *live, uint32_t group, struct ss_table *out,
				   struct ss_error *err);
	/* For a memory snapshot: see memory/subject.h. */
	enum ss_status (*run_snapshot)(const struct ss_snapshot_subject *subject,
				       struct ss_table *out, struct ss_error *err);
};

_Static_assert(offsetof(struct ss_view, schema) == 0, "struct ss_table relies on it");

/* True for views of all ranks together. */
static inline bool ss_view_of_job(const struct ss_view *view)
{
	return view->run_job || view->run_replay || view->run_hang || view->run_live;
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

/* Columns that several views have. */
#define SS_COLUMN_FILES                                                                           \
	{                                                                                         \
		"files", SS_COLUMN_COUNT, "files that this row covers: 1, more in summed tables", \
			SS_COLUMN_CONTEXT | SS_COLUMN_QUIET                                       \
	}
#define SS_COLUMN_RANK                                                                        \
	{                                                                                     \
		"rank", SS_COLUMN_ID, "rank of the file; empty if unknown", SS_COLUMN_CONTEXT \
	}

/*
 * What a view could not know, and how to record it. One sentence each, so that all views use the
 * same words.
 */
enum ss_missing {
	SS_MISSING_LINES,       /* of the program */
	SS_MISSING_MODULES,     /* nn.Modules */
	SS_MISSING_OLD_MODULES, /* the same, though stacks are there */
	SS_MISSING_SHAPES,      /* of inputs: without them no FLOPs and bytes */
	SS_MISSING_ALLOCATIONS, /* [memory] events */
	SS_MISSING_DEVICE,      /* kernels, copies, memsets */
	SS_MISSING_OPERATORS,
};

/* Writes the sentence, as the recorder of the trace (or NULL) needs it; 256 bytes are enough. */
void ss_note_missing_text(const struct ss_trace *trace, enum ss_missing what, char *out,
			  size_t room);

/* Adds it as a note below the table. */
void ss_note_missing(struct ss_table *out, enum ss_missing what);

/* Adds a note about devices that are not in the table: ss_devices_by_step(). */
void ss_note_devices(struct ss_table *out, uint32_t left_out);

/* The ids of a thread or stream as texts that live as long as the table. */
const char *ss_pid_text(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_table *table);
const char *ss_tid_text(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_table *table);

#endif
