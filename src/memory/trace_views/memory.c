/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - view: memory by device: peaks, reserved but unused memory, growth.
 *
 * Uses [memory] events. Old files have no totals: then the sum of allocations and frees
 * since the start of the file takes their place, without earlier allocations.
 */
#include "memory/events/pools.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_TEXT, "device: CPU, CUDA:0, HIP:0 ...", SS_COLUMN_FILLED },
	{ "events", SS_COLUMN_COUNT, "number of allocations and frees", SS_COLUMN_FILLED },
	{ "peak_allocated_bytes", SS_COLUMN_BYTES, "peak of the memory held by tensors", 0 },
	{ "peak_percent", SS_COLUMN_PERCENT, "that peak as a share of the device's memory",
	  SS_COLUMN_BAR },
	{ "peak_reserved_bytes", SS_COLUMN_BYTES,
	  "peak of the memory reserved by the allocator; empty for the CPU", 0 },
	{ "gap_bytes", SS_COLUMN_BYTES,
	  "memory reserved but not allocated at the first peak of allocated memory", 0 },
	{ "net_bytes", SS_COLUMN_BYTES, "allocated minus freed bytes over the file", 0 },
	{ "peak_at_ns", SS_COLUMN_NS, "time of the peak, from the first event",
	  SS_COLUMN_DETAIL | SS_COLUMN_MOMENT },
	{ "totals", SS_COLUMN_TEXT,
	  "recorded by the profiler, or summed from the start of the file",
	  SS_COLUMN_CONTEXT | SS_COLUMN_QUIET },
	{ "out_of_memory", SS_COLUMN_COUNT, "allocations that failed",
	  SS_COLUMN_CONTEXT | SS_COLUMN_QUIET },
	{ "name", SS_COLUMN_TEXT, "name of the device", SS_COLUMN_DETAIL },
	{ "memory_bytes", SS_COLUMN_BYTES, "memory size of the device", SS_COLUMN_DETAIL },
};

/* Above this share of a device's memory the next larger batch fails (tb's rule). */
#define FULL_PERCENT 90

static void memory_note_full(struct ss_table *out, const struct ss_pool *pool,
			     const struct ss_device *device, const char *name)
{
	double percent = 100.0 * (double)pool->peak_bytes / (double)device->memory_bytes;

	if (percent > FULL_PERCENT)
		ss_table_note(out,
			      "%s: tensors held %.1f %% of the memory at the peak; a larger batch "
			      "may not fit. memory-ops shows what held it.",
			      name, percent);
}

/*
 * Caches of a higher peak look the same, so this is reported only from a certain size on: a
 * fifth of what is reserved (metrics of others 2.19), and a gigabyte.
 */
#define GAP_SHARE 5
#define GAP_BYTES INT64_C(1000000000)

static void memory_note_gap(struct ss_table *out, const struct ss_pool *pool, const char *name)
{
	if (pool->has_gap && pool->gap_bytes >= GAP_BYTES &&
	    pool->gap_bytes > pool->reserved_bytes / GAP_SHARE)
		ss_table_note(out,
			      "%s: at the peak, %s was reserved but not held by tensors: "
			      "fragmentation, or cache left by a higher peak. memory-steps shows "
			      "whether it grows.",
			      name, ss_amount_text(pool->gap_bytes, out));
}

static void memory_add_row(const struct ss_trace *trace, struct ss_table *out,
			   const struct ss_pool *pool)
{
	const struct ss_device *device = ss_pool_device(trace, pool);
	const char *name = ss_pool_name(pool, out);
	/* a sum that only falls is highest at its start */
	bool below = !pool->has_totals && pool->peak_bytes < 0;
	/* what does not fit is not all on the device, or its size is false */
	bool sized = device && device->memory_bytes > 0 && pool->peak_bytes <= device->memory_bytes;

	ss_row_begin(out);
	ss_row_text(out, name);
	ss_row_int(out, pool->events);
	ss_row_int(out, below ? 0 : pool->peak_bytes);
	ss_row_share(out, below ? 0 : (double)pool->peak_bytes,
		     sized ? (double)device->memory_bytes : 0);
	ss_row_int_known(out, pool->has_reserved ? pool->reserved_bytes : -1);
	if (pool->has_gap && pool->reserved_bytes > 0)
		ss_row_int(out, pool->gap_bytes);
	else
		ss_row_null(out);
	ss_row_int(out, pool->net_bytes);
	ss_row_int(out, pool->peak == SS_NO_ROW ? 0 : trace->allocations.start_ns[pool->peak]);
	ss_row_text(out, pool->has_totals ? "recorded" : "summed");
	ss_row_int(out, pool->failed);
	ss_row_text(out, device ? ss_strings_text(&trace->texts, device->name) : NULL);
	ss_row_int_known(out, sized ? device->memory_bytes : -1);
	ss_row_end(out);
	if (sized)
		memory_note_full(out, pool, device, name);
	memory_note_gap(out, pool, name);
}

static enum ss_status memory_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	struct ss_pools pools;

	SS_TRY(ss_pools_init(&pools, subject->trace, out->arena->memory, err));
	for (uint32_t i = 0; i < pools.count; i++)
		memory_add_row(subject->trace, out, &pools.items[i]);
	ss_pools_note(&pools, false, out);
	ss_pools_release(&pools);
	return SS_OK;
}

const struct ss_view ss_view_memory = {
	.name = "memory",
	.summary = "Memory by device: peaks, reserved but unused memory, growth",
	.empty = "Allocations are not recorded: use profile(profile_memory=True).",
	SS_TABLE_COLUMNS(columns),
	.run = memory_run,
};
