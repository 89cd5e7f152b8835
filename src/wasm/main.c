/*
 * main.c - the library as a WebAssembly module, for a worker of a page and for Node.
 *
 * Addresses and lengths are 32-bit numbers, texts are UTF-8 and end with a NUL.
 * The caller copies a file into the module, opens it, runs what the command
 * line would run, and reads the answer out of the module's memory:
 *
 *     exports._initialize()                        once, before anything else
 *     data = exports.ss_wasm_alloc(length)         copy the file there
 *     name = exports.ss_wasm_alloc(...)            copy its name there
 *     handle = exports.ss_wasm_open(data, length, name)
 *     exports.ss_wasm_free(data)                   the trace does not need it
 *     if (*exports.ss_wasm_error(handle)) ...      the file could not be read
 *     result = exports.ss_wasm_run(handle, what, format)
 *     exports.ss_wasm_close(handle)
 *
 * Every call may grow the memory, which detaches views that JavaScript has on it:
 * make them anew after each call. gzip and zstd are not built in; the browser
 * and Node decompress by themselves.
 *
 * The module has no state but what its handles hold. Of WASI it imports
 * clock_time_get, which times the load, fd_write, which says which assertion
 * failed, and fd_close, fd_read and fd_seek, which are never called here: a page
 * can give stubs for all five.
 */
#include <string.h>

#include "base/memory.h"

/* Names the module's export; the linker keeps it although no C calls it. */
#define WASM_EXPORT(name) __attribute__((export_name(#name)))

struct handle {
	struct ss_session *session; /* NULL: it could not be opened, `error` says why */
	struct ss_text text;        /* of the last run */
	struct ss_error error;      /* of the last call; empty when it went well */
};

/* Memory for the caller to fill; 0 when there is none. */
WASM_EXPORT(ss_wasm_alloc) void *ss_wasm_alloc(size_t bytes)
{
	struct ss_memory outside;

	/* what the page holds belongs to no session's account */
	ss_memory_init(&outside, 0);
	return ss_memory_resize(&outside, NULL, 0, bytes ? bytes : 1);
}

WASM_EXPORT(ss_wasm_free) void ss_wasm_free(void *block)
{
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	ss_memory_free(&outside, block, 0);
}

/*
 * Loads a trace of `length` bytes; `name` stands for its path. The handle must be
 * closed also when the trace could not be read: it holds the reason. 0 when
 * there is no memory for the handle itself.
 */
WASM_EXPORT(ss_wasm_open)
struct handle *ss_wasm_open(const void *data, size_t length, const char *name)
{
	struct handle *handle = ss_wasm_alloc(sizeof(*handle));

	if (!handle)
		return NULL;
	memset(handle, 0, sizeof(*handle));
	if (ss_session_open_memory(data, length, name, &handle->session, &handle->error) != SS_OK)
		handle->session = NULL;
	return handle;
}

/*
 * Runs a view or report ("steps") in a format ("json"). Returns the address of
 * two numbers, the address and the length of the answer, which stay until the
 * next run; 0 when it failed.
 */
WASM_EXPORT(ss_wasm_run)
const struct ss_text *ss_wasm_run(struct handle *handle, const char *what, const char *format)
{
	struct ss_request request = { .what = what, .format = format, .rank = SS_EVERY_RANK };

	if (!handle->session)
		return NULL;
	ss_text_release(&handle->text);
	handle->error = (struct ss_error){ 0 };
	if (ss_session_run(handle->session, &request, &handle->text, &handle->error) != SS_OK)
		return NULL;
	return &handle->text;
}

/* Why the last call on the handle failed; empty when it did not. */
WASM_EXPORT(ss_wasm_error) const char *ss_wasm_error(const struct handle *handle)
{
	return handle ? handle->error.text : "out of memory";
}

WASM_EXPORT(ss_wasm_close) void ss_wasm_close(struct handle *handle)
{
	if (!handle)
		return;
	ss_session_close(handle->session);
	ss_text_release(&handle->text);
	ss_wasm_free(handle);
}

WASM_EXPORT(ss_wasm_version) const char *ss_wasm_version(void)
{
	return ss_version();
}
