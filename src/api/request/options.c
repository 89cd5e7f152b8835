/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - all options, in the order of help. Names are unique within each taker.
 */
#include "api/request/options.h"

#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "stepscope.h"

#define STORING (SS_TAKER_STORE | SS_TAKER_WATCH)
/* --redact of commands that write what can be shared; the command redact needs no such option */
#define SHARING                                                                              \
	(SS_TAKER_PAGE | SS_TAKER_MERGE | SS_TAKER_SLICE | SS_TAKER_EXPORT | SS_TAKER_PACK | \
	 SS_TAKER_DIGEST | STORING)
#define REDACTING (SHARING | SS_TAKER_REDACT)
#define CHOOSING (SS_TAKER_VIEW | SS_TAKER_REPORT | SS_TAKER_DIFF)
#define PRINTING                                                                           \
	(SS_TAKERS_SHOWING | SS_TAKER_LIST | SS_TAKER_DEMO | SS_TAKER_SIM | SS_TAKER_SQL | \
	 SS_TAKER_STORE | SS_TAKER_CHECK)

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
	/* before any command; -h is understood behind one, too */
	OPTION("help", NULL, "this list; after a command: its options", FLAG, COMMAND,
	       SS_TAKER_PROGRAM, .letter = 'h'),
	OPTION("version", NULL, "print the version", FLAG, COMMAND, SS_TAKER_PROGRAM,
	       .letter = 'V'),

	/* what a command is about */
	OPTION("fix", "RULE[=RANK],...",
	       "findings to fix; 'stepscope explain' lists the rules (default: all)", LIST, REQUEST,
	       SS_TAKER_WHAT_IF, .letter = 0),
	OPTION("gpu", "NAME", "on another GPU, such as 'H200'; without --fix: as recorded", TEXT,
	       REQUEST, SS_TAKER_WHAT_IF, .letter = 0),
	OPTION("verbose", NULL, "show all evidence, reasons and data quality", FLAG, REQUEST,
	       SS_TAKER_DIAGNOSE | SS_TAKER_WHAT_IF, .letter = 'v'),
	TEXT("view", "NAME", "view to compare (default: where step time goes, and kernels)",
	     SS_TAKER_DIFF),
	FLAG("json", "print JSON, including the sandbox features of this machine",
	     SS_TAKER_VERSION),
	OPTION("against", "BASELINE",
	       "earlier runs: a trace, a folder of one or more runs, or STORE[:key=value]", LIST,
	       COMMAND, SS_TAKER_CHECK, .letter = 0),
	OPTION("fail-if", "CONDITION", "fail if this holds, such as 'idle_percent > 10'", LIST,
	       COMMAND, SS_TAKER_CHECK, .letter = 0),
	OPTION("threshold", "PERCENT", "smallest change of the mean step to report", TEXT, COMMAND,
	       SS_TAKER_CHECK, .otherwise = "2%"),
	FLAG("list", "list the columns that --fail-if can name without a view", SS_TAKER_CHECK),
	FLAG("allow-inconclusive", "exit with 0 if the check is inconclusive", SS_TAKER_CHECK),
	FLAG("github", "print annotations of GitHub Actions, and append to the summary of the step",
	     SS_TAKER_CHECK),
	OPTION("junit", "FILE", "also write JUnit XML", OUTPUT, COMMAND, SS_TAKER_CHECK,
	       .letter = 0),
	OPTION("sarif", "FILE", "also write the findings with a line of code as SARIF", OUTPUT,
	       COMMAND, SS_TAKER_CHECK, .letter = 0),
	OPTION("bencher", "FILE", "also write figures for Bencher (BMF)", OUTPUT, COMMAND,
	       SS_TAKER_CHECK, .letter = 0),
	OPTION("benchmark", "FILE", "also write figures for github-action-benchmark", OUTPUT,
	       COMMAND, SS_TAKER_CHECK, .letter = 0),
	OPTION("name", "NAME", "name of the job in these files", TEXT, COMMAND, SS_TAKER_CHECK,
	       .otherwise = "training"),
	FLAG("list", "list the presets", SS_TAKER_SIM),
	FLAG("list-causes", "list the faults that a job can have", SS_TAKER_SIM),
	FLAG("list-settings", "list the settings of a job", SS_TAKER_SIM),
	OPTION("preset", "NAME", "job to simulate", TEXT, COMMAND, SS_TAKER_SIM, .letter = 'p'),
	OUTPUT("FOLDER", "folder to write (default: the preset's name)", SS_TAKER_SIM, NULL),
	OUTPUT("FOLDER", "folder for the traces", SS_TAKER_DEMO, "stepscope-demo"),
	OUTPUT("FILE", "HTML file to write", SS_TAKER_PAGE, "report.html"),
	OUTPUT("FILE", "trace to write; a name ending in .gz is compressed", SS_TAKER_MERGE,
	       "merged.json.gz"),
	OUTPUT("FILE|FOLDER", "trace to write (.json, .json.gz), or a folder for several ranks",
	       SS_TAKER_SLICE, "slice.json.gz"),
	OPTION("rank", "N", "only this rank", RANK, COMMAND, SS_TAKER_SLICE, .letter = 0),
	TEXT("step", "N|N-M|NAME", "these steps, by their number in the view steps",
	     SS_TAKER_SLICE),
	TEXT("around", "FINDING", "the step that shows a finding best: 'finding 1', or its rule",
	     SS_TAKER_SLICE),
	TEXT("from", "TIME", "from this time on: 120ms, 1.5s (from the first event of all ranks)",
	     SS_TAKER_SLICE),
	TEXT("to", "TIME", "up to this time", SS_TAKER_SLICE),
	TEXT("root", "FOLDER", "answer only about files in this folder", SS_TAKER_MCP),
	OUTPUT("FOLDER", "where the tool slice may write (default: nowhere)", SS_TAKER_MCP, NULL),
	OPTION("perfetto", "FILE", "write packets of Perfetto; a name ending in .gz is compressed",
	       OUTPUT, COMMAND, SS_TAKER_EXPORT, .letter = 0),
	OPTION("folded", "FILE", "write folded stacks for flame graphs: by rank, by phase", OUTPUT,
	       COMMAND, SS_TAKER_EXPORT, .letter = 0),
	FLAG("members", "also the ranks that take part in its collectives", SS_TAKER_SLICE),
	OUTPUT("FOLDER", "folder for the packs (default: next to each trace)", SS_TAKER_PACK, NULL),
	OUTPUT("FOLDER", "folder for the digests", SS_TAKER_DIGEST, NULL),
	OUTPUT("FOLDER", "folder for the copies; for a single trace also a file", SS_TAKER_REDACT,
	       NULL),
	OUTPUT("FILE", "write to FILE; a name ending in .parquet is written as Parquet",
	       SS_TAKER_SQL, NULL),
	OPTION("file", "FILE", "read the queries from FILE ('-': standard input)", TEXT, COMMAND,
	       SS_TAKER_SQL, .letter = 'f'),
	FLAG("allow-files", "let queries read other files: Parquet, CSV, JSON", SS_TAKER_SQL),
	TEXT("compare", "PATH", "second run to compare with: file or folder",
	     SS_TAKER_SERVE | SS_TAKER_PAGE),
	TEXT("store", "STORE", "show all runs of a store instead of one run", SS_TAKER_SERVE),

	/* stores of many runs */
	TEXT("job", "NAME", "what the runs are part of: 'pretrain-7b'", STORING),
	TEXT("commit", "SHA", "commit of the training code (default: as recorded)", STORING),
	OPTION("label", "KEY=VALUE", "label of the runs, such as team=vision; may be repeated",
	       PAIRS, COMMAND, STORING, .letter = 0),
	TEXT("source", "LINK", "where the traces or their pack will be (default: their path)",
	     SS_TAKER_STORE),

	OPTION("store", "STORE", "store to add the runs to; made if it is missing", OUTPUT, COMMAND,
	       SS_TAKER_WATCH, .letter = 0),
	OPTION("digests", "FOLDER",
	       "on the node of the ranks: write digests there, at low priority", OUTPUT, COMMAND,
	       SS_TAKER_WATCH, .letter = 0),
	FLAG("delete-traces", "with --digests: keep traces of suspects and one other rank, no more",
	     SS_TAKER_WATCH),
	OPTION("keep-limit", "SIZE", "of the traces that --delete-traces keeps; the oldest go",
	       BYTES, COMMAND, SS_TAKER_WATCH, .otherwise = "2G"),
	TEXT("by-path", "RULE", "labels from folders of runs, such as '{team}/{job}'",
	     SS_TAKER_WATCH),
	OPTION("settle", "N", "seconds without a change after which a run is whole", NUMBER,
	       COMMAND, SS_TAKER_WATCH, .otherwise = "10"),
	OPTION("metrics", "FILE", "write gauges for Prometheus: live numbers, last recording",
	       OUTPUT, COMMAND, SS_TAKER_WATCH, .letter = 0),
	TEXT("dynolog", "HOST[:PORT],...", "ask the daemon dynolog of these nodes (port 1778)",
	     SS_TAKER_RECORD),
	NUMBER("job-id", "with --dynolog: job of the scheduler (default: any)", SS_TAKER_RECORD),
	FLAG("events", "print a line of JSON per finding and change", SS_TAKER_WATCH),
	FLAG("once", "add what is there, then end", SS_TAKER_WATCH),
	FLAG("follow", "on a terminal: show it again every two seconds", SS_TAKER_LIVE),
	TEXT("before", "DATE", "drop: remove runs before this date", SS_TAKER_STORE),
	OPTION("grace", "N", "compact, drop: delete files N seconds after they were replaced",
	       NUMBER, COMMAND, SS_TAKER_STORE, .otherwise = "3600"),

	/* simulated jobs */
	TEXT("layout", "NAME", "parallelism: single, ddp, fsdp, tensor, pipeline or inference",
	     SS_TAKER_SIM),
	TEXT("device", "NAME", "GPU: v100, a100, h100, b200 or mi300x", SS_TAKER_SIM),
	NUMBER("ranks", "number of ranks, with one GPU and one file each", SS_TAKER_SIM),
	NUMBER("steps", "number of recorded steps", SS_TAKER_SIM | SS_TAKER_RECORD),
	TEXT("cause", "NAME[=0..1],...", "faults to add, with their severity", SS_TAKER_SIM),
	TEXT("without", "NAME,...", "faults of the preset to leave out", SS_TAKER_SIM),
	TEXT("set", "NAME=N,...", "settings to change, such as accumulate=4,stack=0", SS_TAKER_SIM),
	NUMBER("seed", "seed of the noise; the same seed gives the same bytes", SS_TAKER_SIM),
	FLAG("plain", "write .json instead of .json.gz", SS_TAKER_SIM),
	FLAG("sync-rows", "record which stream waits for which event", SS_TAKER_SIM),
	FLAG("sequence", "number the collectives, as newer versions of PyTorch do", SS_TAKER_SIM),
	NUMBER("clock-offset-ms", "largest difference between host clocks", SS_TAKER_SIM),
	NUMBER("drift-ppm", "largest drift between host clocks", SS_TAKER_SIM),
	NUMBER("lost-per-million", "events per million that are missing from the files",
	       SS_TAKER_SIM),

	/* the viewer and its page */
	NUMBER("port", "port to listen on (default: any free one)", SS_TAKER_SERVE),
	TEXT("host", "ADDRESS", "address to listen on (default: 127.0.0.1, this machine only)",
	     SS_TAKER_SERVE),
	FLAG("no-browser", "print the link, do not open a browser", SS_TAKER_SERVE),
	TEXT("link", "ADDRESS", "open at the position of a copied link, with its notes",
	     SS_TAKER_PAGE),
	OPTION("rank", "N", "only this rank", RANK, COMMAND, SS_TAKER_PAGE, .letter = 0),
	TEXT("step", "N|N-M|NAME", "only what was launched in these steps", SS_TAKER_PAGE),
	OPTION("max-size", "SIZE", "fail if the file would be larger", BYTES, COMMAND,
	       SS_TAKER_PAGE, .otherwise = "64M"),
	TEXT("page", "FILE", "HTML file of another viewer to use", SS_TAKER_PAGE),

	/* files to pass on */
	FLAG("force", "overwrite existing packs", SS_TAKER_PACK),
	FLAG("plain", "do not compress columns: six times as large", SS_TAKER_PACK),
	FLAG("force", "overwrite existing files", SS_TAKER_REDACT),
	FLAG("force", "overwrite existing digests", SS_TAKER_DIGEST),
	FLAG("resume", "write only digests that are missing, damaged or out of date",
	     SS_TAKER_DIGEST),
	TEXT("share", "I/N", "only every N-th file, from file I on (default: as the launcher says)",
	     SS_TAKER_DIGEST),
	FLAG("redact", "replace private names, hosts and paths", SHARING),
	OPTION("keep", "modules|groups|paths", "names not to replace, separated by commas", LIST,
	       COMMAND, REDACTING, .letter = 0),
	OPTION("key", "FILE", "key for the pseudonyms, created if missing", OUTPUT, COMMAND,
	       REDACTING, .letter = 0),
	OPTION("list", "FILE", "write what was replaced to FILE; keep it private", OUTPUT, COMMAND,
	       REDACTING, .letter = 0),

	/* what is shown of the traces, and how */
	OPTION("format", NULL, "output format", CHOICE, FIELD, SS_TAKERS_SHOWING | SS_TAKER_SQL,
	       .choices = ss_format_at, .otherwise = "text"),
	OPTION("format", NULL, "format of the list", CHOICE, COMMAND,
	       SS_TAKER_LIST | SS_TAKER_SIM | SS_TAKER_STORE, .choices = ss_format_at,
	       .otherwise = "text"),
	OPTION("format", "text|json", "format of the summary", CHOICE, COMMAND, SS_TAKER_REDACT,
	       .otherwise = "text"),
	OPTION("format", "text|json|markdown", "output format", CHOICE, COMMAND, SS_TAKER_CHECK,
	       .otherwise = "text"),
	OPTION("json", NULL, "same as --format json", FLAG, COMMAND,
	       SS_TAKERS_SHOWING | SS_TAKER_LIST | SS_TAKER_SIM | SS_TAKER_REDACT | SS_TAKER_SQL |
		       SS_TAKER_STORE | SS_TAKER_CHECK,
	       .means = "format=json"),
	OUTPUT("FILE", "write to FILE instead of standard output",
	       SS_TAKERS_SHOWING | SS_TAKER_LIST | SS_TAKER_ASK | SS_TAKER_CHECK, NULL),
	OPTION("rank", "N|all", "only this rank; 'all': minimum, median and maximum across ranks",
	       RANK, FIELD, SS_TAKERS_SHOWING & ~SS_TAKER_MEMORY, .letter = 0),
	OPTION("rank", "N", "use the file of this rank if there are several", RANK, FIELD,
	       SS_TAKER_MEMORY, .letter = 0),
	OPTION("step", "N|N-M|NAME", "only these steps, by their number in the view steps", TEXT,
	       FIELD, CHOOSING, .letter = 0),
	OPTION("device", "N", "only work on this GPU", NUMBER, REQUEST, CHOOSING, .letter = 0),
	OPTION("device", "N|host|cpu", "only rows of this device", TEXT, REQUEST, SS_TAKER_MEMORY,
	       .letter = 0),
	OPTION("stream", "N", "only work on this stream", TEXT, REQUEST, CHOOSING, .letter = 0),
	OPTION("name", "TEXT", "only rows whose name contains TEXT; * and ? are wildcards", TEXT,
	       REQUEST, SS_TAKER_NAMED, .letter = 0),
	OPTION("group", "WHAT", "what each row stands for", TEXT, REQUEST, SS_TAKER_GROUPED,
	       .letter = 0),
	OPTION("sort", "COLUMN", "sort the rows by COLUMN; -COLUMN reverses the order", TEXT,
	       REQUEST, SS_TAKER_SORTED, .letter = 0),
	OPTION("top", "N",
	       "show at most N rows per table and rank (0: all; default: all, on a terminal 30)",
	       NUMBER, FIELD, SS_TAKER_VIEW | SS_TAKER_JOB_VIEW | SS_TAKER_MEMORY, .letter = 0),
	OPTION("top", "N", "show at most N rows per table and rank (0: all)", NUMBER, FIELD,
	       SS_TAKER_REPORT | SS_TAKER_DIFF, .letter = 0),
	OPTION("top", "N", "show at most N findings (0: all)", NUMBER, FIELD,
	       SS_TAKER_DIAGNOSE | SS_TAKER_WHAT_IF, .letter = 0),
	OPTION("color", "auto|always|never", "use colours (auto: only on a terminal)", CHOICE,
	       COMMAND, PRINTING, .otherwise = "auto"),
	NUMBER("width",
	       "width of the text in columns (default: $COLUMNS, else the terminal's, else 80)",
	       PRINTING),

	/* loading */
	TEXT("run", "N|NAME", "run to use if there are several (default: newest complete)",
	     SS_TAKERS_LOADING & ~(SS_TAKER_PACK | SS_TAKER_DIGEST | SS_TAKER_WATCH)),
	NUMBER("threads", "number of threads that read (default: one per core)",
	       SS_TAKERS_LOADING | SS_TAKER_MCP),
	NUMBER("threads", "number of threads that write (default: one per core)", SS_TAKER_SIM),
	OPTION("memory-limit", "SIZE",
	       "fail if more memory is needed, such as 512M or 8G (default: none)", BYTES, COMMAND,
	       SS_TAKERS_LOADING | SS_TAKER_MCP, .letter = 0),
	NUMBER("file-limit", "refuse more files than N (default: 100,000)",
	       SS_TAKERS_LOADING | SS_TAKER_MCP),
	OPTION("progress", "auto|bar|json|none", "progress display", CHOICE, COMMAND,
	       SS_TAKERS_LOADING | SS_TAKER_SIM, .otherwise = "auto"),
	FLAG("no-sandbox", "do not restrict the rights of this process",
	     SS_TAKERS_LOADING | SS_TAKER_REDACT | SS_TAKER_MCP),
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

bool ss_option_read_count(const char *text, uint64_t *out)
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

bool ss_option_read_bytes(const char *text, uint64_t *out)
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
	if (!ss_option_read_count(digits, out))
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
static bool choices_have_word(const char *words, const char *word)
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
		return ss_option_read_count(value, &number);
	case SS_OPTION_BYTES:
		return ss_option_read_bytes(value, &number);
	case SS_OPTION_RANK:
		return (strcmp(value, "all") == 0 && choices_have_word(option->argument, value)) ||
		       (ss_option_read_count(value, &number) && number <= INT32_MAX);
	case SS_OPTION_CHOICE:
		ss_option_argument(option, words);
		return choices_have_word(words, value);
	case SS_OPTION_PAIRS:
		return strchr(value, '=') && value[0] != '=' && !strchr(value, SS_PAIR_END) &&
		       !(ss_utf8_check(value, strlen(value)) & SS_UTF8_BAD_BYTES);
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
