/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - command: writes one HTML file with the viewer and the traces.
 */
#include "api/find_files.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/redaction.h"
#include "serve/serve.h"

/* Reads the whole source, decompressed; false: it failed or is truncated. */
static bool report_read_file(struct ss_source *source, struct ss_text *out, struct ss_error *err)
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

/* The built-in page, which is compressed, or the page from a file. */
static int find_page(const char *what, const char *path, struct ss_text *out)
{
	struct ss_source *source = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	enum ss_status status;
	bool whole;

	if (!path && !ss_page.length)
		return cli_fail(EXIT_FAILED, what,
				"this build has no viewer: build ui/ first, or use --page");
	ss_memory_init(&memory, 0);
	status = path ? ss_source_open(path, &memory, &source, &err)
		      : ss_source_open_memory(ss_page.bytes, ss_page.length, &memory, &source,
					      &err);
	whole = status == SS_OK && report_read_file(source, out, &err);
	ss_source_close(source);
	if (whole)
		return EXIT_FINE;
	return cli_fail(EXIT_FAILED, what, "cannot read the viewer%s%s: %s", path ? " " : "",
			path ? path : "", err.text[0] ? err.text : "it is damaged");
}

static enum ss_status report_open_run(const struct arguments *arguments,
				      struct ss_redactor *redactor, const char *compare,
				      struct ss_session **out, struct ss_error *err)
{
	struct ss_open_options open = show_loading(arguments, compare ? &compare : arguments->paths,
						   compare ? 1 : arguments->path_count);

	open.snapshots = true;
	open.redactor = redactor;
	/* --run applies to the first path, not to the one to compare with */
	if (compare)
		open.run = NULL;
	return show_load(arguments, &open, out, err);
}

static void report_print_size(const struct output *output, struct ss_session *const sessions[2],
			      uint64_t bytes)
{
	uint32_t files = 0, failed = 0, cut = 0;
	char size[BYTES_WORDS];

	for (uint32_t i = 0; i < 2 && sessions[i]; i++) {
		files += ss_session_file_count(sessions[i]);
		failed += ss_session_failed_count(sessions[i]);
		cut += ss_session_cut_count(sessions[i]);
	}
	cli_bytes_in_words(bytes, size);
	fprintf(output->tells, "%s: %s; opens in any browser, without a server\n", output->path,
		size);
	if (failed)
		fprintf(output->tells,
			"Left out: %u of %u files that could not be read; 'stepscope files' "
			"says why.\n",
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
		report_print_size(output, sessions, bytes);
	return code;
}

static int make_report(const struct command *command, const struct arguments *arguments,
		       const struct output_inputs *inputs, struct ss_redactor *redactor)
{
	const char *compare = cli_option_text(arguments, "compare");
	struct ss_report_options report = { .size = sizeof(report),
					    .max_bytes = cli_option_number(arguments, "max-size",
									   0),
					    .rank = cli_option_text(arguments, "rank"),
					    .step = cli_option_text(arguments, "step"),
					    .link = cli_option_text(arguments, "link") };
	struct ss_session *sessions[2] = { NULL };
	struct ss_error err = { 0 };
	SS_TEXT(page);
	struct output output;
	enum ss_status status;
	int code = find_page(command->name, cli_option_text(arguments, "page"), &page);

	report.page = page.data;
	report.page_bytes = page.length;
	if (code == EXIT_FINE)
		code = output_open(command->name, cli_option_text(arguments, "output"), inputs,
				   &output);
	if (code == EXIT_FINE) {
		status = report_open_run(arguments, redactor, NULL, &sessions[0], &err);
		if (status == SS_OK && compare)
			status = report_open_run(arguments, redactor, compare, &sessions[1], &err);
		code = status == SS_OK ? write_report(command->name, &report, sessions, &output)
				       : output_fail(command->name, &output, &err);
	}
	ss_session_close(sessions[0]);
	ss_session_close(sessions[1]);
	return code;
}

static int report_run(const struct command *command, const struct arguments *arguments)
{
	const char *output = cli_option_text(arguments, "output");
	struct output_inputs inputs = {
		.paths = arguments->paths,
		.path_count = arguments->path_count,
		.more = { cli_option_text(arguments, "compare"),
			  cli_option_text(arguments, "page") },
	};
	struct redaction redaction = redaction_of(arguments);
	struct ss_redactor *redactor;
	int code;

	if (!show_check(command->name, arguments))
		return EXIT_USAGE;
	if (cli_option_given(arguments, "link") && redaction.is_on)
		return cli_fail(
			EXIT_USAGE, command->name,
			"cannot use --link with --redact: a link can contain private names");
	code = redaction_begin(command->name, &redaction, &inputs, output, &redactor);
	if (code != EXIT_FINE)
		return code;
	code = make_report(command, arguments, &inputs, redactor);
	return redaction_end(command->name, &redaction, redactor, output, code == EXIT_FINE, code);
}

const struct command command_report = {
	.name = "report",
	.summary = "Write one HTML file with the viewer and the traces, to share",
	.usage = "[OPTIONS] PATH...",
	.takers = SS_TAKER_PAGE,
	.run = report_run,
};
