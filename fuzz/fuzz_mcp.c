/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mcp.c - lines that a client of the Model Context Protocol sends.
 *
 * An input is lines. Each request gets at most one answer, which is JSON on one line and not longer
 * than promised. The only path that leads to something is "job": a simulated job of 2 ranks, which
 * is made once.
 */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "mcp/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The list of the tools is the longest answer; control characters take six bytes each. */
#define ANSWER_BYTES_MAX 65536

static struct ss_session *session;
static struct ss_runs *runs;

static enum ss_status open_job(void *context, const char *path, const char *other,
			       const struct ss_runs **out, struct ss_error *err)
{
	(void)context;
	*out = runs;
	if (strcmp(path, "job") == 0 && !other)
		return SS_OK;
	return ss_fail(err, SS_ERR_USAGE, "no '%.100s'", path);
}

static void check_line(void *context, const char *line, size_t length)
{
	uint32_t *count = context;

	check_json(line, length);
	CHECK(!memchr(line, '\n', length) && length < ANSWER_BYTES_MAX);
	(*count)++;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char folder[] = "/tmp/fuzz_mcp_XXXXXX", path[512];
	const char *paths[] = { folder };
	struct ss_simulation simulation = { .size = sizeof(simulation),
					    .folder = folder,
					    .layout = "ddp",
					    .device = "h100",
					    .causes = "straggler",
					    .settings = "layers=1,hidden=64,heads=1",
					    .ranks = 2,
					    .steps = 3,
					    .threads = 1 };
	struct ss_open_options open = {
		.size = sizeof(open), .paths = paths, .path_count = 1, .threads = 1
	};
	struct ss_simulated done = { .size = sizeof(done) };
	struct ss_error err = { 0 };
	struct dirent *entry;
	DIR *files;

	(void)argc;
	(void)argv;
	CHECK(mkdtemp(folder));
	CHECK(ss_simulate(&simulation, &done, &err) == SS_OK);
	CHECK(ss_session_open(&open, &session, &err) == SS_OK);
	CHECK(ss_runs_new(&runs, &err) == SS_OK && ss_runs_add(runs, session, &err) == SS_OK);
	files = opendir(folder);
	CHECK(files);
	while ((entry = readdir(files)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	closedir(files);
	rmdir(folder);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data, *end = line + size, *stop;
	uint32_t answers = 0, lines = 0;
	struct mcp_host host = { .open = open_job, .write = check_line, .context = &answers };
	struct mcp *mcp;

	CHECK(mcp_open(&host, &mcp, NULL) == SS_OK);
	while (line < end) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		mcp_take(mcp, line, (size_t)(stop - line));
		mcp_tick(mcp);
		lines++;
		/* some wait, so that they can be cancelled */
		if (lines % 2 == 0)
			while (mcp->first)
				CHECK(mcp_work(mcp));
		line = stop + 1;
	}
	while (mcp->first)
		CHECK(mcp_work(mcp));
	CHECK(answers <= lines);
	mcp_end(mcp);
	CHECK(!mcp_work(mcp));
	mcp_close(mcp);
	return 0;
}
