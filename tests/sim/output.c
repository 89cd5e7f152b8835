/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the simulator: compressed or not they hold the same bytes, and they
 * are whole or not there.
 */
#include "support/support.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "read/codec.h"
#include "sim/writer/writer.h"

/* More than all buffers on the way. */
#define TEXT_BYTES ((size_t)3 << 20)
#define STEP_BYTES ((size_t)1000003)

static void read_whole(const char *path, struct ss_text *out)
{
	struct ss_source *source = NULL;
	struct ss_memory memory;
	char buffer[4096];
	size_t got = 1;

	ss_memory_init(&memory, 0);
	assert_int_equal(ss_source_open(path, &memory, &source, NULL), SS_OK);
	while (got) {
		assert_int_equal(ss_source_fill(source, buffer, sizeof(buffer), &got, NULL), SS_OK);
		ss_text_add(out, buffer, got);
	}
	assert_int_equal(source->flaw, SS_SOURCE_WHOLE);
	ss_source_close(source);
}

/* Rows of a trace look much alike. */
static void make_text(struct ss_text *out)
{
	uint64_t random = 3;

	while (out->length < TEXT_BYTES)
		ss_text_addf(out, "\n  {\n    \"ph\": \"X\", \"ts\": %u, \"dur\": %u\n  },",
			     support_random(&random, 1000000), support_random(&random, 1000));
}

static void write_file(const char *path, bool compressed, const struct ss_text *text,
		       uint64_t *bytes)
{
	struct ss_sim_output *output = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_sim_sink sink;

	ss_memory_init(&memory, 0);
	support_check(ss_sim_output_open(path, compressed, &memory, &output, &err) == SS_OK,
		      "opens", "%s", err.text);
	sink = ss_sim_output_sink(output);
	for (size_t at = 0, step; at < text->length; at += step) {
		step = text->length - at < STEP_BYTES ? text->length - at : STEP_BYTES;
		assert_int_equal(sink.write(sink.context, text->data + at, step, &err), SS_OK);
	}
	assert_int_equal(ss_sim_output_close(output, true, bytes, &err), SS_OK);
	assert_int_equal(memory.used_bytes, 0);
}

static void test_files(void **state)
{
	char folder[] = "/tmp/stepscope_output_XXXXXX", path[64], name[80];
	struct ss_text text = { 0 };
	uint64_t packed_before = 0;

	(void)state;
	make_text(&text);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/rank1.json", folder);
	/* plain, and compressed twice: the same bytes each time */
	for (int i = 0; i < (ss_codec_gzip.missing ? 1 : 3); i++) {
		struct ss_text back = { 0 };
		uint64_t bytes = 0;

		snprintf(name, sizeof(name), "%s%s", path, i ? ".gz" : "");
		write_file(path, i > 0, &text, &bytes);
		read_whole(name, &back);
		assert_int_equal(back.length, text.length);
		assert_memory_equal(back.data, text.data, text.length);
		assert_true(i ? bytes < text.length / 2 : bytes == text.length);
		assert_true(i < 2 || bytes == packed_before);
		packed_before = bytes;
		assert_int_equal(unlink(name), 0);
		ss_text_release(&back);
	}
	/* nothing else is left */
	assert_int_equal(rmdir(folder), 0);
	ss_text_release(&text);
}

/* A file that is not whole yet does not have its name, and one given up is gone. */
static void test_names(void **state)
{
	char folder[] = "/tmp/stepscope_output_XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.json", folder);
	for (int whole = 0; whole < 2; whole++) {
		struct ss_sim_output *output = NULL;
		struct ss_memory memory;
		struct ss_sim_sink sink;

		ss_memory_init(&memory, 0);
		assert_int_equal(ss_sim_output_open(path, false, &memory, &output, NULL), SS_OK);
		sink = ss_sim_output_sink(output);
		assert_int_equal(sink.write(sink.context, "x", 1, NULL), SS_OK);
		assert_int_not_equal(access(path, F_OK), 0);
		assert_int_equal(ss_sim_output_close(output, whole, NULL, NULL), SS_OK);
		assert_int_equal(access(path, F_OK), whole ? 0 : -1);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_files_fail(void **state)
{
	struct rlimit small = { 1000, 0 }, before;
	char folder[] = "/tmp/stepscope_output_XXXXXX", path[64], zeros[4096] = { 0 };
	struct ss_sim_output *output = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_sim_sink sink;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_sim_output_open("/nowhere/at/all", false, &memory, &output, &err),
			 SS_ERR_IO);
	assert_non_null(strstr(err.text, "'/nowhere/at/all'"));
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.json", folder);
	/* a limit on the length of files is the full disk that a test can have */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(ss_sim_output_open(path, false, &memory, &output, &err), SS_OK);
	sink = ss_sim_output_sink(output);
	assert_int_equal(sink.write(sink.context, zeros, sizeof(zeros), &err), SS_ERR_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(err.text, "cannot write '"));
	assert_non_null(strstr(err.text, "a.json': "));
	assert_int_equal(ss_sim_output_close(output, false, NULL, &err), SS_OK);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_files_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
