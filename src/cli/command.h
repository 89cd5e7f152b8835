/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - a command of the program.
 *
 * To add one: src/cli/commands/X.c, tests/cli/X.py, docs/commands/X.md, and X in
 * src/cli/commands/meson.build. A command declares its options; parsing them, help and
 * completion follow from the declaration. Every view is a command as well:
 * view.c makes them, nothing is to be added for those.
 */
#ifndef SS_CLI_COMMAND_H
#define SS_CLI_COMMAND_H

#include "sandbox/sandbox.h"
#include "stepscope.h"

enum exit_code { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/*
 * OPTION_LIST: may be given several times; values are joined with commas. OPTION_OUTPUT: a text,
 * the file or folder that the command writes; the sandbox lets it write nowhere else.
 */
enum option_kind {
	OPTION_LIST,
	OPTION_TEXT,
	OPTION_OUTPUT,
	OPTION_COUNT,
	OPTION_BYTES,
	OPTION_RANK,
	OPTION_FLAG,
};

struct option {
	const char *name;     /* "--format" */
	const char *argument; /* how help calls it: "text|json|csv|markdown"; flags: "" */
	const char *about;
	enum option_kind kind;
	size_t offset; /* of the value in the command's own struct */
	char letter;   /* -o is --output; 0: none */
};

#define PATHS_MAX 65536

/* What an OPTION_LIST holds. */
struct option_list {
	char text[1024];
};

/* What was typed, taken apart. */
struct arguments {
	const char **paths;
	size_t path_count;
	bool help;
};

struct command {
	const char *name;
	const char *summary;
	const char *usage; /* what follows the name: "[OPTIONS] PATH..." */
	const struct option *options;
	size_t option_count;
	bool writes_beside; /* without an output it writes beside the paths */
	bool is_verdict;    /* help lists it first */
	bool shows; /* its struct begins with a struct show_options, and has those options, too */
	bool loads; /* the same, with those of them that are about loading */
	bool reads; /* files of strangers, without being one of those */
	size_t values_bytes; /* of the command's own struct */
	/* Prints what else its help has; may be NULL. */
	void (*print_more)(void);
	/* Sets defaults; may be NULL. */
	void (*prepare)(void *values);
	/* For commands that load: what must be done before the sandbox closes; may be NULL. */
	void (*begin)(const void *values, struct sandbox_needs *needs);
	int (*run)(const struct command *command, const void *values,
		   const struct arguments *arguments);
};

/* The commands of src/cli/commands/meson.build; views are not among them. */
extern const struct command *const commands[];
extern const size_t command_count;

/* Also makes commands of views; false when there is none of that name. */
bool command_find(const char *name, struct command *out);

/* The name that was probably meant, or NULL. */
const char *command_suggest(const char *name);

/* How many letters of one name have to change, be added or dropped to make the other. */
size_t command_distance(const char *a, const char *b);

/* The options of a command by index, its own first; NULL past the end. */
const struct option *command_option(const struct command *command, size_t index);

/*
 * options.c: fills the command's struct; says what is wrong on stderr and returns false. Without
 * memory it says nothing: out->paths is NULL then.
 */
bool options_read(const struct command *command, int count, char **words, void *values,
		  struct arguments *out);

/* show.c: the options that all commands share that load traces. */
struct show_options {
	const char *format, *color, *progress;
	const char *step, *device, *stream, *name, *sort, *group;
	const char *fix; /* what-if */
	uint64_t width, top, threads, memory_limit_bytes;
	int64_t rank;
	const char *run; /* which of several runs; diff: two, with a comma between them */
	bool no_sandbox;
};

extern const struct option show_option_list[];
extern const size_t show_option_count;
extern const size_t load_option_first; /* from here on they are about loading */
void show_prepare(void *values);

/* Loads the paths, runs `what` and prints it. */
int show_run(const char *what, const struct show_options *options,
	     const struct arguments *arguments);

/*
 * The same for commands that load in their own way: says what is wrong with the options, or that
 * no path is named, and returns false.
 */
bool show_check(const char *what, const struct show_options *options,
		const struct arguments *arguments);
struct ss_request show_request(const char *what, const struct show_options *options);
/* What the options say about loading; progress is added by who shows it. */
struct ss_open_options show_loading(const struct show_options *options, const char *const *paths,
				    size_t path_count);
/* Loads paths, with the progress that the options ask for. */
enum ss_status show_open(const char *what, const struct show_options *options,
			 const char *const *paths, size_t path_count, struct ss_session **out,
			 struct ss_error *err);

/* Says on stderr that files or packs could not be read, where there are some. */
void show_failed(const struct ss_session *session, const char *what);

/* Width and colour of text, as the options and the terminal have it. */
uint32_t show_width(const struct show_options *options);
bool show_color(const struct show_options *options);

/* Prints a sentence of `what` and returns the exit code for it. */
int show_fail(const char *what, const struct ss_error *err);

/* help.c */
void help_command(const struct command *command);
void help_all(void);

/* progress.c: a bar on a terminal, lines of JSON for programs. */
struct progress_bar {
	bool bar, json;
	int64_t next_ns; /* when to draw again */
	bool drawn;
};

/* Without Ctrl-C: for a command that has its own way to end. */
void progress_prepare(struct progress_bar *bar, const char *mode);
void progress_clear(struct progress_bar *bar);

void progress_begin(struct progress_bar *bar, const char *mode);
bool progress_step(void *context, const struct ss_progress *progress);
void progress_end(struct progress_bar *bar);

/* browser.c: true when the person at this machine can see a browser. */
bool browser_is_near(void);

/* Makes ready to open a link: afterwards the sandbox lets no program begin. */
void browser_prepare(void);

/* Opens the link, when browser_prepare() was called. */
void browser_open(const char *link);

#endif
