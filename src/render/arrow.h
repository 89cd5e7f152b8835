/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.h - a table as Arrow: its columns leave as they are, without a copy.
 *
 * This is not a renderer: its output is not text. docs/formats/arrow.md is the interface.
 */
#ifndef SS_RENDER_ARROW_H
#define SS_RENDER_ARROW_H

#include "render/render.h"
#include "stepscope_arrow.h"

/*
 * Moves the columns of the table into a stream; of the table nothing but ss_table_release() may
 * be called afterwards, whether this failed or not.
 */
SS_MUST_USE
enum ss_status ss_arrow_stream(struct ss_table *table, const struct ss_render_options *options,
			       struct ArrowArrayStream *out, struct ss_error *err);

/* A copy. */
SS_MUST_USE
bool ss_arrow_copy(const struct ArrowSchema *from, struct ArrowSchema *out);

/* Memory of the exported data, which belongs to no session. */
SS_MUST_USE
void *ss_arrow_alloc(size_t count, size_t size);
void ss_arrow_free(void *block);

#endif
