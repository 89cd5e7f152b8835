/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c - the list of all routes, made from src/api/routes/meson.build.
 */
#include "api/viewer/route.h"

#define SS_ROUTE(name) extern const struct ss_route ss_route_##name;
#include "routes.inc"
#undef SS_ROUTE

#define SS_ROUTE(name) &ss_route_##name,
const struct ss_route *const ss_routes[] = {
#include "routes.inc"
};
#undef SS_ROUTE

const size_t ss_route_count = SS_COUNT(ss_routes);

const struct ss_route *ss_route_of(const struct ss_own_routes *own, size_t index)
{
	if (index < ss_route_count)
		return ss_routes[index];
	index -= ss_route_count;
	return own && index < own->count ? own->routes[index] : NULL;
}
