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

/* Parses the options of a command. */

/* --- values ------------------------------------------------------------------------------ */

/* The declared option; NULL: this command does not accept it. */
static const struct ss_option *find_declared_option(const struct arguments *arguments,
						    const char *name)
{
	assert(ss_option_find(name, strlen(name), UINT32_MAX));
	return ss_option_find(name, strlen(name), arguments->takers);
}

const char *cli_option_text(const struct arguments *arguments, const char *name)
{
	const struct ss_option *option = find_declared_option(arguments, name);
	const char *text = option ? arguments->values[option - ss_options] : NULL;

	return text || !option ? text : option->otherwise;
}

uint64_t cli_option_number(const struct arguments *arguments, const char *name, uint64_t otherwise)
{
	const struct ss_option *option = find_declared_option(arguments, name);
	const char *text = cli_option_text(arguments, name);
	uint64_t number;

	if (!text || !(option->kind == SS_OPTION_BYTES ? ss_option_read_bytes(text, &number)
						       : ss_option_read_count(text, &number)))
		return otherwise;
	return number;
}

uint32_t cli_option_count(const struct arguments *arguments, const char *name)
{
	uint64_t number = cli_option_number(arguments, name, 0);

	return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

bool cli_option_given(const struct arguments *arguments, const char *name)
{
	const struct ss_option *option = find_declared_option(arguments, name);

	return option && arguments->values[option - ss_options];
}

/* --- reading ----------------------------------------------------------------------------- */

/* Joins two values with a separator. */
static char *join_values(struct ss_arena *arena, const char *a, char between, const char *b)
{
	size_t length = strlen(a), more = strlen(b);
	char *text = SS_ARENA_NEW(arena, char, length + more + 2);

	if (!text)
		return NULL;
	memcpy(text, a, length);
	text[length] = between;
	memcpy(text + length + 1, b, more + 1);
	return text;
}

/* Values of a list option are joined; of other options the last value counts. False: no memory. */
static bool store_option_value(struct arguments *out, const struct ss_option *option,
			       const char *text)
{
	const char **value = &out->values[option - ss_options];

	if (option->kind == SS_OPTION_LIST && *value)
		text = join_values(&out->arena, *value, ',', text);
	if (option->kind == SS_OPTION_PAIRS && *value)
		text = join_values(&out->arena, *value, SS_PAIR_END, text);
	*value = text;
	return text;
}

static const struct ss_option *find_command_option(const struct command *command, const char *word,
						   size_t length)
{
	if (length > 2 && word[1] == '-')
		return ss_option_find(word + 2, length - 2, command->takers);
	for (size_t i = 0; i < ss_option_count && length == 2; i++)
		if (ss_options[i].takers & command->takers && ss_options[i].letter == word[1])
			return &ss_options[i];
	return NULL;
}

/* Whether the word is this option of the program itself: "-h" and "--help" match "help". */
static bool option_is(const char *word, const char *name)
{
	const struct ss_option *option = ss_option_find(name, strlen(name), SS_TAKER_PROGRAM);

	assert(option);
	return (word[0] == '-' && word[1] == option->letter && !word[2]) ||
	       (strncmp(word, "--", 2) == 0 && strcmp(word + 2, name) == 0);
}

static bool refuse_argument(const struct command *command, const char *what, const char *word)
{
	fprintf(stderr, "stepscope %s: %s '%s'\nRun 'stepscope %s --help' for its options.\n",
		command->name, what, word, command->name);
	return false;
}

/* Refuses an option of other commands, or an unknown one with the most similar name. */
static bool refuse_option(const struct command *command, const char *word, size_t length)
{
	struct ss_closest_name guess;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	if (length > 2 && length < sizeof(name) &&
	    ss_option_find(word + 2, length - 2, UINT32_MAX)) {
		fprintf(stderr,
			"stepscope %s: %s does not apply to '%s'; 'stepscope help %s' lists its "
			"options\n",
			command->name, name, command->name, command->name);
		return false;
	}
	guess = ss_closest_name_begin(length > 2 ? name + 2 : "");
	for (size_t i = 0; i < ss_option_count && length > 3; i++)
		if (ss_options[i].takers & command->takers)
			ss_closest_name_add(&guess, ss_options[i].name);
	if (!guess.best)
		return refuse_argument(command, "no option called", word);
	fprintf(stderr,
		"stepscope %s: no option called '%s'; did you mean '--%s'?\n"
		"Run 'stepscope %s --help' for its options.\n",
		command->name, name, guess.best, command->name);
	return false;
}

/* Stores a flag, or the option and value that it is short for. */
static bool store_flag(const struct command *command, const struct ss_option *option,
		       struct arguments *out)
{
	size_t length = option->means ? strcspn(option->means, "=") : 0;

	if (!length)
		return store_option_value(out, option, "");
	return store_option_value(out, ss_option_find(option->means, length, command->takers),
				  option->means + length + 1);
}

/* Reads one option in the form --name value or --name=value; advances *at. */
static bool read_option(const struct command *command, int count, char **words, int *at,
			struct arguments *out)
{
	const char *word = words[*at];
	size_t length = strcspn(word, "=");
	const struct ss_option *option = find_command_option(command, word, length);
	const char *text = word[length] ? word + length + 1 : NULL;
	struct ss_error err = { 0 };

	if (!option)
		return refuse_option(command, word, length);
	if (option->kind == SS_OPTION_FLAG)
		return text ? refuse_argument(command, "unexpected value in", word)
			    : store_flag(command, option, out);
	if (!text && ++*at < count)
		text = words[*at];
	if (!text)
		return refuse_argument(command, "missing value after", word);
	if (!ss_option_accepts(option, text)) {
		(void)ss_option_refuse(option, text, &err);
		show_fail(command->name, &err);
		return false;
	}
	if (store_option_value(out, option, text))
		return true;
	out->paths = NULL;
	return false;
}

/* Without --format, the ending of the file that tables are written to decides. */
static void take_format_of_output(struct arguments *out)
{
	static const struct {
		const char *ending, *format;
	} endings[] = { { ".csv", "csv" },
			{ ".json", "json" },
			{ ".ndjson", "ndjson" },
			{ ".jsonl", "ndjson" },
			{ ".md", "markdown" } };
	const struct ss_option *format = find_declared_option(out, "format");
	const char *output = cli_option_text(out, "output");

	if (!output || !format || !(format->takers & SS_TAKER_SQL) ||
	    out->values[format - ss_options])
		return;
	for (size_t i = 0; i < SS_COUNT(endings); i++)
		if (ss_string_ends_with(output, endings[i].ending))
			out->values[format - ss_options] = endings[i].format;
}

/* Lists the options of requests in the library's form; false: no memory. */
static bool list_options(struct arguments *out)
{
	size_t count = 0;

	for (size_t i = 0; i < ss_option_count; i++) {
		if (ss_options[i].owner != SS_OPTION_OF_REQUEST || !out->values[i])
			continue;
		out->options[count] = join_values(&out->arena, ss_options[i].name, '=',
						  out->values[i]);
		if (!out->options[count++])
			return false;
	}
	return true;
}

/* Splits the words into options and paths; after "--" all are paths. */
static bool read_command_words(const struct command *command, int count, char **words,
			       struct arguments *out)
{
	bool only_paths = false;

	for (int i = 0; i < count; i++) {
		const char *word = words[i];

		if (only_paths || word[0] != '-' || !word[1]) {
			out->paths[out->path_count++] = word;
		} else if (strcmp(word, "--") == 0) {
			only_paths = true;
		} else if (option_is(word, "help")) {
			out->help = true;
			return true;
		} else if (!read_option(command, count, words, &i, out)) {
			return false;
		}
	}
	return true;
}

/*
 * Parses the words. On failure it prints an error to stderr and returns false; if memory
 * runs out, it prints nothing and out->paths is NULL. Always release `out`.
 */
static bool options_read(const struct command *command, int count, char **words,
			 struct arguments *out)
{
	*out = (struct arguments){ .takers = command->takers };
	ss_memory_init(&out->memory, 0);
	ss_arena_init(&out->arena, &out->memory);
	out->values = SS_ARENA_NEW(&out->arena, const char *, ss_option_count);
	out->options = SS_ARENA_NEW(&out->arena, const char *, ss_option_count + 1);
	if (out->values && out->options)
		out->paths = SS_ARENA_NEW(&out->arena, const char *, (size_t)count + 1);
	if (!out->paths || !read_command_words(command, count, words, out))
		return false;
	take_format_of_output(out);
	if (!list_options(out))
		out->paths = NULL;
	return out->paths;
}

static void options_release(struct arguments *arguments)
{
	ss_arena_release(&arguments->arena);
}

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
		is_beside = is_beside && option->letter != 'o';
		/* standard output is no file */
		if (strcmp(path, "-") != 0)
			out[count++] = path;
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
		code = cli_fail(EXIT_FAILED, command->name, "no memory for the arguments");
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
	if (option_is(argv[1], "help")) {
		help_all();
		return EXIT_FINE;
	}
	if (command_find(option_is(argv[1], "version") ? "version" : argv[1], &command))
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
