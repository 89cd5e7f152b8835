/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_gzip.c - a source, plain or compressed, read in odd sizes.
 *
 * The sizes of the reads must not change the bytes, nor what is said about a
 * stream that is cut or damaged. Then the same bytes are loaded as a trace, with
 * a limit on memory that a small file can exceed only by unpacking to a large one.
 */
#include <string.h>

#include "check.h"

/* A few kB can unpack to gigabytes: more than this is not read. */
#define OUTPUT_BYTES_MAX ((size_t)1 << 20)

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct unpacked {
	enum ss_status status;
	enum ss_source_flaw flaw;
	size_t length;
	bool ended;
	char bytes[OUTPUT_BYTES_MAX];
};

/* Reads with rooms of `first`, `first` + `step`, ... bytes, again and again. */
static void unpack(const uint8_t *data, size_t size, size_t first, size_t step,
		   struct unpacked *out)
{
	struct ss_source *source = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	size_t room = first, got = 1;

	ss_memory_init(&memory, 0);
	out->length = 0;
	out->ended = false;
	out->flaw = SS_SOURCE_WHOLE;
	out->status = ss_source_open_memory(data, size, &memory, &source, &err);
	while (out->status == SS_OK && got && out->length < OUTPUT_BYTES_MAX) {
		size_t left = OUTPUT_BYTES_MAX - out->length;
		char *exact;

		room = room > 100000 ? first : room + step;
		room = room < left ? room : left;
		/* a block of its own, so that a byte too many is seen */
		exact = malloc(room);
		CHECK(exact);
		out->status = source->read(source, exact, room, &got, &err);
		CHECK(out->status != SS_OK || got <= room);
		if (out->status == SS_OK)
			memcpy(out->bytes + out->length, exact, got);
		out->length += out->status == SS_OK ? got : 0;
		free(exact);
	}
	out->ended = out->status == SS_OK && got == 0;
	if (out->ended) {
		CHECK(source->read(source, &(char){ 0 }, 1, &got, &err) == SS_OK && got == 0);
		CHECK(source->done_bytes <= size);
		out->flaw = source->flaw;
	}
	if (source)
		ss_source_close(source);
	CHECK(memory.used_bytes == 0);
}

static void load(const uint8_t *data, size_t size)
{
	const struct ss_load_options options = { .threads = 1 };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;

	ss_memory_init(&memory, LIMIT_BYTES);
	if (load_bytes(data, size, &options, &memory, &trace, &err) == SS_OK)
		ss_trace_release(&trace);
	else
		CHECK(err.text[0]);
	CHECK(memory.used_bytes == 0);
	CHECK(memory.peak_bytes <= LIMIT_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unpacked large, small;
	size_t length;

	/* a short file unpacks to little, and room that nobody needs takes long to clear */
	unpack(data, size, size < 4096 ? 65536 : OUTPUT_BYTES_MAX, 0, &large);
	unpack(data, size, 1 + (size ? data[size - 1] : 0), 1 + size % 777, &small);
	CHECK(large.status == small.status);
	length = large.length < small.length ? large.length : small.length;
	CHECK(memcmp(large.bytes, small.bytes, length) == 0);
	/* when a damaged stream is given up is left to the library behind it */
	if (large.flaw != SS_SOURCE_CORRUPT && small.flaw != SS_SOURCE_CORRUPT) {
		CHECK(large.length == small.length);
		CHECK(large.ended == small.ended && large.flaw == small.flaw);
	}
	/* what goes on beyond a megabyte would only be slow */
	if (large.ended)
		load(data, size);
	return 0;
}
