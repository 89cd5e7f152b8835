/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing.h - what a view could not know, and how to record it. One sentence each, so that
 * all views use the same words.
 */
#ifndef SS_VIEW_MISSING_H
#define SS_VIEW_MISSING_H

#include "table/table.h"

enum ss_missing {
	SS_MISSING_LINES,       /* of the program */
	SS_MISSING_MODULES,     /* nn.Modules */
	SS_MISSING_SHAPES,      /* of inputs: without them no FLOPs and bytes */
	SS_MISSING_ALLOCATIONS, /* [memory] events */
	SS_MISSING_DEVICE,      /* kernels, copies, memsets */
	SS_MISSING_OPERATORS,
};

/* Writes the sentence; 128 bytes are enough. */
void ss_missing_sentence(enum ss_missing what, char *out, size_t room);

/* Adds it as a note below the table. */
void ss_note_missing(struct ss_table *out, enum ss_missing what);

/* Adds a note about devices that are not in the table: ss_devices_by_step(). */
void ss_note_devices(struct ss_table *out, uint32_t left_out);

#endif
