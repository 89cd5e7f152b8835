/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps as means over the ranks that have them.
 */
#include "support/make/ranks.h"

#include "load/step_parts.h"

/* The second rank runs on the CPU: what is neither compute nor communication is other work. */
static const char script[] = "rank 0; step 1 0 +100 c40 m30 x20 y5 i7; step 2 100 +60 c10;"
			     "rank 1; step 2 100 +100 c50 m30 x30; step 3 200 +10";

static void check_means(const struct ss_job *job, const uint32_t *ranks, uint32_t count,
			const char *expected)
{
	struct ss_step_means means;
	struct ss_text found = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	assert_true(ss_job_step_means_make(&means, job, ranks, count, &arena));
	ss_text_add_string(&found, "");
	for (uint32_t i = 0; i < means.count; i++) {
		const struct ss_step_mean *step = &means.items[i];

		ss_text_addf(&found, "%s%u of %u: %lld", i ? "; " : "", step->number, step->ranks,
			     (long long)step->dur_ns / 1000);
		for (int part = 0; part < SS_STEP_PARTS; part++)
			if (step->part_ns[part])
				ss_text_addf(&found, ", %s %lld", ss_job_step_part_name(part),
					     (long long)step->part_ns[part] / 1000);
	}
	assert_string_equal(found.data, expected);
	ss_text_release(&found);
	ss_arena_release(&arena);
}

static void test_means(void **state)
{
	static const uint32_t both[] = { 0, 1 }, turned[] = { 1, 0 };
	struct support_ranks ranks;
	struct ss_job job = { 0 };

	(void)state;
	support_ranks_script(&ranks, script);
	ranks.items[1].device = -1;
	job.digests = ranks.items;
	job.digest_count = ranks.count;
	check_means(&job, both, 2,
		    "1 of 1: 100, computing 40, exposed communication 20, exposed copies 5, "
		    "waiting for input 7; 2 of 2: 80, computing 30, exposed communication 15, "
		    "host work outside of operators 10");
	check_means(&job, turned, 2,
		    "2 of 2: 80, computing 30, exposed communication 15, host work outside of "
		    "operators 10; 3 of 1: 10, host work outside of operators 10");
	check_means(&job, both, 0, "");
	support_ranks_close(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_means) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
