/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the library as a WebAssembly module, for a worker of a page and for Node.
 *
 * Addresses and lengths are 32-bit numbers, texts are UTF-8 and end with a NUL. The page
 * opens runs, file by file, and sends the viewer's requests (docs/formats/viewer.md):
 *
 *     exports._initialize()                     once, before anything else
 *     handle = exports.ss_wasm_new()
 *     exports.ss_wasm_begin(handle)             a run; the second is compared with the first
 *     exports.ss_wasm_add(handle, name, bytes)  for each file; pulls it through read()
 *     exports.ss_wasm_end(handle)
 *     result = exports.ss_wasm_ask(handle, target)
 *     exports.ss_wasm_close(handle)
 *
 * Calls return 0 when they fail, and ss_wasm_error() says why. Every call may grow the
 * memory, which detaches views that JavaScript has on it: make them anew after each call.
 * gzip is not built in, because the browser and Node decompress it by themselves; zstd is, where
 * tools/wasm_zstd was run.
 *
 * The module has no state besides its handles. It imports from "stepscope"
 *
 *     read(buffer, room)    reads from the file that is being added; returns the length, 0: end
 *     progress(done, total, events)   of that file; 0 stops
 *     work(doing, done, count, share) during a slow answer: the current work, how many of its
 *                                     parts are done, and the share of the whole
 *
 * and from WASI: clock_time_get, which times the load, fd_write, which prints a failed assertion,
 * and file calls, which a page can answer with EBADF, because there are no files.
 */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "stepscope.h"

/* Exports a function; the linker keeps it although no C code calls it. */
#define WASM_EXPORT(name) __attribute__((export_name(#name)))
#define WASM_IMPORT(name) __attribute__((import_module("stepscope"), import_name(#name)))

/* Below the 4 GB that 32 bits can address: stack, code and data of JavaScript need the rest. */
#define MEMORY_LIMIT (UINT64_C(3840) << 20)

/* The run that the viewer shows, and the one to compare with. */
#define RUNS_MAX 2

/* Maximum number of ranks of the demo. */
#define DEMO_RANKS 16

WASM_IMPORT(read) size_t page_read(char *buffer, size_t room);
WASM_IMPORT(progress) int page_progress(double done, double total, double events);

WASM_IMPORT(work) void page_work(const char *doing, uint32_t done, uint32_t count, double share);

struct handle {
	struct ss_runs *runs; /* of the sessions */
	struct ss_session *sessions[RUNS_MAX];
	uint32_t run_count;
	struct ss_session *opening; /* the run that files are added to; NULL: none */
	struct ss_answer answer;    /* of the last request */
	struct ss_error error;      /* of the last call; empty if it succeeded */
};

/* Memory for the caller to fill; 0: no memory. */
WASM_EXPORT(ss_wasm_alloc) void *ss_wasm_alloc(size_t bytes)
{
	return ss_memory_outside(bytes ? bytes : 1);
}

WASM_EXPORT(ss_wasm_free) void ss_wasm_free(void *block)
{
	ss_memory_free_outside(block);
}

WASM_EXPORT(ss_wasm_new) struct handle *ss_wasm_new(void)
{
	return ss_wasm_alloc(sizeof(struct handle));
}

static int wasm_fail(struct handle *handle)
{
	ss_session_close(handle->opening);
	handle->opening = NULL;
	return 0;
}

/* Rebuilds the list of runs after a session was added or closed. */
static bool wasm_list_runs(struct handle *handle)
{
	enum ss_status status;

	ss_runs_free(handle->runs);
	status = ss_runs_new(&handle->runs, &handle->error);
	for (uint32_t i = 0; i < handle->run_count && status == SS_OK; i++)
		status = ss_runs_add(handle->runs, handle->sessions[i], &handle->error);
	return status == SS_OK;
}

WASM_EXPORT(ss_wasm_begin) int ss_wasm_begin(struct handle *handle)
{
	struct ss_open_options options = { .size = sizeof(options),
					   .memory_limit_bytes = MEMORY_LIMIT };

	handle->error = (struct ss_error){ 0 };
	wasm_fail(handle);
	if (handle->run_count == RUNS_MAX) {
		/* a further run replaces the one to compare with */
		ss_session_close(handle->sessions[--handle->run_count]);
		if (!wasm_list_runs(handle))
			return 0;
	}
	return ss_session_begin(&options, &handle->opening, &handle->error) == SS_OK;
}

static size_t read_page(void *context, char *buffer, size_t room)
{
	(void)context;
	return page_read(buffer, room);
}

static bool tell_page(void *context, const struct ss_progress *progress)
{
	(void)context;
	return page_progress((double)progress->done_bytes, (double)progress->total_bytes,
			     (double)progress->event_count) != 0;
}

static bool wasm_on_progress(void *context, const struct ss_progress *progress)
{
	(void)context;
	page_work(progress->doing, progress->file_index, progress->file_count, progress->share);
	return true;
}

static int wasm_add_input(struct handle *handle, const struct ss_input *input)
{
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = input,
					   .input_count = 1,
					   .threads = 1,
					   .snapshots = true,
					   .progress = tell_page };

	handle->error = (struct ss_error){ 0 };
	if (!handle->opening)
		return 0;
	if (ss_session_add(handle->opening, &options, &handle->error) == SS_OK)
		return 1;
	return wasm_fail(handle);
}

