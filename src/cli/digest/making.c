/* SPDX-License-Identifier: Apache-2.0 */
/*
 * making.c - the digest of one file: whether it is needed, reading the trace, writing.
 */
#define _DEFAULT_SOURCE /* realpath() */

#include "cli/digest/making.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "base/text.h"
#include "cli/stop.h"

bool cli_digest_output(const struct digesting *digesting, const struct ss_path *path,
		       char out[SS_PATH_BYTES])
{
	return cli_digest_name(digesting->folder, digesting->host, digesting->arguments, path,
			       digesting->redactor, out);
}

int cli_digest_fail_file(const struct digesting *digesting, const char *path, const char *why)
{
	return cli_fail(EXIT_FAILED, digesting->what, "'%s' %s", path, why);
}

static bool digest_may_continue(void *context, const struct ss_progress *progress)
{
	(void)context;
	(void)progress;
	return !stop_asked();
}

/* Loads one trace. Only the first of a batch shows progress and handles Ctrl-C. */
static enum ss_status digest_open_trace(const struct ready *ready, struct ss_session **out,
					struct ss_error *err)
{
	const struct arguments *arguments = ready->digesting->arguments;
	struct ss_open_options open = show_loading(arguments, &ready->path->path, 1);
	struct progress_bar bar;
	enum ss_status status;

	open.reduce = true;
	open.diagnose = true;
	open.tables = true;
	open.redactor = ready->digesting->redactor;
	open.threads = ready->threads;
	open.progress = ready->is_first ? cli_progress_step : digest_may_continue;
	open.progress_context = &bar;
	SS_TRY(ss_session_begin(&open, out, err));
	(*out)->job.summarizer = &ss_diagnose_digest_summarizer;
	if (ready->is_first)
		cli_progress_begin(&bar, cli_option_text(arguments, "progress"));
	status = ss_session_add(*out, &open, err);
	if (ready->is_first) {
		cli_progress_end(&bar);
		stop_reading(true); /* other threads may still be reading */
	}
	return status;
}

static bool keep_bytes(void *context, const char *bytes, size_t length)
{
	struct ss_text *digest = context;

	ss_text_add(digest, bytes, length);
	return !ss_text_failed(digest);
}

void cli_digest_make_one(struct ready *ready)
{
	struct ss_sink sink = { keep_bytes, &ready->digest };
	struct ss_file file = { .size = sizeof(file) };
	struct ss_session *session = NULL;
	uint64_t bytes;

	ready->opened = digest_open_trace(ready, &session, &ready->err);
	if (ready->opened == SS_OK)
		ready->status = ss_session_file(session, 0, &file, &ready->err);
	if (ready->opened == SS_OK && ready->status == SS_OK) {
		ready->rank = file.rank;
		ready->has_problem = file.problem != NULL;
		ready->is_cut = session->job.files[0].recording.is_cut;
		ss_text_add_string(&ready->problem, file.problem ? file.problem : "");
		ready->trace_bytes = session->job.files[0].disk_bytes;
		ready->status = ss_session_file_count(session) > 1
					? ss_fail(&ready->err, SS_ERR_USAGE,
						  "it has several processes: use the file as it is")
					: ss_session_digest(session, 0, ready->origin, &sink,
							    &bytes, &ready->err);
	}
	ss_session_close(session);
}

