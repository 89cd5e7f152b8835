/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - the paths of a session, quoted for a shell, for commands that can be pasted.
 */
#ifndef SS_API_PLACE_H
#define SS_API_PLACE_H

#include <stddef.h>

#include "base/text.h"

/* Appends the paths, each quoted if the shell needs it. */
void ss_place_add(struct ss_text *place, const char *const *paths, size_t count);

/* Adds one word of a command line. */
void ss_place_word(struct ss_text *place, const char *word);

#endif
