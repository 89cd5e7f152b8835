/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.c - a table as a stream of one batch, which takes its columns.
 */
#include "render/arrow.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "view/arrange.h"

/* The columns with their units, and what stands around the rows as metadata. */

/* What a schema owns: the children, as long as they are not moved out, and copies of its texts. */
struct schema_node {
	char *name, *metadata;
	struct ArrowSchema **children;
	struct ArrowSchema *columns;
	struct ArrowSchema texts;
	int64_t count;
};

static void arrow_schema_release(struct ArrowSchema *schema)
{
	struct schema_node *own = schema->private_data;

	for (int64_t i = 0; i < own->count; i++)
		if (own->columns[i].release)
			own->columns[i].release(&own->columns[i]);
	if (own->texts.release)
		own->texts.release(&own->texts);
	ss_arrow_free(own->columns);
	ss_arrow_free(own->children);
	ss_arrow_free(own->name);
	ss_arrow_free(own->metadata);
	ss_arrow_free(own);
	schema->release = NULL;
}

/* --- metadata ---------------------------------------------------------------------------- */

/* Pairs as Arrow writes them: their number, then lengths and bytes. */
struct schema_pairs {
	struct ss_text bytes;
	int32_t count;
};

static void schema_pairs_add_length(struct schema_pairs *pairs, size_t length)
{
	int32_t number = (int32_t)length;

	ss_text_add(&pairs->bytes, (const char *)&number, sizeof(number));
}

static void schema_pairs_add(struct schema_pairs *pairs, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	if (!pairs->count)
		schema_pairs_add_length(pairs, 0); /* set at the end */
	schema_pairs_add_length(pairs, strlen(key));
	ss_text_add_string(&pairs->bytes, key);
	schema_pairs_add_length(pairs, strlen(value));
	ss_text_add_string(&pairs->bytes, value);
	pairs->count++;
}

/* Adds what was rendered, and empties it. */
static void schema_pairs_add_rendered(struct schema_pairs *pairs, const char *key,
				      struct ss_text *value)
{
	schema_pairs_add(pairs, key, value->data);
	ss_text_end(value, &pairs->bytes);
}

/* Moves the pairs into the node; false: no memory. */
static bool schema_pairs_end(struct schema_pairs *pairs, struct schema_node *own)
{
	bool whole = !ss_text_failed(&pairs->bytes);

	if (whole && pairs->count) {
		memcpy(pairs->bytes.data, &pairs->count, sizeof(pairs->count));
		own->metadata = ss_arrow_alloc(pairs->bytes.length, 1);
		whole = own->metadata;
	}
	if (whole && pairs->count)
		memcpy(own->metadata, pairs->bytes.data, pairs->bytes.length);
	ss_text_release(&pairs->bytes);
	return whole;
}

/* The length of metadata in Arrow's form. */
static size_t schema_pairs_bytes(const char *metadata)
{
	const char *at = metadata;
	int32_t count, length;

	if (!metadata)
		return 0;
	memcpy(&count, at, sizeof(count));
	at += sizeof(count);
	for (int32_t i = 0; i < 2 * count; i++) {
		memcpy(&length, at, sizeof(length));
		at += sizeof(length) + (size_t)length;
	}
	return (size_t)(at - metadata);
}

/* --- nodes ------------------------------------------------------------------------------- */

static char *arrow_copy_bytes(const char *bytes, size_t length)
{
	char *copy = ss_arrow_alloc(length, 1);

	if (copy && length)
		memcpy(copy, bytes, length);
	return copy;
}

/* A schema without metadata, with room for `count` children; false: no memory. */
static bool schema_node_make(const char *format, const char *name, uint32_t count,
			     struct ArrowSchema *out)
{
	struct schema_node *own = ss_arrow_alloc(1, sizeof(*own));

	*out = (struct ArrowSchema){ 0 };
	if (!own)
		return false;
	own->name = arrow_copy_bytes(name, strlen(name));
	own->children = ss_arrow_alloc(count, sizeof(*own->children));
	own->columns = ss_arrow_alloc(count, sizeof(*own->columns));
	*out = (struct ArrowSchema){ .format = format,
				     .name = own->name,
				     .children = count ? own->children : NULL,
				     .release = arrow_schema_release,
				     .private_data = own };
	if (own->name && own->children && own->columns)
		return true;
	arrow_schema_release(out);
	return false;
}

/* The next child, to be made. */
static struct ArrowSchema *schema_next_child(struct ArrowSchema *schema)
{
	struct schema_node *own = schema->private_data;

	own->children[own->count] = &own->columns[own->count];
	schema->n_children = ++own->count;
	return &own->columns[own->count - 1];
}

/* Texts are ids of a dictionary. */
static bool schema_add_texts(struct ArrowSchema *schema)
{
	struct schema_node *own = schema->private_data;

	if (!schema_node_make("U", "", 0, &own->texts))
		return false;
	schema->dictionary = &own->texts;
	return true;
}

static bool schema_copy_into(const struct ArrowSchema *from, struct ArrowSchema *out)
{
	struct schema_node *own = out->private_data;

	out->flags = from->flags;
	if (from->metadata) {
		own->metadata = arrow_copy_bytes(from->metadata,
						 schema_pairs_bytes(from->metadata));
		out->metadata = own->metadata;
		if (!own->metadata)
			return false;
	}
	return !from->dictionary || schema_add_texts(out);
}

