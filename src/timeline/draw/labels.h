/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - the texts that stand on slices, each once in an answer.
 */
#ifndef SS_TIMELINE_DRAW_LABELS_H
#define SS_TIMELINE_DRAW_LABELS_H

#include "trace/trace.h"

#define SS_NO_LABEL UINT32_MAX

struct ss_labels {
	const struct ss_trace *trace;
	struct ss_strings texts;
	uint32_t *of_name; /* slots: label + 1 of a name; 0 is free */
	uint32_t *names;   /* of each slot */
	uint32_t slots;    /* a power of two */
	struct ss_arena scratch;
};

/* `most`: no more rows than that will ask for one. */
SS_MUST_USE
bool ss_labels_init(struct ss_labels *labels, const struct ss_trace *trace, uint32_t most,
		    struct ss_memory *memory);
void ss_labels_release(struct ss_labels *labels);

/* The label of a row: short names of kernels, files of frames without folders. */
SS_MUST_USE
bool ss_labels_add(struct ss_labels *labels, uint32_t row, uint32_t *out);

/* A text of its own, as the cause of a gap. */
SS_MUST_USE
bool ss_labels_add_text(struct ss_labels *labels, const char *text, uint32_t *out);

#endif
