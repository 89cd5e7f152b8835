/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - a snapshot of PyTorch's caching allocator, as columns.
 *
 * torch.cuda.memory._dump_snapshot() writes what the allocator holds (segments, and the
 * blocks that they are cut into) and, where recording was on, the last events that led
 * there: a ring buffer per device, in which the oldest are lost first. All container
 * versions since 1.9 come out the same; what a version does not have is absent, not 0.
 *
 * Frames are stored once and numbered, stacks are numbered lists of frames. Stack 0 is the
 * empty one: no stack was recorded. An event takes 33 bytes.
 *
 * The same columns hold what a profiler's trace tells of memory (memory/from_trace.h): its
 * events are there, with the totals that it recorded; segments and blocks are not.
 */
#ifndef SS_MEMORY_LOAD_SNAPSHOT_H
#define SS_MEMORY_LOAD_SNAPSHOT_H

#include "base/intern.h"
#include "read/source.h"
#include "trace/trace.h"

enum ss_action {
	SS_ACTION_ALLOC,
	SS_ACTION_FREE_REQUESTED, /* the program let go of it */
	SS_ACTION_FREE_COMPLETED, /* it can be used again: streams are done with it */
	SS_ACTION_SEGMENT_ALLOC,
	SS_ACTION_SEGMENT_FREE,
	SS_ACTION_SEGMENT_MAP,
	SS_ACTION_SEGMENT_UNMAP,
	SS_ACTION_SNAPSHOT, /* a dump; size is what was allocated */
	SS_ACTION_OOM, /* size was asked for and refused; address is the device's free memory */
	SS_ACTION_OTHER,
	/* of traces: the recorded total rose or fell by size, and no event says why */
	SS_ACTION_GAIN,
	SS_ACTION_LOSS,
	SS_ACTION_COUNT,
};

enum ss_block_state {
	SS_BLOCK_INACTIVE,
	SS_BLOCK_ALLOCATED,
	SS_BLOCK_PENDING, /* freed by the program, still used by a stream */
};

/* Texts are ids in ss_snapshot.texts. */
struct ss_code_frame {
	uint32_t file, name;
	uint32_t line;
};

struct ss_frame_list {
	uint32_t first, count; /* in ss_stacks.frames, the innermost first */
};

struct ss_stacks {
	struct ss_memory *memory;
	uint32_t *frames;
	uint32_t frame_count, frame_capacity;
	struct ss_frame_list *items;
	uint32_t count, capacity;
	uint32_t *slots; /* id + 1, 0 is free */
	uint32_t slot_count;
};

/* What events have in common with many others: stored once. */
struct ss_event_about {
	uint64_t stream;
	uint32_t pool;                                /* id in pools; SS_NO_ID: not recorded */
	uint32_t category, compile_context, metadata; /* texts; 0: none */
	uint32_t forward;                             /* stack of the forward operation; 0: none */
	uint32_t unused;
};

struct ss_pool_id {
	uint64_t owner, number; /* (0, 0) is the common pool */
};

#define SS_NO_TIME INT64_MIN

/* Of SS_ACTION_OOM: what the device had free is not recorded. */
#define SS_NO_FREE_BYTES UINT64_MAX

/* No machine has more; further ones in a file are left out. */
#define SS_SNAPSHOT_DEVICES 1024

struct ss_snapshot_events {
	uint32_t count, capacity;
	uint64_t *address;
	int64_t *bytes;   /* as asked for, not as rounded */
	int64_t *time_ns; /* since 1970, of traces since their origin; SS_NO_TIME: not recorded */
	uint32_t *stack;
	uint32_t *about;
	uint8_t *action; /* enum ss_action */
};

struct ss_block {
	uint64_t address;
	int64_t bytes;
	int64_t requested_bytes; /* -1: not recorded */
	uint32_t stack;
	uint8_t state; /* enum ss_block_state */
	bool has_address;
};

struct ss_segment {
	uint64_t address;
	int64_t total_bytes;
	/* what the file says of itself; -1: not recorded */
	int64_t allocated_bytes, active_bytes, requested_bytes;
	uint64_t stream;
	uint32_t pool; /* id in pools; SS_NO_ID: not recorded */
	uint32_t stack;
	uint32_t first_block, block_count; /* in blocks, by address */
	int32_t device;
	bool is_small; /* for allocations up to 1 MB */
	bool has_type, is_expandable;
	bool is_host; /* pinned memory of the host */
};

/* The events of one device, in order. */
struct ss_device_trace {
	int32_t device;
	bool is_host;
	uint32_t first, count;
};

/* What a trace says of the device in ss_snapshot.traces that has the same number. */
struct ss_traced_device {
	bool is_cpu;        /* tensors of the host */
	bool has_addresses; /* else all frees look the same */
	bool has_totals;    /* what is in use is recorded, else it is a sum of the events */
	int64_t rest_bytes; /* in use before the first event and never seen to be freed */
	int64_t first_reserved_bytes; /* -1: not recorded */
	uint32_t unexplained;         /* changes of the total without an event: added rows */
};

/* What a trace says of a row, beyond the columns of ss_snapshot_events. */
struct ss_traced_row {
	int64_t reserved_change; /* bytes by which the reserved memory changes with it */
	uint32_t partner;        /* as in struct ss_history */
	bool is_added;           /* no event of the file: only the recorded total shows it */
};

