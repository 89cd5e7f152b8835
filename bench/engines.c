/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engines.c - the libraries bare: what reading a trace costs before anything is done with it.
 *
 * Each engine does one thing to one file and prints one line of JSON. "yyjson-event" is the bar
 * for our own reader: the fastest way to have every event parsed by a general JSON library
 * without holding the document. So it is tuned as far as that goes: it parses in the read buffer
 * itself, with one fixed pool and no copy of anything.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <isa-l/igzip_lib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <yyjson.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define MIB ((size_t)1 << 20)
/* Input and output of the inflaters: both fit the second-level cache together. */
#define BLOCK_BYTES (MIB / 4)
/* Tried from 32 KiB to 4 MiB: flat from 128 KiB on. */
#define WINDOW_BYTES (MIB / 2)
/* No event is longer than this; a window that had to grow so far has lost its way. */
#define WINDOW_BYTES_MAX (256 * MIB)

struct input {
	const char *path;
	int fd;
	uint64_t file_bytes;
};

struct result {
	uint64_t bytes_in, bytes_out;
	uint64_t events, x_events; /* x_events: complete and instant events, what a reader keeps */
	uint64_t checksum;         /* of all that was touched: nothing can be optimised away */
};

__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *format, ...)
{
	va_list list;

	fputs("engines: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(1);
}

static void *alloc(size_t bytes)
{
	void *data = malloc(bytes);

	if (!data)
		fail("no memory for %zu bytes", bytes);
	return data;
}

static size_t block_read(struct input *in, void *data, size_t bytes, struct result *out)
{
	ssize_t got;

	do {
		got = read(in->fd, data, bytes);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		fail("cannot read '%s': %s", in->path, strerror(errno));
	out->bytes_in += (uint64_t)got;
	return (size_t)got;
}

static void read_run(struct input *in, struct result *out)
{
	char *data = alloc(MIB);
	size_t got;

	/* No text has a NUL, so memchr() goes over every byte. */
	while ((got = block_read(in, data, MIB, out)) > 0)
		out->checksum += memchr(data, 0, got) != NULL;
	out->bytes_out = out->bytes_in;
	free(data);
}

/*
 * The "unsafe" calls skip the check of the type, and a key is always a string. The library's own
 * iterators check at every step; that alone is one instruction in thirty of the whole run.
 */

static void args_touch(yyjson_val *args, struct result *out)
{
	yyjson_val *key = args + 1;

	if (!yyjson_is_obj(args))
		return;
	for (size_t left = unsafe_yyjson_get_len(args); left > 0; left--) {
		if (unsafe_yyjson_get_len(key) == 11 &&
		    !memcmp(unsafe_yyjson_get_str(key), "correlation", 11)) {
			out->checksum += yyjson_get_uint(key + 1);
			return;
		}
		key = unsafe_yyjson_get_next(key + 1);
	}
}

static void text_touch(yyjson_val *value, struct result *out)
{
	const char *text = yyjson_get_str(value);

	out->checksum += text ? (uint64_t)(unsigned char)text[0] + yyjson_get_len(value) : 0;
}

static void number_touch(yyjson_val *value, struct result *out)
{
	double number = yyjson_get_num(value);
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	out->checksum += bits;
}

static void ph_touch(yyjson_val *value, struct result *out)
{
	const char *text = yyjson_get_str(value);

	out->x_events += text && (text[0] == 'X' || text[0] == 'i');
}

static void member_touch(const char *name, size_t bytes, yyjson_val *value, struct result *out)
{
	if (bytes == 2) {
		if (!memcmp(name, "ph", 2))
			ph_touch(value, out);
		else if (!memcmp(name, "ts", 2))
			number_touch(value, out);
	} else if (bytes == 3) {
		if (!memcmp(name, "cat", 3))
			text_touch(value, out);
		else if (!memcmp(name, "dur", 3) || !memcmp(name + 1, "id", 2)) /* pid, tid */
			number_touch(value, out);
	} else if (bytes == 4) {
		if (!memcmp(name, "name", 4))
			text_touch(value, out);
		else if (!memcmp(name, "args", 4))
			args_touch(value, out);
	}
}

/* One walk over the members costs less than a search for each of the eight. */
static void event_touch(yyjson_val *event, struct result *out)
{
	yyjson_val *key = event + 1;

	if (!yyjson_is_obj(event))
		return;
	out->events++;
	for (size_t left = unsafe_yyjson_get_len(event); left > 0; left--) {
		yyjson_val *value = key + 1;

		member_touch(unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key), value, out);
		key = unsafe_yyjson_get_next(value);
	}
}

static void yyjson_doc_run(struct input *in, struct result *out)
{
	char *data = alloc(in->file_bytes + YYJSON_PADDING_SIZE);
	size_t used = 0, got, index, count;
	yyjson_read_err err;
	yyjson_doc *doc;
	yyjson_val *events, *event;

	while ((got = block_read(in, data + used, in->file_bytes - used, out)) > 0)
		used += got;
	memset(data + used, 0, YYJSON_PADDING_SIZE);
	doc = yyjson_read_opts(data, used, YYJSON_READ_INSITU, NULL, &err);
	if (!doc)
		fail("'%s': %s at byte %zu", in->path, err.msg, err.pos);
	events = yyjson_doc_get_root(doc);
	if (yyjson_is_obj(events))
		events = yyjson_obj_get(events, "traceEvents");
	yyjson_arr_foreach(events, index, count, event) event_touch(event, out);
	out->bytes_out = out->bytes_in;
	yyjson_doc_free(doc);
	free(data);
}

/*
 * A part of the file in memory. Parsing in place destroys the text, also of an event that turns
 * out to be cut off by the end of the window; such an event is read from the file once more.
 */
struct window {
	const struct input *in;
	char *data, *at, *end; /* zeros follow the end */
	uint64_t offset;       /* of `data` in the file */
	size_t capacity;
	char *pool; /* where yyjson puts its values, the same place for every event */
};

/* The shortest value is one digit and one comma: so many values, and some for the document. */
static size_t pool_bytes(const struct window *window)
{
	return window->capacity / 2 * sizeof(yyjson_val) + 4096;
}

static void *pool_malloc(void *context, size_t bytes)
{
	const struct window *window = context;

	return bytes <= pool_bytes(window) ? window->pool : NULL;
}

static void *pool_realloc(void *context, void *data, size_t old_bytes, size_t bytes)
{
	(void)old_bytes;
	return bytes <= pool_bytes(context) ? data : NULL;
}

static void pool_free(void *context, void *data)
{
	(void)context;
	(void)data;
}

static void window_resize(struct window *window, size_t capacity)
{
	size_t at = window->data ? (size_t)(window->at - window->data) : 0;

	free(window->data);
	free(window->pool);
	window->capacity = capacity;
	window->data = alloc(capacity + YYJSON_PADDING_SIZE);
	window->pool = alloc(pool_bytes(window));
	window->at = window->data + at;
}

/* Reads the file again from the cursor on. */
static void window_fill(struct window *window)
{
	size_t used = 0;
	ssize_t got;

	window->offset += (uint64_t)(window->at - window->data);
	do {
		got = pread(window->in->fd, window->data + used, window->capacity - used,
			    (off_t)(window->offset + used));
		if (got < 0 && errno != EINTR)
			fail("cannot read '%s': %s", window->in->path, strerror(errno));
		used += got > 0 ? (size_t)got : 0;
	} while (got != 0 && used < window->capacity);
	window->at = window->data;
	window->end = window->data + used;
	memset(window->end, 0, YYJSON_PADDING_SIZE);
}

static bool is_gap(char c)
{
	return c == ' ' || c == '\n' || c == ',' || c == '\r' || c == '\t';
}

/* The next character that is not a gap; 0 at the end of the file. */
static char window_peek(struct window *window)
{
	for (;;) {
		while (is_gap(*window->at))
			window->at++;
		if (window->at < window->end || window->end == window->data)
			return *window->at;
		window_fill(window);
	}
}

/* Stops behind the bracket of the event array. */
static void window_find_events(struct window *window)
{
	static const char key[] = "\"traceEvents\"";
	size_t key_bytes = strlen(key);

	if (window_peek(window) == '[') {
		window->at++;
		return;
	}
	for (;;) {
		if ((size_t)(window->end - window->at) < key_bytes) {
			window_fill(window);
			if ((size_t)(window->end - window->at) < key_bytes)
				fail("no traceEvents in '%s'", window->in->path);
		}
		window->at = memchr(window->at, '"', (size_t)(window->end - window->at));
		if (!window->at) {
			window->at = window->end;
		} else if ((size_t)(window->end - window->at) < key_bytes) {
			window_fill(window);
		} else if (memcmp(window->at, key, key_bytes)) {
			window->at++;
		} else {
			window->at += key_bytes;
			if (window_peek(window) != ':')
				continue;
			window->at++;
			if (window_peek(window) == '[')
				break;
		}
	}
	window->at++;
}

/* The event at the cursor was not whole: starts the window with it, in a larger one if it did. */
static void window_retry(struct window *window, const yyjson_read_err *err)
{
	if (window->at == window->data) {
		if (window->end != window->data + window->capacity ||
		    window->capacity >= WINDOW_BYTES_MAX)
			fail("'%s': %s at byte %" PRIu64, window->in->path, err->msg,
			     window->offset + err->pos);
		window_resize(window, window->capacity * 2);
	}
	window_fill(window);
}

static void yyjson_event_run(struct input *in, struct result *out)
{
	const yyjson_read_flag flags = YYJSON_READ_INSITU | YYJSON_READ_STOP_WHEN_DONE;
	struct window window = { .in = in };
	const yyjson_alc pool = { pool_malloc, pool_realloc, pool_free, &window };
	yyjson_read_err err;

	window_resize(&window, WINDOW_BYTES);
	window_fill(&window);
	window_find_events(&window);
	while (window_peek(&window) != ']') {
		size_t bytes = (size_t)(window.end - window.at);
		yyjson_doc *doc = yyjson_read_opts(window.at, bytes, flags, &pool, &err);

		if (!doc) {
			window_retry(&window, &err);
			continue;
		}
		event_touch(yyjson_doc_get_root(doc), out);
		window.at += yyjson_doc_get_read_size(doc);
		yyjson_doc_free(doc);
	}
	out->bytes_in = out->bytes_out = in->file_bytes;
	free(window.data);
	free(window.pool);
}

static void igzip_run(struct input *in, struct result *out)
{
	struct inflate_state *state = alloc(sizeof(*state));
	uint8_t *input = alloc(BLOCK_BYTES), *output = alloc(BLOCK_BYTES);

	isal_inflate_init(state);
	state->crc_flag = ISAL_GZIP;
	for (;;) {
		if (state->avail_in == 0) {
			state->next_in = input;
			state->avail_in = (uint32_t)block_read(in, input, BLOCK_BYTES, out);
			if (state->avail_in == 0)
				break;
		}
		/* Another member follows. */
		if (state->block_state == ISAL_BLOCK_FINISH)
			isal_inflate_reset(state);
		do {
			state->next_out = output;
			state->avail_out = BLOCK_BYTES;
			if (isal_inflate(state) != ISAL_DECOMP_OK)
				fail("'%s' is not a good gzip file", in->path);
			out->bytes_out += BLOCK_BYTES - state->avail_out;
		} while (state->avail_out == 0 && state->block_state != ISAL_BLOCK_FINISH);
	}
	if (state->block_state != ISAL_BLOCK_FINISH)
		fail("'%s' is cut off", in->path);
	free(state);
	free(input);
	free(output);
}

static void zlib_run(struct input *in, struct result *out)
{
	z_stream stream = { .zalloc = Z_NULL };
	uint8_t *input = alloc(BLOCK_BYTES), *output = alloc(BLOCK_BYTES);
	int code = Z_OK;

	if (inflateInit2(&stream, 15 + 32) != Z_OK)
		fail("zlib does not start");
	for (;;) {
		if (stream.avail_in == 0) {
			stream.next_in = input;
			stream.avail_in = (uInt)block_read(in, input, BLOCK_BYTES, out);
			if (stream.avail_in == 0)
				break;
		}
		if (code == Z_STREAM_END)
			inflateReset(&stream);
		do {
			stream.next_out = output;
			stream.avail_out = (uInt)BLOCK_BYTES;
			code = inflate(&stream, Z_NO_FLUSH);
			if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
				fail("'%s' is not a good gzip file", in->path);
			out->bytes_out += BLOCK_BYTES - stream.avail_out;
		} while (stream.avail_out == 0 && code != Z_STREAM_END);
	}
	if (code != Z_STREAM_END)
		fail("'%s' is cut off", in->path);
	inflateEnd(&stream);
	free(input);
	free(output);
}

#ifdef HAVE_ZSTD
static void zstd_run(struct input *in, struct result *out)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	char *input = alloc(BLOCK_BYTES), *output = alloc(BLOCK_BYTES);
	ZSTD_inBuffer from = { .src = input };
	size_t code = 0;

	if (!stream)
		fail("zstd does not start");
	while ((from.size = block_read(in, input, BLOCK_BYTES, out)) > 0) {
		ZSTD_outBuffer to;

		from.pos = 0;
		do {
			to = (ZSTD_outBuffer){ .dst = output, .size = BLOCK_BYTES };
			code = ZSTD_decompressStream(stream, &to, &from);
			if (ZSTD_isError(code))
				fail("'%s': %s", in->path, ZSTD_getErrorName(code));
			out->bytes_out += to.pos;
		} while (from.pos < from.size || to.pos == to.size);
	}
	if (code != 0)
		fail("'%s' is cut off", in->path);
	ZSTD_freeDStream(stream);
	free(input);
	free(output);
}
#endif

