/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - what a check keeps of a run: the lengths of its steps, and what they are made of.
 *
 * It is small, and its texts are its own: the traces of a baseline can be closed before the next
 * ones are loaded. Times are of the mean step of a rank.
 */
#ifndef SS_CHECK_MEASURE_H
#define SS_CHECK_MEASURE_H

#include "check/noise.h"
#include "diagnose/diagnose.h"
#include "load/step_parts.h"

/* A kernel (without a device: an operator) or a kind of collective. */
struct ss_check_item {
	const char *name;
	double ns;
};

struct ss_check_items {
	struct ss_check_item *items; /* by name */
	uint32_t count;
};

struct ss_check_finding {
	const struct ss_rule *rule;
	const char *title;
	double cost_ns; /* 0: it has no time */
	bool is_warning;
};

struct ss_check_run {
	const char *path;   /* of its first file */
	const char *device; /* NULL: not recorded */
	const char *commit; /* likewise */
	uint32_t ranks;
	bool on_device; /* events of a device are recorded */
	struct ss_noise_run steps;
	double step_ns;    /* the mean */
	bool has_no_parts; /* of a store: parts and phases are not known */
	double part_ns[SS_STEP_PARTS];
	double phase_ns[SS_PHASE_COUNT];
	struct ss_check_items kernels, collectives;
	struct ss_check_items modules; /* of the first rank; none: not recorded */
	struct ss_check_finding *findings;
	uint32_t finding_count;
};

/* After the verdict on all ranks. All that it keeps is in the arena. */
SS_MUST_USE
enum ss_status ss_check_measure(struct ss_check_run *out, const struct ss_job *job,
				const struct ss_diagnosis *diagnosis, struct ss_arena *arena,
				struct ss_error *err);

#endif