bool ss_arrow_copy(const struct ArrowSchema *from, struct ArrowSchema *out)
{
	bool whole;

	if (!schema_node_make(from->format, from->name, (uint32_t)from->n_children, out))
		return false;
	whole = schema_copy_into(from, out);
	for (int64_t i = 0; whole && i < from->n_children; i++) {
		const struct ArrowSchema *column = from->children[i];
		struct ArrowSchema *child = schema_next_child(out);

		whole = schema_node_make(column->format, column->name, 0, child) &&
			schema_copy_into(column, child);
	}
	if (!whole)
		arrow_schema_release(out);
	return whole;
}

/* --- of a table -------------------------------------------------------------------------- */

static const char *arrow_format_of(enum ss_column_type type)
{
	switch (type) {
	case SS_COLUMN_TEXT:
		return "i";
	case SS_COLUMN_NS:
		return "tDn";
	case SS_COLUMN_PERCENT:
	case SS_COLUMN_NUMBER:
		return "g";
	default:
		return "l";
	}
}

/* What moments of the view count from. */
static const char *zero_words(enum ss_zero zero)
{
	switch (zero) {
	case SS_ZERO_FILE:
		return "the first event of the row's file";
	case SS_ZERO_COLLECTIVES:
		return "the first collective of the job";
	case SS_ZERO_STEPS:
		return "the first measured step of the first rank that has one";
	case SS_ZERO_PATH:
		return "the start of the critical path";
	}
	return NULL;
}

static bool column_adds_up(const struct ss_table *table, const char *name)
{
	const struct ss_view *view = table->view;

	return ss_view_lists(view->sums, name) &&
	       !(view->nested & 1u << ss_view_group(view, table->group));
}

/* The field of a column: its type, its unit and its roles as metadata. */
static bool schema_make_column(const struct ss_table *table, uint32_t index,
			       struct ArrowSchema *out)
{
	const struct ss_column *column = &table->view->columns[index];
	bool is_moment = column->flags & SS_COLUMN_MOMENT;
	struct schema_pairs pairs = { 0 };
	struct ss_text roles = { 0 };

	if (!schema_node_make(arrow_format_of(column->type), column->name, 0, out))
		return false;
	out->flags = ARROW_FLAG_NULLABLE;
	if (column->type == SS_COLUMN_TEXT && !schema_add_texts(out))
		return false;
	if (ss_view_column_role(table, index) == SS_ROLE_KEY)
		ss_text_add_string(&roles, " key");
	if (is_moment)
		ss_text_add_string(&roles, " moment");
	if (column_adds_up(table, column->name))
		ss_text_add_string(&roles, " sum");
	schema_pairs_add(&pairs, "unit", ss_render_unit(column->type));
	schema_pairs_add(&pairs, "about", column->about);
	schema_pairs_add(&pairs, "roles", roles.data ? roles.data + 1 : NULL);
	schema_pairs_add(&pairs, "zero", is_moment ? zero_words(table->view->zero) : NULL);
	ss_text_end(&roles, &pairs.bytes);
	if (!schema_pairs_end(&pairs, out->private_data))
		return false;
	out->metadata = ((struct schema_node *)out->private_data)->metadata;
	return true;
}

/* The metadata: what JSON has beside the rows. */
static bool schema_describe_table(const struct ss_table *table,
				  const struct ss_render_options *options, struct ArrowSchema *out)
{
	struct ss_text schema = { 0 }, notes = { 0 }, totals = { 0 }, quality = { 0 }, rows = { 0 };
	struct ss_text run = { 0 };
	struct schema_pairs pairs = { 0 };

	ss_text_addf(&schema, "stepscope.%s/1", table->view->name);
	ss_text_addf(&rows, "%" PRIu32, ss_table_all_rows(table));
	ss_render_notes(table, &notes);
	ss_render_quality(&options->trust, &quality);
	if (table->totals)
		ss_render_totals(table, &totals);
	if (options->run.is_known)
		ss_render_identity(&options->run, &run);
	schema_pairs_add(&pairs, "view", table->view->name);
	schema_pairs_add_rendered(&pairs, "schema", &schema);
	schema_pairs_add(&pairs, "group", table->group);
	schema_pairs_add(&pairs, "basis", table->basis);
	schema_pairs_add_rendered(&pairs, "row_count", &rows);
	schema_pairs_add_rendered(&pairs, "notes", &notes);
	schema_pairs_add_rendered(&pairs, "totals", &totals);
	schema_pairs_add_rendered(&pairs, "run", &run);
	schema_pairs_add_rendered(&pairs, "quality", &quality);
	schema_pairs_add(&pairs, "empty", table->row_count ? NULL : ss_table_empty(table));
	if (!schema_pairs_end(&pairs, out->private_data))
		return false;
	out->metadata = ((struct schema_node *)out->private_data)->metadata;
	return true;
}

/* The columns with their units; what is not in the rows is metadata. */
static bool arrow_schema_of(const struct ss_table *table, const struct ss_render_options *options,
			    struct ArrowSchema *out)
{
	bool whole;

	if (!schema_node_make("+s", "", table->view->column_count, out))
		return false;
	whole = schema_describe_table(table, options, out);
	for (uint32_t i = 0; whole && i < table->view->column_count; i++)
		whole = schema_make_column(table, i, schema_next_child(out));
	if (!whole)
		arrow_schema_release(out);
	return whole;
}

void *ss_arrow_alloc(size_t count, size_t size)
{
	return size && count > PTRDIFF_MAX / size ? NULL : ss_memory_outside(count * size + 1);
}

void ss_arrow_free(void *block)
{
	ss_memory_free_outside(block);
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
	if (arrow_schema_of(table, options, &stream->schema) &&
	    (!rows || arrow_take_batch(table, rows, &stream->array)))
		return SS_OK;
	arrow_stream_release(out);
	return ss_fail_memory(err, "the table");
}
