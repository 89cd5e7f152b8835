/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - what the name of an event says about it.
 *
 * Every distinct name is looked at once, when it is first seen, and its flags
 * are kept beside it: loops over events test a bit and never a string. The
 * patterns stand in tables, one for each subject.
 */
#ifndef SS_TRACE_NAMES_H
#define SS_TRACE_NAMES_H

#include "trace/kinds.h"

enum ss_name_flag {
	/* kernels */
	SS_NAME_COMM_KERNEL = 1 << 0,
	SS_NAME_TENSOR_CORE = 1 << 1, /* uses tensor or matrix cores */
	/* runtime and driver calls */
	SS_NAME_LAUNCH = 1 << 2, /* starts a kernel */
	SS_NAME_GRAPH_LAUNCH = 1 << 3,
	SS_NAME_COPY_CALL = 1 << 4,   /* starts a copy or a memset */
	SS_NAME_SYNC_CALL = 1 << 5,   /* blocks until the device is done */
	SS_NAME_MALLOC_CALL = 1 << 6, /* takes or returns device or pinned memory */
	SS_NAME_QUERY_CALL = 1 << 7,  /* asks, never blocks; often half of all calls */
	/* ranges on CPU threads */
	SS_NAME_STEP = 1 << 8,      /* ProfilerStep#N */
	SS_NAME_STEP_LIKE = 1 << 9, /* names by which inference engines mark a step */
	SS_NAME_DATALOADER = 1 << 10,
	SS_NAME_OPTIMIZER_STEP = 1 << 11,
	SS_NAME_ZERO_GRAD = 1 << 12,
	SS_NAME_COMM_RANGE = 1 << 13, /* nccl:all_reduce, gloo:broadcast ... */
	SS_NAME_WRAPPER = 1 << 14,    /* DistributedDataParallel.forward and its like */
	SS_NAME_COMPILE = 1 << 15,    /* compiling, guards, graph breaks */
	SS_NAME_GC = 1 << 16,         /* Python's garbage collector */
	/* operators and frames */
	SS_NAME_BACKWARD = 1 << 17,
	SS_NAME_COMM_OP = 1 << 18, /* c10d ops, record_param_comms */
	SS_NAME_MODULE = 1 << 19,  /* an nn.Module frame */
	/* names that decide the kind */
	SS_NAME_DMA = 1 << 20,         /* a device event that copies */
	SS_NAME_DEVICE_SYNC = 1 << 21, /* a device row that only waits */
	SS_NAME_MEMORY = 1 << 22,      /* [memory] */
	SS_NAME_OUT_OF_MEMORY = 1 << 23,
	SS_NAME_WINDOW = 1 << 24, /* the profiler's own marks */
	/* a call after which a stream waits for an event of another one */
	SS_NAME_STREAM_WAIT = 1 << 25,
	/* an operator that only a GPU's library has; bits between are marks of rows (outward.h) */
	SS_NAME_DEVICE_OP = 1 << 30,
};

enum ss_name_match { SS_NAME_IS, SS_NAME_STARTS, SS_NAME_HAS, SS_NAME_ENDS };

struct ss_name_pattern {
	enum ss_name_match match;
	const char *text;
	uint32_t flags;
};

struct ss_name_table {
	const struct ss_name_pattern *patterns;
	size_t count;
};

/* One table a file. */
extern const struct ss_name_table ss_names_comm;
extern const struct ss_name_table ss_names_tensor_core;
extern const struct ss_name_table ss_names_calls;
extern const struct ss_name_table ss_names_ranges;

/* The flags of a name: of all patterns that it matches. */
uint32_t ss_name_flags(const char *name, size_t length);

/* The kind of an event whose category leaves it to the name. */
enum ss_kind ss_name_refine(enum ss_kind kind, uint32_t flags);

#endif
