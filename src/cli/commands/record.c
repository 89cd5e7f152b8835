/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - command: asks all ranks of a running job to record the same steps.
 *
 * It writes the request that stepscope.torch.live looks for every two seconds: a step so far ahead
 * that every rank has seen it before it comes. Nobody waits. With --dynolog it asks the daemons of
 * the nodes instead, which hand the step to Kineto.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/session.h"
#include "base/system/clock.h"
#include "cli/dynolog.h"
#include "cli/output.h"

/* As the recorder itself asks: _asked.py. */
#define REQUEST_NAME ".request.json"
#define AHEAD_NS INT64_C(20000000000)
#define AHEAD_STEPS 3
#define STEPS 3
#define STEPS_MAX 20

/* The first step that is 20 seconds ahead. */
static enum ss_status record_first_step(const struct arguments *arguments, uint64_t *first,
					struct ss_error *err)
{
	struct ss_open_options open = show_loading(arguments, arguments->paths, 1);
	struct ss_session *session = NULL;
	enum ss_status status;

	open.live = SS_OPEN_LIVE_ALONE;
	status = ss_session_open(&open, &session, err);
	if (status == SS_OK)
		status = ss_job_find_live(&session->job, err);
	if (status == SS_ERR_MISSING || (status == SS_OK && !session->job.live.step_count))
		status = ss_fail(err, SS_ERR_MISSING,
				 "'%s' has no live numbers: which step comes next is not known",
				 arguments->paths[0]);
	if (status == SS_OK) {
		const struct ss_live *live = &session->job.live;
		int64_t step_ns = live->ranks[0].ns[SS_LIVE_STEP];
		uint64_t ahead = (uint64_t)(AHEAD_NS / (step_ns > 0 ? step_ns : 1)) + 1;

		*first = live->steps[live->step_count - 1].step +
			 (ahead > AHEAD_STEPS ? ahead : AHEAD_STEPS);
	}
	ss_session_close(session);
	return status;
}

static enum ss_status record_write(const char *folder, uint64_t first, uint64_t steps,
				   struct ss_error *err)
{
	SS_TEXT(path);
	SS_TEXT(text);

	ss_text_addf(&path, "%s/" REQUEST_NAME, folder);
	ss_text_addf(&text,
		     "{\"id\": \"%" PRId64 ".%d\", \"first\": %" PRIu64 ", \"steps\": %" PRIu64
		     ", \"why\": \"asked\"}\n",
		     ss_clock_ns(), (int)getpid(), first, steps);
	if (ss_text_failed(&path) || ss_text_failed(&text))
		return ss_fail_memory(err, "the request");
	return output_write_whole(path.data, &text, err);
}

/* Asks each daemon of the list; one that does not answer does not stop the others. */
static int record_by_dynolog(const struct arguments *arguments, uint64_t first, uint64_t steps)
{
	const struct dynolog_request request = {
		.job = cli_option_number(arguments, "job-id", 0),
		.first = first,
		.steps = steps,
		/* Kineto writes nowhere else without KINETO_ONDEMAND_TRACE_DIR */
		.folder = arguments->path_count > 1 ? arguments->paths[1] : "/tmp",
	};
	int code = EXIT_FINE;

	for (const char *at = cli_option_text(arguments, "dynolog"); at && *at;) {
		size_t length = strcspn(at, ",");
		struct ss_error err = { 0 };
		uint32_t matched = 0;
		char host[256];

		snprintf(host, sizeof(host), "%.*s", (int)(length < 255 ? length : 255), at);
		at += length + (at[length] == ',');
		if (cli_dynolog_ask(host, &request, &matched, &err) == SS_OK) {
			printf("%s: %u process%s will record steps %" PRIu64 " to %" PRIu64
			       " into %s\n",
			       host, matched, matched == 1 ? "" : "es", first, first + steps - 1,
			       request.folder);
			continue;
		}
		fprintf(stderr, "stepscope record: %s: %s\n", host, err.text);
		code = EXIT_FAILED;
	}
	return code;
}

static int record_run(const struct command *command, const struct arguments *arguments)
{
	uint64_t first = 0, steps = cli_option_number(arguments, "steps", 0);
	struct ss_error err = { 0 };
	const char *shared;

	if (arguments->path_count < 1 || arguments->path_count > 2 || steps > STEPS_MAX)
		return cli_fail(EXIT_USAGE, "record",
				"expected a folder of live numbers, the shared folder if that is "
				"another, and 1 to %d steps",
				STEPS_MAX);
	steps = steps ? steps : STEPS;
	shared = arguments->paths[arguments->path_count - 1];
	if (cli_option_given(arguments, "dynolog") &&
	    record_first_step(arguments, &first, &err) == SS_OK)
		return record_by_dynolog(arguments, first, steps);
	if (err.code != SS_OK || record_first_step(arguments, &first, &err) != SS_OK ||
	    record_write(shared, first, steps, &err) != SS_OK)
		return show_fail(command->name, &err);
	printf("Steps %" PRIu64 " to %" PRIu64 " will be recorded on all ranks, in about 20 "
	       "seconds.\n",
	       first, first + steps - 1);
	return EXIT_FINE;
}

const struct command command_record = {
	.name = "record",
	.summary = "Ask all ranks of a running job to record the same steps",
	.usage = "[OPTIONS] LIVE [SHARED]",
	.takers = SS_TAKER_RECORD,
	.writes_beside = true,
	.run = record_run,
};
