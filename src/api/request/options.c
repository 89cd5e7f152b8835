/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the options, in the order of help. No taker has two of one name.
 */
#include "api/request/options.h"

#include <string.h>

#include "base/text.h"
#include "stepscope.h"

#define REDACTING (SS_TAKER_PAGE | SS_TAKER_MERGE | SS_TAKER_PACK | SS_TAKER_REDACT)
#define CHOOSING (SS_TAKER_VIEW | SS_TAKER_REPORT | SS_TAKER_DIFF)
#define PRINTING (SS_TAKERS_SHOWING | SS_TAKER_LIST | SS_TAKER_DEMO | SS_TAKER_SIM)

#define OPTION(name_, argument_, about_, kind_, owner_, takers_, ...)                             \
	{                                                                                         \
		.name = name_, .argument = argument_, .about = about_, .kind = SS_OPTION_##kind_, \
		.owner = SS_OPTION_OF_##owner_, .takers = takers_, __VA_ARGS__                    \
	}
#define FLAG(name, about, takers) OPTION(name, NULL, about, FLAG, COMMAND, takers, .letter = 0)
#define NUMBER(name, about, takers) OPTION(name, "N", about, NUMBER, COMMAND, takers, .letter = 0)
#define TEXT(name, argument, about, takers) \
	OPTION(name, argument, about, TEXT, COMMAND, takers, .letter = 0)
#define OUTPUT(argument, about, takers, default_)                                 \
	OPTION("output", argument, about, OUTPUT, COMMAND, takers, .letter = 'o', \
	       .otherwise = default_)

