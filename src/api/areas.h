/* SPDX-License-Identifier: Apache-2.0 */
/*
 * areas.h - the areas of a session that were drawn last.
 */
#ifndef SS_API_AREAS_H
#define SS_API_AREAS_H

#include "memory/area/area.h"

/* Two ways of stacking for each of two devices; an area takes one byte per event. */
#define SS_AREAS_MAX 4

struct ss_areas {
	struct ss_area items[SS_AREAS_MAX]; /* the oldest first */
	uint32_t count;
};

/* Made on the first request; valid until the next call. */
SS_MUST_USE
enum ss_status ss_areas_find(struct ss_areas *areas, const struct ss_opened *opened,
			     const struct ss_device_memory *device, enum ss_area_group group,
			     const struct ss_area **out, struct ss_error *err);
void ss_areas_release(struct ss_areas *areas);

#endif
