/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renderers.c - the list of all formats, made from src/render/meson.build.
 */
#include <string.h>

#include "render/render.h"

#define SS_RENDERER(name) extern const struct ss_renderer ss_renderer_##name;
#include "renderers.inc"
#undef SS_RENDERER

#define SS_RENDERER(name) &ss_renderer_##name,
const struct ss_renderer *const ss_renderers[] = {
#include "renderers.inc"
};
#undef SS_RENDERER

const size_t ss_renderer_count = SS_COUNT(ss_renderers);

const struct ss_renderer *ss_renderer_find(const char *name)
{
	for (size_t i = 0; i < ss_renderer_count; i++)
		if (strcmp(ss_renderers[i]->name, name) == 0)
			return ss_renderers[i];
	return NULL;
}

uint32_t ss_render_rows(const struct ss_table *table, const struct ss_render_options *options)
{
	if (table->uncut_count)
		return table->row_count;
	return options->top && options->top < table->row_count ? options->top : table->row_count;
}
