/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_args.h - the arguments of a slice as people read them, by its kind.
 */
#ifndef SS_API_VIEWER_SLICE_ARGS_H
#define SS_API_VIEWER_SLICE_ARGS_H

#include "trace/trace.h"

struct ss_slice_arg {
	const char *name, *value; /* not terminated; value NULL: it is `number` */
	size_t name_length, length;
	int64_t number;
	bool is_own; /* what the program recorded itself, under its own key */
};

enum ss_slice_args {
	SS_ARGS_RECORD = 1, /* the same for all slices of its kind with this record */
	SS_ARGS_ROW = 2,    /* ids, and what the program recorded */
	SS_ARGS_TRACK = 4,  /* of its stream, and rates */
	SS_ARGS_ALL = 7,
};

typedef void (*ss_slice_arg_function)(void *context, const struct ss_slice_arg *arg);

/* Calls `add` for each argument that was recorded. */
void ss_viewer_args_visit(const struct ss_trace *trace, uint32_t row, enum ss_slice_args which,
			  ss_slice_arg_function add, void *context);

/* Of the record of its arguments, counted over operators, kernels and copies; or SS_NO_ARGS. */
uint32_t ss_viewer_args_record(const struct ss_trace *trace, uint32_t row);

#endif
