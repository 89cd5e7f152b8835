/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes_text.h - sizes of tensors as they are shown.
 */
#ifndef SS_ANALYZE_WORK_SHAPES_TEXT_H
#define SS_ANALYZE_WORK_SHAPES_TEXT_H

#include "table/table.h"

/*
 * "[[32, 3], [], [3, 8]]" as "32x3 3x8": arguments without a size are left out. Long texts
 * (lists of tensors) and unexpected ones stay as they were recorded.
 */
const char *ss_work_sizes_text(struct ss_table *out, const char *text);

#endif
