/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_cases.h - tests of rules: the traces of a job, and what must be found.
 */
#ifndef SS_TESTS_SUPPORT_RULE_CASES_H
#define SS_TESTS_SUPPORT_RULE_CASES_H

#include "support/support.h"

struct rule_case {
	const char *what;
	/* JSON, or what support_script() makes it of; ranks from 0, "\n---\n" between them */
	const char *trace;
	/*
	 * What the rule found, findings one after the other; "" is silence:
	 *
	 *     LEVEL ALONE_US CONFIDENCE [rank N]
	 *     evidence (line)
	 *
	 * LEVEL is warning, info or silent (below the rule's threshold); ALONE_US what its fix
	 * alone brings of a step; evidence the heaviest first, each on a line. Of what is silent
	 * nothing else is said.
	 */
	const char *found;
};

void rule_cases_run(const char *rule, const struct rule_case *cases, size_t count);

/* A whole diagnosis of the trace, refused every allocation in turn. */
void rule_memory_run(const char *trace);

/* A test that is one call, and a program of tests. */
#define ONE_TEST(name, call)           \
	static void name(void **state) \
	{                              \
		(void)state;           \
		call;                  \
	}
#define TEST_PROGRAM(...)                                          \
	int main(void)                                             \
	{                                                          \
		const struct CMUnitTest tests[] = { __VA_ARGS__ }; \
		return cmocka_run_group_tests(tests, NULL, NULL);  \
	}
#define COUNT_OF(cases) (sizeof(cases) / sizeof(*(cases)))

/* The whole program of a rule's test: its cases, and a trace for the refusals of memory. */
#define RULE_TESTS(rule, cases, memory_trace)                              \
	ONE_TEST(test_cases, rule_cases_run(rule, cases, COUNT_OF(cases))) \
	ONE_TEST(test_memory, rule_memory_run(memory_trace))               \
	TEST_PROGRAM(cmocka_unit_test(test_cases), cmocka_unit_test(test_memory))

#endif
