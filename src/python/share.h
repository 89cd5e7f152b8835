/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - one batch of Arrow for many readers.
 *
 * A stream can be read once. A table of Python is read as often as its user likes: each reader
 * gets a stream of its own over the same buffers, which live until the last of them is released.
 */
#ifndef SS_PYTHON_SHARE_H
#define SS_PYTHON_SHARE_H

#include <stdbool.h>

#include "stepscope_arrow.h"

struct shared;

/* Takes the stream, also when this fails: NULL is no memory. */
struct shared *shared_take(struct ArrowArrayStream *stream);
void shared_drop(struct shared *shared);

const struct ArrowSchema *shared_schema(const struct shared *shared);
/* NULL: there are no rows. */
const struct ArrowArray *shared_array(const struct shared *shared);

/* Another stream; false: no memory. Any thread may read and release it. */
bool shared_stream(struct shared *shared, struct ArrowArrayStream *out);

#endif
