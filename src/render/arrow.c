/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.c - the stream: one batch, or none where there are no rows.
 */
#include "render/arrow.h"

#include <errno.h>
#include <string.h>

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
	    (!rows || ss_arrow_array(table, rows, &stream->array)))
		return SS_OK;
	arrow_stream_release(out);
	return ss_fail_memory(err, "the table");
}
