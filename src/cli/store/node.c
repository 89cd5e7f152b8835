/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.c - digests on the node of the ranks. A recording of 10,000 ranks has hundreds of gigabytes,
 * its digests 600 MB: these go to the shared folder, and a few full traces stay on their nodes.
 *
 * Nothing is deleted without --delete-traces, and then only a trace whose digest is on the disk.
 */
#define _DEFAULT_SOURCE /* setpriority(), gethostname() */

#include "cli/store/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/session.h"
#include "cli/digest/digest.h"
#include "cli/output.h"
#include "cli/stop.h"

/* More suspects than this are no suspects: then something else is wrong on all of them. */
#define SUSPECTS_MAX 8

#define POLITE 19

void cli_node_be_polite(void)
{
	/* a system that refuses lets the command run as it was started */
	(void)setpriority(PRIO_PROCESS, 0, POLITE);
}

enum ss_status cli_node_begin(const char *what, const struct arguments *arguments,
			      struct ss_redactor *redactor, struct watch_node *out,
			      struct ss_error *err)
{
	const char *folder = cli_option_text(arguments, "digests");

	*out = (struct watch_node){ .what = what, .arguments = arguments, .redactor = redactor };
	if (access(arguments->paths[0], R_OK | X_OK) != 0)
		return ss_fail(err, SS_ERR_IO, "cannot open '%.200s': %s", arguments->paths[0],
			       strerror(errno));
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return ss_fail(err, SS_ERR_IO, "cannot create the folder '%.200s': %s", folder,
			       strerror(errno));
	if (gethostname(out->host, sizeof(out->host) - 1) != 0 || !*out->host)
		memcpy(out->host, "node", sizeof("node"));
	/* as the recorder names its files */
	out->host[strcspn(out->host, ".")] = '\0';
	return SS_OK;
}

/* --- folders and names --------------------------------------------------------------------- */

/* Creates OUT/a/b for the run FOLDER/a/b. */
static enum ss_status node_make_folder(const struct ss_watcher *watcher, const char *run,
				       char out[SS_PATH_BYTES], struct ss_error *err)
{
	const char *below = run + strlen(watcher->folder);
	int length = snprintf(out, SS_PATH_BYTES, "%s%s", watcher->output, below);
	struct stat info;

	/* a trace that is a run of its own has the folder that it lies in */
	if (length > 0 && length < SS_PATH_BYTES && stat(run, &info) == 0 && !S_ISDIR(info.st_mode))
		*strrchr(out, '/') = '\0';
	if (length < 0 || length >= SS_PATH_BYTES)
		return ss_fail(err, SS_ERR_USAGE, "the path '%.200s' is too long", run);
	for (char *at = out + strlen(watcher->output); *at; at++) {
		char kept = at[1] == '/' || !at[1] ? at[1] : '\1';

		if (kept == '\1')
			continue;
		at[1] = '\0';
		if (mkdir(out, 0777) != 0 && errno != EEXIST)
			return ss_fail(err, SS_ERR_IO, "cannot create the folder '%.200s': %s", out,
				       strerror(errno));
		at[1] = kept;
	}
	return SS_OK;
}

/* The arguments of the command with the files of a run as its paths. */
static struct arguments node_arguments(const struct watch_node *node, const char **paths,
				       size_t count)
{
	struct arguments own = *node->arguments;

	own.paths = paths;
	own.path_count = count;
	return own;
}

/* --- which traces stay --------------------------------------------------------------------- */

/* A trace that arrived, its digest, and what becomes of it. */
struct node_trace {
	const struct ss_watched_file *file;
	char digest[SS_PATH_BYTES];
	struct ss_text named; /* its path as the digest has it */
	bool is_judged;       /* its digest was read, and is whole */
	bool stays;
};

static struct node_trace *node_trace_of(struct node_trace *traces, uint32_t count,
					const struct ss_job_file *file)
{
	for (uint32_t i = 0; file->source && i < count; i++)
		if (strcmp(traces[i].named.data, file->source) == 0)
			return &traces[i];
	return NULL;
}

static void node_mark_rank(struct node_trace *traces, uint32_t count, const struct ss_job *job,
			   uint32_t rank)
{
	for (uint32_t i = 0; i < job->file_count; i++) {
		struct node_trace *trace = job->files[i].rank_index == rank
						   ? node_trace_of(traces, count, &job->files[i])
						   : NULL;

		if (trace)
			trace->stays = true;
	}
}

/* Whether the warning is about single ranks: those that cause it. */
static bool node_blames(const struct ss_finding *finding, uint32_t ranks)
{
	return finding->rank != SS_NO_ROW || finding->most_on ||
	       (finding->is_joint && finding->rank_count <= SUSPECTS_MAX &&
		2 * finding->rank_count <= ranks);
}

