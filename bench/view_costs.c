/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_costs.c - loads a file once and runs every view on it: what each costs beside the load.
 *
 * Prints one line of JSON for the load and one for each view and group: the default groups in the
 * order of help, then all others. CPU time, not wall time, because machines are shared; one
 * thread, because then it can be compared. Rendering is counted with the view, as JSON. What
 * views share is charged to the first that asks for it, so a view is never run twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COSTS_NAME "view_costs"
#include "costs.h"
#include "stepscope.h"

static void measure(struct ss_session *session, const char *view, const char *group)
{
	char option[64];
	const char *const options[] = { group ? option : NULL, NULL };
	struct ss_request request = { .what = view, .format = "json", .options = options };
	struct ss_error err = { 0 };
	struct ss_text out = { 0 };
	double start_s = cpu_seconds();

	snprintf(option, sizeof(option), "group=%s", group ? group : "");
	if (ss_session_run(session, &request, &out, &err) != SS_OK)
		fail(err.text);
	printf("{\"view\":\"%s\",\"group\":\"%s\",\"cpu_s\":%.6f,\"bytes\":%zu}\n", view,
	       group ? group : "", cpu_seconds() - start_s, out.length);
	fflush(stdout);
	ss_text_release(&out);
}

/* The default groups of all views or their other groups; one of the views if it is named. */
static void measure_all(struct ss_session *session, bool defaults, const char *only)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; ss_offer_at(i, &offer); i++) {
		if (offer.is_report || (only && strcmp(only, offer.name) != 0))
			continue;
		if (defaults)
			measure(session, offer.name, ss_group_at(offer.name, 0));
		for (size_t k = 1; !defaults && ss_group_at(offer.name, k); k++)
			measure(session, offer.name, ss_group_at(offer.name, k));
	}
}

int main(int argc, char **argv)
{
	const char *const only = argc > 2 ? argv[2] : NULL;
	struct ss_open_options open = { .size = sizeof(open),
					.paths = (const char *const *)argv + 1,
					.path_count = 1,
					.threads = 1 };
	struct ss_error err = { 0 };
	struct ss_session *session;
	double start_s = cpu_seconds();

	if (argc < 2)
		fail("usage: view_costs FILE [VIEW]");
	if (ss_session_open(&open, &session, &err) != SS_OK)
		fail(err.text);
	printf("{\"view\":\"\",\"group\":\"\",\"cpu_s\":%.6f,\"bytes\":0}\n",
	       cpu_seconds() - start_s);
	measure_all(session, true, only);
	measure_all(session, false, only);
	ss_session_close(session);
	return 0;
}
