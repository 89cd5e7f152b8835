/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as Arrow: columns leave where they are, and belong to whoever holds them.
 */
#include "render/arrow.h"

#include "support/support.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "a name", 0 },
	{ "start_ns", SS_COLUMN_NS, "when it begins", SS_COLUMN_MOMENT },
	{ "share_percent", SS_COLUMN_PERCENT, "of all", 0 },
	{ "nothing", SS_COLUMN_TEXT, "never known", 0 },
};
static const struct ss_view view = { .name = "x",
				     .empty = "There is nothing.",
				     .columns = columns,
				     .column_count = SS_COUNT(columns) };

struct fixture {
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
};

static void fixture_open(struct fixture *fixture, uint32_t rows)
{
	static const char *const names[] = { "a", "b\xc3\xa4", "c\xff", "a longer one" };

	ss_memory_init(&fixture->memory, 0);
	ss_arena_init(&fixture->arena, &fixture->memory);
	ss_table_init(&fixture->table, &view, &fixture->arena);
	for (uint32_t i = 0; i < rows; i++) {
		fixture->table.rank = i % 3 ? (int64_t)i : -1;
		ss_row_begin(&fixture->table);
		ss_row_text(&fixture->table, names[i % SS_COUNT(names)]);
		ss_row_int(&fixture->table, (int64_t)i * 10);
		ss_row_number(&fixture->table, i / 2.0);
		ss_row_null(&fixture->table);
		ss_row_end(&fixture->table);
	}
	assert_false(fixture->table.failed);
}

static void fixture_close(struct fixture *fixture)
{
	ss_table_release(&fixture->table);
	ss_arena_release(&fixture->arena);
	assert_int_equal(fixture->memory.used_bytes, 0);
}

/* Whether the pairs of a schema hold these bytes. */
static bool has(const char *metadata, const char *bytes)
{
	int32_t count;

	memcpy(&count, metadata, sizeof(count));
	metadata += sizeof(count);
	for (int32_t i = 0; i < 2 * count; i++) {
		int32_t length;

		memcpy(&length, metadata, sizeof(length));
		metadata += sizeof(length);
		if ((size_t)length == strlen(bytes) && memcmp(metadata, bytes, strlen(bytes)) == 0)
			return true;
		metadata += length;
	}
	return false;
}

static void test_schema(void **state)
{
	static const char *const formats[] = { "l", "i", "tDn", "g", "i" };
	struct ss_render_options options = { 0 };
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray array;
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, 0);
	ss_table_note(&fixture.table, "A \"note\".");
	assert_int_equal(ss_arrow_stream(&fixture.table, &options, &stream, NULL), SS_OK);
	fixture_close(&fixture);
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_string_equal(schema.format, "+s");
	assert_int_equal(schema.n_children, SS_COUNT(formats));
	for (size_t i = 0; i < SS_COUNT(formats); i++) {
		assert_string_equal(schema.children[i]->format, formats[i]);
		assert_string_equal(schema.children[i]->name, columns[i].name);
		assert_true(has(schema.children[i]->metadata, columns[i].about));
	}
	assert_true(has(schema.metadata, "stepscope.x/1"));
	assert_true(has(schema.metadata, "[\"A \\\"note\\\".\"]"));
	assert_true(has(schema.metadata, "There is nothing."));
	assert_true(has(schema.children[2]->metadata, "moment"));
	assert_true(has(schema.children[2]->metadata, "the first event of the row's file"));
	/* without rows there is no batch */
	assert_int_equal(stream.get_next(&stream, &array), 0);
	assert_null(array.release);
	assert_null(stream.get_last_error(&stream));
	stream.release(&stream);
	assert_null(stream.release);
	/* the schema is its own */
	assert_string_equal(schema.children[1]->dictionary->format, "U");
	schema.release(&schema);
	assert_null(schema.release);
}

