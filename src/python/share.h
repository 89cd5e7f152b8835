/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - one batch of Arrow for many readers.
 *
 * A stream can be read only once, but a Python table any number of times: each reader gets its own
 * stream over the same buffers, which live until the last reader releases them.
 */
#ifndef SS_PYTHON_SHARE_H
#define SS_PYTHON_SHARE_H

#include <stdbool.h>

#include "stepscope_arrow.h"

struct shared;

/* Takes ownership of the stream, even on failure; NULL: no memory. */
struct shared *shared_take(struct ArrowArrayStream *stream);
void shared_drop(struct shared *shared);

const struct ArrowSchema *shared_schema(const struct shared *shared);
/* NULL: no rows. */
const struct ArrowArray *shared_array(const struct shared *shared);

/* Makes another stream; false: no memory. Any thread may read and release it. */
bool shared_stream(struct shared *shared, struct ArrowArrayStream *out);

#endif
