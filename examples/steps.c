/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - prints the steps of all ranks as CSV: steps PATH... */
#include <stdio.h>
#include <stepscope.h>

int main(int argc, char **argv)
{
	struct ss_open_options open = { .size = sizeof(open),
					.paths = (const char *const *)argv + 1,
					.path_count = (size_t)argc - 1 };
	struct ss_request request = { .size = sizeof(request), .what = "steps", .format = "csv" };
	struct ss_session *session = NULL;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status = ss_session_open(&open, &session, &err);

	if (status == SS_OK)
		status = ss_session_run(session, &request, &out, &err);
	if (status == SS_OK)
		fwrite(out.data, 1, out.length, stdout);
	else
		fprintf(stderr, "steps: %s\n", err.text);
	ss_text_release(&out);
	ss_session_close(session);
	return status == SS_OK ? 0 : 1;
}