const struct ss_option ss_options[] = {
	/* what a command is about */
	OPTION("fix", "RULE[=RANK],...",
	       "what to fix; 'stepscope explain' lists rules (default: all)", LIST, REQUEST,
	       SS_TAKER_WHAT_IF, .letter = 0),
	TEXT("view", "NAME", "compare this view (default: where the step goes, and kernels)",
	     SS_TAKER_DIFF),
	FLAG("json", "as JSON, with the sandbox that this machine offers", SS_TAKER_VERSION),
	FLAG("list", "the jobs that have a name", SS_TAKER_SIM),
	FLAG("list-causes", "what can be planted in a job", SS_TAKER_SIM),
	FLAG("list-settings", "what of a job can be set", SS_TAKER_SIM),
	OPTION("preset", "NAME", "the job to simulate", TEXT, COMMAND, SS_TAKER_SIM, .letter = 'p'),
	OUTPUT("FOLDER", "where its files go (default: the preset's name)", SS_TAKER_SIM, NULL),
	OUTPUT("FOLDER", "where the traces go", SS_TAKER_DEMO, "stepscope-demo"),
	OUTPUT("FILE", "the page to write", SS_TAKER_PAGE, "report.html"),
	OUTPUT("FILE", "the trace to write; .gz compresses it", SS_TAKER_MERGE, "merged.json.gz"),
	OUTPUT("FOLDER", "where the packs go (default: beside each file)", SS_TAKER_PACK, NULL),
	OUTPUT("FOLDER", "where the copies go; for one trace also a file", SS_TAKER_REDACT, NULL),
	TEXT("compare", "PATH", "a second run, file or folder, to compare with",
	     SS_TAKER_SERVE | SS_TAKER_PAGE),

	/* simulated jobs */
	TEXT("layout", "NAME", "single, ddp, fsdp, tensor, pipeline or inference", SS_TAKER_SIM),
	TEXT("device", "NAME", "v100, a100, h100, b200 or mi300x", SS_TAKER_SIM),
	NUMBER("ranks", "processes, one GPU and one file each", SS_TAKER_SIM),
	NUMBER("steps", "steps that are recorded", SS_TAKER_SIM),
	TEXT("cause", "NAME[=0..1],...", "plants these too, with their severity", SS_TAKER_SIM),
	TEXT("without", "NAME,...", "leaves these out", SS_TAKER_SIM),
	TEXT("set", "NAME=N,...", "sets these: accumulate=4,stack=0", SS_TAKER_SIM),
	NUMBER("seed", "of the noise; the same seed gives the same bytes", SS_TAKER_SIM),
	FLAG("plain", "writes .json instead of .json.gz", SS_TAKER_SIM),
	FLAG("sync-rows", "records which stream waits for which event", SS_TAKER_SIM),
	FLAG("sequence", "numbers collectives, as newer versions of torch do", SS_TAKER_SIM),
	NUMBER("clock-offset-ms", "clocks of hosts differ by up to this much", SS_TAKER_SIM),
	NUMBER("drift-ppm", "and run apart by up to this much", SS_TAKER_SIM),
	NUMBER("lost-per-million", "events that do not get into the files", SS_TAKER_SIM),

	/* the viewer and its page */
	NUMBER("port", "port to listen on (default: any free one)", SS_TAKER_SERVE),
	TEXT("host", "ADDRESS", "address to listen on (default: 127.0.0.1, this machine alone)",
	     SS_TAKER_SERVE),
	FLAG("no-browser", "only print the link", SS_TAKER_SERVE),
	TEXT("link", "ADDRESS", "open at the place of a copied link, with its notes",
	     SS_TAKER_PAGE),
	OPTION("rank", "N", "only this rank", RANK, COMMAND, SS_TAKER_PAGE, .letter = 0),
	TEXT("step", "N|N-M|NAME", "only what was called in these steps", SS_TAKER_PAGE),
	OPTION("max-size", "SIZE", "give up beyond this", BYTES, COMMAND, SS_TAKER_PAGE,
	       .otherwise = "64M"),
	TEXT("page", "FILE", "another viewer than the one that is built in", SS_TAKER_PAGE),

	/* files to pass on */
	FLAG("force", "replace packs that exist", SS_TAKER_PACK),
	FLAG("force", "replace files that exist", SS_TAKER_REDACT),
	FLAG("redact", "replace names, hosts and paths that are not public",
	     SS_TAKER_PAGE | SS_TAKER_MERGE | SS_TAKER_PACK),
	OPTION("keep", "modules|groups|paths", "names to keep, separated by commas", LIST, COMMAND,
	       REDACTING, .letter = 0),
	OPTION("key", "FILE", "key of the pseudonyms, created if it is missing", OUTPUT, COMMAND,
	       REDACTING, .letter = 0),
	OPTION("list", "FILE", "list of what was replaced, for your own use", OUTPUT, COMMAND,
	       REDACTING, .letter = 0),

	/* what is shown of the traces, and how */
	OPTION("format", NULL, "how to print it", CHOICE, FIELD, SS_TAKERS_SHOWING,
	       .choices = ss_format_at, .otherwise = "text"),
	OPTION("format", NULL, "of the list", CHOICE, COMMAND, SS_TAKER_LIST | SS_TAKER_SIM,
	       .choices = ss_format_at, .otherwise = "text"),
	OPTION("format", "text|json", "how to print what was replaced", CHOICE, COMMAND,
	       SS_TAKER_REDACT, .otherwise = "text"),
	OPTION("rank", "N|all", "only this rank; 'all': minimum, median and maximum across ranks",
	       RANK, FIELD, SS_TAKERS_SHOWING & ~SS_TAKER_MEMORY, .letter = 0),
	OPTION("rank", "N", "the file of this rank, where there are several", RANK, FIELD,
	       SS_TAKER_MEMORY, .letter = 0),
	OPTION("step", "N|N-M|NAME", "only these steps, as the view steps numbers them", TEXT,
	       FIELD, CHOOSING, .letter = 0),
	OPTION("device", "N", "only what ran on this device", NUMBER, REQUEST, CHOOSING,
	       .letter = 0),
	OPTION("device", "N|host|cpu", "only rows about this device", TEXT, REQUEST,
	       SS_TAKER_MEMORY, .letter = 0),
	OPTION("stream", "N", "only what ran on this stream", TEXT, REQUEST, CHOOSING, .letter = 0),
	OPTION("name", "TEXT", "only rows with this in a name; * and ? stand for any letters", TEXT,
	       REQUEST, SS_TAKER_NAMED, .letter = 0),
	OPTION("group", "WHAT", "what a row is about", TEXT, REQUEST, SS_TAKER_GROUPED,
	       .letter = 0),
	OPTION("sort", "COLUMN", "order of the rows; -COLUMN turns it round", TEXT, REQUEST,
	       SS_TAKER_SORTED, .letter = 0),
	OPTION("top", "N", "show at most N rows per table and rank (0: all)", NUMBER, FIELD,
	       SS_TAKERS_SHOWING, .letter = 0),
	OPTION("color", "auto|always|never", "colours; auto: on a terminal", CHOICE, COMMAND,
	       PRINTING, .otherwise = "auto"),
	NUMBER("width", "columns of text (default: the terminal's, else 80)", PRINTING),

	/* loading */
	TEXT("run", "N|NAME",
	     "which run, where the files are of several (default: newest complete)",
	     SS_TAKERS_LOADING & ~SS_TAKER_PACK),
	NUMBER("threads", "threads to read with (default: one per core)", SS_TAKERS_LOADING),
	NUMBER("threads", "threads to write with (default: one per core)", SS_TAKER_SIM),
	OPTION("memory-limit", "SIZE", "give up beyond this, as in 512M or 8G (default: none)",
	       BYTES, COMMAND, SS_TAKERS_LOADING, .letter = 0),
	OPTION("progress", "auto|bar|json|none", "progress display", CHOICE, COMMAND,
	       SS_TAKERS_LOADING | SS_TAKER_SIM, .otherwise = "auto"),
	FLAG("no-sandbox", "keep the rights that reading does not need",
	     SS_TAKERS_LOADING | SS_TAKER_REDACT),
};

