/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summits.h - the peaks of a device's active memory, in order of time.
 *
 * A peak is the highest state between two falls: memory has risen to it by a twentieth of
 * the device's peak, and falls by as much after it, or the events end. Smaller ones are
 * noise: every operator allocates something. Of equal states, the first counts.
 */
#ifndef SS_MEMORY_HISTORY_SUMMITS_H
#define SS_MEMORY_HISTORY_SUMMITS_H

#include "memory/history/history.h"

/* Where one is among them. Events are those of the device, from 0. */
struct ss_summits {
	int64_t before, after; /* the nearest ones; -1: there is none */
	uint32_t number;       /* of the one at the event, from 1; 0: it is none */
	uint32_t count;
	int64_t active_bytes, reserved_bytes; /* after the event; reserved -1: not known */
};

/* One pass over the events; `event` may be -1 and the number of events, too. */
void ss_summits_find(const struct ss_history *history, const struct ss_device_memory *device,
		     int64_t event, struct ss_summits *out);

#endif
