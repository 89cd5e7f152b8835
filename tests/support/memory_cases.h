/*
 * memory_cases.h - tests of rules on snapshots of memory: a script, and what must be found.
 */
#ifndef SS_TESTS_SUPPORT_MEMORY_CASES_H
#define SS_TESTS_SUPPORT_MEMORY_CASES_H

#include "support/snapshot.h"

struct memory_case {
	const char *what;
	const char *script; /* support/snapshot.h */
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

#endif
