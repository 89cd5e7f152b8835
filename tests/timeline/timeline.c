/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where files stand on the timeline: by clocks that were compared, by wall clocks, or at
 * its beginning.
 */
#include "support/make/ranks.h"
#include "timeline/timeline.h"

#define FILES_MAX 4

/* A file of the job: a rank of the script, or one that was left out of the comparison. */
struct made {
	int rank;           /* index into the ranks; -1: left out; -2: could not be read */
	int64_t start_us;   /* of the wall clock; 0: where its first collective begins */
	int64_t length_us;  /* of its trace; 0: to where its last collective ends */
	const char *wanted; /* start+length in us, 'a' behind it: aligned; NULL: no more files */
};

static const struct {
	const char *what, *script;
	struct made files[FILES_MAX];
	int64_t span_us;
} cases[] = {
	{ "a file alone begins at 0", "rank 0; allreduce 700 +50", { { 0, 0, 0, "0+50" } }, 50 },
	{ "clocks that were compared",
	  "rank 0 @a; allreduce 0 +100; rank 1 @b >5000; allreduce 40 +60",
	  { { 0, 0, 0, "0+100a" }, { 1, 0, 0, "40+60a" } },
	  100 },
	{ "the earliest is 0, whoever it is",
	  "rank 0 @a; allreduce 40 +60; rank 1 @b >-5000; allreduce 0 +100",
	  { { 0, 0, 0, "40+60a" }, { 1, 0, 0, "0+100a" } },
	  100 },
	{ "without collectives the wall clock counts",
	  "rank 0; rank 1",
	  { { 0, 1000, 100, "0+100" }, { 1, 1030, 100, "30+100" } },
	  130 },
	{ "as far apart as nothing could be seen of them: all begin at 0",
	  "rank 0; rank 1",
	  { { 0, 1000, 100, "0+100" }, { 1, 3000, 200, "0+200" } },
	  200 },
	{ "a tenth of it full is enough",
	  "rank 0; rank 1",
	  { { 0, 1000, 100, "0+100" }, { 1, 1900, 100, "900+100" } },
	  1000 },
	{ "one without a clock does not move those that have one",
	  "rank 0; rank 1; rank 2 noclock",
	  { { 0, 1000, 100, "0+100" }, { 1, 1030, 100, "30+100" }, { 2, 7, 50, "0+50" } },
	  130 },
	{ "nobody has a clock",
	  "rank 0 noclock; rank 1 noclock",
	  { { 0, 70, 100, "0+100" }, { 1, 9, 30, "0+30" } },
	  100 },
	{ "a rank that met nobody, among the others by its wall clock",
	  "rank 0; allreduce 0 +100; rank 1; allreduce 20 +80; rank 2",
	  { { 0, 0, 0, "0+100a" }, { 1, 0, 0, "20+80a" }, { 2, 50, 90, "50+90" } },
	  140 },
	{ "and one of another day: at their beginning",
	  "rank 0; allreduce 0 +100; rank 1; allreduce 20 +80; rank 2",
	  { { 0, 0, 0, "0+100a" }, { 1, 0, 0, "20+80a" }, { 2, 86400000000, 90, "0+90" } },
	  100 },
	{ "a copy, which is left out",
	  "rank 0; allreduce 0 +100; rank 1; allreduce 20 +80",
	  { { 0, 0, 0, "0+100a" }, { 1, 0, 0, "20+80a" }, { -1, 0, 100, "0+100" } },
	  100 },
	{ "a copy of the only one",
	  "rank 0; allreduce 0 +100",
	  { { 0, 0, 0, "0+100" }, { -1, 0, 100, "0+100" } },
	  100 },
	{ "one that could not be read",
	  "rank 0; allreduce 0 +100",
	  { { -2, 0, 0, "-" }, { 0, 0, 0, "0+100" } },
	  100 },
	{ "none could be read", "rank 0", { { -2, 0, 0, "-" } }, 0 },
};

struct made_job {
	struct support_ranks ranks;
	struct ss_memory memory;
	struct ss_job job;
	struct ss_job_file files[FILES_MAX];
	struct ss_trace traces[FILES_MAX];
};

static void add_file(struct made_job *made, const struct made *file, uint32_t number)
{
	struct ss_job_file *own = &made->files[number];
	struct ss_digest *digest = file->rank < 0 ? NULL : &made->ranks.items[file->rank];
	int64_t zero_ns = digest && digest->has_clock ? SUPPORT_CLOCK_NS : 0;

	own->rank_index = digest ? (uint32_t)file->rank : SS_NO_ROW;
	if (file->rank != -2)
		own->subject.trace = &made->traces[number];
	made->traces[number].span_ns = file->length_us * 1000;
	if (!digest)
		return;
	if (!file->length_us)
		made->traces[number].span_ns = digest->end_ns - digest->start_ns;
	if (file->start_us)
		digest->start_ns = zero_ns + file->start_us * 1000;
	digest->end_ns = digest->start_ns + made->traces[number].span_ns;
}

