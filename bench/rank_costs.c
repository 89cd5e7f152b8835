/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_costs.c - loads the ranks of a job and compares them: what each of the two costs.
 *
 * Usage: rank_costs [--one] VIEW PATH...; VIEW may be diagnose. --one: with one thread.
 *
 * Prints one line of JSON: CPU and wall seconds until the last file was reduced, and of what came
 * then, which is matching, clocks and the view itself. One process does both, so the shares do not
 * depend on what else the machine does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COSTS_NAME "rank_costs"
#include "costs.h"
#include "stepscope.h"

int main(int argc, char **argv)
{
	int first = argc > 1 && strcmp(argv[1], "--one") == 0 ? 2 : 1;
	struct ss_open_options open = { .size = sizeof(open),
					.paths = (const char *const *)argv + first + 1,
					.path_count = argc > first + 1 ? (size_t)(argc - first - 1)
								       : 0,
					.threads = first == 2 ? 1 : 0,
					.reduce = true };
	struct ss_request request = { .format = "text" };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_text out = { 0 };
	double cpu_s[3], wall_s[3];

	if (!open.path_count)
		fail("usage: rank_costs [--one] VIEW PATH...");
	request.what = argv[first];
	open.diagnose = strcmp(request.what, "diagnose") == 0;
	cpu_s[0] = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	wall_s[0] = seconds_of(CLOCK_MONOTONIC);
	if (ss_session_open(&open, &session, &err) != SS_OK)
		fail(err.text);
	cpu_s[1] = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	wall_s[1] = seconds_of(CLOCK_MONOTONIC);
	if (ss_session_run(session, &request, &out, &err) != SS_OK)
		fail(err.text);
	cpu_s[2] = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	wall_s[2] = seconds_of(CLOCK_MONOTONIC);
	printf("{\"load_cpu_s\":%.6f,\"load_wall_s\":%.6f,\"join_cpu_s\":%.6f,"
	       "\"join_wall_s\":%.6f}\n",
	       cpu_s[1] - cpu_s[0], wall_s[1] - wall_s[0], cpu_s[2] - cpu_s[1],
	       wall_s[2] - wall_s[1]);
	ss_text_release(&out);
	ss_session_close(session);
	return 0;
}
