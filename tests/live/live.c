/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of live numbers: rings, cut files, files of another version.
 */
#include "support/live_rows.h"

static enum ss_status load(const char *bytes, size_t length, struct ss_memory *memory,
			   struct ss_live_file *out)
{
	struct ss_source *source = NULL;
	struct ss_error err = { 0 };
	enum ss_status status;

	assert_int_equal(ss_source_open_memory(bytes, length, memory, &source, &err), SS_OK);
	status = ss_live_load(source, memory, out, &err);
	assert_true((status == SS_OK) == (err.text[0] == '\0'));
	ss_source_close(source);
	return status;
}

static void check_rows(const struct live_script *script, size_t cut, uint32_t first, uint32_t count)
{
	struct ss_text bytes = { 0 };
	struct ss_live_file file;
	struct ss_memory memory;

	ss_memory_init(&memory, 0);
	live_rows_write(script, &bytes);
	assert_int_equal(load(bytes.data, cut ? cut : bytes.length, &memory, &file), SS_OK);
	assert_int_equal(file.row_count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(file.rows[i].step, first + i);
	ss_live_file_release(&file);
	ss_text_release(&bytes);
	assert_int_equal(memory.used_bytes, 0);
}

static void a_ring_is_read_in_the_order_of_time(void **state)
{
	(void)state;
	check_rows(&(struct live_script){ .steps = 10, .us = 1000 }, 0, 1, 10);
	check_rows(&(struct live_script){ .steps = 10, .us = 1000, .room = 10 }, 0, 1, 10);
	check_rows(&(struct live_script){ .steps = 25, .us = 1000, .room = 10 }, 0, 16, 10);
	check_rows(&(struct live_script){ .steps = 30, .us = 1000, .room = 10 }, 0, 21, 10);
}

static void a_cut_file_has_the_rows_that_are_there(void **state)
{
	(void)state;
	check_rows(&(struct live_script){ .steps = 10, .us = 1000 }, 136 + 3 * 52 + 51, 1, 3);
	check_rows(&(struct live_script){ .steps = 10, .us = 1000 }, 136, 1, 0);
	/* the newest rows stand first in the ring: 21 to 25 of 16 to 25 */
	check_rows(&(struct live_script){ .steps = 25, .us = 1000, .room = 10 }, 136 + 5 * 52, 21,
		   5);
}

static void a_row_out_of_order_is_left_out(void **state)
{
	struct ss_text bytes = { 0 };
	struct ss_live_file file;
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	live_rows_write(&(struct live_script){ .steps = 10, .us = 1000 }, &bytes);
	memset(bytes.data + 136 + 4 * 52, 0, 52);
	bytes.data[136 + 7 * 52 + 8] = 2; /* its step */
	assert_int_equal(load(bytes.data, bytes.length, &memory, &file), SS_OK);
	assert_int_equal(file.row_count, 8);
	ss_live_file_release(&file);
	ss_text_release(&bytes);
	assert_int_equal(memory.used_bytes, 0);
}

static void other_files_are_refused(void **state)
{
	struct ss_text bytes = { 0 };
	struct ss_live_file file;
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	live_rows_write(&(struct live_script){ .steps = 10, .us = 1000 }, &bytes);
	assert_int_equal(load(bytes.data, 100, &memory, &file), SS_ERR_FORMAT);
	bytes.data[8] = 2; /* the version */
	assert_int_equal(load(bytes.data, bytes.length, &memory, &file), SS_ERR_FORMAT);
	bytes.data[8] = 1;
	memset(bytes.data + 20, 0, 4); /* no room */
	assert_int_equal(load(bytes.data, bytes.length, &memory, &file), SS_ERR_FORMAT);
	ss_text_release(&bytes);
	assert_int_equal(memory.used_bytes, 0);
}

static void ranks_have_ended_when_all_say_so(void **state)
{
	const struct live_script scripts[] = {
		{ .steps = 10, .us = 1000, .has_ended = true },
		{ .rank = 1, .steps = 10, .us = 1000, .has_ended = true },
		{ .rank = 2, .steps = 10, .us = 1000 },
	};
	struct live_case live;

	(void)state;
	live_case_open(&live, scripts, 2);
	assert_true(live.live.has_ended);
	live_case_close(&live);
	live_case_open(&live, scripts, 3);
	assert_false(live.live.has_ended);
	live_case_close(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_is_read_in_the_order_of_time),
		cmocka_unit_test(a_cut_file_has_the_rows_that_are_there),
		cmocka_unit_test(a_row_out_of_order_is_left_out),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(ranks_have_ended_when_all_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
