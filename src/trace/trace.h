/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - one rank's trace in memory: columns, not objects.
 *
 * Slices are what has a place and a duration; their rows are sorted by track,
 * then start, then longest first, so a track is a run of rows and a parent
 * stands before its children. Times are ns from the trace's origin (its earliest
 * slice or allocation); origin_ns and info.base_time_ns lead back to the file's own and to the
 * wall clock.
 *
 * The trace owns everything it points to; ss_trace_close() frees it at once.
 */
#ifndef SS_TRACE_TRACE_H
#define SS_TRACE_TRACE_H

#include "base/intern.h"
#include "base/ns.h"
#include "redact/redact.h"
#include "trace/args.h"
#include "trace/kinds.h"
#include "trace/names.h"
#include "trace/recorder.h"
#include "base/error.h"

/*
 * What is odd about a file: counted and always reported.
 *
 * Every oddity has an id, a severity and a message, declared once in quality.c.
 * Readers count them, views show them. "lost" means that events are missing,
 * "mended" that a value was repaired, "note" that it is good to know, "absent"
 * that something was not recorded, and how to record it.
 */

enum ss_severity {
	SS_SEVERITY_ABSENT,
	SS_SEVERITY_NOTE,
	SS_SEVERITY_REPAIRED,
	SS_SEVERITY_LOST,
	SS_SEVERITIES,
};

/* In the order in which they are shown. */
enum ss_oddity {
	SS_ODD_TRUNCATED,
	SS_ODD_COMPRESSED_CUT,
	SS_ODD_COMPRESSED_CORRUPT,
	SS_ODD_COMPRESSED_TRAILING,
	SS_ODD_BAD_EVENT,
	SS_ODD_BAD_METADATA,
	SS_ODD_AFTER_END,
	SS_ODD_NOT_AN_EVENT,
	SS_ODD_NO_PHASE,
	SS_ODD_UNKNOWN_PHASE,
	SS_ODD_NO_TIME,
	SS_ODD_TIME_RANGE,
	SS_ODD_ABSURD_DURATION,
	SS_ODD_UNTIMED_DEVICE_EVENT,
	SS_ODD_END_WITHOUT_BEGIN,
	SS_ODD_WRITER_WARNING,
	SS_ODD_NEGATIVE_DURATION,
	SS_ODD_BEGIN_WITHOUT_END,
	SS_ODD_QUOTES,
	SS_ODD_NUMBER,
	SS_ODD_SYNTAX,
	SS_ODD_NO_DURATION,
	SS_ODD_NO_TRACK,
	SS_ODD_BAD_UTF8,
	SS_ODD_CONTROL,
	SS_ODD_NO_NAME,
	SS_ODD_KERNEL_BEFORE_LAUNCH,
	SS_ODD_ORPHAN,
	SS_ODD_DUPLICATE_CORRELATION,
	SS_ODD_DUPLICATE_EVENT,
	SS_ODD_UNKNOWN_CATEGORY,
	SS_ODD_UNNAMED_PROCESS,
	SS_ODD_FAR_EVENT,
	SS_ODD_FLOW_UNMATCHED,
	SS_ODD_SWALLOWING_KERNEL,
	SS_ODD_OVERLAPPING_KERNEL,
	SS_ODD_PARTIAL_OVERLAP,
	SS_ODD_OVERHEAD,
	SS_ODD_GRAPH_JOINED,
	SS_ODD_GRAPH_UNJOINED,
	SS_ODD_STEP_DROPPED,
	SS_ODD_NO_PROFILER_STEP,
	SS_ODD_OUT_OF_MEMORY,
	SS_ODD_NO_RANK,
	SS_ODD_NO_DEVICE_EVENTS,
	SS_ODD_NO_CALLS,
	SS_ODD_NO_OPS,
	SS_ODD_NO_SHAPES,
	SS_ODD_NO_STACKS,
	SS_ODD_NO_MEMORY,
	SS_ODD_NO_COLLECTIVE_ARGS,
	SS_ODD_COUNT,
};

