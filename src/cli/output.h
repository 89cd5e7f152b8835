/*
 * output.h - a file that is written under another name until it is whole.
 *
 * Half a trace or a page that stops in the middle is worse than none: what is written
 * goes to NAME.part in the same folder, is brought to the disk, and takes its name at
 * once. Devices and pipes are written as they are.
 */
#ifndef SS_CLI_OUTPUT_H
#define SS_CLI_OUTPUT_H

#include <stdio.h>

#include "cli/command.h"

struct output {
	const char *path;
	char part[4096]; /* the path itself where it is a device or a pipe */
	bool is_renamed;
	FILE *file;
};

/*
 * Says what is wrong on stderr and returns the exit code for it. Call it before anything
 * is loaded: that takes long, and a bad path is to be told at once.
 */
int output_open(const char *what, const char *path, struct output *out);

/* The `write` of the library's calls; `context` is a struct output. */
bool output_write(void *context, const char *bytes, size_t length);

/* Brings it to the disk and gives it its name. Also says what is wrong, and leaves nothing. */
int output_close(const char *what, struct output *output);

/* Leaves nothing behind. */
void output_drop(struct output *output);

#define BYTES_WORDS 32

/* "831 bytes", "6.3 kB", "33.2 MB": a small file does not have "0.0 MB". */
void bytes_in_words(uint64_t bytes, char out[BYTES_WORDS]);

#endif
