/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - what the clock of a host shows at a moment of true time.
 *
 * The machine counts true nanoseconds from the beginning of the job. A host's
 * clock is off by an offset and runs too fast or too slow by its drift; all rows
 * of a rank, those of the device too, are stamped with its host's clock.
 */
#ifndef SS_SIM_CLOCK_H
#define SS_SIM_CLOCK_H

#include "sim/plan.h"

/* The base that torch writes; job time 0 is SS_SIM_EPOCH_NS after it. */
#define SS_SIM_BASE_NS INT64_C(1767189312000000000)
#define SS_SIM_EPOCH_NS INT64_C(3743411000000000)

struct ss_sim_clock {
	int64_t offset_ns;
	int64_t drift_ppb;
};

/* Ranks of one host share a clock; the first host's is true. */
struct ss_sim_clock ss_sim_clock_of(const struct ss_sim_plan *plan, uint32_t rank);

/* Nanoseconds after SS_SIM_BASE_NS that the clock shows. Never runs backwards. */
int64_t ss_sim_clock_show(const struct ss_sim_clock *clock, int64_t true_ns);

#endif
