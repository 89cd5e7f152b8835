/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the files of a job, their order and their ranks.
 */
#include "support/support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "load/files/find.h"

static void test_order(void **state)
{
	/* each stands before the next */
	static const char *const sorted[] = {
		"",
		"a",
		"a/b",
		"rank",
		"rank0.json",
		"rank00.json",
		"rank1.json",
		"rank2.json",
		"rank02x",
		"rank10.json",
		"rank10a.json",
		"rank99999999999999999998",
		"rank99999999999999999999",
		"z",
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(sorted); i++) {
		for (size_t k = 0; k < SS_COUNT(sorted); k++) {
			int order = ss_find_compare_names(sorted[i], sorted[k]);

			/* numbers that differ in their zeros only: any order, but one */
			support_check((order < 0) == (i < k) && (order > 0) == (i > k), sorted[i],
				      "compared with '%s': %d", sorted[k], order);
		}
	}
}

static const struct {
	const char *path;
	int64_t rank;
} ranks[] = {
	{ "rank3.json", 3 },
	{ "rank_12.json.gz", 12 },
	{ "rank-7_trace.json", 7 },
	{ "traces/step/rank0.json", 0 },
	{ "trace_rank_file3.json", 3 },
	{ "worker0.pt.trace.json.gz", 0 },
	{ "worker-1.json", 1 },
	{ "host_1234.1700000000.pt.trace.json", -1 },
	{ "rank5/trace.json", 5 },
	{ "rank_0/trace.json", 0 },
	{ "rank_3/profile/trace.json", 3 },
	{ "rank_3/a/b/trace.json", -1 },
	{ "rank5/rank2.json", 2 },
	{ "TP-1/trace.json", 1 },
	{ "tp2/trace.json", -1 },
	{ "Worker_7/trace.json", 7 },
	{ "rank_5_old/trace.json", -1 },
	{ "trace_r2.json", 2 },
	{ "trace_r2x.json", -1 },
	{ "http-1.json", -1 },
	{ "1700-TP-3.trace.json.gz", 3 },
	{ "x-TP-1-DP-0-PP-0.trace.json.gz", 1 },
	{ "x-TP-1-DP-2.trace.json.gz", -1 },
	{ "x-TP-0-PP-1.trace.json.gz", -1 },
	{ "x-PP-2.trace.json.gz", 2 },
	{ "000003_step_20.pickle", 3 },
	{ "step_20/000012_step_20.pickle", 12 },
	{ "20_step.pickle", -1 },
	{ "3_step_x.json", -1 },
	{ "trace.json", -1 },
	{ "rank.json", -1 },
	{ "ranks.json", -1 },
	{ "", -1 },
	{ "rankx5.json", -1 },
};

static void test_ranks(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(ranks); i++)
		support_check(ss_find_rank(ranks[i].path) == ranks[i].rank, ranks[i].path, "%lld",
			      (long long)ss_find_rank(ranks[i].path));
}

static void test_times(void **state)
{
	static const struct {
		const char *path;
		int64_t time_ns;
	} times[] = {
		{ "host_1234.1700000000.pt.trace.json", 1700000000000000000 },
		{ "host_1234.1700000000123.pt.trace.json", 1700000000123000000 },
		{ "a.b/host_1.1700000000123456.pt.trace.json.gz", 1700000000123456000 },
		{ "node0_16490.1794703059931877343.pt.trace.json.gz", 1794703059931877343 },
		{ "host.1700000000123/trace.json", -1 },
		{ "trace.170000.json", -1 },
		{ "trace.9999999999999999999.json", -1 },
		{ "1700000000123.json", -1 },
		{ "", -1 },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(times); i++)
		support_check(ss_find_time_in_name(times[i].path) == times[i].time_ns,
			      times[i].path, "%lld",
			      (long long)ss_find_time_in_name(times[i].path));
}

static void make_file(const char *folder, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (name[strlen(name) - 1] == '/') {
		assert_int_equal(mkdir(path, 0700), 0);
		return;
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
}

static void remove_file(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(remove(path), 0);
}

static void test_folder(void **state)
{
	static const char *const made[] = { "rank10.json", "rank2.json.gz", "rank1.json.zst",
					    "notes.txt",   ".hidden.json",  "deep/",
					    "deep/x.json", "rank3.json.bak" };
	static const char *const found[] = { "deep/x.json", "rank1.json.zst", "rank2.json.gz",
					     "rank10.json" };
	char folder[] = "/tmp/stepscope-find-XXXXXX";
	const char *paths[1] = { folder };
	struct ss_error err = { 0 };
	struct ss_paths out = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < SS_COUNT(made); i++)
		make_file(folder, made[i]);
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	assert_int_equal(ss_find_files(paths, 1, &arena, &out, &err), SS_OK);
	assert_int_equal(out.count, SS_COUNT(found));
	for (uint32_t i = 0; i < out.count; i++) {
		assert_string_equal(out.items[i].path + strlen(folder) + 1, found[i]);
		assert_true(out.items[i].from_folder);
	}
	ss_find_release(&out, &memory);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
	for (size_t i = SS_COUNT(made); i-- > 0;)
		if (strcmp(made[i], "deep/") != 0)
			remove_file(folder, made[i]);
	remove_file(folder, "deep");
	assert_int_equal(rmdir(folder), 0);
}

static void test_nothing_there(void **state)
{
	char folder[] = "/tmp/stepscope-find-XXXXXX";
	const char *paths[2] = { folder, "/nonexistent" };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		struct ss_paths out = { 0 };

		ss_memory_init(&memory, 0);
		ss_arena_init(&arena, &memory);
		assert_int_equal(ss_find_files(paths + i, 1, &arena, &out, &err),
				 i ? SS_ERR_IO : SS_ERR_MISSING);
		assert_non_null(strstr(err.text, paths[i]));
		ss_find_release(&out, &memory);
		ss_arena_release(&arena);
		assert_int_equal(memory.used_bytes, 0);
	}
	rmdir(folder);
}

/* More files than the limit are refused, in folders and by name; as many are not. */
static void test_limit(void **state)
{
	char folder[] = "/tmp/stepscope-find-XXXXXX", names[3][64];
	const char *paths[] = { folder, names[0], names[1], names[2] };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 3; i++) {
		snprintf(names[i], sizeof(names[i]), "%s/rank%d.json", folder, i);
		fclose(fopen(names[i], "w"));
	}
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	for (uint32_t limit = 2; limit <= 3; limit++)
		for (int by_name = 0; by_name < 2; by_name++) {
			struct ss_paths out = { .limit = limit };

			assert_int_equal(ss_find_files(paths + by_name, by_name ? 3 : 1, &arena,
						       &out, &err),
					 limit == 2 ? SS_ERR_LIMIT : SS_OK);
			assert_true(limit == 2 || out.count == 3);
			ss_find_release(&out, &memory);
		}
	assert_non_null(strstr(err.text, "more than 2 files"));
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
	for (int i = 0; i < 3; i++)
		unlink(names[i]);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),         cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_times),         cmocka_unit_test(test_folder),
		cmocka_unit_test(test_nothing_there), cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