struct ss_quality_row {
	uint64_t count;
	int64_t first_byte; /* position of the first in the decompressed file; -1: it has none */
	int64_t amount_ns;  /* the time that it concerns; -1: none */
};

struct ss_quality {
	struct ss_quality_row rows[SS_ODD_COUNT];
};

struct ss_oddity_info {
	const char *id; /* "orphan-device-event" */
	enum ss_severity severity;
	const char *meaning; /* one sentence: what it is, what was done, what to do */
};

void ss_quality_init(struct ss_quality *quality);

static inline void ss_quality_add(struct ss_quality *quality, enum ss_oddity odd, uint64_t count)
{
	quality->rows[odd].count += count;
}

/* The same with the place in the file; the first place is kept. */
void ss_quality_add_at(struct ss_quality *quality, enum ss_oddity odd, int64_t byte);

/* Adds what another reader of the same file counted; the earliest place is kept. */
void ss_quality_merge(struct ss_quality *into, const struct ss_quality *from);

const struct ss_oddity_info *ss_oddity_info(enum ss_oddity odd);

/* "lost", "mended", "note", "absent" */
const char *ss_severity_name(enum ss_severity severity);

struct ss_trace;

/* Counts what was not recorded at all, once everything else is known. */
void ss_quality_absent(struct ss_trace *trace);

/* Whether the file is truncated. */
static inline bool ss_quality_is_cut(const struct ss_quality *quality)
{
	return quality->rows[SS_ODD_TRUNCATED].count || quality->rows[SS_ODD_COMPRESSED_CUT].count;
}

#define SS_NO_ROW UINT32_MAX
#define SS_NO_ARGS UINT32_MAX

/* Categories are numbered with a byte; no writer has a tenth of this. */
#define SS_CATEGORIES_MAX 255

/* Numbers that are reserved for the categories of kinds.c. */
#define SS_CATEGORIES_KNOWN 40

/*
 * No slice lasts longer, wherever it comes from (X, B and E, b and e, a pack). HTA has the same
 * limit: longer events come from wrong clocks.
 */
#define SS_SLICE_NS_MAX ((int64_t)7 * 24 * 3600 * 1000000000)

struct ss_slices {
	uint32_t count, capacity;
	int64_t *start_ns;
	int64_t *dur_ns;
	uint32_t *name;  /* id into names */
	uint32_t *track; /* index into tracks */
	uint32_t *args;  /* record of its kind or SS_NO_ARGS: see ss_trace.op_args and so on */
	uint32_t *id;    /* correlation of calls and device events, else External id; 0: none */
	uint8_t *kind;   /* enum ss_kind */
	uint8_t *category;
	/* found after loading */
	uint16_t *depth;  /* host: how deep it is nested; device: its lane */
	uint32_t *parent; /* innermost slice of the track that holds its start, or SS_NO_ROW */
	uint32_t *link;   /* device event: its launch; backward op: its forward op; SS_NO_ROW */
};

struct ss_track {
	enum ss_track_class class;
	int64_t pid, tid;            /* device tracks: device and stream */
	uint32_t pid_text, tid_text; /* ids into texts where they are no numbers, else 0 */
	uint32_t name;               /* id into texts: thread name; 0 when not recorded */
	uint32_t process;            /* id into texts: process name or labels */
	uint32_t first_row, row_count;
	uint16_t depth_max; /* deepest nesting, or lanes - 1 */
	bool has_ops;       /* operators ran here */
};

/* `[memory]` events, in the order of time. */
struct ss_allocations {
	uint32_t count, capacity;
	int64_t *start_ns;
	int64_t *address;         /* the 64 bits of it; 0 when not recorded */
	int64_t *bytes;           /* negative: freed */
	int64_t *allocated_bytes; /* the device's total after it; -1 when not recorded */
	int64_t *reserved_bytes;
	uint32_t *track;
	int16_t *device_id;
	uint8_t *device_type; /* c10::DeviceType: 0 CPU, 1 CUDA, 6 HIP, 12 XPU ... */
	uint8_t *out_of_memory;
};

