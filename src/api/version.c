/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.c - the version of the library.
 */
#include "stepscope.h"

_Static_assert(SS_VERSION_NUMBER == SS_BUILT_VERSION_NUMBER,
	       "the header and meson.build name the same version");

const char *ss_version(void)
{
	return SS_VERSION;
}
