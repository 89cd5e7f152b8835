/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: files, pipes, memory, gzip and zstd; damaged ones give what they hold
 * and say what is wrong.
 */
#include "support/support.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define TEXT_BYTES 3000

/* Text that does not compress to nothing. */
static void make_text(char *out)
{
	uint64_t random = 11;

	for (int i = 0; i < TEXT_BYTES; i++)
		out[i] = (char)('a' + support_random(&random, 20));
}

/* One gzip member of the text; returns its length. */
static size_t gzip(const char *text, size_t length, char *out, size_t room)
{
	z_stream stream;

	memset(&stream, 0, sizeof(stream));
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	stream.next_in = (Bytef *)(uintptr_t)text;
	stream.avail_in = (uInt)length;
	stream.next_out = (Bytef *)out;
	stream.avail_out = (uInt)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

struct outcome {
	char bytes[3 * TEXT_BYTES];
	size_t length;
	enum ss_source_flaw flaw;
	enum ss_status status;
	struct ss_error error;
};

/* Reads everything, at most `at_once` bytes a time. */
static void drain(struct ss_source *source, size_t at_once, struct outcome *out)
{
	size_t got = 1;

	while (got) {
		assert_true(out->length + at_once <= sizeof(out->bytes));
		assert_int_equal(source->read(source, out->bytes + out->length, at_once, &got,
					      &out->error),
				 SS_OK);
		out->length += got;
	}
	out->flaw = source->flaw;
}

static void read_memory(const char *data, size_t length, size_t at_once, struct outcome *out)
{
	struct ss_source *source = NULL;
	struct ss_memory memory;

	memset(out, 0, sizeof(*out));
	ss_memory_init(&memory, 0);
	out->status = ss_source_open_memory(data, length, &memory, &source, &out->error);
	if (out->status == SS_OK)
		drain(source, at_once, out);
	ss_source_close(source);
	assert_int_equal(memory.used_bytes, 0);
}

static void check_prefix(const char *what, const struct outcome *out, const char *text,
			 size_t least)
{
	support_check(out->status == SS_OK, what, "%s", out->error.text);
	support_check(out->length >= least && memcmp(out->bytes, text, out->length) == 0, what,
		      "%zu bytes, not the first ones of the text", out->length);
}

static void test_plain(void **state)
{
	struct outcome out;
	char text[TEXT_BYTES];

	(void)state;
	make_text(text);
	for (size_t at_once = 1; at_once < 20; at_once += 3) {
		for (size_t length = 0; length < 20; length++) {
			read_memory(text, length, at_once, &out);
			check_prefix("plain bytes", &out, text, length);
			assert_int_equal(out.length, length);
			assert_int_equal(out.flaw, SS_SOURCE_WHOLE);
		}
	}
}

static void test_gzip(void **state)
{
	char text[TEXT_BYTES], packed[2 * TEXT_BYTES];
	struct outcome out;
	size_t length, second;

	(void)state;
	make_text(text);
	length = gzip(text, TEXT_BYTES, packed, sizeof(packed));
	for (size_t at_once = 1; at_once < 2000; at_once = at_once * 5 + 2) {
		read_memory(packed, length, at_once, &out);
		check_prefix("gzip", &out, text, TEXT_BYTES);
		assert_int_equal(out.flaw, SS_SOURCE_WHOLE);
	}
	/* members follow each other, as gzip -c a b writes them; an empty one between */
	length = gzip(text, 1000, packed, sizeof(packed));
	length += gzip(text, 0, packed + length, sizeof(packed) - length);
	second = gzip(text + 1000, 2000, packed + length, sizeof(packed) - length);
	read_memory(packed, length + second, 100, &out);
	check_prefix("gzip of three members", &out, text, TEXT_BYTES);
	assert_int_equal(out.flaw, SS_SOURCE_WHOLE);
	/* a member that is cut at its magic bytes */
	read_memory(packed, length + 1, 100, &out);
	check_prefix("gzip with one more byte", &out, text, 1000);
	assert_int_equal(out.flaw, SS_SOURCE_TRAILING);
	memcpy(packed + length, "garbage", 7);
	read_memory(packed, length + 7, 100, &out);
	check_prefix("gzip with garbage behind it", &out, text, 1000);
	assert_int_equal(out.length, 1000);
	assert_int_equal(out.flaw, SS_SOURCE_TRAILING);
}

static void test_gzip_cut(void **state)
{
	char text[TEXT_BYTES], packed[2 * TEXT_BYTES];
	struct outcome out;
	size_t length, last = 0;

	(void)state;
	make_text(text);
	length = gzip(text, TEXT_BYTES, packed, sizeof(packed));
	for (size_t cut = 2; cut < length; cut++) {
		read_memory(packed, cut, 512, &out);
		check_prefix("a cut gzip stream", &out, text, last);
		support_check(out.flaw == SS_SOURCE_CUT, "a cut gzip stream is called cut",
			      "flaw %d at byte %zu", out.flaw, cut);
		last = out.length;
	}
	assert_int_equal(last, TEXT_BYTES);
}

static void test_gzip_corrupt(void **state)
{
	char text[TEXT_BYTES], packed[2 * TEXT_BYTES];
	struct outcome out;
	size_t length, found = 0;

	(void)state;
	make_text(text);
	length = gzip(text, TEXT_BYTES, packed, sizeof(packed));
	for (size_t at = 10; at < length; at += 7) {
		packed[at] = (char)(packed[at] ^ 0x55);
		read_memory(packed, length, 512, &out);
		packed[at] = (char)(packed[at] ^ 0x55);
		assert_int_equal(out.status, SS_OK);
		support_check(out.flaw != SS_SOURCE_WHOLE, "damage in gzip is seen", "at byte %zu",
			      at);
		found += out.flaw == SS_SOURCE_CORRUPT;
	}
	assert_true(found > length / 7 / 2);
}

static void test_zstd(void **state)
{
	char text[TEXT_BYTES], packed[2 * TEXT_BYTES];
	struct outcome out;
	size_t length, second;

	(void)state;
	make_text(text);
	length = ZSTD_compress(packed, sizeof(packed), text, 1000, 3);
	second = ZSTD_compress(packed + length, sizeof(packed) - length, text + 1000, 2000, 3);
	assert_false(ZSTD_isError(length) || ZSTD_isError(second));
	read_memory(packed, length + second, 77, &out);
	check_prefix("zstd of two frames", &out, text, TEXT_BYTES);
	assert_int_equal(out.flaw, SS_SOURCE_WHOLE);
	for (size_t cut = 4; cut < length; cut++) {
		read_memory(packed, cut, 512, &out);
		check_prefix("a cut zstd stream", &out, text, 0);
		support_check(out.flaw == SS_SOURCE_CUT, "a cut zstd stream is called cut",
			      "flaw %d at byte %zu", out.flaw, cut);
	}
	memset(packed + 10, 0xff, 40);
	read_memory(packed, length, 512, &out);
	assert_int_equal(out.flaw, SS_SOURCE_CORRUPT);
}

static void test_files(void **state)
{
	static const char *const missing[] = { "/nonexistent/x.json", "", "/" };
	char path[] = "/tmp/stepscope-source-XXXXXX";
	struct ss_error err = { 0 };
	struct ss_source *source;
	struct ss_memory memory;
	struct outcome out = { .length = 0 };
	int fd = mkstemp(path);

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(fd >= 0 && write(fd, "{\"a\": 1}", 8) == 8);
	close(fd);
	assert_int_equal(ss_source_open(path, &memory, &source, &err), SS_OK);
	assert_int_equal(source->total_bytes, 8);
	drain(source, 3, &out);
	assert_int_equal(source->done_bytes, 8);
	ss_source_close(source);
	unlink(path);
	assert_memory_equal(out.bytes, "{\"a\": 1}", 8);
	for (size_t i = 0; i < SS_COUNT(missing); i++) {
		err.text[0] = '\0';
		assert_int_equal(ss_source_open(missing[i], &memory, &source, &err), SS_ERR_IO);
		support_check(strlen(err.text) > 10, missing[i], "'%s'", err.text);
	}
	assert_int_equal(memory.used_bytes, 0);
}

/* Standard input is a pipe that gives its first bytes one by one. */
static void test_stdin(void **state)
{
	char text[TEXT_BYTES], packed[2 * TEXT_BYTES];
	struct ss_error err = { 0 };
	struct outcome out = { .length = 0 };
	struct ss_source *source;
	struct ss_memory memory;
	int pipes[2], saved = dup(STDIN_FILENO);
	size_t length;

	(void)state;
	make_text(text);
	length = gzip(text, TEXT_BYTES, packed, sizeof(packed));
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(dup2(pipes[0], STDIN_FILENO), STDIN_FILENO);
	/* it fits into the pipe */
	for (size_t i = 0; i < length; i++)
		assert_int_equal(write(pipes[1], packed + i, 1), 1);
	close(pipes[1]);
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_source_open("-", &memory, &source, &err), SS_OK);
	assert_int_equal(source->total_bytes, 0);
	drain(source, 100, &out);
	ss_source_close(source);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(pipes[0]);
	assert_int_equal(out.length, TEXT_BYTES);
	assert_memory_equal(out.bytes, text, TEXT_BYTES);
}

