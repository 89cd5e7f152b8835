/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run the files are of: the first file that says something, of all ranks or of one.
 */
#include "support/support.h"

#include "load/identity.h"
#include "load/job.h"

#define FILES 4

/* Ranks 0 to 2, and a file that could not be read. */
static void files_make(struct ss_job_file *files)
{
	static char hosts[][2] = { "a", "b", "a" };

	memset(files, 0, FILES * sizeof(*files));
	for (uint32_t i = 0; i < 3; i++) {
		files[i].subject.rank = i;
		files[i].recording.is_noted = true;
		files[i].recording.trace_id = "id";
		files[i].recording.run[SS_RUN_HOST] = hosts[i];
		files[i].recording.has_clock = true;
		files[i].recording.start_ns = 3000 - 1000 * (int64_t)i;
	}
	files[1].recording.run[SS_RUN_COMMIT] = "c1";
	files[2].recording.run[SS_RUN_COMMIT] = "c2";
	files[3].subject.rank = 3;
	files[3].recording.run[SS_RUN_COMMAND] = "not read";
}

static void test_job(void **state)
{
	struct ss_job_file *files = malloc(FILES * sizeof(*files));
	struct ss_job job = { .files = files, .file_count = FILES };
	struct ss_identity identity;

	(void)state;
	assert_non_null(files);
	files_make(files);
	ss_identity_of_job(&job, SS_EVERY_RANK, &identity);
	assert_true(identity.is_known && identity.is_trace_id && identity.has_clock);
	assert_string_equal(identity.facts[SS_RUN_ID], "id");
	assert_string_equal(identity.facts[SS_RUN_COMMIT], "c1");
	assert_null(identity.facts[SS_RUN_COMMAND]);
	assert_int_equal(identity.hosts, 2);
	assert_int_equal(identity.start_ns, 1000);
	ss_identity_of_job(&job, 2, &identity);
	assert_string_equal(identity.facts[SS_RUN_COMMIT], "c2");
	assert_int_equal(identity.hosts, 1);
	/* recordings with other ids have none in common, but each rank has its own */
	files[1].recording.trace_id = "other";
	ss_identity_of_job(&job, SS_EVERY_RANK, &identity);
	assert_null(identity.facts[SS_RUN_ID]);
	ss_identity_of_job(&job, 1, &identity);
	assert_string_equal(identity.facts[SS_RUN_ID], "other");
	files[2].recording.run[SS_RUN_ID] = "run 7";
	ss_identity_of_job(&job, SS_EVERY_RANK, &identity);
	assert_string_equal(identity.facts[SS_RUN_ID], "run 7");
	assert_false(identity.is_trace_id);
	free(files);
}

static void test_time(void **state)
{
	struct ss_identity identity = { .has_clock = true, .start_ns = 1700000000999999999 };
	char text[SS_IDENTITY_TIME_BYTES];

	(void)state;
	ss_identity_time(&identity, text);
	assert_string_equal(text, "2023-11-14T22:13:20Z");
	identity.has_clock = false;
	ss_identity_time(&identity, text);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_job),
					    cmocka_unit_test(test_time) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