struct ss_annotation {
	uint32_t name;
	int32_t device;
	int64_t time_us;
	bool is_start;
};

struct ss_setting {
	uint32_t name, value; /* texts */
};

/* The order of torch's profiler; the last is what it does not know. */
enum ss_curve_category {
	SS_CURVE_PARAMETER,
	SS_CURVE_OPTIMIZER_STATE,
	SS_CURVE_INPUT,
	SS_CURVE_TEMPORARY,
	SS_CURVE_ACTIVATION,
	SS_CURVE_GRADIENT,
	SS_CURVE_AUTOGRAD_DETAIL,
	SS_CURVE_UNKNOWN,
	SS_CURVE_COUNT,
};

/* What export_memory_timeline() writes: sums of categories over time, nothing else. */
struct ss_snapshot_curve {
	uint32_t count, capacity;
	struct ss_curve_point {
		int64_t time_ns; /* SS_NO_TIME: before the recording */
		int64_t bytes[SS_CURVE_COUNT];
	} * points;
};

struct ss_snapshot {
	struct ss_memory *memory;
	struct ss_strings texts;
	struct ss_records frames; /* struct ss_code_frame */
	struct ss_stacks stacks;
	struct ss_records abouts; /* struct ss_event_about */
	struct ss_records pools;  /* struct ss_pool_id */
	struct ss_snapshot_events events;
	struct ss_block *blocks;
	uint32_t block_count, block_capacity;
	struct ss_segment *segments;
	uint32_t segment_count, segment_capacity;
	struct ss_device_trace *traces; /* of devices that have events */
	uint32_t trace_count, trace_capacity;
	struct ss_traced_device *traced;   /* NULL unless it was made of a trace */
	struct ss_traced_row *traced_rows; /* per event; NULL unless it was made of a trace */
	uint32_t traced_row_capacity;
	struct ss_step *steps; /* of the trace */
	uint32_t step_count;
	bool has_marked_steps; /* ranges on the host mark them; otherwise stacks do */
	uint64_t left_out;     /* events of a trace whose device is ambiguous */
	struct ss_annotation *annotations;
	uint32_t annotation_count, annotation_capacity;
	struct ss_setting *settings;
	uint32_t setting_count, setting_capacity;
	struct ss_snapshot_curve curve; /* of a memory timeline, which has nothing of the above */
	bool is_curve;
	uint32_t listed_devices; /* that the file has a list of events of, empty or not */
	uint64_t file_bytes;     /* unpacked */
	uint64_t odd_numbers;    /* sizes that are no numbers or impossible: taken as 0 */
	uint64_t ignored_dicts;  /* in places where none is known */
	bool has_traces;         /* the file has lists of events */
	bool has_segments;
	bool has_frames; /* at least one stack */
	bool has_python; /* of a trace: at least one frame of Python */
	bool is_cut;     /* the file is truncated */
};

/* A larger size is impossible: it counts as 0, and how many there are is reported. */
#define SS_SNAPSHOT_BYTES_MAX (INT64_C(1) << 56)

struct ss_snapshot_options {
	/* Called now and then; false stops. May be NULL. */
	bool (*progress)(void *context, const struct ss_source *source, uint64_t event_count);
	void *progress_context;
};

/*
 * Reads a snapshot (load_pickle.c). `out` is to be released when SS_OK came back. Sentences
 * of errors do not name the file.
 */
SS_MUST_USE
enum ss_status ss_snapshot_load(struct ss_source *source, const struct ss_snapshot_options *options,
				struct ss_memory *memory, struct ss_snapshot *out,
				struct ss_error *err);
void ss_snapshot_release(struct ss_snapshot *snapshot);

/* load_timeline.c: the JSON forms of torch.profiler's export_memory_timeline(). */
SS_MUST_USE
enum ss_status ss_snapshot_load_timeline(struct ss_source *source, struct ss_snapshot *out,
					 struct ss_error *err);

/* snapshot.c: an empty one; false at the limit. */
SS_MUST_USE bool ss_snapshot_init(struct ss_snapshot *snapshot, struct ss_memory *memory);

/* The id of the stack, stored now if it is new; SS_NO_ID at the limit. */
SS_MUST_USE
uint32_t ss_stacks_add(struct ss_stacks *stacks, const uint32_t *frames, uint32_t count);
void ss_stacks_release(struct ss_stacks *stacks);

/* Adds an event of zeros and returns its row, or SS_NO_ID at the limit. */
SS_MUST_USE
uint32_t ss_snapshot_events_add(struct ss_snapshot_events *events, struct ss_memory *memory);

static inline const struct ss_code_frame *ss_snapshot_frame(const struct ss_snapshot *snapshot,
							    uint32_t frame)
{
	return ss_records_at(&snapshot->frames, frame);
}

static inline const struct ss_event_about *ss_snapshot_about(const struct ss_snapshot *snapshot,
							     uint32_t row)
{
	return ss_records_at(&snapshot->abouts, snapshot->events.about[row]);
}

/* "alloc", as the file calls it. */
const char *ss_action_name(enum ss_action action);

#endif
