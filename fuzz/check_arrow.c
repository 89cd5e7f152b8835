/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_arrow.c - a table as Arrow: every buffer can be walked, every index has its text.
 */
#include "base/utf8.h"
#include "check.h"
#include "render/arrow.h"

static void check_texts(const struct ArrowArray *texts)
{
	const int64_t *offsets = texts->buffers[1];
	const char *bytes = texts->buffers[2];

	CHECK(texts->n_buffers == 3 && offsets && bytes && offsets[0] == 0);
	for (int64_t i = 0; i < texts->length; i++) {
		size_t length = (size_t)(offsets[i + 1] - offsets[i]);

		CHECK(offsets[i + 1] > offsets[i]);
		CHECK(!(ss_utf8_check(bytes + offsets[i], length) & SS_UTF8_BAD_BYTES));
	}
}

static void check_column(const struct ArrowSchema *schema, const struct ArrowArray *array,
			 int64_t rows)
{
	const uint8_t *known = array->buffers[0];
	const int32_t *ids = array->buffers[1];
	int64_t nulls = 0;

	CHECK(array->length == rows && array->n_buffers == 2 && array->buffers[1]);
	CHECK(!schema->dictionary == !array->dictionary);
	if (array->dictionary)
		check_texts(array->dictionary);
	for (int64_t i = 0; i < rows; i++) {
		bool is_null = known && !(known[i / 8] >> i % 8 & 1);

		nulls += is_null;
		CHECK(!array->dictionary || is_null ||
		      (ids[i] >= 0 && ids[i] < array->dictionary->length));
	}
	CHECK(array->null_count == nulls);
}

void check_arrow(struct ss_table *table)
{
	struct ss_render_options options = { 0 };
	int64_t rows = table->row_count, columns = table->view->column_count;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray array;
	struct ss_error err = { 0 };

	CHECK(ss_arrow_stream(table, &options, &stream, &err) == SS_OK);
	CHECK(stream.get_schema(&stream, &schema) == 0 && schema.n_children == columns);
	CHECK(stream.get_next(&stream, &array) == 0 && !array.release == !rows);
	stream.release(&stream);
	if (rows) {
		CHECK(array.length == rows && array.n_children == columns);
		for (int64_t i = 0; i < columns; i++)
			check_column(schema.children[i], array.children[i], rows);
		array.release(&array);
	}
	schema.release(&schema);
}
