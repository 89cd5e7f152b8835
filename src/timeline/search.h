/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - slices by their names.
 *
 * Each distinct name is compared once. The sums of all names are made when a file is first
 * searched, so counting is free; only a filter by step, or by kind where a name has several kinds,
 * needs a pass over the slices. Hits are listed in the order of time.
 */
#ifndef SS_TIMELINE_SEARCH_H
#define SS_TIMELINE_SEARCH_H

#include "timeline/timeline.h"

struct ss_search {
	const char *pattern;   /* see ss_view_pattern_matches() */
	uint32_t kinds;        /* bit per enum ss_kind */
	uint32_t step;         /* number of the step; SS_NO_ROW: any */
	bool longest;          /* the longest alone, of equal ones the first */
	uint64_t offset, room; /* which of all hits are listed */
	const uint32_t *files; /* of the timeline, all readable, each once */
	uint32_t file_count;
	int64_t from_ns; /* time of the timeline where `next` is searched from; below 0: none */
	uint32_t pixels; /* of the run, for `marks`; 0: none are wanted */
};

struct ss_hit {
	uint32_t file, row;
};

struct ss_hits {
	struct ss_memory *memory;
	struct ss_hit *items; /* by file, then by start */
	uint32_t count, capacity;
	uint64_t all_count; /* shown or not */
	uint64_t next;      /* number of the first hit from `from_ns` on */
	bool has_next;
	uint32_t *marks; /* per pixel of the run: hits that begin there */
	uint32_t mark_count;
	uint64_t name_count;
	int64_t total_ns;
};

/* Release `out` after SS_OK. */
SS_MUST_USE
enum ss_status ss_search_run(const struct ss_search *search, struct ss_timeline *timeline,
			     struct ss_memory *memory, struct ss_hits *out, struct ss_error *err);
void ss_hits_release(struct ss_hits *hits);

/* The kinds of a word (ss_kind_name(); "kernel" means both sorts); 0: unknown word. */
uint32_t ss_search_kinds(const char *word);

/* The measured step in which a slice was called or launched, or SS_NO_ROW. */
uint32_t ss_timeline_step_of_row(const struct ss_trace *trace, uint32_t row);

#endif
