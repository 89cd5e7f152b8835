/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joining.h - what the parts of ss_live_make() give each other.
 */
#ifndef SS_LIVE_JOINING_H
#define SS_LIVE_JOINING_H

#include "live/live.h"

/* changes.c: fills the changes of a live whose ranks and steps are there. */
SS_MUST_USE
enum ss_status ss_live_find_changes(struct ss_live *live, struct ss_error *err);

#endif
