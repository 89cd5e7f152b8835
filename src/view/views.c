/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.c - the list of all views, made from the meson.build of src/analyze/views,
 * src/ranks/views and src/replay.
 */
#include <string.h>

#include "view/view.h"

#define SS_VIEW(name) extern const struct ss_view ss_view_##name;
#include "views.inc"
#undef SS_VIEW

#define SS_VIEW(name) &ss_view_##name,
const struct ss_view *const ss_views[] = {
#include "views.inc"
};
#undef SS_VIEW

const size_t ss_view_count = SS_COUNT(ss_views);

const struct ss_view *ss_view_find(const char *name)
{
	for (size_t i = 0; i < ss_view_count; i++)
		if (strcmp(ss_views[i]->name, name) == 0)
			return ss_views[i];
	return NULL;
}

bool ss_view_lists(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at && *at;) {
		size_t word = strcspn(at, " ");

		if (word == length && memcmp(at, name, length) == 0)
			return true;
		at += word + (at[word] == ' ');
	}
	return false;
}

uint32_t ss_view_group(const struct ss_view *view, const char *name)
{
	for (uint32_t i = 0; name && i < SS_GROUPS_MAX && view->groups[i]; i++)
		if (strcmp(view->groups[i], name) == 0)
			return i;
	return name ? SS_GROUPS_MAX : 0;
}

bool ss_view_is_ordered(const struct ss_view *view, uint32_t group)
{
	return view->order[0] && !(view->own_order >> group & 1);
}
