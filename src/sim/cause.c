/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.c - the causes by name, from the list in src/sim/meson.build.
 */
#include <string.h>

#include "sim/cause.h"

#define SS_SIM_CAUSE(name) extern const struct ss_sim_cause ss_sim_cause_##name;
#include "causes.inc"
#undef SS_SIM_CAUSE

#define SS_SIM_CAUSE(name) &ss_sim_cause_##name,
const struct ss_sim_cause *const ss_sim_causes[] = {
#include "causes.inc"
};
#undef SS_SIM_CAUSE

const size_t ss_sim_cause_count = SS_COUNT(ss_sim_causes);

const struct ss_sim_cause *ss_sim_cause_find(const char *name)
{
	for (size_t i = 0; i < ss_sim_cause_count; i++)
		if (strcmp(ss_sim_causes[i]->name, name) == 0)
			return ss_sim_causes[i];
	return NULL;
}

bool ss_sim_causes_agree(const struct ss_sim_cause *a, const struct ss_sim_cause *b)
{
	return a != b && (!a->part || !b->part || strcmp(a->part, b->part) != 0);
}

bool ss_sim_cause_fits(const struct ss_sim_cause *cause, const struct ss_sim_layout *layout)
{
	for (size_t i = 0; i < SS_SIM_CAUSE_LAYOUTS && cause->layouts[i]; i++)
		if (strcmp(cause->layouts[i], layout->name) == 0)
			return true;
	return false;
}
