/* SPDX-License-Identifier: Apache-2.0 */
/*
 * everything.c - all that can be asked of some files, by one program.
 *
 *     everything [--only-read] PATH...
 *
 * Opens the files once and runs all views with all of their groups, the verdict, what-if, the
 * comparison of the files with themselves and routes of the viewer. Each document goes to
 * standard output behind a line with its name and its length, or with the sentence that was
 * said instead: "view/gaps 1234", "view/gaps ! the sentence". The first line is "open": 0, or !
 * and the sentence. So a whole job is looked at for the price of reading it once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stepscope.h"

#define TARGET_BYTES 256

static const char *const others[] = {
	"view/diagnose",
	"view/what-if",
	"compare/",
	"compare/operators",
	"view/diagnose?format=text",
	"view/overview?format=text",
	"view/info?format=markdown",
	"view/ranks?format=csv",
	"view/operators?rank=all",
	"view/kernels?step=0-1",
	"job",
	"tracks?file=0",
	"range?files=0&from=0&to=9007199254740991",
	"strips?files=0&from=0&to=1000000000&pixels=100",
	"search?q=a&limit=10",
	"slice?file=0&row=0",
	"path?from=0&to=1000000000&pixels=100",
	"flags",
	"view/snapshot?snapshot=0",
};

static void ask(const struct ss_runs *runs, const char *target)
{
	struct ss_answer answer = { .size = sizeof(answer) };
	struct ss_error err = { 0 };

	if (ss_ask(runs, target, &answer, &err) == SS_OK) {
		printf("%s %zu\n", target, answer.body.length);
		fwrite(answer.body.data, 1, answer.body.length, stdout);
		putchar('\n');
	} else {
		printf("%s ! %s\n", target, err.text);
	}
	ss_text_release(&answer.body);
}

static void ask_views(const struct ss_runs *runs)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; ss_offer_at(i, &offer); i++) {
		char target[TARGET_BYTES];
		const char *group = ss_group_at(offer.name, 0);

		for (size_t g = 0; g == 0 || group; group = ss_group_at(offer.name, ++g)) {
			snprintf(target, sizeof(target), "view/%s%s%s", offer.name,
				 group ? "?group=" : "", group ? group : "");
			ask(runs, target);
		}
	}
}

int main(int count, char **words)
{
	bool only_read = count > 1 && strcmp(words[1], "--only-read") == 0;
	struct ss_open_options options = {
		.size = sizeof(options),
		.paths = (const char *const *)words + 1 + only_read,
		.path_count = (size_t)count - 1 - only_read,
		.threads = 2,
		.snapshots = true,
		.diagnose = true,
	};
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_runs *runs = NULL;

	if (count < 2 + only_read)
		return EXIT_FAILURE;
	if (ss_session_open(&options, &session, &err) != SS_OK) {
		printf("open ! %s\n", err.text);
		return EXIT_SUCCESS;
	}
	printf("open 0\n\n");
	if (ss_runs_new(&runs, &err) != SS_OK || ss_runs_add(runs, session, &err) != SS_OK ||
	    ss_runs_add(runs, session, &err) != SS_OK)
		return EXIT_FAILURE;
	if (!only_read) {
		ask_views(runs);
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			ask(runs, others[i]);
	}
	ss_runs_free(runs);
	ss_session_close(session);
	return EXIT_SUCCESS;
}