/* One sample of a counter series. */
struct ss_counter {
	int64_t start_ns;
	double value;
	uint32_t name;   /* id into names */
	uint32_t series; /* id into texts */
};

/* Collective arguments of a slice, sorted by row. */
struct ss_comm_row {
	uint32_t row;
	uint32_t args;    /* record in comm_args */
	int64_t sequence; /* the group's own count of collectives; -1 when not recorded */
};

/* Autograd sequence number of an operator, sorted by row. */
struct ss_sequence_row {
	uint32_t row;
	uint32_t fwd_thread; /* not 0: this is the backward side */
	int64_t sequence;
};

/* What a recorded wait waits for, sorted by row. */
struct ss_sync_row {
	uint32_t row;
	int64_t stream;
	int64_t wait_stream;      /* -1 when not recorded, as the next */
	int64_t wait_correlation; /* of the event's record call */
};

/* What the program itself recorded about a slice, sorted by row. */
struct ss_other_row {
	uint32_t row;
	uint32_t text; /* id into texts: pairs, each "key SS_OTHER_IS value SS_OTHER_END" */
};

/* Noncharacters of Unicode: no text holds them. */
#define SS_OTHER_IS "\xef\xb7\x90"
#define SS_OTHER_END "\xef\xb7\x91"

/* At most this much text of them is kept per file; those of later slices are dropped. */
#define SS_OTHER_BYTES_MAX (64u << 20)

struct ss_device {
	int64_t id;
	uint32_t name; /* id into texts */
	int64_t memory_bytes;
	int32_t compute_major, compute_minor;
	int32_t multiprocessors, warp_size, threads_per_multiprocessor;
};

struct ss_process_group {
	uint32_t name, description, backend, ranks; /* ids into texts */
	int64_t size;
};

/* What the file says about itself. -1 or 0 (texts) where it does not. */
struct ss_trace_info {
	int64_t rank, world_size, group_count, schema_version;
	uint32_t backend, nccl_version, trace_id, trace_name;
	uint32_t run[SS_RUN_FACTS]; /* what the file says about the run that it is of */
	int64_t cuda_runtime, cuda_driver, cupti, hip_runtime;
	int64_t base_time_ns; /* wall clock = base + file time */
	bool record_shapes, profile_memory, with_stack, with_modules, with_flops;
	bool is_array; /* the file is a bare array of events */
	enum ss_recorder recorder;
	uint32_t part; /* of a file with several processes: which one it is, from 1; 0: all */
	struct ss_device *devices;
	uint32_t device_count, device_capacity;
	struct ss_process_group *groups;
	uint32_t group_rows, group_capacity;
	uint64_t writer_notes;  /* INFO, WARNING and ERROR lines of the writer */
	uint32_t first_warning; /* id into texts */
};

enum ss_step_anchor {
	SS_STEPS_PROFILER,    /* ProfilerStep#N */
	SS_STEPS_ANNOTATION,  /* repeated step annotations */
	SS_STEPS_OPTIMIZER,   /* from one optimizer step's end to the next */
	SS_STEPS_COLLECTIVES, /* the period of the collectives */
	SS_STEPS_KERNELS,     /* the period of the kernels */
	SS_STEPS_HOST_SPAN,   /* one step: all CPU ops */
	SS_STEPS_DEVICE_SPAN, /* one step: all device events */
	SS_STEPS_NONE,
};

struct ss_step {
	uint32_t name;                      /* id into names; 0 for spans and periods */
	int64_t start_ns, end_ns;           /* effective */
	int64_t host_start_ns, host_end_ns; /* the range on the CPU */
	uint64_t device_events;             /* launched inside the host range */
	const char *dropped;                /* why it does not count; NULL when it does */
};

