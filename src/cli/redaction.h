/*
 * redaction.h - the options of commands that can leave out what tells whose a trace is.
 */
#ifndef SS_CLI_REDACTION_H
#define SS_CLI_REDACTION_H

#include "cli/command.h"

struct redaction {
	bool is_on;
	struct option_list keep;
	const char *key, *list;
	bool is_quiet; /* does not say what was replaced */
};

#define REDACTION_KEEP "modules|groups|paths"

/* What goes with --redact, for the table of a command whose struct holds a struct redaction. */
#define REDACTION_OPTIONS(type, field)                                                   \
	{ "--keep",                                                                      \
	  REDACTION_KEEP,                                                                \
	  "what --redact leaves as it is (commas between them)",                         \
	  OPTION_LIST,                                                                   \
	  offsetof(type, field.keep),                                                    \
	  0 },                                                                           \
		{ "--key",                                                               \
		  "FILE",                                                                \
		  "the key of pseudonyms, made when it is missing "                      \
		  "(default: a new one)",                                                \
		  OPTION_TEXT,                                                           \
		  offsetof(type, field.key),                                             \
		  0 },                                                                   \
	{                                                                                \
		"--list", "FILE", "writes what was replaced, for yourself", OPTION_TEXT, \
			offsetof(type, field.list), 0                                    \
	}

/*
 * Without --redact, *out only counts what the files hold, for redaction_end() to say. Says what is wrong on stderr and returns the
 * exit code for it.
 */
int redaction_begin(const char *what, const struct redaction *redaction, struct ss_redactor **out);

/* Says what was replaced or is contained, writes the list, and frees the redactor. */
int redaction_end(const char *what, const struct redaction *redaction, struct ss_redactor *redactor,
		  int code);

#endif
