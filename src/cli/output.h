/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - output files of commands: base/system/new_file.h with messages for the user.
 *
 * "-" is standard output. After a signal, a full disk or a failed command no partial file is left,
 * and a file that existed before is unchanged.
 */
#ifndef SS_CLI_OUTPUT_H
#define SS_CLI_OUTPUT_H

#include <stdio.h>

#include "base/hash/hash.h"
#include "base/system/new_file.h"
#include "cli/command.h"

struct ss_path; /* api/find_files.h */

/* Some writers deliver one word at a time. */
#define OUTPUT_BUFFER 65536

struct output {
	const char *path; /* as the user gave it */
	struct ss_new_file file;
	FILE *tells;            /* for messages: stderr if the output goes to stdout */
	struct ss_error err;    /* why a write failed; empty text: no failure */
	struct ss_checksum sum; /* of what was written */
	size_t used;
	char buffer[OUTPUT_BUFFER];
};

/* Files and folders that a command reads. */
struct output_inputs {
	const char *const *paths;
	size_t path_count;
	const char *more[2]; /* further inputs; may be NULL */
	bool *left_out;      /* set if a folder has the output of an earlier merge; or NULL */
};

/* Whether both paths lead to the same existing file or folder. */
bool output_is_same(const char *a, const char *b);

/* If the path is one of the inputs, under any name, prints an error; returns the exit code. */
int output_refuse_input(const char *what, const char *path, const struct output_inputs *inputs);

/*
 * Prints errors to stderr and returns the exit code. Call it before loading, so that a bad path is
 * reported at once. Refuses an output that is one of the inputs, under any name.
 */
int output_open(const char *what, const char *path, const struct output_inputs *inputs,
		struct output *out);

/*
 * The stream for messages about the output at `path`, so that they do not end up in it. NULL: the
 * output lies beside the inputs.
 */
FILE *output_tells(const char *path);

/* The write callback for the library; `context` is a struct output. */
bool output_write(void *context, const char *bytes, size_t length);

/*
 * Syncs the file to disk. Afterwards output->file.temporary can be read; it is empty if the output
 * is not a regular file. On failure no file is left.
 */
int output_finish(const char *what, struct output *output);

/* After output_finish(): reads the file again and compares it with what was written. */
int output_compare(const char *what, struct output *output);

/* Calls output_finish() and renames the file to its final name. */
/* Writes a file that readers find whole, or not at all. */
enum ss_status output_write_whole(const char *path, const struct ss_text *text,
				  struct ss_error *err);
int output_close(const char *what, struct output *output);

/* Warns that input files are truncated, so that the output lacks events. */
void output_tell_cut(FILE *to, uint32_t cut);

/*
 * Removes the output, prints the error and returns the exit code; a write error takes precedence.
 */
int output_fail(const char *what, struct output *output, const struct ss_error *err);

/* Removes the output. */
void output_drop(struct output *output);

/* show.c: where a command prints: to standard output, or to the file of --output. */
struct shown {
	bool to_file;
	struct output output;
};

/*
 * Opens the file of --output, if given, as output_open() does. Call it before loading. Returns the
 * exit code.
 */
int show_begin(const char *what, const struct arguments *arguments,
	       const struct output_inputs *inputs, struct shown *out);
/* Writes the library's output, or prints its error; returns the exit code. */
int show_end(const char *what, enum ss_status status, struct shown *shown, struct ss_text *out,
	     const struct ss_error *err);

/* The path relative to the folder that the user gave; otherwise only the name. */
const char *output_path_below(const struct arguments *arguments, const struct ss_path *path);

#define BYTES_WORDS 32

/* "831 bytes", "6.3 kB", "33.2 MB": small files are never "0.0 MB". */
void cli_bytes_in_words(uint64_t bytes, char out[BYTES_WORDS]);

#define COUNT_WORDS 32

/* "221,032" */
void count_in_words(uint64_t count, char out[COUNT_WORDS]);

#endif