static void test_fill(void **state)
{
	static const char text[] = "0123456789";
	struct ss_error err = { 0 };
	struct ss_source *source;
	struct ss_memory memory;
	char buffer[20];
	size_t got;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_source_open_memory(text, 10, &memory, &source, &err), SS_OK);
	source = support_slow_source(source, 1);
	assert_int_equal(ss_source_fill(source, buffer, 7, &got, &err), SS_OK);
	assert_int_equal(got, 7);
	assert_int_equal(ss_source_fill(source, buffer + 7, 13, &got, &err), SS_OK);
	assert_int_equal(got, 3);
	assert_memory_equal(buffer, text, 10);
	assert_int_equal(ss_source_fill(source, buffer, 1, &got, &err), SS_OK);
	assert_int_equal(got, 0);
	ss_source_close(source);
	assert_int_equal(memory.used_bytes, 0);
}

/* What was looked at ahead is still given, once. */
static void test_peek(void **state)
{
	static const char text[] = "0123456789";
	struct ss_error err = { 0 };
	struct ss_source *source;
	struct ss_memory memory;
	char buffer[20];
	const char *next;
	size_t got;

	(void)state;
	ss_memory_init(&memory, 0);
	for (size_t length = 0; length <= 10; length++)
		for (size_t first = 0; first <= length; first++) {
			size_t ahead = length - first < SS_PEEK_BYTES ? length - first
								      : SS_PEEK_BYTES;

			assert_int_equal(ss_source_open_memory(text, length, &memory, &source,
							       &err),
					 SS_OK);
			source = support_slow_source(source, 3);
			assert_int_equal(ss_source_peek(source, &next, &got, &err), SS_OK);
			assert_int_equal(got, length < SS_PEEK_BYTES ? length : SS_PEEK_BYTES);
			assert_int_equal(ss_source_fill(source, buffer, first, &got, &err), SS_OK);
			assert_int_equal(got, first);
			assert_int_equal(ss_source_peek(source, &next, &got, &err), SS_OK);
			assert_int_equal(got, ahead);
			assert_memory_equal(next, text + first, ahead);
			assert_int_equal(ss_source_fill(source, buffer + first, 20 - first, &got,
							&err),
					 SS_OK);
			assert_int_equal(got, length - first);
			assert_memory_equal(buffer, text, length);
			ss_source_close(source);
		}
	assert_int_equal(memory.used_bytes, 0);
}

static void test_limit(void **state)
{
	char text[TEXT_BYTES], packed[2 * TEXT_BYTES];
	struct ss_error err = { 0 };
	struct ss_source *source;
	size_t length;

	(void)state;
	make_text(text);
	length = gzip(text, TEXT_BYTES, packed, sizeof(packed));
	for (size_t call = 1; call < 4; call++) {
		struct ss_memory memory;

		ss_memory_init(&memory, 0);
		memory.fail_call = call;
		assert_int_equal(ss_source_open_memory(packed, length, &memory, &source, &err),
				 SS_ERR_LIMIT);
		assert_int_equal(memory.used_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),    cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_gzip_cut), cmocka_unit_test(test_gzip_corrupt),
		cmocka_unit_test(test_zstd),     cmocka_unit_test(test_files),
		cmocka_unit_test(test_stdin),    cmocka_unit_test(test_fill),
		cmocka_unit_test(test_peek),     cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
