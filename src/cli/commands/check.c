/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - command: tells whether a run is slower than its baseline; for CI systems.
 */
#include "cli/check/baselines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files written besides the output; in the order of `outputs` below. */
static const struct {
	const char *option;
	void (*render)(const struct ss_rendered_check *shown, struct ss_text *out);
} files[] = {
	{ "junit", ss_render_check_junit },
	{ "sarif", ss_render_check_sarif },
	{ "bencher", ss_render_check_bencher },
	{ "benchmark", ss_render_check_benchmark },
};

/* Everything that is open while the runs are loaded. */
struct written {
	struct shown shown; /* standard output, or the file of --output */
	struct output files[SS_COUNT(files)];
	bool is_open[SS_COUNT(files)];
};

/* GitHub's summary of the job step, opened before the sandbox is entered; NULL: not requested. */
static FILE *step_summary;

static void check_allow(const struct arguments *arguments, struct sandbox_needs *needs)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");

	(void)needs;
	if (cli_option_given(arguments, "github") && path && *path)
		step_summary = fopen(path, "ab");
	cli_stored_baseline_begin(arguments);
}

/* --- outputs ---------------------------------------------------------------------------- */

static void check_drop_report(struct written *written)
{
	if (written->shown.to_file)
		output_drop(&written->shown.output);
	for (size_t i = 0; i < SS_COUNT(files); i++)
		if (written->is_open[i])
			output_drop(&written->files[i]);
}

static int open_outputs(const struct command *command, const struct arguments *arguments,
			struct written *out)
{
	struct output_inputs inputs = { .paths = arguments->paths,
					.path_count = arguments->path_count,
					.more = { cli_option_text(arguments, "against") } };
	int code = show_begin(command->name, arguments, &inputs, &out->shown);

	for (size_t i = 0; code == EXIT_FINE && i < SS_COUNT(files); i++) {
		const char *path = cli_option_text(arguments, files[i].option);

		if (path)
			code = output_open(command->name, path, &inputs, &out->files[i]);
		out->is_open[i] = path && code == EXIT_FINE;
	}
	if (code != EXIT_FINE)
		check_drop_report(out);
	return code;
}

static void check_render_report(const struct arguments *arguments,
				const struct ss_rendered_check *shown, struct ss_text *out)
{
	const char *format = cli_option_text(arguments, "format");

	if (strcmp(format, "json") == 0)
		ss_render_check_json(shown, out);
	else if (strcmp(format, "markdown") == 0)
		ss_render_check_markdown(shown, out);
	else
		ss_render_check_text(shown, out);
}

static int write_file(const char *what, struct output *output,
		      void (*write)(const struct ss_rendered_check *shown, struct ss_text *out),
		      const struct ss_rendered_check *shown)
{
	struct ss_error err = { 0 };
	SS_TEXT(text);
	int code;

	write(shown, &text);
	if (ss_text_failed(&text)) {
		(void)ss_fail_memory(&err, "the output");
		code = output_fail(what, output, &err);
	} else {
		(void)output_write(output, text.data, text.length);
		code = output_close(what, output);
	}
	return code;
}

/* Prints annotations to standard output, where GitHub reads them. */
static int check_write_github(const char *what, const struct ss_rendered_check *shown)
{
	struct ss_text text = { 0 };
	bool is_fine = true;

	ss_render_check_github(shown, &text);
	fwrite(text.data ? text.data : "", 1, text.length, stdout);
	ss_text_release(&text);
	if (!step_summary)
		return EXIT_FINE;
	ss_render_check_step_summary(shown, &text);
	is_fine = text.data && fwrite(text.data, 1, text.length, step_summary) == text.length;
	is_fine = fclose(step_summary) == 0 && is_fine;
	ss_text_release(&text);
	if (!is_fine)
		fprintf(stderr, "stepscope %s: cannot write the summary of the step\n", what);
	return is_fine ? EXIT_FINE : EXIT_FAILED;
}

static int check_write_reports(const struct command *command, const struct arguments *arguments,
			       const struct ss_rendered_check *shown, struct written *written)
{
	struct ss_error err = { 0 };
	struct ss_text text = { 0 };
	enum ss_status status = SS_OK;
	int code, own;

	check_render_report(arguments, shown, &text);
	if (ss_text_failed(&text))
		status = ss_fail_memory(&err, "the output");
	code = show_end(command->name, status, &written->shown, &text, &err);
	for (size_t i = 0; i < SS_COUNT(files); i++) {
		if (!written->is_open[i])
			continue;
		own = write_file(command->name, &written->files[i], files[i].render, shown);
		code = code == EXIT_FINE ? own : code;
	}
	if (cli_option_given(arguments, "github")) {
		own = check_write_github(command->name, shown);
		code = code == EXIT_FINE ? own : code;
	}
	return code;
}

