/*
 * unexplained_time.h - what the rule knows of a rank that the account of the step needs.
 */
#ifndef SS_DIAGNOSE_RULES_UNEXPLAINED_TIME_H
#define SS_DIAGNOSE_RULES_UNEXPLAINED_TIME_H

#include "diagnose/exam.h"

extern const struct ss_rule ss_rule_unexplained_time;

/*
 * Time of all steps of a rank that no rule claims: idle time of the device, or time of the training
 * thread outside of operators where there is none. With a graph: without what this rule claims.
 */
double ss_unexplained_ns(const struct ss_exam *exam, const struct ss_graph *graph);

#endif
