/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - command: one HTML file that shows the traces wherever it is opened.
 */
#include "base/text.h"
#include "cli/output.h"
#include "cli/redaction.h"
#include "read/source.h"
#include "serve/page.h"

#define DEFAULT_NAME "report.html"

/* What mail and chat still take, and a browser opens in a second or two. */
#define DEFAULT_MAX_BYTES ((uint64_t)64 << 20)

struct values {
	struct show_options show;
	const char *output, *compare, *page, *link;
	uint64_t max_bytes;
	struct redaction redaction;
};

static const struct option options[] = {
	{ "--output", "FILE", "the page to write (default: " DEFAULT_NAME ")", OPTION_OUTPUT,
	  offsetof(struct values, output), 'o' },
	{ "--compare", "PATH", "a second run, shown beside the first", OPTION_TEXT,
	  offsetof(struct values, compare), 0 },
	{ "--link", "ADDRESS", "open at the place of a copied link, with its notes", OPTION_TEXT,
	  offsetof(struct values, link), 0 },
	{ "--rank", "N", "only this rank", OPTION_RANK, offsetof(struct values, show.rank), 0 },
	{ "--step", "N|N-M|NAME", "only what was called in these steps", OPTION_TEXT,
	  offsetof(struct values, show.step), 0 },
	{ "--max-size", "SIZE", "give up beyond this (default: 64M)", OPTION_BYTES,
	  offsetof(struct values, max_bytes), 0 },
	{ "--page", "FILE", "another viewer than the one that is built in", OPTION_TEXT,
	  offsetof(struct values, page), 0 },
	{ "--redact", "", REDACTION_REDACT, OPTION_FLAG, offsetof(struct values, redaction.is_on),
	  0 },
	{ "--keep", REDACTION_KEEP, REDACTION_KEPT, OPTION_LIST,
	  offsetof(struct values, redaction.keep), 0 },
	{ "--key", "FILE", REDACTION_KEY, OPTION_OUTPUT, offsetof(struct values, redaction.key),
	  0 },
	{ "--list", "FILE", REDACTION_LIST, OPTION_OUTPUT, offsetof(struct values, redaction.list),
	  0 },
};

static void prepare(void *values)
{
	struct values *own = values;

	show_prepare(&own->show);
	own->output = DEFAULT_NAME;
	own->max_bytes = DEFAULT_MAX_BYTES;
}

/* Reads all of the source, unpacked; true when it is whole. */
static bool read_all(struct ss_source *source, struct ss_text *out, struct ss_error *err)
{
	char block[16384];
	size_t got = 1;

	while (got) {
		if (ss_source_fill(source, block, sizeof(block), &got, err) != SS_OK)
			return false;
		ss_text_add(out, block, got);
	}
	if (ss_text_failed(out)) {
		(void)ss_fail_memory(err, "the viewer");
		return false;
	}
	return source->flaw == SS_SOURCE_WHOLE;
}

/* The page that is built in, which is compressed, or the one of a file. */
static int find_page(const char *what, const char *path, struct ss_text *out)
{
	struct ss_source *source = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	enum ss_status status;
	bool whole;

	if (!path && !ss_page.length) {
		fprintf(stderr, "stepscope %s: this build has no viewer to put the traces into\n",
			what);
		return EXIT_FAILED;
	}
	ss_memory_init(&memory, 0);
	status = path ? ss_source_open(path, &memory, &source, &err)
		      : ss_source_open_memory(ss_page.bytes, ss_page.length, &memory, &source,
					      &err);
	whole = status == SS_OK && read_all(source, out, &err);
	ss_source_close(source);
	if (whole)
		return EXIT_FINE;
	fprintf(stderr, "stepscope %s: cannot read the viewer%s%s: %s\n", what, path ? " " : "",
		path ? path : "", err.text[0] ? err.text : "it is damaged");
	return EXIT_FAILED;
}

static enum ss_status open_run(const struct values *own, struct ss_redactor *redactor,
			       const char *const *paths, size_t count, struct ss_session **out,
			       struct ss_error *err)
{
	struct progress_bar bar;
	struct ss_open_options open = show_loading(&own->show, paths, count);
	enum ss_status status;

	open.snapshots = true;
	open.redactor = redactor;
	open.progress = progress_step;
	open.progress_context = &bar;
	/* --run is about the first: the one to compare with is another path */
	if (paths == &own->compare)
		open.run = NULL;
	progress_begin(&bar, own->show.progress);
	status = ss_session_open(&open, out, err);
	progress_end(&bar);
	return status;
}

