/*
 * main.c - finds the command, runs it, and makes sure that what it printed
 * was written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/stop.h"

static int run(const struct command *command, int count, char **words)
{
	struct arguments arguments = { 0 };
	void *values = calloc(1, command->values_bytes ? command->values_bytes : 1);
	int code = EXIT_USAGE;

	if (!values)
		return EXIT_FAILED;
	if (command->prepare)
		command->prepare(values);
	if (options_read(command, count, words, values, &arguments)) {
		if (arguments.help) {
			help_command(command);
			code = EXIT_FINE;
		} else {
			code = command->run(command, values, &arguments);
		}
	}
	free((void *)(uintptr_t)arguments.paths);
	free(values);
	return code;
}

static bool is_path(const char *word)
{
	struct stat info;

	return strcmp(word, "-") == 0 || strchr(word, '/') || stat(word, &info) == 0;
}

static int unknown(const char *word)
{
	const char *meant = command_suggest(word);

	fprintf(stderr, "stepscope: '%s' is no command and no file", word);
	if (meant)
		fprintf(stderr, "; did you mean '%s'?", meant);
	fprintf(stderr, "\nRun 'stepscope help' for all commands.\n");
	return EXIT_USAGE;
}

static int dispatch(int argc, char **argv)
{
	struct command command;

	if (argc < 2) {
		help_all();
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
		help_all();
		return EXIT_FINE;
	}
	if (strcmp(argv[1], "--version") == 0)
		argv[1] += 2;
	if (command_find(argv[1], &command))
		return run(&command, argc - 2, argv + 2);
	/* no command: paths or options, as in 'stepscope --top 3 traces/' */
	if ((is_path(argv[1]) || argv[1][0] == '-') && command_find("diagnose", &command))
		return run(&command, argc - 1, argv + 1);
	return unknown(argv[1]);
}

int main(int argc, char **argv)
{
	int code = dispatch(argc, argv);

	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "stepscope: cannot write the output: %s\n", strerror(errno));
		code = EXIT_FAILED;
	}
	stop_end();
	return code;
}
