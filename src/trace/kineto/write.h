/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - a trace as Kineto would have written it, for those whose file is no JSON.
 *
 * Reading what it gives leads to the same rows, links, arguments and steps. Not in it are what the
 * first file had and no view uses, and what was odd about it.
 */
#ifndef SS_TRACE_KINETO_WRITE_H
#define SS_TRACE_KINETO_WRITE_H

#include "read/source.h"

/*
 * Reads the trace with all of its columns, and gives its text piece by piece. `read` can be closed
 * afterwards.
 */
SS_MUST_USE
enum ss_status ss_kineto_write(struct ss_source *read, struct ss_memory *memory,
			       struct ss_source **out, struct ss_error *err);

#endif
