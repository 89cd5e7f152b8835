/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - a trace as a file that opens without being parsed (docs/formats/pack.md).
 *
 * The columns lie in the file as they lie in memory: little-endian, of fixed width,
 * without addresses, so that all builds write and read the same bytes. What follows
 * from other columns is not in it (track, parent and depth of slices): it is found
 * again, so a file cannot contradict itself there. Sums over tracks are in it, so that
 * a file can be described without its columns; they are compared when both are there.
 *
 *     header | table of parts | parts, each at a multiple of 64 bytes
 *
 * A pack can come from anyone: everything that the rest of the program relies on is
 * checked when it is read; of columns, when they are needed (later.c).
 */
#ifndef SS_TRACE_PACK_PACK_H
#define SS_TRACE_PACK_PACK_H

#include "read/source.h"
#include "trace/formats.h"
#include "trace/trace.h"

/* Increase it with every change of the parts below or of what their numbers mean. */
#define SS_PACK_VERSION 5u

#define SS_PACK_ALIGN 64u
#define SS_PACK_MAGIC_BYTES 8u

/* No text, no compressed stream; the line feed shows copies that were taken for text. */
#define SS_PACK_MAGIC "\x89SSPACK\n"

/* Length of the name of the original file; file systems have no longer ones. */
#define SS_PACK_NAME_BYTES 256u

/* Columns are copied as they are. */
#define SS_PACK_FITS (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* In the order of the file. */
enum ss_pack_part {
	SS_PART_ORIGIN, /* name of the file that was packed, without its folder */
	SS_PART_INFO,
	SS_PART_NAME_LENGTHS, /* texts without a NUL, one after the other, and their lengths */
	SS_PART_NAME_BYTES,
	SS_PART_NAME_FLAGS,
	SS_PART_TEXT_LENGTHS,
	SS_PART_TEXT_BYTES,
	SS_PART_WORD_LENGTHS, /* neither names nor texts of the trace: categories, reasons */
	SS_PART_WORD_BYTES,
	SS_PART_CATEGORIES,
	SS_PART_PHASES,
	SS_PART_QUALITY,
	SS_PART_DEVICES,
	SS_PART_GROUPS,
	SS_PART_TRACKS,
	SS_PART_TRACK_SUMS,
	SS_PART_STEPS,
	SS_PART_OP_ARGS,
	SS_PART_KERNEL_ARGS,
	SS_PART_COPY_ARGS,
	SS_PART_COMM_ARGS,
	SS_PART_COMMS,
	SS_PART_SEQUENCES,
	SS_PART_SYNCS,
	SS_PART_OTHERS,
	SS_PART_COUNTERS,
	SS_PART_SLICE_START, /* slices: the columns of struct ss_slices */
	SS_PART_SLICE_DUR,
	SS_PART_SLICE_NAME,
	SS_PART_SLICE_ARGS,
	SS_PART_SLICE_ID,
	SS_PART_SLICE_KIND,
	SS_PART_SLICE_CATEGORY,
	SS_PART_SLICE_LINK,
	SS_PART_ALLOC_START, /* allocations: the columns of struct ss_allocations */
	SS_PART_ALLOC_ADDRESS,
	SS_PART_ALLOC_BYTES,
	SS_PART_ALLOC_ALLOCATED,
	SS_PART_ALLOC_RESERVED,
	SS_PART_ALLOC_TRACK,
	SS_PART_ALLOC_DEVICE_ID,
	SS_PART_ALLOC_DEVICE_TYPE,
	SS_PART_ALLOC_OUT_OF_MEMORY,
	SS_PARTS,
};

struct ss_pack_header {
	char magic[SS_PACK_MAGIC_BYTES];
	uint32_t version;
	uint32_t part_count;
	uint64_t layout;     /* ss_pack_layout() of who wrote it */
	uint64_t pack_bytes; /* of the whole pack */
	uint64_t disk_bytes; /* of the file that was packed, compressed as it lay there */
	uint64_t checksum;   /* of header and table, this field as 0 */
	char writer[16];     /* version of stepscope, for people */
};

struct ss_pack_entry {
	uint32_t part; /* its number; with SS_PACK_ZSTD where it is compressed */
	uint32_t item_bytes;
	uint64_t offset, bytes, checksum; /* as it lies in the file */
};

/* In the entry of a part that is one frame of zstd. */
#define SS_PACK_ZSTD (1u << 31)

/*
 * What all parts may take in memory: more than real traces need, and little enough that a small
 * file cannot fill the memory of a machine.
 */
#define SS_PACK_UNPACKED_MAX(pack_bytes) (((uint64_t)64 << 20) + 1000 * (uint64_t)(pack_bytes))

/* Items of parts that differ from those of trace.h. */
struct ss_pack_info {
	int64_t rank, world_size, group_count, schema_version;
	int64_t cuda_runtime, cuda_driver, cupti, hip_runtime;
	int64_t base_time_ns, origin_ns, span_ns;
	uint64_t writer_notes, event_count, file_bytes, fwdbwd_links;
	uint32_t backend, nccl_version, trace_id, trace_name, first_warning;
	uint32_t run[SS_RUN_FACTS];
	uint32_t step_anchor;
	uint8_t record_shapes, profile_memory, with_stack, with_modules, with_flops, is_array;
	uint8_t recorder, padding;
};

