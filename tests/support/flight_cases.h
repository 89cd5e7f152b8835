/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_cases.h - dumps of the flight recorder from short scripts.
 *
 * "0 w1:all_reduce/8+ a1:all_reduce/4- | 1 w1:all_reduce/8+": the dump of each rank, and its calls
 * in order: group and number, operation, elements; then F for 64 instead of 32 bits; then how far
 * it came: + completed, * started, - scheduled, ! given up. "@12" begins with record 12: older ones
 * were overwritten. Groups: w of ranks 0 to 3, a of 0 and 1, b of 2 and 3, c and d as w, u and v of
 * ranks that nobody lists. A call is one millisecond after the one before it.
 */
#ifndef SS_TESTS_SUPPORT_FLIGHT_CASES_H
#define SS_TESTS_SUPPORT_FLIGHT_CASES_H

#include "hang/hang.h"
#include "support/support.h"

struct flight_case {
	struct ss_memory memory;
	struct ss_flight flights[8];
	struct ss_stack_file stacks;
	struct ss_hang_input inputs[9];
	uint32_t count;
	struct ss_hang hang;
};

/* Reads the dumps, and the stack file (NULL: none), and compares them. */
void flight_case_open(struct flight_case *out, const char *script, const char *stacks);
void flight_case_close(struct flight_case *flights);

/* The rows of a view of the case as CSV, columns by name. */
void flight_case_view(const struct flight_case *flights, const char *view, const char *columns,
		      struct ss_text *out);

/* The JSON of one dump. */
void flight_case_json(const char **script, int64_t *rank, struct ss_text *out);

#endif
