/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking.h - requests of the viewer on traces that tests write as scripts.
 *
 * Everything here fails the running test by itself when something is wrong.
 */
#ifndef SS_TESTS_SUPPORT_ASKING_H
#define SS_TESTS_SUPPORT_ASKING_H

#include "api/session.h"
#include "support/support.h"

struct support_asking {
	struct ss_runs runs;
	struct ss_answer answer; /* to the last request */
	struct ss_error err;
};

/* Opens a session on JSON, or on a script (support.h) where the text does not begin with one. */
void support_asking_open(struct support_asking *asking, const char *text);
void support_asking_close(struct support_asking *asking);

/* The answer goes with the next request. */
enum ss_status support_ask(struct support_asking *asking, const char *request);

/* Asks, and fails the test where that fails. */
const struct ss_text *support_asked(struct support_asking *asking, const char *request);

/* The entries of "tiles" as text, one a line: "lane start+duration*count color label". */
void support_tiles(const struct ss_text *body, struct ss_text *out);

#endif
