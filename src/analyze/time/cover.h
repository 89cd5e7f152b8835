/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cover.h - sets of moments: sorted intervals that do not overlap.
 *
 * Questions such as "how long was at least one of these running" or "how much of this was
 * hidden by that" are unions, intersections or differences of such sets; each takes one
 * pass over its operands. Adjacent intervals may stay separate.
 */
#ifndef SS_ANALYZE_TIME_COVER_H
#define SS_ANALYZE_TIME_COVER_H

#include "base/memory.h"
#include "base/ns.h"
#include "trace/trace.h"

struct ss_interval {
	int64_t start_ns, end_ns; /* end > start */
};

/* Zeroed: empty. Released with ss_cover_release(). */
struct ss_cover {
	struct ss_memory *memory;
	struct ss_interval *items;
	uint32_t count, capacity;
	bool failed; /* no memory: the set is incomplete */
};

void ss_cover_init(struct ss_cover *cover, struct ss_memory *memory);
void ss_cover_release(struct ss_cover *cover);

/* Declares an empty set that is released where its block is left. */
#define SS_COVER(name, account) \
	SS_OWNED(ss_cover_release) struct ss_cover name = { .memory = (account) }

/* Adds an interval that starts no earlier than those before it; empty ones are left out. */
void ss_cover_add(struct ss_cover *cover, int64_t start_ns, int64_t end_ns);

/* Appends an interval as it is, without joining it to the one before. */
void ss_cover_append(struct ss_cover *cover, int64_t start_ns, int64_t end_ns);

/* cover = cover | other */
void ss_cover_unite(struct ss_cover *cover, const struct ss_cover *other);

/*
 * A union of many sets. Uniting them one after the other would read the whole union for each
 * of them; a pile unites sets of about the same size. Zeroed: empty.
 */
struct ss_cover_pile {
	struct ss_cover levels[32]; /* of 1, 2, 4 ... members, or empty */
};

/* Moves the contents of the set into the pile. */
void ss_cover_pile_add(struct ss_cover_pile *pile, struct ss_cover *cover);

/* Puts the union in place of the empty set `out`, and leaves the pile empty. */
void ss_cover_pile_finish(struct ss_cover_pile *pile, struct ss_cover *out);

/*
 * Puts the moments of all rows that `wants` accepts in the empty set `out`, of the tracks whose
 * class has a bit in `classes`.
 */
void ss_cover_rows(struct ss_cover *out, const struct ss_trace *trace, uint32_t classes,
		   bool (*wants)(const void *context, uint32_t row), const void *context);

/* cover = cover - other */
void ss_cover_subtract(struct ss_cover *cover, const struct ss_cover *other);

/* The length of the set. */
int64_t ss_cover_length(const struct ss_cover *cover);

/* The length of its part in [from, to). */
int64_t ss_cover_length_in(const struct ss_cover *cover, int64_t from_ns, int64_t to_ns);

/* The length of the intersection. */
int64_t ss_cover_common(const struct ss_cover *a, const struct ss_cover *b);

/* Adds to sums[i] how much of the cover lies in the i-th interval of `parts`. */
void ss_cover_share(const struct ss_cover *cover, const struct ss_cover *parts, int64_t *sums);

/* How much of a cover lies in an interval, by two searches. */
struct ss_cover_index {
	const struct ss_cover *cover;
	int64_t *before_ns; /* length of all intervals before each */
};

/* False: no memory. The index lives as long as the arena. */
SS_MUST_USE
bool ss_cover_index_init(struct ss_cover_index *index, const struct ss_cover *cover,
			 struct ss_arena *arena);

int64_t ss_cover_index_in(const struct ss_cover_index *index, int64_t from_ns, int64_t to_ns);

#endif
