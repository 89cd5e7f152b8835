/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h - what an event is, from its category.
 *
 * Writers changed the names of categories over the years and vendors have their own; the table in
 * kinds.c maps them all to the few kinds that the analysis knows. Some rows also need the event's
 * name: old writers filed annotations as operators, MTIA files every device event under one
 * category.
 */
#ifndef SS_TRACE_KINDS_H
#define SS_TRACE_KINDS_H

#include "base/error.h"

enum ss_kind {
	SS_KIND_OTHER = 0,
	SS_KIND_OP,          /* an operator on a CPU thread */
	SS_KIND_ANNOTATION,  /* a named range on a CPU thread: record_function, ProfilerStep */
	SS_KIND_PYTHON,      /* a Python or nn.Module frame */
	SS_KIND_RUNTIME,     /* a CUDA, HIP, XPU ... runtime call */
	SS_KIND_DRIVER,      /* a driver call */
	SS_KIND_KERNEL,      /* computes */
	SS_KIND_COMM_KERNEL, /* moves data between ranks; known only when all is loaded */
	SS_KIND_MEMCPY,
	SS_KIND_MEMSET,
	SS_KIND_DEVICE_ANNOTATION, /* the device's copy of an annotation */
	SS_KIND_SYNC,              /* a recorded wait: cuda_sync and its like */
	SS_KIND_OVERHEAD,          /* the profiler's own time */
	SS_KIND_SPAN,              /* the profiling window */
	SS_KIND_COUNTER_RANGE,     /* hardware counters over a range */
	SS_KIND_INSTANT,           /* a moment, without duration */
	SS_KIND_ASYNC,             /* from a begin and an end with an id */
	SS_KIND_COUNT,
};

/* Where the events of a kind live: tracks of different classes never mix. */
enum ss_track_class {
	SS_TRACK_HOST = 0,
	SS_TRACK_DEVICE,            /* a stream: kernels, copies */
	SS_TRACK_DEVICE_ANNOTATION, /* ranges over a stream */
	SS_TRACK_SYNC,
	SS_TRACK_PROFILER, /* overhead and the profiling window */
	SS_TRACK_ASYNC,
};

/* One category of a file. */
struct ss_category {
	const char *name; /* as the analysis calls it: lower case, old names mapped */
	enum ss_kind kind;
	bool by_name; /* the kind depends on the event's name: ss_kind_refine() */
};

/*
 * Looks the category up; `name` is lower case. An unknown one is SS_KIND_OTHER
 * and keeps its own name (NULL in the result).
 */
struct ss_category ss_kind_of_category(const char *name, size_t length);

/* True for kernels, copies and memsets: what keeps a device busy. */
static inline bool ss_kind_on_device(enum ss_kind kind)
{
	return kind >= SS_KIND_KERNEL && kind <= SS_KIND_MEMSET;
}

static inline bool ss_kind_is_kernel(enum ss_kind kind)
{
	return kind == SS_KIND_KERNEL || kind == SS_KIND_COMM_KERNEL;
}

static inline bool ss_kind_is_call(enum ss_kind kind)
{
	return kind == SS_KIND_RUNTIME || kind == SS_KIND_DRIVER;
}

enum ss_track_class ss_kind_track(enum ss_kind kind);

/* One word, as programs read it: "operator", "comm-kernel". */
const char *ss_kind_name(enum ss_kind kind);

/* "thread", "stream", "ranges" ... */
const char *ss_track_class_name(enum ss_track_class class);

#endif
