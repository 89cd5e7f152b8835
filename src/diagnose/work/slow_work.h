/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_work.h - claims for kernels that take longer than good ones (analyze/work/reach.h). A rule
 * says which work it looks at, or compares kernels itself. Rules that keep the work (rule.h) say
 * nothing of good kernels, and how much of the time of others good ones take.
 */
#ifndef SS_DIAGNOSE_WORK_SLOW_WORK_H
#define SS_DIAGNOSE_WORK_SLOW_WORK_H

#include "analyze/kernel/category.h"
#include "analyze/work/reach.h"
#include "diagnose/evidence/code_places.h"

/*
 * Work that reaches this part of what is reachable is good; and where nothing but its time says
 * that it is slow.
 */
#define SS_SLOW_WORK_GOOD_PART 0.8
#define SS_SLOW_WORK_SLOW_PART 0.7

/* Shorter kernels are bound by latency. */
#define SS_SLOW_WORK_NS 20000

/* What a kernel takes of its time in good ones. */
struct ss_slow_kernel {
	const struct ss_worker *worker; /* NULL: nobody knows who launched it */
	const struct ss_work *work;     /* NULL: unknown */
	enum ss_limit limit;            /* SS_LIMIT_UNKNOWN: so is the next */
	double ns;
};

struct ss_slow_kernel ss_slow_kernel_of(const struct ss_reachable *reachable,
					const struct ss_task *task);

static inline bool ss_slow_kernel_is_good(const struct ss_slow_kernel *reach,
					  const struct ss_task *task)
{
	return reach->limit != SS_LIMIT_UNKNOWN &&
	       reach->ns > SS_SLOW_WORK_GOOD_PART * (double)task->own_ns;
}

/* Places of claimed kernels, with their times now, and in good ones as far as these are known. */
struct ss_slow_places {
	struct ss_code_places *sites;
	struct ss_slow_sum *sums; /* by the numbers of the places */
	uint32_t capacity;
};

void ss_slow_places_add(struct ss_slow_places *places, uint32_t name, uint32_t row, int64_t own_ns,
			const struct ss_slow_kernel *reach);

/* Adds evidence, the heaviest first: "NAME`what`: TIME"; names: NULL: those of the trace. */
void ss_slow_places_report(struct ss_slow_places *places, const char *what,
			   const struct ss_kernel_name *names);

struct ss_slow_work_kind {
	/* Whether the rule looks at this work; its rate is not yet compared. */
	bool (*wants)(const struct ss_work *work, enum ss_limit limit);
	bool is_all; /* good and short kernels count, too */
};

/*
 * Claims what each kernel of such work would save, and says where. *worst: the kernel with the
 * largest saving; SS_NO_ROW if there is none.
 */
SS_MUST_USE
enum ss_status ss_slow_work_look(struct ss_rule_context *context,
				 const struct ss_slow_work_kind *kind, uint32_t *worst,
				 struct ss_error *err);

/* The name of the device that the rank works on, or of its instruction set; "": not recorded. */
const char *ss_slow_work_device(const struct ss_rule_context *context);

#endif
