/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_what_if.c - options of what-if, of a job that is simulated once.
 *
 * Each line of an input is an option, "fix=straggler,input-stall=1"; "rank=1", "top=3" and
 * "format=text" are those of the request. An answer or a sentence; JSON is strict; a refused
 * request for memory ends in a sentence. Whatever was asked, the verdict stays as it was.
 */
#include <string.h>

#include "api/session.h"
#include "base/hash/hash.h"
#include "base/text.h"
#include "sample_job.h"

#define LINES_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void what_if_diagnose(struct ss_session *session, struct ss_text *out)
{
	struct ss_request request = { .what = "diagnose", .format = "json" };

	CHECK(ss_session_run(session, &request, out, NULL) == SS_OK);
}

/* Fills the request from the lines, which it cuts. */
static void what_if_read(char *text, struct ss_request *request, const char *options[LINES_MAX + 1])
{
	size_t count = 0;

	for (char *next; text && count < LINES_MAX; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		if (strncmp(text, "rank=", 5) == 0)
			request->rank = text + 5;
		else if (strncmp(text, "step=", 5) == 0)
			request->step = text + 5;
		else if (strncmp(text, "format=", 7) == 0)
			request->format = text + 7;
		else if (strncmp(text, "top=", 4) == 0)
			request->top = (uint32_t)strlen(text);
		else if (*text)
			options[count++] = text;
	}
	options[count] = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ss_session *session;
	static struct ss_text verdict;
	const char *options[LINES_MAX + 1];
	struct ss_request request = { .what = "what-if", .options = options };
	uint64_t seed = ss_hash_bytes((const char *)data, (uint32_t)size);
	struct ss_text text = { 0 };
	struct ss_error err = { 0 };
	char *lines = malloc(size + 1);
	enum ss_status status;

	CHECK(lines);
	if (!session) {
		session = sample_job();
		what_if_diagnose(session, &verdict);
	}
	if (size)
		memcpy(lines, data, size);
	lines[size] = '\0';
	what_if_read(lines, &request, options);
	if (seed % 4 == 0)
		session->memory.fail_call = session->memory.calls + 1 + (size_t)(seed / 4 % 999);
	status = ss_session_run(session, &request, &text, &err);
	session->memory.fail_call = 0;
	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	if (status == SS_OK && (!request.format || strcmp(request.format, "json") == 0))
		check_json(text.data, text.length);
	ss_text_release(&text);
	/* it takes as long as the question */
	if (seed % 8 == 0) {
		what_if_diagnose(session, &text);
		CHECK(text.length == verdict.length &&
		      memcmp(text.data, verdict.data, text.length) == 0);
		ss_text_release(&text);
	}
	free(lines);
	return 0;
}
