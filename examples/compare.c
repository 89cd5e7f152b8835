/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - what changed between two runs, view by view: compare BEFORE AFTER */
#include <stdio.h>
#include <stepscope.h>

static enum ss_status add_run(struct ss_runs *runs, const char *path, struct ss_session **session,
			      struct ss_error *err)
{
	struct ss_open_options open = { .size = sizeof(open), .paths = &path, .path_count = 1 };
	enum ss_status status = ss_session_open(&open, session, err);

	return status == SS_OK ? ss_runs_add(runs, *session, err) : status;
}

int main(int argc, char **argv)
{
	struct ss_request request = { .size = sizeof(request), .format = "text" };
	struct ss_session *sessions[2] = { NULL, NULL };
	struct ss_runs *runs = NULL;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status;

	if (argc != 3) {
		fprintf(stderr, "usage: compare BEFORE AFTER\n");
		return 2;
	}
	status = ss_runs_new(&runs, &err);
	for (int i = 0; i < 2 && status == SS_OK; i++)
		status = add_run(runs, argv[i + 1], &sessions[i], &err);
	if (status == SS_OK)
		status = ss_compare(runs, &request, &out, &err);
	if (status == SS_OK)
		fwrite(out.data, 1, out.length, stdout);
	else
		fprintf(stderr, "compare: %s\n", err.text);
	ss_text_release(&out);
	ss_runs_free(runs); /* the sessions are lent to it */
	ss_session_close(sessions[0]);
	ss_session_close(sessions[1]);
	return status == SS_OK ? 0 : 1;
}
