/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_search.h - finds a text in another one, ignoring ASCII case, in linear time.
 */
#ifndef SS_BASE_TEXT_SEARCH_H
#define SS_BASE_TEXT_SEARCH_H

#include <stddef.h>

/* Where the part first begins in the text; NULL: nowhere. An empty part is everywhere. */
const char *ss_find_part(const char *text, size_t text_length, const char *part, size_t length);

#endif