static const struct engine {
	const char *name, *summary;
	void (*run)(struct input *in, struct result *out);
} engines[] = {
	{ "read", "read() in blocks, memchr() over them", read_run },
	{ "yyjson-doc", "yyjson, the whole document in place", yyjson_doc_run },
	{ "yyjson-event", "yyjson, event by event, streaming", yyjson_event_run },
	{ "igzip", "ISA-L inflate, streaming", igzip_run },
	{ "zlib", "zlib inflate, streaming", zlib_run },
#ifdef HAVE_ZSTD
	{ "zstd", "zstd, streaming", zstd_run },
#endif
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void result_print(const struct engine *engine, const struct result *result, double wall_s)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("{\"engine\": \"%s\", \"bytes_in\": %" PRIu64 ", \"bytes_out\": %" PRIu64
	       ", \"events\": %" PRIu64 ", \"x_events\": %" PRIu64 ", \"checksum\": %" PRIu64
	       ", \"cpu_s\": %.3f, \"wall_s\": %.3f, \"rss_mb\": %.1f}\n",
	       engine->name, result->bytes_in, result->bytes_out, result->events, result->x_events,
	       result->checksum, seconds(usage.ru_utime) + seconds(usage.ru_stime), wall_s,
	       (double)usage.ru_maxrss * 1024 / 1e6);
	if (fflush(stdout))
		fail("cannot write the result: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	const struct engine *end = engines + sizeof(engines) / sizeof(engines[0]);
	const struct engine *engine = engines;
	struct input in = { .path = argc == 3 ? argv[2] : NULL };
	struct result result = { 0 };
	double begin_s = now_s();
	struct stat stat;

	while (argc == 3 && engine < end && strcmp(engine->name, argv[1]))
		engine++;
	if (argc != 3 || engine == end) {
		fputs("usage: engines ENGINE FILE\n", stderr);
		for (engine = engines; engine < end; engine++)
			fprintf(stderr, "  %-13s %s\n", engine->name, engine->summary);
		return 2;
	}
	in.fd = open(in.path, O_RDONLY);
	if (in.fd < 0 || fstat(in.fd, &stat))
		fail("cannot open '%s': %s", in.path, strerror(errno));
	in.file_bytes = (uint64_t)stat.st_size;
	engine->run(&in, &result);
	close(in.fd);
	result_print(engine, &result, now_s() - begin_s);
	return 0;
}
