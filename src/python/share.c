/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - lends a batch to many readers without a copy, with a reference count.
 */
#include "python/module.h"

#include <errno.h>
#include <stdatomic.h>

#include "api/renderers.h"

struct shared {
	atomic_uint readers;
	struct ArrowSchema schema;
	struct ArrowArray array; /* no release: there are no rows */
};

static struct shared *share_keep(struct shared *shared)
{
	atomic_fetch_add(&shared->readers, 1);
	return shared;
}

void shared_drop(struct shared *shared)
{
	if (!shared || atomic_fetch_sub(&shared->readers, 1) != 1)
		return;
	if (shared->schema.release)
		shared->schema.release(&shared->schema);
	if (shared->array.release)
		shared->array.release(&shared->array);
	ss_arrow_free(shared);
}

struct shared *shared_take(struct ArrowArrayStream *stream)
{
	struct shared *shared = ss_arrow_alloc(1, sizeof(*shared));

	if (shared) {
		atomic_init(&shared->readers, 1);
		if (stream->get_schema(stream, &shared->schema) ||
		    stream->get_next(stream, &shared->array)) {
			shared_drop(shared);
			shared = NULL;
		}
	}
	stream->release(stream);
	return shared;
}

const struct ArrowSchema *shared_schema(const struct shared *shared)
{
	return &shared->schema;
}

const struct ArrowArray *shared_array(const struct shared *shared)
{
	return shared->array.release ? &shared->array : NULL;
}

/* --- lending ---------------------------------------------------------------------------- */

/* What a lent array owns: a reference to the batch, and the arrays below it. */
struct lent_array {
	struct shared *shared;
	struct ArrowArray **children;
	struct ArrowArray *below; /* the children, then the dictionary */
	int64_t count;
};

static void release_lent(struct ArrowArray *array)
{
	struct lent_array *own = array->private_data;

	for (int64_t i = 0; i < own->count; i++)
		if (own->below[i].release)
			own->below[i].release(&own->below[i]);
	ss_arrow_free(own->children);
	ss_arrow_free(own->below);
	shared_drop(own->shared);
	ss_arrow_free(own);
	array->release = NULL;
}

/* A releasable array without children yet. */
static struct lent_array *begin_lent(struct shared *shared, const struct ArrowArray *from,
				     struct ArrowArray *out)
{
	struct lent_array *own = ss_arrow_alloc(1, sizeof(*own));

	if (!own)
		return NULL;
	own->shared = share_keep(shared);
	own->children = ss_arrow_alloc((size_t)from->n_children, sizeof(*own->children));
	own->below = ss_arrow_alloc((size_t)from->n_children + 1, sizeof(*own->below));
	*out = *from;
	out->children = from->n_children ? own->children : NULL;
	out->dictionary = NULL;
	out->release = release_lent;
	out->private_data = own;
	if (own->children && own->below)
		return own;
	release_lent(out);
	return NULL;
}

/* Recursive, at most as deep as a table: the batch, its columns, their dictionaries. */
static bool lend_column(struct shared *shared, const struct ArrowArray *from,
			struct ArrowArray *out)
{
	struct lent_array *own = begin_lent(shared, from, out);

	if (!own)
		return false;
	if (!from->dictionary)
		return true;
	if (!begin_lent(shared, from->dictionary, &own->below[0])) {
		release_lent(out);
		return false;
	}
	own->count = 1;
	out->dictionary = &own->below[0];
	return true;
}

static bool share_lend_array(struct shared *shared, struct ArrowArray *out)
{
	struct lent_array *own = begin_lent(shared, &shared->array, out);

	if (!own)
		return false;
	for (; own->count < shared->array.n_children; own->count++) {
		struct ArrowArray *child = &own->below[own->count];

		own->children[own->count] = child;
		if (!lend_column(shared, shared->array.children[own->count], child)) {
			release_lent(out);
			return false;
		}
	}
	return true;
}

/* --- streams ---------------------------------------------------------------------------- */

struct reader {
	struct shared *shared;
	bool is_read;
};

static int share_copy_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
	struct reader *reader = self->private_data;

	return ss_arrow_copy(&reader->shared->schema, out) ? 0 : ENOMEM;
}

static int lend_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
	struct reader *reader = self->private_data;

	*out = (struct ArrowArray){ 0 };
	if (reader->is_read || !reader->shared->array.release)
		return 0;
	if (!share_lend_array(reader->shared, out))
		return ENOMEM;
	reader->is_read = true;
	return 0;
}

static const char *share_last_error(struct ArrowArrayStream *self)
{
	(void)self;
	return "out of memory";
}

static void release_stream(struct ArrowArrayStream *self)
{
	struct reader *reader = self->private_data;

	shared_drop(reader->shared);
	ss_arrow_free(reader);
	self->release = NULL;
}

bool shared_stream(struct shared *shared, struct ArrowArrayStream *out)
{
	struct reader *reader = ss_arrow_alloc(1, sizeof(*reader));

	if (!reader)
		return false;
	reader->shared = share_keep(shared);
	*out = (struct ArrowArrayStream){ share_copy_schema, lend_next, share_last_error,
					  release_stream, reader };
	return true;
}
