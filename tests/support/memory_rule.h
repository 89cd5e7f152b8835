/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_rule.h - traces for tests of rules that look at memory.
 */
#ifndef SS_TESTS_SUPPORT_MEMORY_RULE_H
#define SS_TESTS_SUPPORT_MEMORY_RULE_H

#include "support/make/memory_events.h"
#include "support/rule_cases.h"

/* Steps of 10 us whose operators make them count. */
#define STEP_OF(number, from, op) STEP(number, from, "10"), OP("a", op, "5")
#define THREE_STEPS JOIN(STEP_OF("1", "0", "1"), STEP_OF("2", "10", "11"), STEP_OF("3", "20", "21"))
#define FOUR_STEPS JOIN(THREE_STEPS, STEP_OF("4", "30", "31"))

/* A file that says how large its device is. */
#define SIZED(bytes, ...)                                                                 \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"D\",\"totalGlobalMem\":" bytes "}]," \
	"\"traceEvents\":" EVENTS(__VA_ARGS__) "}"

/* An allocation of CUDA:0 with its totals. */
#define HELD(ts, address, bytes, allocated, reserved) \
	MEMORY(ts, "1", "0", address, bytes, allocated, reserved)

#endif
