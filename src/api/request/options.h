/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - every option of the library and of the command, declared once.
 *
 * To add one: an entry in options.c, and the place that uses it. What belongs to a request is read
 * with ss_wanted_text() (request.h), what belongs to the command alone with cli_option_text()
 * (src/cli/command.h). Parsing, help, the error where it does not apply, the parameters of routes
 * and docs/options.md follow from the entry.
 */
#ifndef SS_API_REQUEST_OPTIONS_H
#define SS_API_REQUEST_OPTIONS_H

#include "base/error.h"

/*
 * What takes options: something that can be requested, or a command. Each has one kind, and
 * possibly more flags; an option lists all that make it apply.
 */
enum ss_taker {
	SS_TAKER_VIEW = 1 << 0,     /* a view of each rank */
	SS_TAKER_JOB_VIEW = 1 << 1, /* of all ranks together */
	SS_TAKER_REPORT = 1 << 2,   /* several views under one headline */
	SS_TAKER_MEMORY = 1 << 3,   /* a view or the report of a snapshot */
	SS_TAKER_DIAGNOSE = 1 << 4,
	SS_TAKER_WHAT_IF = 1 << 5,
	SS_TAKER_DIFF = 1 << 6,
	SS_TAKER_LIST = 1 << 7, /* of rules, of simulated jobs */
	/* commands that request none of these */
	SS_TAKER_SERVE = 1 << 8,
	SS_TAKER_PAGE = 1 << 9, /* 'report' */
	SS_TAKER_ASK = 1 << 10,
	SS_TAKER_MERGE = 1 << 11,
	SS_TAKER_PACK = 1 << 12,
	SS_TAKER_REDACT = 1 << 13,
	SS_TAKER_DEMO = 1 << 14,
	SS_TAKER_SIM = 1 << 15,
	SS_TAKER_VERSION = 1 << 16,
	/* in addition to the kind: rows can be grouped, have names, can be sorted */
	SS_TAKER_GROUPED = 1 << 17,
	SS_TAKER_NAMED = 1 << 18,
	SS_TAKER_SORTED = 1 << 19,
	/* the program itself, before any command */
	SS_TAKER_PROGRAM = 1 << 20,
	SS_TAKER_SQL = 1 << 21,
	SS_TAKER_STORE = 1 << 22,
	SS_TAKER_WATCH = 1 << 23,
	SS_TAKER_CHECK = 1 << 24,
	SS_TAKER_DIGEST = 1 << 25,
	SS_TAKER_SLICE = 1 << 26,
	SS_TAKER_MCP = 1 << 27,
	SS_TAKER_EXPORT = 1 << 28,
	SS_TAKER_LIVE = 1 << 29, /* in addition to the kind: about live numbers */
	SS_TAKER_RECORD = 1 << 30,
};

/* What views can have; Python and the viewer offer only options of these and of SHOWING. */
#define SS_TAKERS_ROWS (SS_TAKER_GROUPED | SS_TAKER_NAMED | SS_TAKER_SORTED)

/* Everything that shows traces or snapshots, and everything that loads them. */
#define SS_TAKERS_SHOWING                                                        \
	(SS_TAKER_VIEW | SS_TAKER_JOB_VIEW | SS_TAKER_REPORT | SS_TAKER_MEMORY | \
	 SS_TAKER_DIAGNOSE | SS_TAKER_WHAT_IF | SS_TAKER_DIFF)
#define SS_TAKERS_LOADING                                                                     \
	(SS_TAKERS_SHOWING | SS_TAKER_SERVE | SS_TAKER_PAGE | SS_TAKER_ASK | SS_TAKER_MERGE | \
	 SS_TAKER_PACK | SS_TAKER_SQL | SS_TAKER_STORE | SS_TAKER_WATCH | SS_TAKER_CHECK |    \
	 SS_TAKER_DIGEST | SS_TAKER_SLICE | SS_TAKER_EXPORT)

enum ss_option_kind {
	SS_OPTION_FLAG,   /* without a value */
	SS_OPTION_NUMBER, /* digits */
	SS_OPTION_BYTES,  /* "512M" */
	SS_OPTION_RANK,   /* digits, or "all" where `argument` has it */
	SS_OPTION_CHOICE, /* one of `choices`, else of the words of `argument` */
	SS_OPTION_TEXT,
	SS_OPTION_LIST,   /* texts separated by commas; may be given several times */
	SS_OPTION_PAIRS,  /* "key=value"; may be given several times: see SS_PAIR_END */
	SS_OPTION_OUTPUT, /* a file or folder that the command writes, and nothing else */
};

/* Separates pairs; no pair contains it. */
#define SS_PAIR_END '\x1f'

enum ss_option_owner {
	SS_OPTION_OF_COMMAND,
	SS_OPTION_OF_FIELD,   /* a field of struct ss_request */
	SS_OPTION_OF_REQUEST, /* one of ss_request.options */
};

struct ss_option {
	const char *name;     /* "format": --format of the command */
	const char *argument; /* name of the value in help: "N|all"; NULL for flags */
	const char *about;    /* one line */
	enum ss_option_kind kind;
	enum ss_option_owner owner;
	uint32_t takers;
	char letter; /* -o is --output; 0: none */
	const char *(*choices)(size_t index);
	const char *otherwise; /* default of the command; NULL: none */
	const char *means;     /* of a flag that is short for another option: "format=json" */
};

extern const struct ss_option ss_options[];
extern const size_t ss_option_count;

/* The first option of that name that one of the takers has, or NULL. */
const struct ss_option *ss_option_find(const char *name, size_t length, uint32_t takers);

/* The name of its value in help: "text|json". */
#define SS_ARGUMENT_BYTES 96
void ss_option_argument(const struct ss_option *option, char out[SS_ARGUMENT_BYTES]);

/* Whether the value is valid for the option. */
bool ss_option_accepts(const struct ss_option *option, const char *value);

/* Reads a number; false if there are other characters, no digits or too many. */
bool ss_option_read_count(const char *text, uint64_t *out);

/* The same with the suffix "k", "M", "G" or "T", powers of 1024: "512M". */
bool ss_option_read_bytes(const char *text, uint64_t *out);

/* "'top' takes N, not 'x'"; the command says --top. */
enum ss_status ss_option_refuse(const struct ss_option *option, const char *value,
				struct ss_error *err);

#endif
