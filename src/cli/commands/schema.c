/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - command: prints the JSON Schema of an output, or lists all schemas.
 */
#include <stdio.h>

#include "cli/command.h"
#include "cli/output.h"

static int schema_run(const struct command *command, const struct arguments *arguments)
{
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	struct shown shown;
	const char *name;
	int code;

	if (arguments->path_count > 1)
		return cli_fail(EXIT_USAGE, command->name, "expected one name");
	if (!arguments->path_count) {
		for (size_t i = 0; (name = ss_schema_at(i)) != NULL; i++)
			printf("%s\n", name);
		return EXIT_FINE;
	}
	code = show_begin(command->name, arguments, NULL, &shown);
	if (code != EXIT_FINE)
		return code;
	code = show_end(command->name, ss_schema(arguments->paths[0], &out, &err), &shown, &out,
			&err);
	if (code == EXIT_USAGE)
		fprintf(stderr, "Run 'stepscope schema' for all names.\n");
	return code;
}

const struct command command_schema = {
	.name = "schema",
	.summary = "JSON Schema of an output; without a name: the list",
	.usage = "[NAME]",
	.run = schema_run,
};
