/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - command: lists the rules, or shows the page of a rule, a view or a command.
 */
#include <stdio.h>
#include <string.h>

#include "api/renderers.h"
#include "base/closest_name.h"
#include "base/text.h"
#include "cli/output.h"
#include "view_pages.inc"

/* NULL: there is none. */
static const char *page_of(const char *name)
{
	for (size_t i = 0; i < SS_COUNT(pages); i++)
		if (strcmp(pages[i].name, name) == 0)
			return pages[i].text;
	return NULL;
}

static void add_page(const struct ss_request *request, const char *page, struct ss_text *out)
{
	struct ss_render_options options = { .width = request->width, .color = request->color };

	if (out->length)
		ss_text_add_string(out, "\n");
	if (strcmp(request->format, "text") == 0)
		ss_render_page(page, &options, out);
	else
		ss_text_add_string(out, page);
}

/* A name can be that of a rule and of a view: then both are explained. */
static enum ss_status explain_render(const struct ss_request *request, struct ss_text *out,
				     struct ss_error *err)
{
	const char *page = request->what ? page_of(request->what) : NULL;
	struct ss_closest_name guess = ss_closest_name_begin(request->what ? request->what : "");
	enum ss_status status;

	if (request->what && strcmp(request->format, "text") != 0 &&
	    strcmp(request->format, "markdown") != 0)
		return ss_fail(err, SS_ERR_USAGE,
			       "a page is text or markdown, not %s; the list of rules without a "
			       "name has all formats",
			       request->format);
	status = ss_explain(request, out, err);
	if (page && (status == SS_OK || status == SS_ERR_USAGE)) {
		add_page(request, page, out);
		return SS_OK;
	}
	for (size_t i = 0; status == SS_ERR_USAGE && i < SS_COUNT(pages); i++)
		ss_closest_name_add(&guess, pages[i].name);
	if (guess.best && !strstr(err->text, "did you mean"))
		return ss_fail(err, SS_ERR_USAGE,
			       "no rule, view or command called '%.60s'; did you mean '%s'?",
			       request->what, guess.best);
	return status;
}

static int explain_run(const struct command *command, const struct arguments *arguments)
{
	const char *name = arguments->path_count ? arguments->paths[0] : NULL;
	struct ss_request request = show_request(name, arguments);
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	struct shown shown;
	int code = show_begin(command->name, arguments, NULL, &shown);

	if (code != EXIT_FINE)
		return code;
	code = show_end(command->name, explain_render(&request, &out, &err), &shown, &out, &err);
	if (code == EXIT_USAGE)
		fprintf(stderr, "Run 'stepscope explain' for all rules, 'stepscope help' for all "
				"views.\n");
	return code;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "Page of a rule, view or command; without a name: all rules",
	.usage = "[OPTIONS] [RULE|VIEW|COMMAND]",
	.takers = SS_TAKER_LIST,
	.is_verdict = true,
	.run = explain_run,
};
