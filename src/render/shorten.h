/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten.h - texts that are wider than their column.
 *
 * Paths and names differ at their ends more than at their beginnings, so the end stays whole.
 * In a place in a program (model.py:14 (forward), /home/me/model.py(14):
 * forward) file and line stay: folders go first, then the end of the function's name.
 */
#ifndef SS_RENDER_SHORTEN_H
#define SS_RENDER_SHORTEN_H

#include "base/text.h"

/* Adds the text, or what fits into `width` columns of it. */
void ss_shorten(const char *text, size_t length, size_t width, struct ss_text *out);

/* The width of file and line, if a text names one place; 0: it names none, or several. */
size_t ss_shorten_least(const char *text, size_t length);

#endif
