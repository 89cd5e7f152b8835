/*
 * Rule out-of-memory: allocations that failed in a trace, and why in a snapshot.
 */
#include "support/memory_cases.h"
#include "support/memory_rule.h"

#define OUT(count) "Allocations failed: out of memory, " count "x a step"

static const struct rule_case traces[] = {
	{ "nothing", "[]", "" },
	{ "memory is not recorded", EVENTS(THREE_STEPS), "" },
	{ "an allocation that failed in each step",
	  EVENTS(THREE_STEPS, FAILED("2", "64", "8"), FAILED("12", "64", "8"),
		 FAILED("22", "64", "8")),
	  "warning 0.0 high\n" OUT("1") },
	{ "one in three steps", EVENTS(THREE_STEPS, FAILED("2", "64", "8")),
	  "warning 0.0 high\n" OUT("0.3") },
	{ "none failed", EVENTS(THREE_STEPS, HELD("2", "64", "900", "900", "900")), "" },
	{ "no steps", EVENTS(FAILED("2", "64", "8")), "" },
};
