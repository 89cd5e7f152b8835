/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.c - command: a server of the Model Context Protocol on standard input and output.
 *
 * Nothing is loaded before the first call. The last runs stay open; a run whose files have changed
 * is loaded again.
 */
#define _DEFAULT_SOURCE /* realpath() */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/write/slice.h"
#include "base/hash/hash.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/served/served.h"
#include "cli/sql/query.h"
#include "cli/stop.h"
#include "mcp/mcp.h"

/* Runs that stay open: a comparison needs two. */
#define OPEN_MAX 2

/* How often calls that take long are looked at. */
#define TICK_MS 250

#define NAME_BYTES_MAX 200

struct stdio_server;

struct open_run {
	struct served served;
	struct ss_own_routes own;
	struct stdio_server *server;
	char path[SS_PATH_BYTES]; /* "": free */
	uint64_t stamp;           /* of its files */
	uint64_t used;            /* when, counted in calls */
	struct ss_session *session;
	struct ss_runs *runs;
};

struct stdio_server {
	const struct arguments *arguments;
	struct mcp *mcp;
	char root[SS_PATH_BYTES]; /* as the system sees it; "": anywhere */
	const char *folder;       /* for slices; NULL: none */
	struct open_run runs[OPEN_MAX];
	struct ss_runs *pair; /* of the last comparison */
	uint64_t calls;
	bool is_gone;     /* nobody reads what is written */
	bool is_skipping; /* the rest of a line that was too long */
	char line[MCP_LINE_BYTES_MAX + 2];
	size_t length;
};

/* Why the engine could not be loaded, before the sandbox was entered. */
static struct ss_error engine_problem;
static struct stdio_server server;

static bool mcp_is_over(void)
{
	return !mcp_is_wanted(server.mcp) || stop_asked();
}

/* --- which paths --------------------------------------------------------------------------- */

static bool is_below_root(const char *real)
{
	size_t length = strlen(server.root);

	return !length || strcmp(server.root, "/") == 0 ||
	       (strncmp(real, server.root, length) == 0 && (real[length] == '/' || !real[length]));
}

static enum ss_status refuse_path(const char *path, struct ss_error *err)
{
	return ss_fail(err, SS_ERR_USAGE, "'%.200s' is not below the folder of --root", path);
}

/* The paths of a request, before anything is opened; links are followed. */
static enum ss_status check_path(const char *path, struct ss_error *err)
{
	char real[SS_PATH_BYTES];

	if (strcmp(path, "-") == 0)
		return ss_fail(err, SS_ERR_USAGE, "'-' is not a path: requests come from there");
	if (!*server.root)
		return SS_OK;
	return realpath(path, real) && is_below_root(real) ? SS_OK : refuse_path(path, err);
}

/*
 * A file that was read must lie below the root: opens it again, asks the system where the open file
 * is, and compares its stamp with that of the file that was read.
 */
static enum ss_status check_read_file(const char *path, uint64_t stamp, struct ss_error *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct ss_source *source = NULL;
	char name[64], real[SS_PATH_BYTES];
	enum ss_status status = SS_OK;
	struct ss_memory outside;
	ssize_t length;

	if (file < 0)
		return refuse_path(path, err);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	length = readlink(name, real, sizeof(real) - 1);
	real[length > 0 ? length : 0] = '\0';
	ss_memory_init(&outside, 0);
	if (length <= 0 || !is_below_root(real) ||
	    ss_source_open(name, &outside, &source, NULL) != SS_OK || source->stamp != stamp)
		status = refuse_path(path, err);
	ss_source_close(source);
	close(file);
	return status;
}

/* Columns of packs are read now: instead of a damaged one, the file beside it is read. */
static enum ss_status check_session(struct ss_session *session, struct ss_error *err)
{
	const struct ss_job *job = &session->job;

	if (!*server.root)
		return SS_OK;
	SS_TRY(ss_session_need(session, err));
	for (uint32_t i = 0; i < job->file_count; i++)
		/* the trace of a digest is named, not read */
		if (job->files[i].source && !ss_job_is_digest_only(&job->files[i]))
			SS_TRY(check_read_file(job->files[i].source, job->files[i].stamp, err));
	for (uint32_t i = 0; i < job->snapshot_count; i++)
		if (job->snapshots[i].source)
			SS_TRY(check_read_file(job->snapshots[i].source, job->snapshots[i].stamp,
					       err));
	return SS_OK;
}

