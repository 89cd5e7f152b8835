/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.c - a table as a stream of one batch, which takes its columns.
 */
#include "render/arrow.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"

void *ss_arrow_alloc(size_t count, size_t size)
{
	struct ss_memory outside;
	void *block;

	if (size && count > PTRDIFF_MAX / size)
		return NULL;
	ss_memory_init(&outside, 0);
	block = ss_memory_resize(&outside, NULL, 0, count * size + 1);
	return block ? memset(block, 0, count * size + 1) : NULL;
}

void ss_arrow_free(void *block)
{
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	ss_memory_free(&outside, block, 0);
}

/* --- the batch: a struct array whose children are the columns of the table --------------------
 *
 * A consumer may move a child out of its parent and release the parent: each child has its
 * buffers to itself.
 */

/* What a column owns: its buffers, and the array of its texts. */
struct arrow_column {
	struct ss_buffer known, values;
	const void *buffers[2];
	struct ArrowArray texts;
};

struct arrow_texts {
	struct ss_buffer offsets, bytes;
	const void *buffers[3];
};

/* What the batch owns: its columns, as long as they are not moved out. */
struct arrow_batch {
	const void *buffers[1];
	struct ArrowArray **children;
	struct ArrowArray *columns;
	int64_t count;
};

static void arrow_texts_release(struct ArrowArray *array)
{
	struct arrow_texts *own = array->private_data;

	ss_buffer_free(&own->offsets);
	ss_buffer_free(&own->bytes);
	ss_arrow_free(own);
	array->release = NULL;
}

static void arrow_column_release(struct ArrowArray *array)
{
	struct arrow_column *own = array->private_data;

	if (own->texts.release)
		own->texts.release(&own->texts);
	ss_buffer_free(&own->known);
	ss_buffer_free(&own->values);
	ss_arrow_free(own);
	array->release = NULL;
}

static void arrow_batch_release(struct ArrowArray *array)
{
	struct arrow_batch *own = array->private_data;

	for (int64_t i = 0; i < own->count; i++)
		if (own->columns[i].release)
			own->columns[i].release(&own->columns[i]);
	ss_arrow_free(own->columns);
	ss_arrow_free(own->children);
	ss_arrow_free(own);
	array->release = NULL;
}

/* Names of files can have bytes that are not UTF-8, which Arrow does not allow: they become '?'. */
static void arrow_texts_repair(struct ss_dictionary *texts)
{
	for (uint32_t id = 0; id < texts->count; id++) {
		char *text = (char *)texts->bytes.data + ss_dictionary_offsets(texts)[id];
		uint32_t length = ss_dictionary_length(texts, id);

		if (!(ss_utf8_check(text, length) & SS_UTF8_BAD_BYTES))
			continue;
		for (uint32_t i = 0; i < length; i++)
			if ((unsigned char)text[i] >= 0x80)
				text[i] = '?';
	}
}

/* A column of nulls has no text, but needs an offset and a buffer for bytes. */
static bool arrow_texts_reserve(struct ss_dictionary *texts, struct ss_memory *memory)
{
	if (!ss_buffer_reserve(memory, &texts->offsets, sizeof(int64_t)) ||
	    !ss_buffer_reserve(memory, &texts->bytes, 1))
		return false;
	if (!texts->count)
		memset(texts->offsets.data, 0, sizeof(int64_t));
	return true;
}

/* Moves the texts of a column into an array: the dictionary of its ids. */
static bool arrow_take_texts(struct ss_dictionary *texts, struct ss_memory *memory,
			     struct ArrowArray *out)
{
	struct arrow_texts *own = ss_arrow_alloc(1, sizeof(*own));

	if (!own || !arrow_texts_reserve(texts, memory)) {
		ss_arrow_free(own);
		return false;
	}
	arrow_texts_repair(texts);
	own->offsets = ss_buffer_take(memory, &texts->offsets);
	own->bytes = ss_buffer_take(memory, &texts->bytes);
	own->buffers[1] = own->offsets.data;
	own->buffers[2] = own->bytes.data;
	*out = (struct ArrowArray){ .length = texts->count,
				    .n_buffers = 3,
				    .buffers = own->buffers,
				    .release = arrow_texts_release,
				    .private_data = own };
	return true;
}

