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

#include "base/hash/checksum.h"
#include "base/system/new_file.h"
#include "cli/command.h"

/* Writers give some texts a word at a time. */
#define OUTPUT_BUFFER 65536

struct output {
	const char *path; /* as it was asked for */
	struct ss_new_file file;
	FILE *tells;            /* for people: stderr where the output itself is on stdout */
	struct ss_error err;    /* why a write failed; its text is empty: none did */
	struct ss_checksum sum; /* of what was written */
	size_t used;
	char buffer[OUTPUT_BUFFER];
};

/* Files and folders that a command reads. */
struct output_inputs {
	const char *const *paths;
	size_t path_count;
	const char *more[2]; /* other ones; may be NULL */
};

/* Whether the paths lead to one file or folder, which is there. */
bool output_is_same(const char *a, const char *b);

/* Says that the path is one of the inputs, by whatever name, and returns the exit code for it. */
int output_refuse_input(const char *what, const char *path, const struct output_inputs *inputs);

/*
 * Says what is wrong on stderr and returns the exit code for it. Call it before anything
 * is loaded: that takes long, and a bad path is to be told at once. An output that is one of
 * the inputs, by whatever name, is refused.
 */
int output_open(const char *what, const char *path, const struct output_inputs *inputs,
		struct output *out);

/* Where people are told of an output: not where it goes itself. NULL: it goes to files. */
FILE *output_tells(const char *path);

/* The `write` of the library's calls; `context` is a struct output. */
bool output_write(void *context, const char *bytes, size_t length);

/*
 * Brings it to the disk; output->file.temporary can be read then, and is empty where there is
 * nothing that could be read. On failure nothing is left.
 */
int output_finish(const char *what, struct output *output);

/* After output_finish(): reads it again and compares it with what was written. */
int output_compare(const char *what, struct output *output);

/* output_finish(), and gives it its name. */
int output_close(const char *what, struct output *output);

/* For people: that files end in the middle, so what was made of them lacks events. */
void output_tell_cut(FILE *to, uint32_t cut);

/* Leaves nothing behind, says why and returns the exit code: the disk's reason goes first. */
int output_fail(const char *what, struct output *output, const struct ss_error *err);

/* Leaves nothing behind. */
void output_drop(struct output *output);

#define BYTES_WORDS 32

/* "831 bytes", "6.3 kB", "33.2 MB": a small file does not have "0.0 MB". */
void bytes_in_words(uint64_t bytes, char out[BYTES_WORDS]);

#endif