/* Marks the traces of one recording: of the ranks that warnings name, and of one other. */
static enum ss_status node_judge_run(struct node_trace *traces, uint32_t count,
				     struct ss_session *session, struct ss_error *err)
{
	const struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
	const struct ss_job *job = &session->job;
	const struct ss_diagnosis *verdict;
	bool has_healthy = false;

	SS_TRY(ss_session_verdict(session, &options, &verdict, err));
	for (uint32_t i = 0; i < verdict->warning_count; i++) {
		const struct ss_finding *finding = verdict->findings[i];

		if (!node_blames(finding, verdict->rank_count))
			continue;
		if (finding->rank != SS_NO_ROW || finding->most_on)
			node_mark_rank(traces, count, job,
				       finding->most_on ? finding->most_on - 1 : finding->rank);
		for (uint32_t k = 0; finding->is_joint && k < finding->rank_count; k++)
			node_mark_rank(traces, count, job, finding->ranks[k]);
	}
	for (uint32_t i = 0; i < job->file_count; i++) {
		struct node_trace *trace = node_trace_of(traces, count, &job->files[i]);

		if (!trace || job->files[i].subject.problem ||
		    job->files[i].rank_index == SS_NO_ROW)
			continue;
		trace->is_judged = true;
		if (!trace->stays && !has_healthy)
			trace->stays = has_healthy = true;
	}
	return SS_OK;
}

/* Judges every recording among the digests: a folder may have several, one after the other. */
static enum ss_status node_judge(const struct watch_node *node, struct node_trace *traces,
				 uint32_t count, struct ss_error *err)
{
	const char **paths = calloc(count, sizeof(*paths));
	enum ss_status status = paths ? SS_OK : ss_fail_memory(err, "the list of files");
	uint32_t runs = 1;

	for (uint32_t i = 0; status == SS_OK && i < count; i++)
		paths[i] = traces[i].digest;
	for (uint32_t run = 1; status == SS_OK && run <= runs && !stop_asked(); run++) {
		struct ss_open_options open = show_loading(node->arguments, paths, count);
		struct ss_session *session = NULL;
		char number[16];

		snprintf(number, sizeof(number), "%u", run);
		open.run = number;
		open.threads = open.threads ? open.threads : 1;
		open.reduce = true;
		open.diagnose = true;
		status = ss_session_open(&open, &session, err);
		if (status == SS_OK)
			status = node_judge_run(traces, count, session, err);
		runs = status == SS_OK ? session->job.run_count : runs;
		ss_session_close(session);
	}
	free((void *)(uintptr_t)paths);
	return status;
}

/* --- removing traces ----------------------------------------------------------------------- */