/* Ten million rows: every buffer lies where the table had it. */
static void test_no_copy(void **state)
{
	const uint32_t rows = 10000000;
	struct ss_render_options options = { 0 };
	const void *values[SS_COUNT(columns)], *known[SS_COUNT(columns)], *offsets, *bytes;
	struct ArrowArrayStream stream;
	struct ArrowArray array;
	struct fixture fixture;
	size_t peak;

	(void)state;
	fixture_open(&fixture, rows);
	for (size_t i = 0; i < SS_COUNT(columns); i++) {
		values[i] = fixture.table.cells[i].values.data;
		known[i] = fixture.table.cells[i].known.data;
	}
	offsets = fixture.table.cells[1].texts.offsets.data;
	bytes = fixture.table.cells[1].texts.bytes.data;
	peak = fixture.memory.peak_bytes;
	assert_int_equal(ss_arrow_stream(&fixture.table, &options, &stream, NULL), SS_OK);
	assert_true(fixture.memory.peak_bytes >= peak && fixture.memory.peak_bytes <= peak + 1000);
	fixture_close(&fixture);
	assert_int_equal(stream.get_next(&stream, &array), 0);
	assert_int_equal(array.length, rows);
	for (size_t i = 0; i < SS_COUNT(columns); i++) {
		assert_ptr_equal(array.children[i]->buffers[0], known[i]);
		assert_ptr_equal(array.children[i]->buffers[1], values[i]);
		assert_int_equal((uintptr_t)values[i] % 64, 0);
	}
	assert_ptr_equal(array.children[1]->dictionary->buffers[1], offsets);
	assert_ptr_equal(array.children[1]->dictionary->buffers[2], bytes);
	assert_int_equal(array.children[0]->null_count, (rows + 2) / 3);
	assert_int_equal(array.children[2]->null_count, 0);
	assert_null(array.children[2]->buffers[0]);
	assert_int_equal(array.children[4]->null_count, rows);
	assert_int_equal(((const int64_t *)array.children[2]->buffers[1])[rows - 1],
			 (rows - 1) * INT64_C(10));
	/* the stream may go before its batch */
	stream.release(&stream);
	array.release(&array);
	assert_null(array.release);
}

/* A column that was moved out stays when its batch is released; bad bytes are no longer there. */
static void test_moved(void **state)
{
	struct ss_render_options options = { .top = 5 };
	struct ArrowArrayStream stream;
	struct ArrowArray array, moved, end;
	struct fixture fixture;
	const int32_t *ids;
	const int64_t *offsets;

	(void)state;
	fixture_open(&fixture, 8);
	assert_int_equal(ss_arrow_stream(&fixture.table, &options, &stream, NULL), SS_OK);
	fixture_close(&fixture);
	assert_int_equal(stream.get_next(&stream, &array), 0);
	assert_int_equal(array.length, 5);
	moved = *array.children[1];
	array.children[1]->release = NULL;
	array.release(&array);
	assert_int_equal(stream.get_next(&stream, &end), 0);
	assert_null(end.release);
	stream.release(&stream);
	ids = moved.buffers[1];
	offsets = moved.dictionary->buffers[1];
	assert_int_equal(ids[2], 2);
	assert_int_equal(offsets[3] - offsets[2], 2);
	assert_memory_equal((const char *)moved.dictionary->buffers[2] + offsets[2], "c?", 2);
	moved.release(&moved);
	assert_null(moved.release);
}

/* A stream that nobody read frees everything. */
static void test_unread(void **state)
{
	struct ss_render_options options = { 0 };
	struct ArrowArrayStream stream;
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, 100);
	assert_int_equal(ss_arrow_stream(&fixture.table, &options, &stream, NULL), SS_OK);
	fixture_close(&fixture);
	stream.release(&stream);
}

/* At the limit of the account an empty dictionary cannot be made whole. */
static void test_memory(void **state)
{
	struct ss_render_options options = { 0 };
	struct ArrowArrayStream stream;
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, 100);
	fixture.memory.fail_call = fixture.memory.calls + 1;
	assert_int_equal(ss_arrow_stream(&fixture.table, &options, &stream, NULL), SS_ERR_LIMIT);
	assert_null(stream.release);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schema), cmocka_unit_test(test_no_copy),
		cmocka_unit_test(test_moved),  cmocka_unit_test(test_unread),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
