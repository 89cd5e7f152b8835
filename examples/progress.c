/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - tells how far a long verdict is; Ctrl-C ends it in order: progress PATH... */
#include <signal.h>
#include <stdio.h>
#include <stepscope.h>

static struct ss_session *at_work; /* for the handler of signals, which has no context */

static void cancel(int number)
{
	(void)number;
	if (at_work)
		ss_session_cancel(at_work);
}

static bool tell(void *context, const struct ss_progress *progress)
{
	(void)context;
	fprintf(stderr, "%3.0f %% %s\n", 100 * progress->share, progress->doing);
	return true; /* false would stop it, too */
}

int main(int argc, char **argv)
{
	struct ss_open_options open = { .size = sizeof(open),
					.paths = (const char *const *)argv + 1,
					.path_count = (size_t)argc - 1,
					.diagnose = true,
					.progress = tell };
	struct ss_request request = { .size = sizeof(request),
				      .what = "diagnose",
				      .format = "text" };
	struct ss_session *session = NULL;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	/* in steps: there is something to cancel before the load begins */
	enum ss_status status = ss_session_begin(&open, &session, &err);

	at_work = session;
	signal(SIGINT, cancel);
	if (status == SS_OK)
		status = ss_session_add(session, &open, &err);
	if (status == SS_OK)
		status = ss_session_end(session, &err);
	if (status == SS_OK) {
		ss_session_watch(session, tell, NULL);
		status = ss_session_run(session, &request, &out, &err);
	}
	if (status == SS_OK)
		fwrite(out.data, 1, out.length, stdout);
	else
		fprintf(stderr, "progress: %s\n", err.text);
	signal(SIGINT, SIG_DFL);
	ss_text_release(&out);
	ss_session_close(session);
	return status == SS_OK ? 0 : status == SS_ERR_STOPPED ? 130 : 1;
}
