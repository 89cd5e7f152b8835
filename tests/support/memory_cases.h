/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_cases.h - tests of rules on snapshots of memory: a script, and what must be found.
 */
#ifndef SS_TESTS_SUPPORT_MEMORY_CASES_H
#define SS_TESTS_SUPPORT_MEMORY_CASES_H

#include "support/make/snapshot.h"
#include "support/rule_cases.h"

/* A step: an activation that backward frees, a gradient that the optimizer frees. */
#define MEMORY_STEP                                                              \
	"alloc 0x10000 4096 fwd; alloc 0x20000 2048 bwd; free 0x10000 4096 bwd;" \
	"alloc 0x30000 512 opt; free 0x30000 512 opt; free 0x20000 2048 opt;"
/* The same, and 1024 bytes of the loop that stay. */
#define MEMORY_LEAK(address) "alloc " address " 1024 loop;" MEMORY_STEP

struct memory_case {
	const char *what;
	const char *script; /* support/make/snapshot.h */
	/*
	 * What the rule found; "" is silence:
	 *
	 *     LEVEL BYTES CONFIDENCE
	 *     evidence, at line
	 *     -> fix
	 */
	const char *found;
	int64_t size_bytes; /* of device 0, by a trace; 0: not known */
};

void memory_cases_run(const char *rule, const struct memory_case *cases, size_t count);

/* All rules on the script, refused every allocation in turn. */
void memory_cases_refuse(const char *script, int64_t size_bytes);

/* The whole program of a rule that looks at traces and at snapshots. */
#define MEMORY_RULE_TESTS(rule, cases, memory_trace, snapshots, refused, size)           \
	ONE_TEST(test_cases, rule_cases_run(rule, cases, COUNT_OF(cases)))               \
	ONE_TEST(test_memory, rule_memory_run(memory_trace))                             \
	ONE_TEST(test_snapshots, memory_cases_run(rule, snapshots, COUNT_OF(snapshots))) \
	ONE_TEST(test_refused, memory_cases_refuse(refused, size))                       \
	TEST_PROGRAM(cmocka_unit_test(test_cases), cmocka_unit_test(test_memory),        \
		     cmocka_unit_test(test_snapshots), cmocka_unit_test(test_refused))

#endif
