/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purpose.h - what an allocation was for, by where it was made and where it was freed.
 *
 *   made in        freed in             is
 *   optimizer      its step             temporary
 *   optimizer      elsewhere, never     optimizer state
 *   backward       backward             temporary
 *   backward       elsewhere, never     gradient
 *   forward        forward              temporary
 *   forward        elsewhere, never     activation
 *   making or loading a model           parameter
 *   before events  backward             activation
 *   before events  zero_grad()          gradient
 *   before events  optimizer            optimizer state
 *
 * Everything else is unknown: inputs, what no stack was recorded of. Where the file has a
 * category of its own it is taken.
 */
#ifndef SS_MEMORY_PURPOSE_H
#define SS_MEMORY_PURPOSE_H

#include "memory/history/history.h"
#include "memory/stack_places.h"

enum ss_purpose {
	SS_PURPOSE_PARAMETER,
	SS_PURPOSE_OPTIMIZER,
	SS_PURPOSE_GRADIENT,
	SS_PURPOSE_ACTIVATION,
	SS_PURPOSE_TEMPORARY,
	SS_PURPOSE_INPUT,    /* only where the file says so */
	SS_PURPOSE_AUTOGRAD, /* the same: details of autograd */
	SS_PURPOSE_UNKNOWN,
	SS_PURPOSE_COUNT,
};

/* "activation" */
const char *ss_purpose_name(enum ss_purpose purpose);

/* Of an allocation in the events. */
enum ss_purpose ss_purpose_of(const struct ss_history *history,
			      const struct ss_snapshot_places *spots, uint32_t row);

/* Of a block that was in use when the events begin. */
enum ss_purpose ss_purpose_of_old(const struct ss_history *history,
				  const struct ss_snapshot_places *spots,
				  const struct ss_old_block *old);

/* Of a category of a memory timeline. */
enum ss_purpose ss_purpose_of_curve(enum ss_curve_category category);

#endif