/* --- the run ---------------------------------------------------------------------------- */

/* Loads the run and its baselines, and compares them. */
static enum ss_status check_judge(const struct arguments *arguments, struct ss_checking *checking,
				  double threshold, struct ss_session **session,
				  struct ss_error *err)
{
	struct ss_open_options open = show_loading(arguments, arguments->paths,
						   arguments->path_count);
	const char *against = cli_option_text(arguments, "against");
	struct progress_bar bar;
	enum ss_status status;

	/* a run's id is a hash of its events */
	open.reduce = !checking->needs_traces && !(against && cli_stored_baseline_is(against));
	open.diagnose = true;
	open.snapshots = true;
	SS_TRY(show_load(arguments, &open, session, err));
	show_failed(*session, "check");
	SS_TRY(cli_baselines_add(arguments, *session, checking, err));
	cli_progress_prepare(&bar, cli_option_text(arguments, "progress"));
	ss_session_watch(*session, cli_progress_step, &bar);
	status = ss_checking_end(checking, *session, threshold, err);
	cli_progress_clear(&bar);
	return status;
}

static int exit_of(const struct arguments *arguments, enum ss_check_verdict verdict)
{
	switch (verdict) {
	case SS_VERDICT_REGRESSION:
	case SS_VERDICT_FAIL:
		return EXIT_FOUND;
	case SS_VERDICT_INCONCLUSIVE:
		return cli_option_given(arguments, "allow-inconclusive") ? EXIT_FINE
									 : EXIT_INCONCLUSIVE;
	case SS_VERDICT_PASS:
	case SS_VERDICT_IMPROVEMENT:
		break;
	}
	return EXIT_FINE;
}

static int check_session(const struct command *command, const struct arguments *arguments,
			 struct ss_checking *checking, double threshold)
{
	struct ss_request request = show_request(command->name, arguments);
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct written written = { 0 };
	int code = open_outputs(command, arguments, &written);

	if (code != EXIT_FINE)
		return code;
	checking->check.path = arguments->paths[0];
	checking->check.against = cli_option_text(arguments, "against");
	if (check_judge(arguments, checking, threshold, &session, &err) != SS_OK) {
		check_drop_report(&written);
		code = show_fail(command->name, &err);
	} else {
		struct ss_rendered_check shown = { .check = &checking->check,
						   .summary = &checking->summary,
						   .name = cli_option_text(arguments, "name"),
						   .width = request.width,
						   .color = request.color };

		ss_checking_show(session, &shown);
		code = check_write_reports(command, arguments, &shown, &written);
	}
	ss_session_close(session);
	return code == EXIT_FINE ? exit_of(arguments, checking->check.verdict) : code;
}

static int check_list_measures(const struct command *command, const struct arguments *arguments)
{
	struct ss_request request = show_request("metrics", arguments);
	struct ss_error err = { 0 };
	struct ss_text out = { 0 };
	struct shown shown;
	int code = show_begin(command->name, arguments, &(struct output_inputs){ 0 }, &shown);

	return code == EXIT_FINE ? show_end(command->name, ss_checking_list(&request, &out, &err),
					    &shown, &out, &err)
				 : code;
}

static int check_run(const struct command *command, const struct arguments *arguments)
{
	const char *threshold_text = cli_option_text(arguments, "threshold");
	struct ss_checking checking;
	struct ss_error err = { 0 };
	double threshold;
	int code;

	if (cli_option_given(arguments, "list"))
		return check_list_measures(command, arguments);
	if (!show_check(command->name, arguments))
		return EXIT_USAGE;
	if (!cli_option_given(arguments, "against") && !cli_option_given(arguments, "fail-if"))
		return cli_fail(EXIT_USAGE, "check",
				"expected a baseline (--against PATH), a condition (--fail-if "
				"'idle_percent > 20'), or both");
	if (!ss_checking_read_threshold(threshold_text, &threshold))
		return cli_fail(EXIT_USAGE, "check",
				"--threshold takes a percentage below 100, such as 2%%, not '%s'",
				threshold_text);
	code = ss_checking_begin(&checking, cli_option_text(arguments, "fail-if"), &err) == SS_OK
		       ? check_session(command, arguments, &checking, threshold)
		       : show_fail(command->name, &err);
	ss_checking_release(&checking);
	return code;
}

const struct command command_check = {
	.name = "check",
	.summary = "Whether a run is slower than its baseline, and why: for CI",
	.usage = "PATH... [--against BASELINE] [--fail-if CONDITION] [OPTIONS]",
	.takers = SS_TAKER_CHECK,
	.is_verdict = true,
	.begin = check_allow,
	.run = check_run,
};