static void made_open(struct made_job *made, const char *script, const struct made *files)
{
	memset(made, 0, sizeof(*made));
	support_ranks_script(&made->ranks, script);
	ss_memory_init(&made->memory, 0);
	for (; made->job.file_count < FILES_MAX && files[made->job.file_count].wanted;
	     made->job.file_count++)
		add_file(made, &files[made->job.file_count], made->job.file_count);
	made->job.files = made->files;
	made->job.joined = made->ranks.joined;
	made->job.is_joined = true;
}

static void made_close(struct made_job *made)
{
	assert_int_equal(made->memory.used_bytes, 0);
	support_ranks_close(&made->ranks);
}

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_timeline timeline;
		struct made_job made;

		made_open(&made, cases[i].script, cases[i].files);
		assert_int_equal(ss_timeline_make(&timeline, &made.job, &made.memory, NULL), SS_OK);
		assert_int_equal(timeline.file_count, made.job.file_count);
		for (uint32_t k = 0; k < timeline.file_count; k++) {
			const struct ss_timeline_file *file = &timeline.files[k];
			char found[64] = "-";

			if (file->trace)
				snprintf(found, sizeof(found), "%lld+%lld%s",
					 (long long)ss_timeline_moment(file, 0) / 1000,
					 (long long)file->trace->span_ns / 1000,
					 file->is_aligned ? "a" : "");
			support_check(strcmp(found, cases[i].files[k].wanted) == 0, cases[i].what,
				      "file %u: %s", k, found);
			assert_true(file->is_aligned == (file->clock_error_ns >= 0));
		}
		support_check(timeline.span_ns == cases[i].span_us * 1000, cases[i].what,
			      "span %lld", (long long)timeline.span_ns);
		ss_timeline_release(&timeline);
		made_close(&made);
	}
}

/* There and back, also where clocks run apart and where times are at the edge. */
static void test_moments(void **state)
{
	static const struct ss_timeline_file files[] = {
		{ .shift_ns = 0 },
		{ .shift_ns = 12345 },
		{ .shift_ns = -999 },
		{ .shift_ns = 77, .middle_ns = 5000000000, .drift_ppb = 20000 },
		{ .shift_ns = 77, .middle_ns = 5000000000, .drift_ppb = -20000 },
	};
	static const int64_t owns[] = { 0, 1, -1, 123456789, 10000000000, INT64_C(1) << 52 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(files); i++)
		for (size_t k = 0; k < SS_COUNT(owns); k++) {
			int64_t moment_ns = ss_timeline_moment(&files[i], owns[k]);
			int64_t back_ns = ss_timeline_own(&files[i], moment_ns);

			/* 20 ppm of 20 ppm of it, and 2 ns for the 5 s to the middle */
			assert_true(llabs(back_ns - owns[k]) <= 3 + llabs(owns[k]) / 1000000000);
			if (!files[i].drift_ppb)
				assert_int_equal(moment_ns, owns[k] + files[i].shift_ns);
		}
	/* 20 us in a second */
	assert_int_equal(ss_timeline_moment(&files[3], 6000000000), 6000000000 + 77 + 20000);
	assert_int_equal(ss_timeline_moment(&files[4], 6000000000), 6000000000 + 77 - 20000);
	assert_int_equal(ss_timeline_moment(&files[3], 5000000000), 5000000000 + 77);
	/* times of hostile files stay at the edge and do not overflow */
	assert_int_equal(ss_timeline_moment(&files[1], INT64_MAX), SS_MOMENT_MAX);
	assert_true(ss_timeline_own(&files[2], INT64_MAX) <= SS_MOMENT_MAX);
}

static void test_memory(void **state)
{
	(void)state;
	for (size_t fail = 1; fail; fail++) {
		struct ss_error err = { 0 };
		struct ss_timeline timeline;
		struct made_job made;
		enum ss_status status;

		made_open(&made, cases[1].script, cases[1].files);
		made.memory.fail_call = fail;
		status = ss_timeline_make(&timeline, &made.job, &made.memory, &err);
		if (status == SS_OK) {
			assert_true(fail > 1);
			ss_timeline_release(&timeline);
			fail = SIZE_MAX;
		} else {
			assert_int_equal(err.code, SS_ERR_LIMIT);
		}
		made_close(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
