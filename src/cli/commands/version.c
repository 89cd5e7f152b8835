/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.c - command: prints the version, the features of this build, and the sandbox of this
 * machine.
 */
#include <stdio.h>

#include "cli/command.h"

#include "about.inc"

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

static int version_run(const struct command *command, const struct arguments *arguments)
{
	struct sandbox_offer offer = sandbox_offer();

	(void)command;
	if (!cli_option_given(arguments, "json"))
		printf("stepscope %s\n", ss_version());
	else
		printf("{\"version\": \"%s\", \"sandbox\": {\"seccomp\": %s, \"landlock_abi\": %d, "
		       "\"text\": \"%s\"}, %s}\n",
		       ss_version(), offer.has_filter ? "true" : "false", offer.landlock_abi,
		       sandbox_sentence(offer), about);
	return EXIT_FINE;
}

const struct command command_version = {
	.name = "version",
	.summary = "The version of stepscope",
	.usage = "[--json]",
	.takers = SS_TAKER_VERSION,
	.run = version_run,
};