/* Moves a column into an array; the table keeps no buffer of it. */
static bool arrow_take_column(struct ss_cells *cells, struct ss_memory *memory, uint32_t rows,
			      struct ArrowArray *out)
{
	struct arrow_column *own = ss_arrow_alloc(1, sizeof(*own));

	if (!own || (cells->is_text && !arrow_take_texts(&cells->texts, memory, &own->texts))) {
		ss_arrow_free(own);
		return false;
	}
	*out = (struct ArrowArray){ .length = rows,
				    .null_count = ss_cells_count_nulls(cells, rows),
				    .n_buffers = 2,
				    .buffers = own->buffers,
				    .dictionary = cells->is_text ? &own->texts : NULL,
				    .release = arrow_column_release,
				    .private_data = own };
	own->known = ss_buffer_take(memory, &cells->known);
	own->values = ss_buffer_take(memory, &cells->values);
	own->buffers[0] = own->known.data;
	own->buffers[1] = own->values.data;
	return true;
}

/* Moves the first rows of the table into a batch. */
static bool arrow_take_batch(struct ss_table *table, uint32_t rows, struct ArrowArray *out)
{
	struct arrow_batch *own = ss_arrow_alloc(1, sizeof(*own));
	bool whole = own;

	if (!own)
		return false;
	own->columns = ss_arrow_alloc(table->cells_count, sizeof(*own->columns));
	own->children = ss_arrow_alloc(table->cells_count, sizeof(*own->children));
	whole = own->columns && own->children;
	for (; whole && own->count < table->cells_count; own->count++) {
		own->children[own->count] = &own->columns[own->count];
		whole = arrow_take_column(&table->cells[own->count], table->arena->memory, rows,
					  &own->columns[own->count]);
	}
	*out = (struct ArrowArray){ .length = rows,
				    .n_buffers = 1,
				    .n_children = own->count,
				    .buffers = own->buffers,
				    .children = own->children,
				    .release = arrow_batch_release,
				    .private_data = own };
	if (!whole)
		arrow_batch_release(out);
	return whole;
}

/* --- the stream: one batch, or none if there are no rows -------------------------------------- */

struct table_stream {
	struct ArrowSchema schema;
	struct ArrowArray array; /* without release: it was handed out, or there are no rows */
	const char *problem;     /* of the last call; NULL: none */
};

static int arrow_stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
	struct table_stream *stream = self->private_data;

	stream->problem = NULL;
	if (ss_arrow_copy(&stream->schema, out))
		return 0;
	stream->problem = "no memory for the schema";
	return ENOMEM;
}

static int arrow_stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
	struct table_stream *stream = self->private_data;

	stream->problem = NULL;
	*out = stream->array;
	stream->array.release = NULL;
	return 0;
}

static const char *arrow_stream_error(struct ArrowArrayStream *self)
{
	return ((struct table_stream *)self->private_data)->problem;
}

static void arrow_stream_release(struct ArrowArrayStream *self)
{
	struct table_stream *stream = self->private_data;

	if (stream->schema.release)
		stream->schema.release(&stream->schema);
	if (stream->array.release)
		stream->array.release(&stream->array);
	ss_arrow_free(stream);
	self->release = NULL;
}

enum ss_status ss_arrow_stream(struct ss_table *table, const struct ss_render_options *options,
			       struct ArrowArrayStream *out, struct ss_error *err)
{
	uint32_t rows = ss_render_rows(table, options);
	struct table_stream *stream = ss_arrow_alloc(1, sizeof(*stream));

	*out = (struct ArrowArrayStream){ 0 };
	if (!stream)
		return ss_fail_memory(err, "the table");
	*out = (struct ArrowArrayStream){ arrow_stream_schema, arrow_stream_next,
					  arrow_stream_error, arrow_stream_release, stream };
	if (ss_arrow_schema(table, options, &stream->schema) &&
	    (!rows || arrow_take_batch(table, rows, &stream->array)))
		return SS_OK;
	arrow_stream_release(out);
	return ss_fail_memory(err, "the table");
}
