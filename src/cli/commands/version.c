/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.c - command: prints the version, the features of this build, and the sandbox of this
 * machine.
 */
#include <stdio.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/sql/query.h"

#include "about.inc"
#include "commit.inc"

/* The sentence for people; docs/commands/serve.md explains the locks. */
static const char *sandbox_sentence(struct sandbox_offer offer)
{
	if (offer.has_filter && offer.landlock_abi)
		return "commands that read traces cannot use the network, start processes or write "
		       "outside their output (seccomp and Landlock)";
	if (offer.has_filter)
		return "commands that read traces cannot use the network or start processes "
		       "(seccomp); this kernel has no Landlock, so writes are not restricted";
	if (offer.landlock_abi)
		return "commands that read traces can write only to their output (Landlock); this "
		       "build has no libseccomp, so system calls are not filtered";
	return "no sandbox: commands that read traces run with all rights of the user";
}

/* Whether SQL works now: loads DuckDB, as a query would. */
static void version_add_sql(struct ss_text *out)
{
	struct ss_error problem = { 0 };
	bool works;

	cli_engine_prepare(&problem);
	works = problem.code == SS_OK;
	ss_text_addf(out, "\"sql\": {\"works\": %s, \"%s\": ", works ? "true" : "false",
		     works ? "library" : "problem");
	ss_render_quoted(out, works ? ss_engine_path() : problem.text);
	if (works) {
		ss_text_add_string(out, ", \"version\": ");
		ss_render_quoted(out, ss_engine()->library_version());
	}
	ss_text_add_string(out, "}, ");
}

static int version_run(const struct command *command, const struct arguments *arguments)
{
	struct sandbox_offer offer = sandbox_offer();
	SS_TEXT(out);

	if (!cli_option_given(arguments, "json")) {
		printf(*commit ? "stepscope %s (%s)\n" : "stepscope %s\n", ss_version(), commit);
		return EXIT_FINE;
	}
	ss_text_addf(&out,
		     "{\"version\": \"%s\", \"commit\": \"%s\", \"sandbox\": {\"seccomp\": %s, "
		     "\"landlock_abi\": %d, \"text\": \"%s\"}, ",
		     ss_version(), commit, offer.has_filter ? "true" : "false", offer.landlock_abi,
		     sandbox_sentence(offer));
	version_add_sql(&out);
	ss_text_addf(&out, "%s}\n", about);
	return cli_print(command->name, &out);
}

const struct command command_version = {
	.name = "version",
	.summary = "The version of stepscope",
	.usage = "[--json]",
	.takers = SS_TAKER_VERSION,
	.run = version_run,
};