/* A number that changes when the files of the path do. */
static enum ss_status stamp_path(const char *path, uint64_t *out, struct ss_error *err)
{
	struct ss_paths found = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_checksum sum;
	enum ss_status status;

	SS_TRY(check_path(path, err));
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_checksum_init(&sum);
	status = ss_find_files(&path, 1, &arena, &found, err);
	for (uint32_t i = 0; i < found.count && status == SS_OK; i++) {
		const char *file = found.items[i].path;
		struct stat info = { 0 };

		status = check_path(file, err);
		if (status != SS_OK || stat(file, &info) != 0)
			continue;
		ss_checksum_add(&sum, file, strlen(file));
		ss_checksum_add(&sum, (const char *)&info.st_ino, sizeof(info.st_ino));
		ss_checksum_add(&sum, (const char *)&info.st_size, sizeof(info.st_size));
		ss_checksum_add(&sum, (const char *)&info.st_mtim, sizeof(info.st_mtim));
	}
	*out = ss_checksum_end(&sum);
	ss_find_release(&found, &memory);
	ss_arena_release(&arena);
	return status;
}

/* --- runs ---------------------------------------------------------------------------------- */

static void run_close(struct open_run *run)
{
	ss_runs_free(server.pair);
	server.pair = NULL;
	if (!*run->path)
		return;
	served_end(&run->served);
	ss_runs_free(run->runs);
	ss_session_close(run->session);
	*run = (struct open_run){ 0 };
}

static enum ss_status slice_file_run(const struct ss_viewer_request *asked, struct ss_answer *out,
				     struct ss_error *err);

static const struct ss_route route_slice_file = {
	.name = "slice-file",
	.summary = "Writes a part of the run as a small trace",
	.parameters = "output rank step around from to",
	.run = slice_file_run,
};

static enum ss_status run_load(struct open_run *run, struct ss_error *err)
{
	static const struct ss_route *const routes[] = { &route_sql, &route_slice_file };
	const char *path = run->path;
	struct ss_open_options open = show_loading(server.arguments, &path, 1);

	open.snapshots = true;
	open.reduce = open.diagnose = show_are_digests(&path, 1);
	open.tables = open.reduce;
	open.progress = mcp_progress;
	open.progress_context = server.mcp;
	run->served.sql.problem = engine_problem;
	if (!served_begin(&run->served, open.threads, open.memory_limit_bytes, mcp_is_over))
		return ss_fail_memory(err, "the queries");
	run->own = (struct ss_own_routes){ routes, SS_COUNT(routes), &run->served.context };
	SS_TRY(ss_session_open(&open, &run->session, err));
	SS_TRY(check_session(run->session, err));
	SS_TRY(ss_runs_new(&run->runs, err));
	SS_TRY(ss_runs_add(run->runs, run->session, err));
	run->runs->own = &run->own;
	ss_session_watch(run->session, mcp_progress, server.mcp);
	return SS_OK;
}

/* The run of a path; loads it, in place of the one that was used longest ago, if needed. */
static enum ss_status run_find(const char *path, struct open_run **out, struct ss_error *err)
{
	struct open_run *oldest = &server.runs[0];
	enum ss_status status;
	uint64_t stamp;

	SS_TRY(stamp_path(path, &stamp, err));
	*out = NULL;
	for (uint32_t i = 0; i < OPEN_MAX; i++) {
		struct open_run *run = &server.runs[i];

		if (*run->path && strcmp(run->path, path) == 0 && run->stamp == stamp)
			*out = run;
		if (run->used < oldest->used)
			oldest = run;
	}
	if (!*out) {
		run_close(oldest);
		if (strlen(path) >= sizeof(oldest->path))
			return ss_fail(err, SS_ERR_USAGE, "the path is too long");
		memcpy(oldest->path, path, strlen(path) + 1);
		oldest->stamp = stamp;
		status = run_load(oldest, err);
		if (status != SS_OK) {
			run_close(oldest);
			return status;
		}
		*out = oldest;
	}
	(*out)->used = ++server.calls;
	return SS_OK;
}