const size_t ss_option_count = SS_COUNT(ss_options);

const struct ss_option *ss_option_find(const char *name, size_t length, uint32_t takers)
{
	for (size_t i = 0; i < ss_option_count; i++)
		if (ss_options[i].takers & takers && strlen(ss_options[i].name) == length &&
		    memcmp(ss_options[i].name, name, length) == 0)
			return &ss_options[i];
	return NULL;
}

/* --- values ---------------------------------------------------------------------------- */

void ss_option_argument(const struct ss_option *option, char out[SS_ARGUMENT_BYTES])
{
	size_t used = 0;

	out[0] = '\0';
	if (!option->choices) {
		strncat(out, option->argument ? option->argument : "", SS_ARGUMENT_BYTES - 1);
		return;
	}
	for (size_t i = 0; option->choices(i); i++) {
		const char *word = option->choices(i);

		if (used + strlen(word) + 2 > SS_ARGUMENT_BYTES)
			return;
		if (i)
			out[used++] = '|';
		memcpy(out + used, word, strlen(word) + 1);
		used += strlen(word);
	}
}

bool ss_read_count(const char *text, uint64_t *out)
{
	*out = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || *out > UINT64_MAX / 10 - 1)
			return false;
		*out = *out * 10 + (uint64_t)(*text - '0');
	}
	return true;
}

bool ss_read_bytes(const char *text, uint64_t *out)
{
	static const char letters[] = "kmgt";
	char digits[24];
	size_t length = strspn(text, "0123456789");
	const char *letter;
	uint64_t scale = 1;

	if (!length || length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!ss_read_count(digits, out))
		return false;
	if (!text[length])
		return true;
	letter = strchr(letters, text[length] | 0x20);
	if (!letter || (text[length + 1] && strcmp(text + length + 1, "B") != 0 &&
			strcmp(text + length + 1, "iB") != 0))
		return false;
	for (; letter >= letters; letter--)
		scale *= 1024;
	if (*out > UINT64_MAX / scale)
		return false;
	*out *= scale;
	return true;
}

/* Whether "a|b|c" has the word. */
static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (;; words++) {
		size_t own = strcspn(words, "|");

		if (own == length && memcmp(words, word, length) == 0)
			return true;
		words += own;
		if (!*words)
			return false;
	}
}

bool ss_option_accepts(const struct ss_option *option, const char *value)
{
	char words[SS_ARGUMENT_BYTES];
	uint64_t number;

	switch (option->kind) {
	case SS_OPTION_NUMBER:
		return ss_read_count(value, &number);
	case SS_OPTION_BYTES:
		return ss_read_bytes(value, &number);
	case SS_OPTION_RANK:
		return (strcmp(value, "all") == 0 && has_word(option->argument, value)) ||
		       (ss_read_count(value, &number) && number <= INT32_MAX);
	case SS_OPTION_CHOICE:
		ss_option_argument(option, words);
		return has_word(words, value);
	case SS_OPTION_FLAG:
	case SS_OPTION_TEXT:
	case SS_OPTION_LIST:
	case SS_OPTION_OUTPUT:
		break;
	}
	return true;
}

enum ss_status ss_option_refuse(const struct ss_option *option, const char *value,
				struct ss_error *err)
{
	char argument[SS_ARGUMENT_BYTES];

	ss_option_argument(option, argument);
	return ss_fail(err, SS_ERR_USAGE, "'%s' takes %s, not '%.60s'", option->name, argument,
		       value);
}
