/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.c - the CPU time that control groups of Linux leave a process.
 *
 * Containers and batch systems limit the time of a group, not its cores: 400 ms in each 100 ms are
 * four cores of any number. A group is bound by all groups around it. Inside of a container the
 * path of the group may be that of the host, which is not there: then its mount is the group.
 */
#include "base/system/thread.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hierarchy {
	char folder[PATH_MAX]; /* of the group */
	size_t mount;          /* how much of it is the mount */
	bool is_unified;       /* version 2: one file has quota and period */
};

/* False if there is no such file, or it does not fit; the text then ends somewhere. */
static bool read_small(const char *folder, const char *name, char *text, size_t size)
{
	char path[PATH_MAX + 32];
	ssize_t got = -1;
	int file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return false;
	got = read(file, text, size - 1);
	close(file);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 && (size_t)got < size - 1;
}

/* One group's limit in cores, rounded up; UINT32_MAX: none. */
static uint32_t group_cores(const struct hierarchy *group)
{
	char text[64], *rest = text;
	long long quota, period, cores;

	if (!read_small(group->folder, group->is_unified ? "cpu.max" : "cpu.cfs_quota_us", text,
			sizeof(text)))
		return UINT32_MAX;
	quota = strtoll(text, &rest, 10); /* "max" and -1 are no limit */
	if (!group->is_unified) {
		if (!read_small(group->folder, "cpu.cfs_period_us", text, sizeof(text)))
			return UINT32_MAX;
		rest = text;
	}
	period = strtoll(rest, NULL, 10);
	if (quota <= 0 || period <= 0)
		return UINT32_MAX;
	cores = quota / period + (quota % period != 0);
	return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

/* The least limit of a group and of those around it, up to the mount. */
static uint32_t least_cores(struct hierarchy *group)
{
	uint32_t least = UINT32_MAX, cores;
	char *slash;

	for (;;) {
		cores = group_cores(group);
		least = cores < least ? cores : least;
		slash = strrchr(group->folder + group->mount, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/job/1", or "0::/job/1" of version 2. */
static bool find_group(const char *root, const char *line, struct hierarchy *out)
{
	const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
	char list[256];
	int length;

	if (!path || (size_t)(path - names) > sizeof(list) - 2)
		return false;
	snprintf(list, sizeof(list), ",%.*s,", (int)(path - names - 1), names + 1);
	out->is_unified = strcmp(list, ",,") == 0;
	if (!out->is_unified && !strstr(list, ",cpu,"))
		return false;
	out->mount = strlen(root) +
		     strlen(out->is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu");
	length = snprintf(out->folder, sizeof(out->folder), "%s/sys/fs/cgroup%s%s", root,
			  out->is_unified ? "" : "/cpu", path + 1);
	return length > 0 && (size_t)length < sizeof(out->folder);
}

uint32_t ss_thread_quota(const char *root)
{
	uint32_t least = UINT32_MAX, cores;
	struct hierarchy group;
	char text[8192], *next;

	if (!read_small(root, "proc/self/cgroup", text, sizeof(text)))
		return UINT32_MAX;
	for (char *line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (!find_group(root, line, &group))
			continue;
		cores = least_cores(&group);
		least = cores < least ? cores : least;
	}
	return least;
}