static void digest_print_one(struct digesting *digesting, const struct ready *ready)
{
	char size[BYTES_WORDS], before[BYTES_WORDS], rank[32] = "";

	cli_bytes_in_words(ready->digest.length, size);
	cli_bytes_in_words(ready->trace_bytes, before);
	if (ready->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %lld, ", (long long)ready->rank);
	if (digesting->is_quiet && ready->has_problem)
		fprintf(stderr, "stepscope %s: '%s': %s\n", digesting->what, ready->path->path,
			ready->problem.data ? ready->problem.data : "");
	else if (digesting->is_quiet)
		;
	else if (ready->has_problem)
		printf("%s: %sthe trace could not be read: %s\n", ready->output, rank,
		       ready->problem.data ? ready->problem.data : "");
	else
		printf("%s: %s%s from %s\n", ready->output, rank, size, before);
	digesting->tally.written++;
	digesting->tally.broken += ready->has_problem;
	digesting->tally.trace_bytes += ready->trace_bytes;
	digesting->tally.digest_bytes += ready->digest.length;
}

/*
 * Other JSON files may lie beside traces. A file named after a rank should be a trace, so its
 * failure is reported.
 */
static bool digest_is_foreign_file(const struct ready *ready)
{
	return ready->path->from_folder &&
	       (ready->status == SS_ERR_MISSING ||
		(ready->has_problem && ss_find_rank_in_name(ready->path->path) < 0));
}

int cli_digest_write_one(struct digesting *digesting, struct ready *ready, bool *is_full)
{
	const struct output_inputs own = { .paths = &ready->path->path, .path_count = 1 };
	int code;

	if (digesting->is_early && (ready->opened != SS_OK || ready->status != SS_OK ||
				    ready->has_problem || ready->is_cut))
		return EXIT_FINE;
	if (digesting->is_mute && (ready->opened != SS_OK || ready->status != SS_OK))
		return EXIT_FAILED;
	if (ready->opened != SS_OK)
		return show_fail(digesting->what, &ready->err);
	if (digest_is_foreign_file(ready)) {
		digesting->tally.other++;
		return EXIT_FINE;
	}
	if (ready->status != SS_OK)
		return show_fail(digesting->what, &ready->err);
	code = output_open(digesting->what, ready->output, &own, digesting->output);
	if (code == EXIT_FINE)
		code = output_write(digesting->output, ready->digest.data, ready->digest.length)
			       ? output_close(digesting->what, digesting->output)
			       : output_fail(digesting->what, digesting->output, &ready->err);
	if (code == EXIT_FINE)
		digest_print_one(digesting, ready);
	*is_full = code != EXIT_FINE;
	return code;
}

/* Whether the digest must be written; if not, *code is the exit code. */
static bool digest_is_wanted(struct digesting *digesting, const char *origin, const char *output,
			     int *code)
{
	SS_TEXT(named);
	bool resumes = digesting->resumes, forces = digesting->forces;
	enum ss_digest_age age;
	struct stat info;

	if (stat(output, &info) != 0)
		return true;
	age = SS_DIGEST_OLD;
	if (resumes && cli_digest_text(digesting->redactor, origin, &named))
		age = ss_job_digest_age(output, origin, named.data, &ss_diagnose_summarizer,
					digesting->memory);
	if (age == SS_DIGEST_CURRENT) {
		digesting->tally.current++;
		return false;
	}
	*code = EXIT_FAILED;
	if (age == SS_DIGEST_FOREIGN && !forces)
		cli_tally_refuse(&digesting->tally.foreign, output);
	else if (!resumes && !forces)
		cli_tally_refuse(&digesting->tally.existing, output);
	else if (!S_ISREG(info.st_mode) || (info.st_size && !cli_digest_is_file(output)))
		cli_digest_fail_file(digesting, output,
				     "exists and is not a digest: it was not replaced");
	else
		*code = EXIT_FINE;
	return *code == EXIT_FINE;
}

bool cli_digest_prepare_file(struct digesting *digesting, const struct ss_path *path,
			     struct ready *ready, int *code)
{
	*ready = (struct ready){ .digesting = digesting, .path = path, .rank = -1 };
	*code = EXIT_FINE;
	(void)cli_digest_output(digesting, path, ready->output);
	ready->origin = realpath(path->path, NULL);
	if (!ready->origin) {
		fprintf(stderr, "stepscope %s: cannot open '%s': %s\n", digesting->what, path->path,
			strerror(errno));
		*code = EXIT_FAILED;
	} else if (digest_is_wanted(digesting, ready->origin, ready->output, code)) {
		return true;
	}
	digesting->tally.handled++;
	free(ready->origin);
	return false;
}

void cli_digest_release_ready(struct ready *ready)
{
	ss_text_release(&ready->problem);
	ss_text_release(&ready->digest);
	free(ready->origin);
}
