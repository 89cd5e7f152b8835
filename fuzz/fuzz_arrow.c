/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_arrow.c - any table, as it leaves through Arrow.
 *
 * An input is the types of the columns, a byte each, 255 behind them, and cells, row by row. The
 * stream has the same cells: the same nulls, integers, numbers and texts. What was refused for lack
 * of memory leaves nothing behind.
 */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "render/arrow.h"
#include "view/view.h"

#include "check.h"

#define COLUMNS_MAX 8
#define ROWS_MAX 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of an input. */
struct arrow_input {
	const uint8_t *at, *end;
};

/* The next cell of the column. */
static struct ss_cell arrow_next_cell(struct arrow_input *input, bool is_text)
{
	uint8_t tag = input->at < input->end ? *input->at++ : 0;
	size_t left = (size_t)(input->end - input->at);
	struct ss_cell cell = { .is_null = tag % 4 == 0 };

	if (cell.is_null || is_text) {
		cell.length = (uint32_t)(tag / 4 < left ? tag / 4 : left);
		cell.value.text = (const char *)input->at;
		cell.is_null = cell.is_null || !cell.length;
		input->at += cell.is_null ? 0 : cell.length;
		return cell;
	}
	cell.value.integer = 0;
	memcpy(&cell.value, input->at, left < 8 ? left : 8);
	input->at += left < 8 ? left : 8;
	return cell;
}

/* Texts may be changed on their way in: bytes that are no text, lengths. */
static void arrow_fill(struct ss_table *table, struct arrow_input input)
{
	for (uint32_t row = 0; row < ROWS_MAX && input.at < input.end; row++) {
		ss_row_begin(table);
		for (uint32_t i = 0; i < table->view->column_count; i++) {
			const struct ss_column *column = &table->view->columns[i];
			bool is_text = column->type == SS_COLUMN_TEXT;
			struct ss_cell cell = arrow_next_cell(&input, is_text);

			if (cell.is_null)
				ss_row_null(table);
			else if (is_text)
				ss_row_text_part(table, cell.value.text, cell.length);
			else if (ss_column_has_fraction(column))
				ss_row_number(table, cell.value.number);
			else
				ss_row_int(table, cell.value.integer);
		}
		ss_row_end(table);
	}
}

static void arrow_compare(const struct ss_table_schema *view, const struct ArrowArray *array,
			  struct arrow_input input)
{
	for (int64_t row = 0; row < array->length; row++)
		for (uint32_t i = 0; i < view->column_count; i++) {
			const struct ArrowArray *column = array->children[i];
			const uint8_t *known = column->buffers[0];
			bool is_text = view->columns[i].type == SS_COLUMN_TEXT;
			bool is_null = known && !(known[row / 8] >> row % 8 & 1);
			struct ss_cell cell = arrow_next_cell(&input, is_text);
			double number = cell.value.number;

			if (!cell.is_null && ss_column_has_fraction(&view->columns[i]))
				cell.is_null = !isfinite(number);
			CHECK(is_null == cell.is_null || is_text);
			if (!is_null && is_text) {
				const int64_t *offsets = column->dictionary->buffers[1];
				int32_t id = ((const int32_t *)column->buffers[1])[row];
				const char *text = column->dictionary->buffers[2];
				size_t length = (size_t)(offsets[id + 1] - offsets[id]);

				/* what is no text is mended */
				CHECK(ss_utf8_check(cell.value.text, cell.length) ||
				      memchr(cell.value.text, 0, cell.length) ||
				      (length == cell.length &&
				       memcmp(text + offsets[id], cell.value.text, length) == 0));
			} else if (!is_null) {
				CHECK(memcmp((const int64_t *)column->buffers[1] + row, &cell.value,
					     sizeof(int64_t)) == 0);
			}
		}
}

/* Exports the table, with one request for memory refused if `fail_call` is not 0. */
static size_t arrow_export(const struct ss_view *view, struct arrow_input input, size_t fail_call)
{
	struct ArrowArrayStream stream = { 0 };
	struct ss_render_options options = { 0 };
	struct ArrowArray array = { 0 };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
	size_t calls;

	ss_memory_init(&memory, 0);
	memory.fail_call = fail_call;
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, view, &arena);
	arrow_fill(&table, input);
	if (!table.failed && ss_arrow_stream(&table, &options, &stream, &err) == SS_OK) {
		CHECK(stream.get_next(&stream, &array) == 0);
		if (array.release) {
			arrow_compare(table.schema, &array, input);
			array.release(&array);
		}
		stream.release(&stream);
	} else {
		CHECK(fail_call && (table.failed || err.code == SS_ERR_LIMIT));
	}
	calls = memory.calls;
	ss_table_release(&table);
	ss_arena_release(&arena);
	CHECK(memory.used_bytes == 0);
	return calls;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[COLUMNS_MAX] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct arrow_input input = { data, data + size };
	struct ss_column columns[COLUMNS_MAX];
	struct ss_view view = { .name = "fuzz",
				.summary = "Any table",
				.empty = "There is nothing.",
				.columns = columns,
				.rankless = true };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
	size_t calls;

	for (; input.at < input.end && *input.at != 255; input.at++)
		if (view.column_count < COLUMNS_MAX) {
			columns[view.column_count] = (struct ss_column){
				.name = names[view.column_count],
				.type = (enum ss_column_type)(*input.at % (SS_COLUMN_NUMBER + 1)),
				.about = "a column",
			};
			view.column_count++;
		}
	if (!view.column_count)
		return 0;
	input.at += input.at < input.end;
	calls = arrow_export(&view, input, 0);
	if (calls)
		(void)arrow_export(&view, input, 1 + size % calls);
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &view, &arena);
	arrow_fill(&table, input);
	check_arrow(&table);
	ss_table_release(&table);
	ss_arena_release(&arena);
	return 0;
}