static enum ss_status stdio_open(void *context, const char *path, const char *other,
				 const struct ss_runs **out, struct ss_error *err)
{
	struct open_run *first, *second;

	(void)context;
	SS_TRY(run_find(path, &first, err));
	*out = first->runs;
	if (!other)
		return SS_OK;
	SS_TRY(run_find(other, &second, err));
	if (first == second)
		return ss_fail(err, SS_ERR_USAGE, "'path' and 'other' are the same run");
	ss_runs_free(server.pair);
	server.pair = NULL;
	SS_TRY(ss_runs_new(&server.pair, err));
	SS_TRY(ss_runs_add(server.pair, first->session, err));
	*out = server.pair;
	return ss_runs_add(server.pair, second->session, err);
}

/* --- slices -------------------------------------------------------------------------------- */

/* The file of a slice. */
struct sliced_file {
	struct ss_new_file file;
	struct ss_error err;
	uint32_t count;
};

static bool sliced_file_write(void *context, const char *bytes, size_t length)
{
	struct sliced_file *sliced = context;

	return ss_new_file_write(&sliced->file, bytes, length, &sliced->err) == SS_OK;
}

static bool sliced_file_begin(void *context, uint32_t index)
{
	struct sliced_file *sliced = context;

	(void)index;
	if (++sliced->count > 1)
		(void)ss_fail(&sliced->err, SS_ERR_USAGE,
			      "the run has several ranks: choose one with 'rank'");
	return sliced->count == 1;
}

/* The path of the new file: a plain name in the folder, which no file has yet. */
static enum ss_status slice_file_name(const char *name, char out[SS_PATH_BYTES],
				      struct ss_error *err)
{
	struct stat info;

	if (!server.folder)
		return ss_fail(err, SS_ERR_USAGE,
			       "this server may not write: start it as 'stepscope mcp --output "
			       "FOLDER'");
	if (!name || strchr(name, '/') || *name == '.' || strlen(name) > NAME_BYTES_MAX ||
	    !(ss_string_ends_with(name, ".json") || ss_string_ends_with(name, ".json.gz")))
		return ss_fail(err, SS_ERR_USAGE,
			       "'output' is the name of a file that ends in .json.gz or .json, "
			       "without folders");
	if (snprintf(out, SS_PATH_BYTES, "%s/%s", server.folder, name) >= SS_PATH_BYTES)
		return ss_fail(err, SS_ERR_USAGE, "the path is too long");
	return lstat(out, &info) == 0 ? ss_fail(err, SS_ERR_USAGE,
						"'%.200s' exists already: choose another name", out)
				      : SS_OK;
}

static enum ss_status slice_file_run(const struct ss_viewer_request *asked, struct ss_answer *out,
				     struct ss_error *err)
{
	const char *name = ss_viewer_text(asked, "output");
	struct sliced_file sliced = { 0 };
	struct ss_sink sink = { sliced_file_write, &sliced };
	struct ss_slice_options options = { .rank = ss_viewer_text(asked, "rank"),
					    .step = ss_viewer_text(asked, "step"),
					    .around = ss_viewer_text(asked, "around"),
					    .sink = &sink,
					    .begin_file = sliced_file_begin,
					    .begin_file_context = &sliced };
	struct ss_sliced result;
	char path[SS_PATH_BYTES];
	enum ss_status status;

	SS_TRY(slice_file_name(name, path, err));
	SS_TRY(ss_viewer_int(asked, "from", 0, INT64_MAX, 0, &options.from_ns, err));
	SS_TRY(ss_viewer_int(asked, "to", 0, INT64_MAX,
			     ss_viewer_text(asked, "from") ? INT64_MAX : 0, &options.to_ns, err));
	options.compressed = ss_string_ends_with(name, ".gz");
	SS_TRY(stop_open(path, &sliced.file, err));
	sliced.file.is_first = true;
	status = ss_session_slice(asked->session, &options, &result, err);
	if (sliced.err.text[0])
		status = ss_fail(err, sliced.err.code, "%s", sliced.err.text);
	if (status == SS_OK)
		status = ss_new_file_close(&sliced.file, err);
	else
		ss_new_file_drop(&sliced.file);
	stop_closed();
	out->media_type = "text/plain";
	if (status == SS_OK)
		ss_text_addf(&out->body,
			     "Wrote %s: %llu events, %llu bytes. Open it at ui.perfetto.dev, or "
			     "pass it as `path`; its steps count from 0.\n",
			     path, (unsigned long long)result.events,
			     (unsigned long long)result.bytes);
	return status;
}

