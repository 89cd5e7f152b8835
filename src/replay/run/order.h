/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - an order of all tasks of a job in which each comes after what it waits for.
 */
#ifndef SS_REPLAY_RUN_ORDER_H
#define SS_REPLAY_RUN_ORDER_H

#include "replay/replay.h"

/*
 * Fills replay->order. Edges that close a circle (clocks and matches of files can be wrong)
 * are taken out and counted. False: no memory.
 */
SS_MUST_USE
bool ss_replay_sort(struct ss_replay *replay);

#endif