static void tell(const struct output *output, struct ss_session *const sessions[2], uint64_t bytes)
{
	uint32_t files = 0, failed = 0, cut = 0;
	char size[BYTES_WORDS];

	for (uint32_t i = 0; i < 2 && sessions[i]; i++) {
		files += ss_session_file_count(sessions[i]);
		failed += ss_session_failed_count(sessions[i]);
		cut += ss_session_cut_count(sessions[i]);
	}
	bytes_in_words(bytes, size);
	fprintf(output->tells, "%s: %s; open it in any browser, no server is needed\n",
		output->path, size);
	if (failed)
		fprintf(output->tells,
			"Left out: %u of %u files that could not be read; 'stepscope files' says "
			"why.\n",
			failed, files);
	output_tell_cut(output->tells, cut);
}

static int write_report(const char *what, const struct ss_report_options *report,
			struct ss_session *const sessions[2], struct output *output)
{
	struct ss_sink sink = { output_write, output };
	struct ss_runs *runs = NULL;
	struct ss_error err = { 0 };
	uint64_t bytes = 0;
	enum ss_status status = ss_runs_new(&runs, &err);
	int code;

	for (uint32_t i = 0; i < 2 && sessions[i] && status == SS_OK; i++)
		status = ss_runs_add(runs, sessions[i], &err);
	if (status == SS_OK)
		status = ss_session_report(runs, report, &sink, &bytes, &err);
	ss_runs_free(runs);
	if (status != SS_OK)
		return output_fail(what, output, &err);
	code = output_finish(what, output);
	if (code == EXIT_FINE)
		code = output_compare(what, output);
	if (code == EXIT_FINE)
		code = output_close(what, output);
	if (code == EXIT_FINE)
		tell(output, sessions, bytes);
	return code;
}

static int make_report(const struct command *command, const struct values *own,
		       const struct arguments *arguments, struct ss_redactor *redactor)
{
	struct ss_report_options report = { .size = sizeof(report),
					    .max_bytes = own->max_bytes,
					    .step = own->show.step,
					    .link = own->link };
	struct ss_session *sessions[2] = { NULL };
	char rank[24];
	struct output_inputs inputs = { arguments->paths,
					arguments->path_count,
					{ own->compare, own->page } };
	struct ss_error err = { 0 };
	struct ss_text page = { 0 };
	struct output output;
	enum ss_status status;
	int code = find_page(command->name, own->page, &page);

	if (own->show.rank != SS_EVERY_RANK) {
		snprintf(rank, sizeof(rank), "%lld", (long long)own->show.rank);
		report.rank = rank;
	}
	report.page = page.data;
	report.page_bytes = page.length;
	if (code == EXIT_FINE)
		code = output_open(command->name, own->output, &inputs, &output);
	if (code == EXIT_FINE) {
		status = open_run(own, redactor, arguments->paths, arguments->path_count,
				  &sessions[0], &err);
		if (status == SS_OK && own->compare)
			status = open_run(own, redactor, &own->compare, 1, &sessions[1], &err);
		code = status == SS_OK ? write_report(command->name, &report, sessions, &output)
				       : output_fail(command->name, &output, &err);
	}
	ss_session_close(sessions[0]);
	ss_session_close(sessions[1]);
	ss_text_release(&page);
	return code;
}

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct values *own = values;
	struct ss_redactor *redactor;
	int code;

	if (!show_check(command->name, &own->show, arguments))
		return EXIT_USAGE;
	if (own->link && own->redaction.is_on) {
		fprintf(stderr,
			"stepscope %s: a link can hold names: --link does not go with "
			"--redact\n",
			command->name);
		return EXIT_USAGE;
	}
	code = redaction_begin(command->name, &own->redaction,
			       &(struct output_inputs){ arguments->paths,
							arguments->path_count,
							{ own->compare, own->page } },
			       own->output, &redactor);
	if (code != EXIT_FINE)
		return code;
	code = make_report(command, own, arguments, redactor);
	return redaction_end(command->name, &own->redaction, redactor, own->output,
			     code == EXIT_FINE, code);
}

const struct command command_report = {
	.name = "report",
	.summary = "One HTML file that shows the traces wherever it is opened",
	.usage = "[OPTIONS] PATH...",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.loads = true,
	.values_bytes = sizeof(struct values),
	.prepare = prepare,
	.run = run,
};
