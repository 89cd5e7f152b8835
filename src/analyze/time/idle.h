/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - why a device was idle (metrics.md 7).
 *
 * A gap is a part of a step in which nothing ran on the device. What ended it shows the
 * cause: the launch of the next work, and what the launching thread did since the gap
 * began. Each nanosecond has one cause; a gap can have several, one after the other.
 */
#ifndef SS_ANALYZE_TIME_IDLE_H
#define SS_ANALYZE_TIME_IDLE_H

#include "analyze/time/cover.h"
#include "trace/trace.h"

enum ss_idle_cause {
	SS_IDLE_PROFILER,  /* the profiler's own rows */
	SS_IDLE_INPUT,     /* the DataLoader's __next__ */
	SS_IDLE_ALLOCATOR, /* cudaMalloc, cudaFree and their like */
	SS_IDLE_COMPILE,   /* compiling, looking up compiled code */
	SS_IDLE_GC,        /* Python's garbage collector */
	SS_IDLE_SYNC,      /* the host waited for the device until it ran out of work */
	SS_IDLE_LAUNCH,    /* the host did other things before it launched, or the call took long */
	SS_IDLE_LATENCY,   /* launched in time; the gap is no longer than launch latency */
	SS_IDLE_DEPENDENCY, /* launched in time; another device of the file worked meanwhile */
	SS_IDLE_UNKNOWN,    /* no evidence: what it waited for, or its launch, is not recorded */
	SS_IDLE_CAUSES,
};

const char *ss_idle_name(enum ss_idle_cause cause);

/* One line for the reader: "the host waited for the next batch or prepared it" */
const char *ss_idle_about(enum ss_idle_cause cause);

/* One gap of a device in a step. */
struct ss_gap {
	int64_t start_ns, end_ns;
	int64_t cause_ns[SS_IDLE_CAUSES]; /* sum to its length */
	uint32_t step;
	uint32_t next; /* the row that ended it, or SS_NO_ROW */
	/* host rows: the call, range or launch behind the longest piece of each cause */
	uint32_t guilty[SS_IDLE_CAUSES];
};

/* Called for each gap in the order of time; false stops. */
typedef bool (*ss_gap_sink)(void *context, const struct ss_gap *gap);

/* A gap as it is stored: most have one cause. */
struct ss_idle_gap {
	int64_t start_ns, end_ns;
	uint32_t step, next;
	uint32_t piece_from, piece_to;
};

struct ss_idle_piece {
	int64_t ns;
	uint32_t guilty;
	uint32_t cause;
};

struct ss_idle_device {
	int64_t device;
	uint32_t gap_from, gap_to;
};

/* All gaps of all devices in the measured steps. */
struct ss_idle {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_idle_device *devices; /* in the order of their numbers */
	struct ss_idle_gap *gaps;
	struct ss_idle_piece *pieces;
	uint32_t device_count, device_capacity;
	uint32_t left_out; /* devices at the end without gaps: ss_devices_by_step() */
	uint32_t gap_count, gap_capacity;
	uint32_t piece_count, piece_capacity;
};

SS_MUST_USE
enum ss_status ss_idle_init(struct ss_idle *idle, const struct ss_trace *trace,
			    struct ss_memory *memory, struct ss_error *err);
void ss_idle_release(struct ss_idle *idle);

/* Calls the sink for all gaps of a device; false: the sink stopped. */
SS_MUST_USE
bool ss_idle_visit_gaps(const struct ss_idle_device *device, const struct ss_idle *idle,
			ss_gap_sink sink, void *context);

/* The cause of its largest part. */
enum ss_idle_cause ss_idle_gap_cause(const struct ss_gap *gap);

/*
 * True for a memset and for copies that the host never waits for: inside a device,
 * between devices, from and to pinned memory. They are so short that their call often
 * outlives them.
 */
bool ss_copy_never_waits(const struct ss_trace *trace, uint32_t row);

/* The innermost operator around a host row, or SS_NO_ROW. */
uint32_t ss_idle_op(const struct ss_trace *trace, uint32_t row);

/*
 * What the thread that launched was in for at least half of the time from the start of the idle
 * time to the launch: the innermost such slice, or SS_NO_ROW.
 */
uint32_t ss_idle_during(const struct ss_trace *trace, int64_t start_ns, int64_t end_ns,
			uint32_t launch);

/* Whether the thread of a call that began before idle time has no record in most of it. */
bool ss_idle_is_unrecorded(const struct ss_trace *trace, int64_t start_ns, int64_t end_ns,
			   uint32_t call);

/* What the host did in the part of a gap with this cause: a call or range; SS_NO_ROW: unknown. */
uint32_t ss_idle_host_row(const struct ss_trace *trace, const struct ss_gap *gap,
			  enum ss_idle_cause cause);

/* The row whose name people know a host row by: the operator around it, or itself. */
uint32_t ss_idle_named_row(const struct ss_trace *trace, uint32_t row);

#endif