struct ss_pack_category {
	uint64_t events;
	uint32_t name; /* number of a word */
	uint8_t kind, by_name;
	uint8_t padding[2];
};

struct ss_pack_device {
	int64_t id, memory_bytes;
	uint32_t name;
	int32_t compute_major, compute_minor;
	int32_t multiprocessors, warp_size, threads_per_multiprocessor;
};

struct ss_pack_track {
	int64_t pid, tid;
	uint32_t class, pid_text, tid_text, name, process, row_count;
};

struct ss_pack_track_sums {
	int64_t busy_ns, first_ns, last_ns;
	uint32_t kinds[SS_KIND_COUNT];
	uint32_t unlinked, depth_max, padding;
};

struct ss_pack_step {
	int64_t start_ns, end_ns, host_start_ns, host_end_ns;
	uint64_t device_events;
	uint32_t name;
	uint32_t dropped; /* number of a word; 0: it counts */
};

struct ss_pack_sync {
	int64_t stream, wait_stream, wait_correlation;
	uint32_t row, padding;
};

struct ss_pack_part_info {
	const char *name; /* as docs/formats/pack.md has it */
	uint32_t item_bytes;
};

extern const struct ss_pack_part_info ss_pack_parts[SS_PARTS];

/*
 * Columns that lie in the trace as they lie in the file: where struct ss_trace has the
 * address, how many rows there are, and for how many there is room. Those of one table stand
 * together and have the same two numbers.
 */
struct ss_pack_column {
	enum ss_pack_part part;
	uint32_t group; /* enum ss_columns: what it is needed for; 0: it is always there */
	size_t data, count, capacity;
};

#define SS_PACK_COLUMNS 22

extern const struct ss_pack_column ss_pack_columns[SS_PACK_COLUMNS];

/* Sets of arguments, which are found by their number. */
struct ss_pack_records {
	enum ss_pack_part part;
	size_t at; /* of the struct ss_records */
};

#define SS_PACK_RECORDS 4

extern const struct ss_pack_records ss_pack_records[SS_PACK_RECORDS];

/*
 * A hash that changes with kinds, oddities and other lists of the program: detects changes for
 * which SS_PACK_VERSION was not increased.
 */
uint64_t ss_pack_layout(void);

/* Receives the bytes of a pack in order; its failure is returned. */
typedef enum ss_status (*ss_pack_output)(void *context, const char *bytes, size_t length,
					 struct ss_error *err);

/* Whether the parts of a pack are compressed: the core in a browser reads only plain ones. */
enum ss_pack_form { SS_PACK_PLAIN, SS_PACK_COMPRESSED };

/* Packs the trace. `name` is that of its file; a trace that was packed keeps its origin. */
SS_MUST_USE
enum ss_status ss_pack_write(const struct ss_trace *trace, const char *name, enum ss_pack_form form,
			     ss_pack_output output, void *context, struct ss_error *err);

/*
 * Fails, and names the part, if two traces differ in what a pack stores (except the name of the
 * origin) or in what is computed from it.
 */
SS_MUST_USE
enum ss_status ss_pack_compare(const struct ss_trace *a, const struct ss_trace *b,
			       struct ss_error *err);

/* What a pack says about its original file. */
struct ss_pack_origin {
	char name[SS_PACK_NAME_BYTES];
	uint64_t disk_bytes;
};

/* Reads only the origin. Fails if the path is not a pack of this version. */
SS_MUST_USE
enum ss_status ss_unpack_origin(const char *path, struct ss_memory *memory,
				struct ss_pack_origin *out, struct ss_error *err);

/* How the packs beside the files of a job were used. */
struct ss_pack_choice {
	uint32_t preferred; /* files that are read from their packs */
	uint32_t stale;     /* packs that are left out */
	uint32_t unread; /* packs that could not be read: their original files were read instead */
};

/*
 * later.c: unpacks columns of a pack when they are first needed.
 *
 * A pack is read completely and its checksums are checked, so its file may change or disappear
 * afterwards, and damage is found at once. Its columns stay as stored: whoever reads a trace names
 * the groups of columns first. Errors that only reading all rows can find (numbers that refer to
 * nothing, times out of order) are reported then.
 *
 * A trace that was not read from a pack has all columns, and these calls do nothing.
 */

/*
 * Makes these groups (enum ss_columns) readable. Nobody else may use the trace meanwhile. After a
 * failure the groups may not be read; after a lack of memory it can be called again.
 */
SS_MUST_USE
enum ss_status ss_trace_need_columns(struct ss_trace *trace, uint32_t columns, uint32_t threads,
				     struct ss_error *err);

/* Whether no column was unpacked yet, and whether all are. */
bool ss_trace_is_untouched(const struct ss_trace *trace);
bool ss_trace_is_whole(const struct ss_trace *trace);

/* Frees the columns that were never unpacked. */
void ss_pack_pending_release(struct ss_trace *trace);

#endif
