/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renderers.h - a door for surfaces (see find_files.h): tables of their own in every format, pages
 * of the documentation for a terminal, tables as Arrow.
 */
#ifndef SS_API_RENDERERS_H
#define SS_API_RENDERERS_H

#include "render/arrow.h"     /* ss_arrow_stream(), ss_arrow_copy() */
#include "render/layout.h"    /* the most columns that a terminal shows */
#include "render/page/page.h" /* ss_render_page() */
#include "render/render.h"    /* struct ss_renderer, ss_render_quoted(), ss_render_count() */

#endif
