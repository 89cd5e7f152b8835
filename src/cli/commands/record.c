/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - command: asks all ranks of a running job to record the same steps.
 *
 * It writes the request that stepscope.torch.live looks for every two seconds: a step so far ahead
 * that every rank has seen it before it comes. Nobody waits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "api/session.h"
#include "base/system/clock.h"
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

static int record_run(const struct command *command, const struct arguments *arguments)
{
	uint64_t first = 0, steps = cli_option_number(arguments, "steps", 0);
	struct ss_error err = { 0 };
	const char *shared;

	if (arguments->path_count < 1 || arguments->path_count > 2 || steps > STEPS_MAX) {
		fprintf(stderr,
			"stepscope record: expected a folder of live numbers, the shared folder if "
			"that is another, and 1 to %d steps\n",
			STEPS_MAX);
		return EXIT_USAGE;
	}
	steps = steps ? steps : STEPS;
	shared = arguments->paths[arguments->path_count - 1];
	if (record_first_step(arguments, &first, &err) != SS_OK ||
	    record_write(shared, first, steps, &err) != SS_OK)
		return show_fail(command->name, &err);
	printf("Steps %" PRIu64 " to %" PRIu64 " will be recorded into %s/traces, in about 20 "
	       "seconds.\n",
	       first, first + steps - 1, shared);
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
