/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - jobs for tests without files: digests from a compact script, ranks joined,
 * views of all ranks.
 *
 * Everything here fails the running test by itself when something is wrong.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_RANKS_H
#define SS_TESTS_SUPPORT_MAKE_RANKS_H

#include "ranks/join.h"
#include "support/support.h"
#include "support/view_cases.h"

/* Where the times of ranks with a clock begin. */
#define SUPPORT_CLOCK_NS INT64_C(1700000000000000000)

struct support_ranks {
	struct ss_memory memory;
	struct ss_digest *items;
	uint32_t count;
	bool is_joined;
	struct ss_joined joined;
};

void support_ranks_open(struct support_ranks *ranks);

/*
 * Adds what a script says. Statements are separated by ';', times are microseconds
 * of the true time:
 *
 *     rank NUMBER [@HOST] [>AHEAD] [~PPM] [#MARK] [noclock]   begins a rank; AHEAD: so much its
 *                                                     clock is ahead of the true time
 *     group NAME [RANKS]                              of what follows; '-': no name
 *     step NUMBER START +DURATION [PARTS]
 *     kernel NAME CALLS TOTAL
 *     KIND START +DURATION [=SEQUENCE] [*SHAPE] [!BYTES] [^STREAM] [PARTS]
 *
 * KIND is a word that ss_collective_kind_of() knows, and its kernel. An arrival is of the
 * step it starts in. PARTS are what was done: c computing, m communicating, x of it
 * exposed, y copying, i waiting for input, l launching, each with its time: c40.
 */
void support_ranks_add(struct support_ranks *ranks, const char *script);

/* A rank, an arrival and a step of it: for jobs that are made by loops. Times are ns. */
struct ss_digest *support_ranks_rank(struct support_ranks *ranks, int64_t number, const char *host);
uint32_t support_rank_group(struct ss_digest *rank, const char *name, const char *members);
struct ss_arrival *support_rank_arrive(struct ss_digest *rank, const char *kind, int64_t start_ns,
				       int64_t end_ns);
/* What the rank did before its last arrival. */
void support_rank_own(struct ss_digest *rank, const int64_t own_ns[SS_OWN_PARTS]);
struct ss_rank_step *support_rank_step(struct ss_digest *rank, uint32_t number, int64_t start_ns,
				       int64_t end_ns);
void support_rank_kernel(struct ss_digest *rank, const char *name, int64_t calls, int64_t total_ns);

/* Puts arrivals in order and joins the ranks; the test fails when that cannot be done. */
void support_ranks_join(struct support_ranks *ranks);

/* The test fails when memory is still charged. */
void support_ranks_close(struct support_ranks *ranks);

/* Opens, adds and joins. */
void support_ranks_script(struct support_ranks *ranks, const char *script);

/* The collectives by time: "all-reduce 0:0 1:2; ..." are rank:arrival by number of the rank. */
void support_ranks_meetings(const struct support_ranks *ranks, struct ss_text *out);

/* Tests of views of all ranks: the traces of the cases are scripts as above. */
void job_cases_run(const char *view, const struct view_case *cases, size_t count);

/* The view, and joining, refused every allocation in turn. */
void job_memory_run(const char *view, const char *script);

#endif
