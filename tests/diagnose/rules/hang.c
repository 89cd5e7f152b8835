/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule hang: traces never show it. tests/hang/dumps.py has the findings of dumps.
 */
#include "support/memory_rule.h"

static const struct rule_case traces[] = {
	{ "nothing", "[]", "" },
	{ "steps, and no dump", EVENTS(THREE_STEPS), "" },
};

RULE_TESTS("hang", traces, EVENTS(THREE_STEPS))