struct ss_steps {
	enum ss_step_anchor anchor;
	struct ss_step *items; /* in order of time, the dropped ones too */
	uint32_t count, kept_count;
};

/* Shortcuts from a row to its ancestors (outward.h); NULL if no thread is deeply nested. */
struct ss_jumps {
	uint32_t *jumps; /* per row: one further out, or SS_NO_ROW */
	uint32_t *marks; /* per row: those of all rows from it up to its jump */
};

/*
 * Groups of columns. Those of a pack are unpacked and checked when somebody needs them
 * (ss_trace_need_columns() in pack/pack.h): until then their addresses are NULL, but the numbers
 * of rows are there.
 */
enum ss_columns {
	SS_COLUMNS_KIND = 1 << 0, /* with any other group of slices */
	SS_COLUMNS_DUR = 1 << 1,
	SS_COLUMNS_NAME = 1 << 2,
	SS_COLUMNS_ARGS = 1 << 3,
	SS_COLUMNS_ID = 1 << 4,
	SS_COLUMNS_CATEGORY = 1 << 5,
	SS_COLUMNS_LINK = 1 << 6,
	SS_COLUMNS_TRACK = 1 << 7,
	SS_COLUMNS_NESTING = 1 << 8, /* parent, depth and outward */
	SS_COLUMNS_COMMS = 1 << 9,
	SS_COLUMNS_SEQUENCES = 1 << 10,
	SS_COLUMNS_SYNCS = 1 << 11,
	SS_COLUMNS_OTHERS = 1 << 12,
	SS_COLUMNS_COUNTERS = 1 << 13,
	SS_COLUMNS_ALLOCATIONS = 1 << 14,
	SS_COLUMNS_START = 1 << 15, /* with durations */
	SS_COLUMNS_ALL = (1 << 16) - 1,
	SS_COLUMNS_NONE = 1 << 16, /* where 0 stands for all */
};

struct ss_track_sums;
struct ss_pack_pending; /* pack/pack.h */

struct ss_trace {
	struct ss_memory *memory; /* lent */
	struct ss_arena arena;
	struct ss_strings names; /* names of events */
	uint32_t *name_flags;    /* enum ss_name_flag, per name */
	uint32_t name_flag_capacity;
	struct ss_strings texts; /* everything else */

	struct ss_slices slices;
	struct ss_jumps outward;
	struct ss_allocations allocations;
	struct ss_counter *counters;
	uint32_t counter_count, counter_capacity;

	struct ss_track *tracks;
	uint32_t track_count, track_capacity;
	uint32_t device_from, device_to; /* rows of streams; those of threads come before them */

	struct ss_category *categories; /* SS_CATEGORIES_MAX; NULL: of a trace that is gone */
	uint64_t *category_events;      /* complete events, kept or not */
	uint32_t category_count;

	struct ss_records op_args;     /* SS_KIND_OP, SS_KIND_ANNOTATION */
	struct ss_records kernel_args; /* SS_KIND_KERNEL and calls */
	struct ss_records copy_args;   /* SS_KIND_MEMCPY, SS_KIND_MEMSET */
	struct ss_records comm_args;
	struct ss_comm_row *comms;
	uint32_t comm_count, comm_capacity;
	struct ss_sequence_row *sequences;
	uint32_t sequence_count, sequence_capacity;
	struct ss_sync_row *syncs;
	uint32_t sync_count, sync_capacity;
	struct ss_other_row *others;
	uint32_t other_count, other_capacity;
	uint64_t other_bytes;   /* of their texts, each distinct one once */
	uint64_t other_dropped; /* slices whose arguments are beyond SS_OTHER_BYTES_MAX */

	struct ss_trace_info info;
	struct ss_steps steps;
	struct ss_quality quality;

