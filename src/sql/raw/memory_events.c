/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_events.c - table: allocations and frees, as recorded.
 */
#include "sql/raw.h"

SS_RAW_FILL(memory_events_fill_at, ss_raw_copy(part, part->trace->allocations.start_ns, out))
SS_RAW_FILL(fill_bytes, ss_raw_copy(part, part->trace->allocations.bytes, out))

/* Copies a column whose negative values mean "not recorded". */
static void memory_events_fill_known(const struct ss_raw_part *part, const int64_t *column,
				     int64_t unknown, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	ss_raw_copy(part, column, out);
	for (uint32_t i = 0; i < part->count; i++)
		if (cells[i] == unknown)
			ss_raw_null(out, i);
}

SS_RAW_FILL(fill_allocated,
	    memory_events_fill_known(part, part->trace->allocations.allocated_bytes, -1, out))
SS_RAW_FILL(fill_reserved,
	    memory_events_fill_known(part, part->trace->allocations.reserved_bytes, -1, out))
SS_RAW_FILL(fill_address, memory_events_fill_known(part, part->trace->allocations.address, 0, out))

static void memory_events_fill_device(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	const struct ss_allocations *events = &part->trace->allocations;
	char text[SS_POOL_NAME_BYTES];

	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t row = ss_raw_row(part, i);

		ss_pool_print(events->device_type[row], events->device_id[row], text);
		ss_raw_text(out, i, text);
	}
}

SS_RAW_CELLS(fill_failed, int64_t, part->trace->allocations.out_of_memory[row])

static uint32_t memory_events_count(const struct ss_trace *trace)
{
	return trace->allocations.count;
}

static bool memory_events_overlap(const struct ss_trace *trace, uint32_t row, int64_t from_ns,
				  int64_t to_ns)
{
	int64_t start = trace->allocations.start_ns[row];

	return start >= from_ns && start < to_ns;
}

static const int64_t *memory_events_starts(const struct ss_trace *trace)
{
	return trace->allocations.start_ns;
}

/* All rows are in order of time, so no later row can match. */
static uint32_t memory_events_after(const struct ss_trace *trace, uint32_t row)
{
	(void)row;
	return trace->allocations.count;
}

#define COLUMNS(F)                                                                                 \
	F(rank, ID, "rank of the file; empty if unknown", ss_raw_rank, NONE)                       \
	F(at_ns, NS, "time of the event, from the first event of the file", memory_events_fill_at, \
	  NONE)                                                                                    \
	F(device, TEXT, "device: CPU, CUDA:0, HIP:0 ...", memory_events_fill_device, NONE)         \
	F(change_bytes, BYTES, "bytes allocated; negative: freed", fill_bytes, NONE)               \
	F(address, ID, "memory address; empty: not recorded", fill_address, NONE)                  \
	F(allocated_bytes, BYTES, "memory held by tensors after it; empty: not recorded",          \
	  fill_allocated, NONE)                                                                    \
	F(reserved_bytes, BYTES, "memory reserved by the allocator; empty: not recorded",          \
	  fill_reserved, NONE)                                                                     \
	F(out_of_memory, COUNT, "1: the allocation failed", fill_failed, NONE)

SS_RAW_TABLE(memory_events, COLUMNS, "Every allocation and free of the profiler, in order of time",
	     .count = memory_events_count, .overlaps = memory_events_overlap,
	     .starts = memory_events_starts, .after = memory_events_after);