/*
 * Adds a file to the current run; `name` stands for its path. A file that cannot be read is not a
 * failure: the view "files" reports it. If this fails, the run is closed.
 */
WASM_EXPORT(ss_wasm_add)
int ss_wasm_add(struct handle *handle, const char *name, double total_bytes)
{
	struct ss_input input = { .size = sizeof(input),
				  .name = name,
				  .read = read_page,
				  .total_bytes = (uint64_t)total_bytes };

	return wasm_add_input(handle, &input);
}

/* Ends the current run; fails if none of its files could be read. */
WASM_EXPORT(ss_wasm_end) int ss_wasm_end(struct handle *handle)
{
	handle->error = (struct ss_error){ 0 };
	if (!handle->opening)
		return 0;
	if (ss_session_end(handle->opening, &handle->error) != SS_OK)
		return wasm_fail(handle);
	ss_session_watch(handle->opening, wasm_on_progress, NULL);
	handle->sessions[handle->run_count++] = handle->opening;
	handle->opening = NULL;
	return wasm_list_runs(handle);
}

/* --- the demo ---------------------------------------------------------------------------- */

struct demo {
	struct ss_text traces[DEMO_RANKS];
	uint32_t rank; /* in progress */
};

static bool begin_rank(void *context, uint32_t rank)
{
	((struct demo *)context)->rank = rank;
	return rank < DEMO_RANKS;
}

static bool keep_piece(void *context, const char *bytes, size_t length)
{
	struct demo *demo = context;

	ss_text_add(&demo->traces[demo->rank], bytes, length);
	return !ss_text_failed(&demo->traces[demo->rank]);
}

static int wasm_add_ranks(struct handle *handle, struct ss_text *traces)
{
	int went_well = 1;

	for (uint32_t rank = 0; rank < DEMO_RANKS; rank++) {
		char name[] = "demo/rank00.json";
		struct ss_input input = { .size = sizeof(input),
					  .name = name,
					  .data = traces[rank].data,
					  .length = traces[rank].length };

		name[9] = (char)('0' + rank / 10);
		name[10] = (char)('0' + rank % 10);
		if (went_well && traces[rank].length)
			went_well = wasm_add_input(handle, &input);
		ss_text_release(&traces[rank]);
	}
	return went_well;
}

/* Simulates the demo's job and adds it to the current run. */
WASM_EXPORT(ss_wasm_demo) int ss_wasm_demo(struct handle *handle)
{
	struct demo demo = { 0 };
	struct ss_sink sink = { keep_piece, &demo };
	struct ss_simulation simulation = { .size = sizeof(simulation),
					    .preset = SS_DEMO_PRESET,
					    .sink = &sink,
					    .begin_rank = begin_rank,
					    .begin_rank_context = &demo };
	struct ss_simulated simulated = { .size = sizeof(simulated) };

	handle->error = (struct ss_error){ 0 };
	if (ss_simulate(&simulation, &simulated, &handle->error) == SS_OK)
		return wasm_add_ranks(handle, demo.traces);
	for (uint32_t rank = 0; rank < DEMO_RANKS; rank++)
		ss_text_release(&demo.traces[rank]);
	return wasm_fail(handle);
}

/* --- answers ----------------------------------------------------------------------------- */

/*
 * Answers a request. Returns the address of two numbers, the address and the length of the answer,
 * valid until the next request; 0 on failure.
 */
WASM_EXPORT(ss_wasm_ask)
const struct ss_text *ss_wasm_ask(struct handle *handle, const char *target)
{
	ss_text_release(&handle->answer.body);
	handle->answer.size = sizeof(handle->answer);
	handle->error = (struct ss_error){ 0 };
	if (ss_ask(handle->runs, target, &handle->answer, &handle->error) != SS_OK)
		return NULL;
	return &handle->answer.body;
}

/* Media type of the last answer: "application/json". */
WASM_EXPORT(ss_wasm_type) const char *ss_wasm_type(const struct handle *handle)
{
	return handle->answer.media_type ? handle->answer.media_type : "";
}

/* Why the last call on the handle failed; empty if it did not. */
WASM_EXPORT(ss_wasm_error) const char *ss_wasm_error(const struct handle *handle)
{
	return handle ? handle->error.text : "out of memory";
}

/* enum ss_status of the last call: SS_ERR_LIMIT means that the job is too large for a page. */
WASM_EXPORT(ss_wasm_status) int ss_wasm_status(const struct handle *handle)
{
	return handle ? (int)handle->error.code : (int)SS_ERR_LIMIT;
}

WASM_EXPORT(ss_wasm_close) void ss_wasm_close(struct handle *handle)
{
	if (!handle)
		return;
	wasm_fail(handle);
	ss_runs_free(handle->runs);
	for (uint32_t i = 0; i < handle->run_count; i++)
		ss_session_close(handle->sessions[i]);
	ss_text_release(&handle->answer.body);
	ss_wasm_free(handle);
}

WASM_EXPORT(ss_wasm_version) const char *ss_wasm_version(void)
{
	return ss_version();
}