	int64_t origin_ns;    /* file time of 0 */
	int64_t span_ns;      /* earliest start to latest end */
	uint64_t event_count; /* entries of traceEvents */
	uint64_t phase_events[128];
	uint64_t file_bytes;   /* uncompressed */
	uint64_t disk_bytes;   /* as the file lay on disk */
	const char *packed_of; /* name of the file that a pack was made of; NULL: not a pack */
	uint64_t fwdbwd_links;
	uint64_t device_event_count, device_kind_count[SS_KIND_COUNT];
	uint64_t comm_kernel_count;
	/* of the whole file, also if steps were chosen: launches of device events are known */
	bool has_launches;
	const struct ss_track_sums *track_sums; /* of a pack, per track; NULL: found in the rows */
	struct ss_pack_pending *later;          /* columns that are still packed; NULL: none */
};

/* 2001 in nanoseconds since 1970: smaller times are not those of a wall clock. */
#define SS_WALL_CLOCK_MIN 1000000000000000000

/* The wall-clock time of the first event, in ns since 1970; -1: not recorded. */
int64_t ss_trace_start(const struct ss_trace *trace);

/*
 * A hash of the names and times of all events; 0: there are none. It does not depend on paths,
 * compression, packs or the order of rows.
 */
uint64_t ss_trace_hash_events(const struct ss_trace *trace);

static inline int64_t ss_slice_end(const struct ss_slices *slices, uint32_t row)
{
	return slices->start_ns[row] + slices->dur_ns[row];
}

static inline uint32_t ss_slice_flags(const struct ss_trace *trace, uint32_t row)
{
	return trace->name_flags[trace->slices.name[row]];
}

/*
 * The call that started a device row. The link of a row that a graph replayed leads to its place in
 * the capture, if that is known, and from there to the call: see finish/graphs.c.
 */
static inline uint32_t ss_slice_launch(const struct ss_slices *slices, uint32_t row)
{
	uint32_t launch = slices->link[row];

	return launch != SS_NO_ROW && slices->kind[launch] == SS_KIND_OTHER ? slices->link[launch]
									    : launch;
}

/* The collective arguments of a row, or NULL. */
const struct ss_comm_row *ss_trace_comm(const struct ss_trace *trace, uint32_t row);

/* Makes an empty trace that charges `memory`. */
SS_MUST_USE
enum ss_status ss_trace_init(struct ss_trace *trace, struct ss_memory *memory,
			     struct ss_error *err);
void ss_trace_release(struct ss_trace *trace);

/* Makes room for `count` slices in all columns that loading fills. */
SS_MUST_USE
enum ss_status ss_slices_reserve(struct ss_trace *trace, size_t count, struct ss_error *err);
SS_MUST_USE
enum ss_status ss_allocations_reserve(struct ss_trace *trace, size_t count, struct ss_error *err);

/* Adds the columns that are found after loading; the rows are final then. */
SS_MUST_USE
enum ss_status ss_slices_finish(struct ss_trace *trace, struct ss_error *err);

/*
 * Frees columns of a trace of which no event will be shown: category and depth, which nothing else
 * needs, and ids, which nothing needs when the graph is there.
 */
void ss_slices_drop_shown(struct ss_trace *trace);
void ss_slices_drop_ids(struct ss_trace *trace);

/*
 * Figures of a whole track, which need a pass over its rows.
 *
 * A pack has them beside its columns, so that a file can be described without unpacking those;
 * when the columns are unpacked, both must agree.
 */

/* All 0 for a track without rows. */
struct ss_track_sums {
	int64_t busy_ns;               /* covered by at least one row */
	int64_t first_ns, last_ns;     /* first start, latest end */
	uint32_t kinds[SS_KIND_COUNT]; /* rows of each kind */
	uint32_t unlinked;             /* rows of streams whose launch is not in the file */
};

/* From the pack, else from the rows. */
void ss_track_sum(const struct ss_trace *trace, uint32_t track, struct ss_track_sums *out);

/* One figure each, from the rows. */
void ss_track_sum_kinds(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out);
void ss_track_sum_times(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out);
void ss_track_sum_links(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out);

#endif
