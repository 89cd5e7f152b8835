/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - a command of the program.
 *
 * To add one: src/cli/commands/X.c, tests/cli/X.py, docs/commands/X.md, and X in
 * src/cli/commands/meson.build; its options in src/api/request/options.c, from which parsing
 * and help follow. Every view is a command as well: commands.c makes those from the list of
 * views.
 */
#ifndef SS_CLI_COMMAND_H
#define SS_CLI_COMMAND_H

#include "api/request/options.h"
#include "base/memory.h"
#include "cli/exit_codes.h"
#include "sandbox/sandbox.h"
#include "stepscope.h"

/* The parsed command line. Options are declared in src/api/request/options.c. */
struct arguments {
	uint32_t takers;    /* what the command takes options as */
	const char **paths; /* words that are not options; NULL: out of memory */
	size_t path_count;
	const char **values;  /* in the order of ss_options; NULL: not given; "" for flags */
	const char **options; /* those of requests as "name=value"; NULL ends the list */
	bool help;
	struct ss_memory memory;
	struct ss_arena arena; /* of all these */
};

struct command {
	const char *name;
	const char *summary;
	const char *usage;  /* what follows the name: "[OPTIONS] PATH..." */
	uint32_t takers;    /* enum ss_taker: decides which options it has */
	bool writes_beside; /* without an output it writes next to the inputs */
	bool is_verdict;    /* help lists it first */
	/* Prints the rest of its help; may be NULL. */
	void (*print_more)(void);
	/* Runs before the sandbox is entered; may be NULL. */
	void (*begin)(const struct arguments *arguments, struct sandbox_needs *needs);
	int (*run)(const struct command *command, const struct arguments *arguments);
};

/* The commands of src/cli/commands/meson.build, without the views. */
extern const struct command *const commands[];
extern const size_t command_count;

/* Finds a command, or makes one for a view; false if there is none of that name. */
bool command_find(const char *name, struct command *out);

/* The name that was probably meant, or NULL. */
const char *command_suggest(const char *name);

/*
 * options.c: parses the words; on failure prints an error to stderr and returns false. Without
 * memory it prints nothing, and out->paths is NULL. Release `out` in any case.
 */
bool options_read(const struct command *command, int count, char **words, struct arguments *out);
void options_release(struct arguments *arguments);

/* The value of an option, or its default; NULL: neither, or the command has no such option. */
const char *cli_option_text(const struct arguments *arguments, const char *name);
/* The same for numbers and sizes; `otherwise` if it is not given and has no default. */
uint64_t cli_option_number(const struct arguments *arguments, const char *name, uint64_t otherwise);
/* The same for the library, which refuses numbers that do not fit as too large. */
uint32_t cli_option_count(const struct arguments *arguments, const char *name);
bool cli_option_given(const struct arguments *arguments, const char *name);
/* Whether the word is this option of the program itself: "-h" and "--help" are "help". */
bool cli_option_is(const char *word, const char *name);

/* show.c: loads the paths, runs `what` and prints it. */
int show_run(const char *what, const struct arguments *arguments);

/* For commands that load themselves: if no path is given, prints an error and returns false. */
bool show_check(const char *what, const struct arguments *arguments);
struct ss_request show_request(const char *what, const struct arguments *arguments);
/* The loading options; the code that shows progress adds it. */
struct ss_open_options show_loading(const struct arguments *arguments, const char *const *paths,
				    size_t path_count);
/* Whether there are digests there, and no traces: they are enough for all that is about the job. */
bool show_are_digests(const char *const *paths, size_t path_count);
/* Loads what `open` asks for, with the progress display of the options. */
enum ss_status show_load(const struct arguments *arguments, const struct ss_open_options *open,
			 struct ss_session **out, struct ss_error *err);
/* Prints to stderr how many files or packs could not be read, if any. */
void show_failed(const struct ss_session *session, const char *what);

/* Prints an error of the library with the option names of the command; returns the exit code. */
int show_fail(const char *what, const struct ss_error *err);

/* command_line.c: the whole command, with the program's name first; returns the exit code. */
int command_line(int argc, char **argv);

/* progress.c: a bar on a terminal, lines of JSON for programs. */
struct progress_bar {
	bool bar, json;
	int64_t next_ns; /* when to draw again */
	bool drawn;
};

/* Without Ctrl-C: for a command that handles it itself. */
void progress_prepare(struct progress_bar *bar, const char *mode);
void progress_clear(struct progress_bar *bar);

void progress_begin(struct progress_bar *bar, const char *mode);
bool progress_step(void *context, const struct ss_progress *progress);
void progress_end(struct progress_bar *bar);

/* browser.c: true if the user at this machine can see a browser. */
bool browser_is_near(void);

/* Prepares to open a link: inside the sandbox no program can be started. */
void browser_prepare(void);

/* Opens the link, if browser_prepare() was called. */
void browser_open(const char *link);

#endif
