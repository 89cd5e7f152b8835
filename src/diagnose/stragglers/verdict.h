/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - which ranks delay the others, how regularly, and why.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_VERDICT_H
#define SS_DIAGNOSE_STRAGGLERS_VERDICT_H

#include "diagnose/stragglers/late.h"
#include "diagnose/stragglers/slow_links.h"

/*
 * A device that another process uses as well: launched work does not start, nothing of this
 * process runs, and this lasts equally long each time. The device is shared in time slices, and
 * the other process is not in the file.
 */
struct ss_time_slices {
	uint32_t count;   /* gaps of the same length; 0: there are none */
	int64_t slice_ns; /* their length: the median */
	int64_t sum_ns;   /* of all of them */
};

enum ss_straggler_pattern {
	SS_PATTERN_PERSISTENT, /* in nearly all steps */
	SS_PATTERN_TRANSIENT,  /* in some steps */
	SS_PATTERN_ROTATING,   /* a different rank in each step */
};

enum ss_late_cause {
	SS_LATE_KERNELS, /* the same kernels, all longer by the same factor */
	SS_LATE_WORK,    /* more or larger work */
	SS_LATE_COPIES,
	SS_LATE_HOST,   /* its device was idle: see idle_cause */
	SS_LATE_LINK,   /* not late itself: its groups' transfers are slow */
	SS_LATE_SHARED, /* its device is used by another process as well */
	SS_LATE_UNKNOWN,
};

/* Why a rank that is late is not named. */
enum ss_straggler_spared {
	SS_SPARED_NOT,    /* it is */
	SS_SPARED_SELDOM, /* in too few steps, or by too little for few steps */
	SS_SPARED_ALIKE,  /* it does nothing much longer than the others */
	SS_SPARED_WAITS,  /* it waits for others more than they do */
	SS_SPARED_CHEAP,  /* without it the job would be no faster */
	SS_SPARED_NOISE,  /* it differs from itself as much as from the others */
	SS_SPARED_HELD,   /* typical calls are as fast as theirs: a busy machine delays it */
};

struct ss_straggler {
	uint32_t rank; /* SS_NO_ROW when it rotates */
	enum ss_straggler_pattern pattern;
	uint32_t steps, of_steps;
	int64_t late_ns;      /* mean of the steps in which it is late, inherited not included */
	int64_t inherited_ns; /* mean of the same steps */
	int64_t gain_ns;      /* mean over all steps: what all would gain without it */
	int64_t lost_ns;      /* mean over all steps: GPU time of others that waited for it */
	int64_t step_ns;      /* mean time of a step */
	enum ss_late_cause cause;
	enum ss_idle_cause idle_cause; /* of SS_LATE_HOST */
	int64_t excess_ns;             /* of the cause: time per step beyond the median rank's */
	int32_t cause_percent;         /* of late_ns that it explains */
	/* of SS_LATE_KERNELS: its SM clock and that of the median rank; 0: not recorded */
	int64_t clock_mhz, usual_clock_mhz;
	double kernel_ratio; /* mean time of its kernels to the median rank's; 0: not comparable */
	enum ss_phase phase; /* of SS_LATE_WORK: where it has more; SS_PHASE_OTHER: not known */
	enum ss_straggler_spared spared;
	struct ss_time_slices slices; /* of SS_LATE_SHARED */
	bool same_work; /* without device: as many operators as the others, as large as they are */
	double work_ratio, call_ratio; /* time and calls in that phase to the median rank's */
};

struct ss_straggler_verdict {
	struct ss_straggler *items; /* the worst first */
	uint32_t count;
	struct ss_slow_link link; /* of the item with SS_LATE_LINK */
	/* of a pipeline, with a slow device; late_ns: what others wait longer than it does */
	struct ss_straggler stage; /* rank SS_NO_ROW: none */
	/* not late, but with slower devices than the others: something else delays all ranks */
	struct ss_straggler *hidden;
	uint32_t hidden_count;
	bool few_steps;             /* fewer than two: a guess */
	struct ss_straggler latest; /* the latest rank, reported or not; of_steps 0: nobody */
};

SS_MUST_USE
bool ss_straggler_find(struct ss_straggler_verdict *verdict, const struct ss_joined *joined,
		       struct ss_arena *arena);

const char *ss_straggler_pattern_name(enum ss_straggler_pattern pattern);

/*
 * What to do, by the cause: lines that live forever; NULL: the cause is not known. `on_host`: the
 * rank has no device.
 */
const char *ss_straggler_advice(const struct ss_straggler *item, bool on_host);

/* reasons.c: whether its clock is lower than that of the others. */
bool ss_straggler_is_throttled(const struct ss_straggler *item);

/* `scratch` has room for one value a gap of the rank. */
struct ss_time_slices ss_straggler_find_time_slices(const struct ss_digest *rank, int64_t *scratch);

#endif
