/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redaction.h - options of commands that can replace private names.
 */
#ifndef SS_CLI_REDACTION_H
#define SS_CLI_REDACTION_H

#include "cli/output.h"

struct redaction {
	bool is_on;
	const char *keep, *key, *list;
	bool is_quiet; /* prints no summary, and without --redact counts nothing */
};

/* Reads the options. */
struct redaction redaction_of(const struct arguments *arguments);

/*
 * Without --redact, *out only counts the private names, which redaction_end() reports; it is NULL
 * if that is not wanted. `output` is
 * the file or folder to be shared; NULL: it lies beside the inputs. Neither the key nor the list
 * may be an input or lie in the output folder. Prints errors to stderr and returns the exit code.
 */
int redaction_begin(const char *what, const struct redaction *redaction,
		    const struct output_inputs *inputs, const char *output,
		    struct ss_redactor **out);

/*
 * Reports what was replaced or found, writes the list, and frees the redactor; if nothing was
 * written, it only frees. If the output is "-", messages go to stderr. Returns `code`, or the exit
 * code of a failure to write the list.
 */
int redaction_end(const char *what, const struct redaction *redaction, struct ss_redactor *redactor,
		  const char *output, bool is_written, int code);

/*
 * Loads the paths of the command, `reduced` to what compares ranks, and writes one file: `write`
 * fills the output, and `told` with what is printed once it is complete. Returns the exit code.
 */
int redaction_write(const struct command *command, const struct arguments *arguments,
		    const char *path, bool reduced,
		    enum ss_status (*write)(const struct arguments *arguments,
					    struct ss_session *session, struct output *output,
					    struct ss_text *told, struct ss_error *err));

#endif
