/* SPDX-License-Identifier: Apache-2.0 */
/*
 * areas.c - a cache of the areas drawn last: the viewer requests the same area again when it zooms.
 */
#include <string.h>

#include "api/areas.h"

enum ss_status ss_areas_find(struct ss_areas *areas, const struct ss_opened *opened,
			     const struct ss_device_memory *device, enum ss_area_group group,
			     const struct ss_area **out, struct ss_error *err)
{
	struct ss_area made;
	enum ss_status status;

	for (uint32_t i = 0; i < areas->count; i++)
		if (areas->items[i].opened == opened && areas->items[i].device == device &&
		    areas->items[i].group == group) {
			*out = &areas->items[i];
			return SS_OK;
		}
	status = ss_area_make(&made, opened, device, group, err);
	if (status != SS_OK) {
		ss_area_release(&made);
		return status;
	}
	if (areas->count == SS_AREAS_MAX) {
		ss_area_release(&areas->items[0]);
		memmove(areas->items, areas->items + 1, --areas->count * sizeof(*areas->items));
	}
	areas->items[areas->count] = made;
	*out = &areas->items[areas->count++];
	return SS_OK;
}

void ss_areas_release(struct ss_areas *areas)
{
	for (uint32_t i = 0; i < areas->count; i++)
		ss_area_release(&areas->items[i]);
	areas->count = 0;
}
