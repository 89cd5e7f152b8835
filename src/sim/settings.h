/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - the fields of a plan that a user may set by name.
 */
#ifndef SS_SIM_SETTINGS_H
#define SS_SIM_SETTINGS_H

#include "sim/plan.h"

struct ss_sim_setting {
	const char *name; /* "bucket-mb" */
	const char *about;
	size_t offset;  /* in struct ss_sim_plan */
	size_t bytes;   /* of the field: 1 for flags, 4 or 8 */
	uint64_t scale; /* the field is the number times this */
	uint64_t least, most;
};

extern const struct ss_sim_setting ss_sim_settings[];
extern const size_t ss_sim_setting_count;

/* Applies "accumulate=4,stack=0"; NULL changes nothing. */
SS_MUST_USE
enum ss_status ss_sim_settings_apply(struct ss_sim_plan *plan, const char *list,
				     struct ss_error *err);

#endif
