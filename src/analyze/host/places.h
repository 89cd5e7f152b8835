/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the place of a host row in the user's program: its Python source line and its
 * nn.Module.
 *
 * The line is the innermost frame of the user's own code around the row, or the innermost
 * Python frame if all frames are from libraries; built-in functions have no line. In files
 * of old writers, it comes from the operator's call stack.
 *
 * Work that autograd runs has the place of its forward operator, so backward time is
 * charged to the layer that caused it. Frames inside it keep their own place: a backward
 * written in Python has its own line, and a recomputed forward (checkpointing) its own
 * modules. AccumulateGrad has no forward operator; it runs right after the work that made
 * the gradient and has the same place. The collectives in it do not: they reduce a bucket
 * of many layers.
 */
#ifndef SS_ANALYZE_HOST_PLACES_H
#define SS_ANALYZE_HOST_PLACES_H

#include "trace/trace.h"
#include "view/view.h"

struct ss_places {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_strings lines; /* "train.py(84): step"; 0 is "": not recorded */
	uint32_t row_count;      /* of host rows: all columns below are as long */
	uint32_t *line;          /* id into lines */
	/* Row + 1, so that 0 means none: untouched pages take no memory. */
	uint32_t *module_1, *forward_1;
	uint8_t *backward; /* it is backward work, even if its forward operator is unknown */
	bool has_lines, has_modules;
};

SS_MUST_USE
enum ss_status ss_places_init(struct ss_places *places, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err);
void ss_places_release(struct ss_places *places);

/* Whether a file of Python, as the profiler writes it ("torch/nn/f.py"), is of a library. */
bool ss_places_is_library(const char *file, size_t length);

/* The nn.Module's frame around a host row, or SS_NO_ROW. */
static inline uint32_t ss_places_module(const struct ss_places *places, uint32_t row)
{
	return places->module_1[row] - 1;
}

/* The forward operator of backward work, or SS_NO_ROW. */
static inline uint32_t ss_places_forward(const struct ss_places *places, uint32_t row)
{
	return places->forward_1[row] - 1;
}

/* Why no module is known. */
static inline enum ss_missing ss_places_missing_modules(const struct ss_places *places)
{
	return places->has_lines ? SS_MISSING_OLD_MODULES : SS_MISSING_MODULES;
}

/* The line of a host row, or NULL; SS_NO_ROW has none. */
const char *ss_places_line(const struct ss_places *places, uint32_t row);

/*
 * The row whose line says where a host row is: itself, or the first within it that has a line. Old
 * profilers record stacks of operators only, so ranges such as that of the DataLoader have none.
 */
uint32_t ss_places_lined_row(const struct ss_places *places, uint32_t row);

/* The line of that row, or NULL. */
const char *ss_places_line_near(const struct ss_places *places, uint32_t row);

#endif
