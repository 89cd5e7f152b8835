/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.c - the list of all commands, with the views as commands; finds the command, runs
 * it, and checks that its output was written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/request/find.h"
#include "base/closest_name.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/stop.h"

/* --- the list of commands ------------------------------------------------------------------ */

#define SS_COMMAND(name) extern const struct command command_##name;
#include "commands.inc"
#undef SS_COMMAND

#define SS_COMMAND(name) &command_##name,
const struct command *const commands[] = {
#include "commands.inc"
};
#undef SS_COMMAND

const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static int run_view(const struct command *command, const struct arguments *arguments)
{
	return show_run(command->name, arguments);
}

bool command_find(const char *name, struct command *out)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; i < command_count; i++)
		if (strcmp(commands[i]->name, name) == 0) {
			*out = *commands[i];
			return true;
		}
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		if (strcmp(offer.name, name) == 0) {
			*out = (struct command){
				.name = offer.name,
				.summary = offer.summary,
				.usage = "[OPTIONS] PATH...",
				.takers = ss_request_takers(offer.name),
				.run = run_view,
			};
			return true;
		}
	return false;
}

const char *command_suggest(const char *name)
{
	struct ss_closest_name guess = ss_closest_name_begin(name);
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; i < command_count; i++)
		ss_closest_name_add(&guess, commands[i]->name);
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		ss_closest_name_add(&guess, offer.name);
	return guess.best;
}

/* --- running a command --------------------------------------------------------------------- */

/* Collects the paths that the command may write: its output options or, without -o, its inputs. */
static size_t find_outputs(const struct command *command, const struct arguments *arguments,
			   const char **out)
{
	bool is_beside = command->writes_beside;
	size_t count = 0;

	for (size_t i = 0; i < ss_option_count; i++) {
		const struct ss_option *option = &ss_options[i];
		const char *path = arguments->values[i] ? arguments->values[i] : option->otherwise;

		if (!(option->takers & command->takers) || option->kind != SS_OPTION_OUTPUT ||
		    !path)
			continue;
		out[count++] = path;
		is_beside = is_beside && option->letter != 'o';
	}
	for (size_t i = 0; is_beside && i < arguments->path_count; i++)
		out[count++] = arguments->paths[i];
	return count;
}

/* Valgrind generates code at run time inside this process, which the seccomp filter forbids. */
static bool is_in_valgrind(void)
{
	const char *loaded = getenv("LD_PRELOAD");

	return loaded && strstr(loaded, "vgpreload");
}

/*
 * Enters the sandbox before the command reads untrusted files. False: memory or files ran out, so
 * nothing may be read.
 */
static bool enter_sandbox(const struct command *command, const struct arguments *arguments)
{
	static const char turned_off[] = "no-sandbox";
	const char **outputs = NULL;
	struct sandbox_needs needs = { 0 };
	bool is_fine;

	/* commands without this option read no files */
	if (!ss_option_find(turned_off, strlen(turned_off), command->takers))
		return true;
	if (command->begin)
		command->begin(arguments, &needs);
	if (cli_option_given(arguments, turned_off) || is_in_valgrind())
		return true;
	outputs = calloc(needs.output_count + arguments->path_count + ss_option_count + 1,
			 sizeof(*outputs));
	if (outputs) {
		for (size_t i = 0; i < needs.output_count; i++)
			outputs[i] = needs.outputs[i];
		needs.outputs = outputs;
		needs.output_count += find_outputs(command, arguments,
						   outputs + needs.output_count);
	}
	is_fine = outputs && sandbox_enter(&needs) != SANDBOX_FAILED;
	if (!is_fine)
		fprintf(stderr, "stepscope %s: cannot enter the sandbox: %s\n", command->name,
			strerror(errno));
	free((void *)(uintptr_t)outputs);
	return is_fine;
}

static int fail_memory(const struct command *command)
{
	fprintf(stderr, "stepscope %s: no memory for the arguments\n", command->name);
	return EXIT_FAILED;
}

static int run_command(const struct command *command, int count, char **words)
{
	struct arguments arguments;
	int code = EXIT_USAGE;

	if (options_read(command, count, words, &arguments)) {
		if (arguments.help) {
			help_command(command);
			code = EXIT_FINE;
		} else {
			code = enter_sandbox(command, &arguments)
				       ? command->run(command, &arguments)
				       : EXIT_FAILED;
		}
	} else if (!arguments.paths) {
		code = fail_memory(command);
	}
	options_release(&arguments);
	return code;
}

/* No command name has a dot or a slash: such a word is a path, even if the file does not exist. */
static bool is_path(const char *word)
{
	struct stat info;

	return strcmp(word, "-") == 0 || strpbrk(word, "/.") || stat(word, &info) == 0;
}

/* A word that resembles a command is probably a typo; any other word may be a folder. */
static int refuse_unknown_word(const char *word)
{
	const char *meant = command_suggest(word);

	if (meant) {
		fprintf(stderr,
			"stepscope: no command or file called '%s'; did you mean '%s'?\n"
			"Run 'stepscope help' for all commands.\n",
			word, meant);
		return EXIT_USAGE;
	}
	fprintf(stderr,
		"stepscope: cannot open '%s': no file, folder or command has this name\n"
		"Run 'stepscope help' for all commands.\n",
		word);
	return EXIT_FAILED;
}

/* Decides what the first word is: an option of the program, a command, or the first path. */
static int dispatch(int argc, char **argv)
{
	struct command command;

	if (argc < 2) {
		help_all();
		return EXIT_USAGE;
	}
	if (cli_option_is(argv[1], "help")) {
		help_all();
		return EXIT_FINE;
	}
	if (command_find(cli_option_is(argv[1], "version") ? "version" : argv[1], &command))
		return run_command(&command, argc - 2, argv + 2);
	/* not a command: paths or options, as in 'stepscope --top 3 traces/' */
	if ((is_path(argv[1]) || argv[1][0] == '-') && command_find("diagnose", &command))
		return run_command(&command, argc - 1, argv + 1);
	return refuse_unknown_word(argv[1]);
}

int command_line(int argc, char **argv)
{
	int code = dispatch(argc, argv);

	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "stepscope: cannot write the output: %s\n", strerror(errno));
		code = EXIT_FAILED;
	}
	stop_end();
	return code != EXIT_FINE && stop_asked() ? EXIT_INTERRUPTED : code;
}
