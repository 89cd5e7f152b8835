/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redaction.h - the options of commands that can replace private names.
 */
#ifndef SS_CLI_REDACTION_H
#define SS_CLI_REDACTION_H

#include "cli/output.h"

struct redaction {
	bool is_on;
	const char *keep, *key, *list;
	bool is_quiet; /* prints no summary */
};

/* Reads the options. */
struct redaction redaction_of(const struct arguments *arguments);

/*
 * Without --redact, *out only counts what the files hold, for redaction_end() to say. `output` is
 * the file or folder that is to be passed on; NULL: it lies beside the inputs. Neither the key nor
 * the list may be one of the inputs, or in that folder. Says what is wrong on stderr and returns
 * the exit code for it.
 */
int redaction_begin(const char *what, const struct redaction *redaction,
		    const struct output_inputs *inputs, const char *output,
		    struct ss_redactor **out);

/*
 * Says what was replaced or is contained, writes the list, and frees the redactor; where nothing
 * was written, only the last. Where the output is "-", stdout is its own. Returns `code`, or what
 * the list ended with.
 */
int redaction_end(const char *what, const struct redaction *redaction, struct ss_redactor *redactor,
		  const char *output, bool is_written, int code);

#endif
