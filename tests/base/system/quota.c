/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotas of control groups: both versions, limits of groups around, a path of the host's, and what
 * is no limit.
 */
#include "support/support.h"

#include <sys/stat.h>

#include "base/system/thread.h"

struct written {
	const char *path, *text;
};

/* Writes files below a new folder, which must not be there after it. */
static uint32_t quota_of(const struct written *files)
{
	char root[] = "/tmp/stepscope-quota-XXXXXX", path[256], command[64];
	uint32_t cores;
	FILE *file;

	assert_non_null(mkdtemp(root));
	for (; files->path; files++) {
		snprintf(path, sizeof(path), "%s/%s", root, files->path);
		for (char *at = path + sizeof(root); (at = strchr(at, '/')); *at++ = '/') {
			*at = '\0';
			mkdir(path, 0700);
		}
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(files->text, file);
		fclose(file);
	}
	cores = ss_thread_quota(root);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
	return cores;
}

#define QUOTA_OF(...) quota_of((const struct written[]){ __VA_ARGS__, { NULL, NULL } })
#define GROUP(text)                      \
	{                                \
		"proc/self/cgroup", text \
	}
#define V1 "sys/fs/cgroup/cpu/"

static void test_unified(void **state)
{
	(void)state;
	assert_int_equal(QUOTA_OF(GROUP("0::/\n"), { "sys/fs/cgroup/cpu.max", "400000 100000\n" }),
			 4);
	/* half a core and more than one core are rounded up */
	assert_int_equal(QUOTA_OF(GROUP("0::/\n"), { "sys/fs/cgroup/cpu.max", "50000 100000\n" }),
			 1);
	assert_int_equal(QUOTA_OF(GROUP("0::/\n"), { "sys/fs/cgroup/cpu.max", "110000 100000\n" }),
			 2);
	/* a group around it leaves less; the path ends without a line break */
	assert_int_equal(QUOTA_OF(GROUP("0::/pods/one"),
				  { "sys/fs/cgroup/cpu.max", "max 100000\n" },
				  { "sys/fs/cgroup/pods/cpu.max", "300000 100000\n" },
				  { "sys/fs/cgroup/pods/one/cpu.max", "800000 100000\n" }),
			 3);
	/* the path of the host's is not there: the mount is the group */
	assert_int_equal(QUOTA_OF(GROUP("0::/docker/abc\n"),
				  { "sys/fs/cgroup/cpu.max", "200000 100000\n" }),
			 2);
}

static void test_first_version(void **state)
{
	(void)state;
	assert_int_equal(QUOTA_OF(GROUP("9:memory:/m\n4:cpuacct,cpu:/job\n0::/\n"),
				  { V1 "job/cpu.cfs_quota_us", "250000\n" },
				  { V1 "job/cpu.cfs_period_us", "100000\n" },
				  { V1 "cpu.cfs_quota_us", "-1\n" },
				  { V1 "cpu.cfs_period_us", "100000\n" }),
			 3);
	/* cpuset limits cores, which the affinity shows */
	assert_int_equal(QUOTA_OF(GROUP("3:cpuset:/job\n"),
				  { V1 "job/cpu.cfs_quota_us", "100000\n" },
				  { V1 "job/cpu.cfs_period_us", "100000\n" }),
			 UINT32_MAX);
}

static void test_no_limit(void **state)
{
	static const char *const texts[] = { "max 100000\n", "0 100000\n",
					     "-5 100000\n",  "100000 0\n",
					     "100000\n",     "",
					     "none\n",       "99999999999999999999 1\n" };

	(void)state;
	assert_int_equal(QUOTA_OF({ "proc/other", "" }), UINT32_MAX);
	assert_int_equal(QUOTA_OF(GROUP("no group\n:\n0:\n0::\n")), UINT32_MAX);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(QUOTA_OF(GROUP("0::/a\n"),
					  { "sys/fs/cgroup/a/cpu.max", texts[i] }),
				 UINT32_MAX);
	assert_true(ss_thread_quota("") >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unified),
		cmocka_unit_test(test_first_version),
		cmocka_unit_test(test_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
