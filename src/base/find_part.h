/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_part.h - finds a text in another one, ignoring ASCII case, in linear time.
 */
#ifndef SS_BASE_FIND_PART_H
#define SS_BASE_FIND_PART_H

#include <stddef.h>

/* Where the part first begins in the text; NULL: nowhere. An empty part is everywhere. */
const char *ss_find_part(const char *text, size_t text_length, const char *part, size_t length);

#endif
