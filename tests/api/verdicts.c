/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session keeps what it found: answers about verdicts do not depend on what was asked
 * before, and flags and the path agree with the views.
 */
#include <dirent.h>
#include <unistd.h>

#include "support/support.h"

#include "api/session.h"

#include "stepscope.h"

struct job {
	char folder[64];
	struct ss_runs runs;
};

static void open_job(struct job *job)
{
	const struct ss_simulation plan = { .size = sizeof(plan),
					    .folder = job->folder,
					    .preset = "ddp8-straggler",
					    .ranks = 3,
					    .steps = 3,
					    .causes = "sync-item",
					    .plain = true };
	struct ss_simulated made = { .size = sizeof(made) };
	struct ss_error err = { 0 };

	*job = (struct job){ .folder = "/tmp/stepscope-verdicts-XXXXXX", .runs.count = 1 };
	assert_non_null(mkdtemp(job->folder));
	support_check(ss_simulate(&plan, &made, &err) == SS_OK, "simulated", "%s", err.text);
}

static void load(struct job *job)
{
	const char *paths[] = { job->folder };
	const struct ss_open_options open = {
		.size = sizeof(open), .paths = paths, .path_count = 1, .threads = 1
	};
	struct ss_error err = { 0 };

	support_check(ss_session_open(&open, &job->runs.sessions[0], &err) == SS_OK, "loaded", "%s",
		      err.text);
}

static void unload(struct job *job)
{
	ss_session_close(job->runs.sessions[0]);
}

static void remove_job(struct job *job)
{
	DIR *folder = opendir(job->folder);
	const struct dirent *entry;
	char path[512];

	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", job->folder, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	closedir(folder);
	rmdir(job->folder);
}

static char *ask(struct job *job, const char *request)
{
	struct ss_answer answer = { .size = sizeof(answer) };
	struct ss_error err = { 0 };

	support_check(ss_ask(&job->runs, request, &answer, &err) == SS_OK, request, "refused: %s",
		      err.text);
	return answer.body.data;
}

/* Each alone in a new session, then all of them in one, there and back. */
static void test_order(void **state)
{
	static const char *const requests[] = {
		"view/diagnose",
		"view/critical-path",
		"view/what-if?fix=straggler",
		"view/what-if",
		"view/what-if?fix=sync-stall,straggler",
		"view/diagnose?rank=1",
		"view/what-if?rank=1",
		"flags",
		"path?from=0&to=1000000000&pixels=200",
	};
	enum { COUNT = SS_COUNT(requests) };
	char *alone[COUNT];
	struct job job;

	(void)state;
	open_job(&job);
	for (size_t i = 0; i < COUNT; i++) {
		load(&job);
		alone[i] = ask(&job, requests[i]);
		unload(&job);
	}
	load(&job);
	for (size_t i = 0; i < 3 * COUNT; i++) {
		size_t k = i / COUNT % 2 ? COUNT - 1 - i % COUNT : i % COUNT;
		char *found = ask(&job, requests[k]);

		/* how long loading took stands in none of them */
		support_check(strcmp(found, alone[k]) == 0, requests[k], "found:\n%s\nwanted:\n%s",
			      found, alone[k]);
		free(found);
	}
	unload(&job);
	remove_job(&job);
	for (size_t i = 0; i < COUNT; i++)
		free(alone[i]);
}

/* The number behind a key, from a place on. */
static int64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	assert_non_null(at);
	return strtoll(at + strlen(key), NULL, 10);
}

static void test_path(void **state)
{
	struct job job;
	char *path;
	int64_t sum_ns = 0;

	(void)state;
	open_job(&job);
	load(&job);
	path = ask(&job, "path?from=0&to=1000000000000&pixels=16000");
	for (const char *at = strstr(path, "\"parts\""), *end = strstr(path, "\"pieces\"");
	     (at = strstr(at, "\"ns\":")) && at < end; at += 5)
		sum_ns += number_after(at, "\"ns\":");
	assert_int_equal(sum_ns, number_after(path, "\"length_ns\":"));
	assert_true(sum_ns > 0);
	free(path);
	unload(&job);
	remove_job(&job);
}

/* Flags are the findings in their order; the straggler's places are on its rank. */
static void test_flags(void **state)
{
	struct job job;
	char *flags, *verdict;
	const char *at, *found;
	int64_t last_ns;

	(void)state;
	open_job(&job);
	load(&job);
	flags = ask(&job, "flags");
	verdict = ask(&job, "view/diagnose");
	found = verdict;
	for (at = flags; (at = strstr(at, "\"rule\":\"")); at++) {
		char rule[64] = "";

		strncat(rule, at, strcspn(at, ","));
		found = strstr(found, rule);
		support_check(found != NULL, "the order of findings", "no %s", rule);
		found++;
	}
	assert_null(strstr(found, "{\"rule\":\""));
	at = strstr(flags, "\"rule\":\"straggler\"");
	assert_non_null(at);
	found = strstr(at, "\"places\":[");
	/* the longest gain first */
	for (last_ns = INT64_MAX; (found = strstr(found, "\"ns\":")) && found < strchr(at, ']');
	     found++) {
		assert_true(number_after(found, "\"ns\":") <= last_ns);
		last_ns = number_after(found, "\"ns\":");
	}
	assert_true(last_ns > 0 && last_ns < INT64_MAX);
	found = strstr(at, "\"places\":[");
	assert_int_equal(number_after(found, "\"file\":"),
			 number_after(verdict, "\"title\":\"Rank "));
	/* it came last to the collective that the others waited in */
	found = strstr(at, "\"collective\":{");
	assert_non_null(found);
	assert_int_equal(number_after(found, "\"file\":"),
			 number_after(verdict, "\"title\":\"Rank "));
	free(flags);
	free(verdict);
	unload(&job);
	remove_job(&job);
}

/* A collective has its members on all ranks; the one that came last did not wait. */
static void test_members(void **state)
{
	char request[64], *hits, *slice;
	const char *at, *members;
	int64_t transfer_ns, least_ns = INT64_MAX;
	uint32_t count = 0;
	struct job job;

	(void)state;
	open_job(&job);
	load(&job);
	hits = ask(&job, "search?q=nccl*&kind=kernel&step=1&files=1&limit=1");
	snprintf(request, sizeof(request), "slice?file=1&row=%lld",
		 (long long)number_after(hits, "\"row\":"));
	slice = ask(&job, request);
	at = strstr(slice, "\"collective\":{\"kind\":\"all-reduce\"");
	assert_non_null(at);
	transfer_ns = number_after(at, "\"transfer_ns\":");
	members = strstr(at, "\"members\":[");
	for (at = members; (at = strstr(at, "\"file\":")); at++) {
		int64_t dur_ns = number_after(at, "\"dur_ns\":");

		assert_int_equal(number_after(at, "\"file\":"), count);
		assert_int_equal(number_after(at, "\"rank\":"), count);
		assert_int_equal(number_after(at, "\"wait_ns\":"), dur_ns - transfer_ns);
		least_ns = dur_ns < least_ns ? dur_ns : least_ns;
		count++;
	}
	assert_int_equal(count, 3);
	assert_int_equal(least_ns, transfer_ns);
	free(hits);
	free(slice);
	unload(&job);
	remove_job(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
