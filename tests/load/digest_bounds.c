/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever figures a trace has: what is written into a digest can be read.
 */
#include "support/support.h"

#include "base/text.h"
#include "load/digest_files.h"
#include "ranks/digest.h"
#include "read/source.h"
#include "trace/digest/digest_file.h"

static void fill(const struct ss_field *fields, size_t count, char *item, int64_t value)
{
	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; fields[i].type == SS_FIELD_I64 && at < fields[i].count; at++)
			memcpy(item + fields[i].offset + at * sizeof(value), &value, sizeof(value));
}

/* All figures of a file with one item in each list. */
static void fill_all(struct ss_job_file *file, int64_t value)
{
	const struct ss_field_layout *layout = &ss_digest_layout;

	fill(layout->fields, layout->field_count, (char *)file, value);
	for (size_t i = 0; i < layout->list_count; i++) {
		const struct ss_field_list *list = &layout->lists[i];
		char *items = (char *)file + list->items;

		if (!list->is_inside)
			memcpy(&items, (char *)file + list->items, sizeof(items));
		for (uint32_t k = 0; k < (list->exact ? list->exact : 1); k++)
			fill(list->fields, list->field_count, items + k * list->item_bytes, value);
	}
}

static enum ss_status write_and_read(struct ss_job_file *file, struct ss_job_file *out,
				     struct ss_memory *memory, struct ss_error *err)
{
	struct ss_fields_reader reader = { .memory = memory };
	struct ss_text text = { 0 };
	enum ss_status status;

	assert_true(ss_digest_unpack_arrivals(&file->digest));
	ss_fields_write(&ss_digest_layout, file, &text);
	ss_digest_free_wholes(&file->digest);
	assert_false(ss_text_failed(&text));
	reader.at = (const unsigned char *)text.data;
	reader.end = reader.at + text.length;
	out->digest.memory = memory;
	status = ss_fields_read(&reader, &ss_digest_layout, out, err);
	ss_text_release(&text);
	if (status == SS_OK)
		assert_true(ss_digest_pack_arrivals(&out->digest));
	return status;
}

static void release(struct ss_job_file *file, struct ss_memory *memory)
{
	ss_digest_release(&file->digest);
	ss_recording_release(&file->recording, memory);
}

static void test_bounds(void **state)
{
	static const int64_t values[] = { 0,
					  -1,
					  7,
					  -7,
					  INT64_C(1) << 60,
					  (INT64_C(1) << 60) + 1,
					  INT64_MAX / 2 + 1,
					  INT64_MAX,
					  -INT64_MAX,
					  INT64_MIN };

	struct ss_memory memory;

	(void)state;
	for (size_t i = 0; i < SS_COUNT(values); i++) {
		struct ss_device_size size = { 0 };
		struct ss_rank_group group = { 0 };
		struct ss_rank_step step = { 0 };
		struct ss_rank_kernel kernel = { 0 }, module = { 0 };
		struct ss_rank_gap gap = { 0 };
		struct ss_job_file file = {
			.recording = { .sizes = &size, .size_count = 1 },
			.digest = { .groups = &group,
				    .group_count = 1,
				    .memory = &memory,
				    .whole_count = 1,
				    .whole_capacity = 1,
				    .steps = &step,
				    .step_count = 1,
				    .kernels = &kernel,
				    .kernel_count = 1,
				    .modules = &module,
				    .module_count = 1,
				    .gaps = &gap,
				    .gap_count = 1 },
		};
		struct ss_job_file read = { 0 };
		struct ss_error err = { 0 };

		ss_memory_init(&memory, 0);
		assert_true(ss_strings_init(&file.digest.texts, &memory));
		file.digest.wholes = ss_memory_zeroed(&memory, sizeof(*file.digest.wholes));
		assert_non_null(file.digest.wholes);
		fill_all(&file, values[i]);
		assert_true(ss_digest_pack_arrivals(&file.digest));
		ss_job_digest_bound(&file);
		support_check(write_and_read(&file, &read, &memory, &err) == SS_OK, "bounds",
			      "%lld: %s", (long long)values[i], err.text);
		/* what fits is left as it is */
		if (values[i] == 0 || values[i] == 7)
			assert_int_equal(read.digest.steps[0].loose_ns, values[i]);
		assert_int_equal(read.digest.arrivals[0].sequence, values[i]);
		assert_int_equal(read.digest.rank, values[i]);
		release(&read, &memory);
		ss_strings_release(&file.digest.texts);
		ss_memory_free(&memory, file.digest.arrivals, sizeof(*file.digest.arrivals));
		ss_memory_free(&memory, file.digest.own, file.digest.own_capacity);
		assert_int_equal(memory.used_bytes, 0);
	}
}

/* The reader checks: without bounds a step of decades is refused. */
static void test_refused(void **state)
{
	struct ss_rank_step step = { .loose_ns = INT64_MAX };
	struct ss_memory memory;
	struct ss_job_file file = {
		.digest = { .memory = &memory, .steps = &step, .step_count = 1 },
	};
	struct ss_job_file read = { 0 };
	struct ss_error err = { 0 };

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_strings_init(&file.digest.texts, &memory));
	assert_int_equal(write_and_read(&file, &read, &memory, &err), SS_ERR_FORMAT);
	assert_non_null(strstr(err.text, "loose_ns"));
	release(&read, &memory);
	ss_strings_release(&file.digest.texts);
}

/* A commit can change the layout without the version number: then "another version" is wrong. */
static void test_layouts(void **state)
{
	struct ss_text parts[SS_DIGEST_PARTS] = { 0 };
	struct ss_digest_origin origin = { 0 };
	struct ss_memory memory;
	SS_TEXT(bytes);

	(void)state;
	ss_memory_init(&memory, 0);
	ss_trace_digest_write(&origin, 1, parts, &bytes);
	assert_false(ss_text_failed(&bytes));
	for (uint64_t layout = 1; layout < 3; layout++) {
		struct ss_digest_file file = { 0 };
		struct ss_source *source;
		struct ss_error err = { 0 };

		assert_int_equal(ss_source_open_memory(bytes.data, bytes.length, &memory, &source,
						       &err),
				 SS_OK);
		/* nothing else is in this file: it is read up to its origin, at most */
		assert_true(ss_trace_digest_read(source, layout, 0, &memory, &file, &err) ==
				    SS_ERR_FORMAT ||
			    layout == 1);
		assert_int_equal(strstr(err.text, "another build of stepscope (" SS_VERSION
						  "): make it again") != NULL,
				 layout == 2);
		ss_trace_digest_release(&file);
		ss_source_close(source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
