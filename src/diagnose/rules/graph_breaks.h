/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_breaks.h - the two halves of the rule: jobs with a device, and those without.
 */
#ifndef SS_DIAGNOSE_RULES_GRAPH_BREAKS_H
#define SS_DIAGNOSE_RULES_GRAPH_BREAKS_H

#include "analyze/host/regions.h"
#include "diagnose/rule.h"

/* Two regions can be the two halves of a program; several breaks in a pass are a pattern. */
#define SS_GRAPH_BREAKS_MIN 2

/* Whether this is the name of a function that resumes after a graph break. */
bool ss_rule_graph_break_resumes(const char *name);

/* Claims what runs between compiled graphs on the CPU. */
SS_MUST_USE
enum ss_status ss_rule_graph_breaks_on_cpu(struct ss_look *context,
					   const struct ss_regions *regions, struct ss_error *err);

#endif
