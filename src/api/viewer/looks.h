/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looks.h - how parts of steps are drawn, for the route offers.
 */
#ifndef SS_API_VIEWER_LOOKS_H
#define SS_API_VIEWER_LOOKS_H

#include "base/text.h"

/* The members "phases" and "rank_parts", a comma before each: name, colour, hatch, meaning. */
void ss_looks_add(struct ss_text *out);

#endif