/* --- lines --------------------------------------------------------------------------------- */

static void stdio_write(void *context, const char *line, size_t length)
{
	(void)context;
	if (fwrite(line, 1, length, stdout) != length || fputc('\n', stdout) == EOF ||
	    fflush(stdout) != 0)
		server.is_gone = true;
}

/* Takes the complete lines of what was read; one that is too long is refused and skipped. */
static void take_lines(void)
{
	char *from = server.line, *end = server.line + server.length, *stop;

	while ((stop = memchr(from, '\n', (size_t)(end - from)))) {
		if (!server.is_skipping)
			mcp_take(server.mcp, from, (size_t)(stop - from));
		server.is_skipping = false;
		from = stop + 1;
	}
	server.length = (size_t)(end - from);
	memmove(server.line, from, server.length);
	if (server.length < sizeof(server.line))
		return;
	if (!server.is_skipping)
		mcp_take(server.mcp, server.line, server.length);
	server.is_skipping = true;
	server.length = 0;
}

static void read_lines(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	while (!server.is_gone && !stop_asked()) {
		int ready = poll(&input, 1, TICK_MS);
		ssize_t got;

		mcp_tick(server.mcp);
		if (ready <= 0)
			continue;
		got = read(STDIN_FILENO, server.line + server.length,
			   sizeof(server.line) - server.length);
		if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
			return;
		server.length += got > 0 ? (size_t)got : 0;
		take_lines();
	}
}

/* Thread 0 reads, thread 1 works. */
static void stdio_run(void *context, uint32_t index)
{
	(void)context;
	if (index) {
		while (mcp_work(server.mcp))
			;
		return;
	}
	read_lines();
	mcp_end(server.mcp);
}

static void stdio_stop(void *context)
{
	(void)context;
	mcp_end(server.mcp);
}

static void mcp_allow(const struct arguments *arguments, struct sandbox_needs *needs)
{
	(void)arguments;
	(void)needs;
	cli_engine_prepare(&engine_problem);
}

static int mcp_check(const struct command *command, const struct arguments *arguments)
{
	const char *root = cli_option_text(arguments, "root");
	struct stat info;

	server.arguments = arguments;
	server.folder = cli_option_text(arguments, "output");
	if (arguments->path_count)
		return cli_fail(EXIT_USAGE, command->name,
				"takes no paths: each call names its own");
	if (root && !realpath(root, server.root))
		return cli_fail(EXIT_FAILED, command->name, "cannot open '%s': %s", root,
				strerror(errno));
	if (server.folder && (stat(server.folder, &info) != 0 || !S_ISDIR(info.st_mode)))
		return cli_fail(EXIT_FAILED, command->name, "'%s' is not a folder", server.folder);
	return EXIT_FINE;
}

static int mcp_run(const struct command *command, const struct arguments *arguments)
{
	struct mcp_host host = { .open = stdio_open, .write = stdio_write };
	struct ss_error err = { 0 };
	int code = mcp_check(command, arguments), reason;

	if (code != EXIT_FINE)
		return code;
	signal(SIGPIPE, SIG_IGN);
	stop_filling(true);
	if (mcp_open(&host, &server.mcp, &err) != SS_OK)
		return show_fail(command->name, &err);
	reason = ss_thread_run_all(2, stdio_run, stdio_stop, NULL);
	if (reason)
		fprintf(stderr, "stepscope %s: cannot start a thread: %s\n", command->name,
			strerror(reason));
	for (uint32_t i = 0; i < OPEN_MAX; i++)
		run_close(&server.runs[i]);
	mcp_close(server.mcp);
	stop_filling(false);
	/* that nobody reads any more is how clients leave */
	if (server.is_gone)
		clearerr(stdout);
	return reason ? EXIT_FAILED : EXIT_FINE;
}

const struct command command_mcp = {
	.name = "mcp",
	.summary = "Answer agents: a server of the Model Context Protocol (stdio)",
	.usage = "[OPTIONS]",
	.takers = SS_TAKER_MCP,
	.begin = mcp_allow,
	.run = mcp_run,
};