/* A link is somebody else's way to the trace, and a file that has changed has no digest yet. */
static bool node_may_remove(const struct ss_watched_file *file)
{
	struct stat info;

	return !file->is_link && lstat(file->path, &info) == 0 && S_ISREG(info.st_mode) &&
	       (uint64_t)info.st_size == file->bytes &&
	       (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec == file->changed_ns;
}

static void node_remove(const struct watch_node *node, const struct ss_watched_file *file,
			uint64_t *removed)
{
	if (!node_may_remove(file))
		return;
	if (unlink(file->path) == 0)
		*removed += file->bytes;
	else
		fprintf(stderr, "stepscope %s: cannot remove '%s': %s\n", node->what, file->path,
			strerror(errno));
}

/* Of two that changed in the same moment, the first in the list is the older one; NULL: any is. */
static bool file_is_older(const struct ss_watched_file *file, const struct ss_watched_file *than)
{
	return !file || file->changed_ns < than->changed_ns ||
	       (file->changed_ns == than->changed_ns && file < than);
}

/* The traces that stay take so much at most: the oldest go. */
static void node_keep_limit(const struct watch_node *node, const struct ss_watcher *watcher,
			    uint64_t *removed)
{
	uint64_t most = cli_option_number(node->arguments, "keep-limit", 0), total = 0;
	const struct ss_watched_file *before = NULL;

	for (uint32_t i = 0; i < watcher->file_count; i++)
		if (ss_watcher_is_kept(watcher, &watcher->files[i]))
			total += watcher->files[i].bytes;
	while (total > most) {
		const struct ss_watched_file *oldest = NULL;

		for (uint32_t i = 0; i < watcher->file_count; i++) {
			const struct ss_watched_file *file = &watcher->files[i];

			if (file_is_older(before, file) && ss_watcher_is_kept(watcher, file) &&
			    (!oldest || file_is_older(file, oldest)))
				oldest = file;
		}
		if (!oldest)
			return;
		before = oldest;
		total -= oldest->bytes;
		node_remove(node, oldest, removed);
	}
}

/*
 * Marks first what stays, then removes: if the process is killed between the two, the next one
 * judges again and finds the marks.
 */
static enum ss_status node_thin_out(const struct watch_node *node, struct ss_watcher *watcher,
				    struct node_trace *traces, uint32_t count, uint64_t *removed,
				    struct ss_error *err)
{
	SS_TRY(node_judge(node, traces, count, err));
	if (stop_asked())
		return SS_OK;
	for (uint32_t i = 0; i < count; i++)
		if (traces[i].is_judged && traces[i].stays)
			SS_TRY(ss_watcher_keep(watcher, traces[i].file, err));
	for (uint32_t i = 0; i < count; i++)
		if (traces[i].is_judged && !ss_watcher_is_kept(watcher, traces[i].file))
			node_remove(node, traces[i].file, removed);
	node_keep_limit(node, watcher, removed);
	return SS_OK;
}

/* --- a run that arrived -------------------------------------------------------------------- */

static void node_tell(const struct watch_node *node, const struct ss_arrived *arrived,
		      const char *folder, const struct digest_tally *tally, uint64_t removed)
{
	/* events have standard output for themselves */
	FILE *out = cli_option_given(node->arguments, "events") ? stderr : stdout;
	char size[BYTES_WORDS], before[BYTES_WORDS];

	if (tally->written) {
		cli_bytes_in_words(tally->digest_bytes, size);
		cli_bytes_in_words(tally->trace_bytes, before);
		fprintf(out, "%s: %u digest%s in %s, %s from %s\n", arrived->run, tally->written,
			tally->written == 1 ? "" : "s", folder, size, before);
	}
	if (removed) {
		cli_bytes_in_words(removed, size);
		fprintf(out, "%s: removed %s of traces that have digests\n", arrived->run, size);
	}
	fflush(out);
}

/* Whether a recording came whose traces were not chosen among yet. */
static bool node_has_new(const struct ss_watcher *watcher, const struct ss_arrived *arrived)
{
	for (uint32_t i = 0; i < arrived->file_count; i++)
		if (!ss_watcher_is_kept(watcher, &arrived->files[i]))
			return true;
	return false;
}

static enum ss_status node_choose(struct watch_node *node, struct ss_watcher *watcher,
				  const struct ss_arrived *arrived, const char *folder,
				  uint64_t *removed, struct ss_error *err)
{
	struct node_trace *traces = calloc(arrived->file_count, sizeof(*traces));
	enum ss_status status = SS_OK;
	uint32_t count = 0;
	struct stat info;

	if (!traces)
		return ss_fail_memory(err, "the list of files");
	for (uint32_t i = 0; i < arrived->file_count; i++) {
		const struct ss_path path = { .path = arrived->files[i].path };
		const struct arguments own = node_arguments(node, NULL, 0);

		traces[count].file = &arrived->files[i];
		/* a file without a digest is no trace: it stays */
		if (cli_digest_name(folder, node->host, &own, &path, node->redactor,
				    traces[count].digest) &&
		    stat(traces[count].digest, &info) == 0 &&
		    cli_digest_text(node->redactor, path.path, &traces[count].named))
			count++;
	}
	if (count)
		status = node_thin_out(node, watcher, traces, count, removed, err);
	for (uint32_t i = 0; i < arrived->file_count; i++)
		ss_text_release(&traces[i].named);
	free(traces);
	return status;
}

enum ss_status cli_node_take(struct watch_node *node, struct ss_watcher *watcher,
			     const struct ss_arrived *arrived, bool *is_done, struct ss_error *err)
{
	const char **paths = calloc(arrived->file_count, sizeof(*paths));
	struct digest_tally tally = { 0 };
	enum ss_status status = SS_OK;
	char folder[SS_PATH_BYTES];
	struct arguments own;
	uint64_t removed = 0;

	*is_done = false;
	if (!paths)
		return ss_fail_memory(err, "the list of files");
	for (uint32_t i = 0; i < arrived->file_count; i++)
		paths[i] = arrived->files[i].path;
	own = node_arguments(node, paths, arrived->file_count);
	status = node_make_folder(watcher, arrived->run, folder, err);
	if (status == SS_OK) {
		const struct digest_place place = {
			.folder = folder,
			.host = node->host,
			.is_mute = ss_watcher_is_foreign(watcher, arrived->run),
			.is_early = arrived->is_early,
		};
		int code = cli_digest_files(node->what, &own, node->redactor, &place, &tally);

		*is_done = tally.handled == tally.inputs && !stop_asked();
		if (*is_done && code != EXIT_FINE && !arrived->is_early)
			status = ss_watcher_tell_foreign(watcher, arrived->run, err);
	}
	if (*is_done && !arrived->is_early && cli_option_given(node->arguments, "delete-traces") &&
	    node_has_new(watcher, arrived)) {
		struct ss_error why = { 0 };

		if (node_choose(node, watcher, arrived, folder, &removed, &why) != SS_OK)
			(void)show_fail(node->what, &why); /* then all of them stay */
	}
	node_tell(node, arrived, folder, &tally, removed);
	free((void *)(uintptr_t)paths);
	return status;
}
