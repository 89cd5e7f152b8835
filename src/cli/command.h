/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - a command of the program.
 *
 * To add one: src/cli/commands/X.c, tests/cli/X.py, docs/commands/X.md, and X in
 * src/cli/commands/meson.build; declare its options in src/api/request/options.c, which drives
 * parsing and help. Every view is a command as well: command_line.c makes those from the list of
 * views.
 */
#ifndef SS_CLI_COMMAND_H
#define SS_CLI_COMMAND_H

#include "api/request/options.h"
#include "base/memory.h"
#include "sandbox/sandbox.h"
#include "stepscope.h"

/* How the command ends. */
enum exit_code {
	EXIT_FINE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_FOUND = 3,
	EXIT_INCONCLUSIVE = 4,
	EXIT_INTERRUPTED = 130, /* as in shells: 128 plus the number of SIGINT */
};

/* The parsed command line. Options are declared in src/api/request/options.c. */
struct arguments {
	uint32_t takers;    /* enum ss_taker: which options the command accepts */
	const char **paths; /* words that are not options; NULL: out of memory */
	size_t path_count;
	const char **values;  /* one per entry of ss_options; NULL: not given; "" for flags */
	const char **options; /* options of requests as "name=value", NULL-terminated */
	bool help;
	struct ss_memory memory;
	struct ss_arena arena; /* owns all of the above */
};

struct command {
	const char *name;
	const char *summary;
	const char *usage;  /* what follows the name: "[OPTIONS] PATH..." */
	uint32_t takers;    /* enum ss_taker: which options it accepts */
	bool writes_beside; /* without an output path it writes next to the inputs */
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

/* Finds a command, or makes one for a view; false if no command or view has that name. */
bool command_find(const char *name, struct command *out);

/* The most similar name, or NULL. */
const char *command_suggest(const char *name);

/*
 * The value of an option, or its default; NULL: no value and no default, or the command does not
 * accept it.
 */
const char *cli_option_text(const struct arguments *arguments, const char *name);
/* The same for numbers and sizes; `otherwise` if the option is not given and has no default. */
uint64_t cli_option_number(const struct arguments *arguments, const char *name, uint64_t otherwise);
/* The same as 32 bits: larger values become UINT32_MAX, which the library refuses as too large. */
uint32_t cli_option_count(const struct arguments *arguments, const char *name);
bool cli_option_given(const struct arguments *arguments, const char *name);

/* show.c: loads the paths, runs the view or report `what` and prints it. */
int show_run(const char *what, const struct arguments *arguments);

/* For commands that load by themselves: prints an error and returns false if no path is given. */
bool show_check(const char *what, const struct arguments *arguments);
struct ss_request show_request(const char *what, const struct arguments *arguments);
/* The loading options, without progress: show_load() adds it. */
struct ss_open_options show_loading(const struct arguments *arguments, const char *const *paths,
				    size_t path_count);
/* Whether the paths have digests and no traces. Digests are enough for everything about the job. */
bool show_are_digests(const char *const *paths, size_t path_count);
/* Loads what `open` asks for, with the progress display that the options ask for. */
enum ss_status show_load(const struct arguments *arguments, const struct ss_open_options *open,
			 struct ss_session **out, struct ss_error *err);
/* Prints to stderr how many files or packs could not be read, unless all could. */
void show_failed(const struct ss_session *session, const char *what);

/* Prints "stepscope WHAT: " and the sentence to stderr; returns the code. */
__attribute__((format(printf, 3, 4))) int cli_fail(enum exit_code code, const char *what,
						   const char *format, ...);

/* Prints the whole text to stdout. */
int cli_print(const char *what, const struct ss_text *text);

/* Prints an error of the library, with options as the user types them; returns the exit code. */
int show_fail(const char *what, const struct ss_error *err);

/* command_line.c: runs the whole command line, argv[0] included; returns the exit code. */
int command_line(int argc, char **argv);

/* show.c: a bar on a terminal, lines of JSON for programs. */
struct progress_bar {
	bool bar, json;
	int64_t next_ns; /* when to redraw */
	bool drawn;
};

/* Without handling Ctrl-C: for commands that do that themselves. */
void cli_progress_prepare(struct progress_bar *bar, const char *mode);
void cli_progress_clear(struct progress_bar *bar);

void cli_progress_begin(struct progress_bar *bar, const char *mode);
bool cli_progress_step(void *context, const struct ss_progress *progress);
void cli_progress_end(struct progress_bar *bar);

/* browser.c: whether the user sits at this machine and has a browser. */
bool browser_is_near(void);

/* Call before the sandbox is entered: inside it no program can be started. */
void browser_prepare(void);

/* Opens the link, if browser_prepare() was called. */
void browser_open(const char *link);

/* simulated.c: writes a simulated job and prints its faults; returns the exit code. */
int simulated_write(const char *what, const struct ss_simulation *simulation, const char *progress);

#endif
