/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of many ranks: the verdict keeps tables of each rank, which are then the same as before.
 */
#include "support/support.h"

#include <stdlib.h>
#include <unistd.h>

#include "api/session.h"
#include "base/text.h"

/* So many that tables are kept. */
#define RANKS 64

static void run(struct ss_session *session, const struct ss_view *view, uint32_t group,
		const char *rank, struct ss_text *out)
{
	const char *options[] = { NULL, NULL };
	const struct ss_request request = { .what = view->name, .rank = rank, .options = options };
	struct ss_error err = { 0 };
	char option[64];

	snprintf(option, sizeof(option), "group=%s",
		 view->groups[group] ? view->groups[group] : "");
	if (view->groups[group])
		options[0] = option;
	support_check(ss_session_run(session, &request, out, &err) == SS_OK, view->name, "%s",
		      err.text);
}

/* All tables that are kept, of each rank or over all of them. */
static void run_kept(struct ss_session *session, struct ss_text *out)
{
	for (uint32_t i = 0; i < ss_view_count; i++)
		for (uint32_t group = 0; group < SS_GROUPS_MAX; group++)
			if (ss_views[i]->kept[group]) {
				run(session, ss_views[i], group, "all", out);
				run(session, ss_views[i], group, "7", out);
			}
}

static void test_kept_tables(void **state)
{
	char folder[] = "/tmp/stepscope-ranks-XXXXXX", remove[64];
	const char *paths[] = { folder };
	const struct ss_simulation plan = { .size = sizeof(plan),
					    .folder = folder,
					    .preset = "ddp8-straggler",
					    .settings = "layers=1,stack=0,memory=0",
					    .ranks = RANKS,
					    .steps = 3 };
	const struct ss_open_options options = { .size = sizeof(options),
						 .paths = paths,
						 .path_count = 1 };
	struct ss_simulated figures = { .size = sizeof(figures) };
	struct ss_text before = { 0 }, verdict = { 0 }, after = { 0 };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	support_check(ss_simulate(&plan, &figures, &err) == SS_OK, "simulated", "%s", err.text);
	support_check(ss_session_open(&options, &session, &err) == SS_OK, "opened", "%s", err.text);
	run_kept(session, &before);
	assert_int_equal(session->job.files[7].whole.length, 0);
	assert_int_equal(ss_session_run(session, &(struct ss_request){ .what = "diagnose" },
					&verdict, &err),
			 SS_OK);
	for (uint32_t i = 0; i < RANKS; i++)
		assert_true(session->job.files[i].whole.length > 0);
	run_kept(session, &after);
	assert_true(before.length > 10000);
	assert_string_equal(after.data, before.data);
	ss_text_release(&before);
	ss_text_release(&verdict);
	ss_text_release(&after);
	ss_session_close(session);
	snprintf(remove, sizeof(remove), "rm -r %s", folder);
	assert_int_equal(system(remove), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kept_tables) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
