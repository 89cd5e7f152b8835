/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_job.c - simulates a job into a folder, and opens it.
 */
#include "sample_job.h"

#include <dirent.h>
#include <unistd.h>

void sample_job_remove_files(const char *folder)
{
	DIR *open = opendir(folder);
	struct dirent *entry;
	char path[512];

	CHECK(open);
	while ((entry = readdir(open)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	closedir(open);
}

void sample_job_write(char folder[sizeof(SAMPLE_JOB_FOLDER)])
{
	struct ss_simulation simulation = { .size = sizeof(simulation),
					    .folder = folder,
					    .layout = "ddp",
					    .device = "h100",
					    .causes = "straggler",
					    .settings = "layers=1,hidden=64,heads=1",
					    .ranks = 2,
					    .steps = 3,
					    .threads = 1 };
	struct ss_simulated done = { .size = sizeof(done) };

	CHECK(mkdtemp(folder));
	CHECK(ss_simulate(&simulation, &done, NULL) == SS_OK);
}

struct ss_session *sample_job_open(const char *folder)
{
	struct ss_open_options open = { .size = sizeof(open),
					.paths = &folder,
					.path_count = 1,
					.threads = 1,
					.snapshots = true };
	struct ss_session *session = NULL;

	CHECK(ss_session_open(&open, &session, NULL) == SS_OK);
	return session;
}

struct ss_session *sample_job(void)
{
	char folder[] = SAMPLE_JOB_FOLDER;
	struct ss_session *session;

	sample_job_write(folder);
	session = sample_job_open(folder);
	sample_job_remove_files(folder);
	rmdir(folder);
	return session;
}
