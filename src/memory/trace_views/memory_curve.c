/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_curve.c - view: memory over time, for a terminal or a plot.
 *
 * The time of the file is cut into equal samples, each with the minimum and maximum of the
 * allocated memory: no peak is lost, however short. Without events, the curve stays at its
 * last value. Devices only, or the CPU if there are none.
 */
#include "memory/events/pools.h"
#include "view/view.h"

enum memory_curve_group { COARSE, FINE, ALL };

/* As many as fit two or three pages of a terminal, and the pixels of a plot. */
static const uint32_t part_counts[] = { [COARSE] = 64, [FINE] = 512 };

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_TEXT, "device: CUDA:0, HIP:0 ...; CPU if there is no device",
	  SS_COLUMN_CONTEXT },
	{ "at_ns", SS_COLUMN_NS, "time of the sample or event, from the first event",
	  SS_COLUMN_MOMENT },
	{ "min_bytes", SS_COLUMN_BYTES, "minimum of the allocated memory in the sample", 0 },
	{ "max_bytes", SS_COLUMN_BYTES, "maximum of the allocated memory in the sample", 0 },
	{ "reserved_bytes", SS_COLUMN_BYTES, "maximum of the reserved memory in the sample", 0 },
	{ "allocated_percent", SS_COLUMN_PERCENT,
	  "max_bytes as a share of the highest point of the curve", SS_COLUMN_BAR },
	{ "events", SS_COLUMN_COUNT, "allocations and frees in the sample", SS_COLUMN_DETAIL },
};

/* The sample that is drawn now. */
struct curve_sample {
	const char *device;
	int64_t top_bytes;                     /* the highest point of the curve */
	int64_t now_bytes, now_reserved_bytes; /* after the last event; reserved -1: unknown */
	int64_t min_bytes, max_bytes, reserved_bytes;
	uint32_t events;
};

/* A sample begins where the last one ended. */
static void curve_begin_sample(struct curve_sample *part)
{
	part->min_bytes = part->max_bytes = part->now_bytes;
	part->reserved_bytes = part->now_reserved_bytes;
	part->events = 0;
}

static void curve_add_row(struct ss_table *out, const struct curve_sample *part, int64_t at_ns)
{
	ss_row_begin(out);
	ss_row_text(out, part->device);
	ss_row_int(out, at_ns);
	ss_row_int(out, part->min_bytes);
	ss_row_int(out, part->max_bytes);
	ss_row_int_known(out, part->reserved_bytes);
	ss_row_share(out, (double)part->max_bytes, (double)part->top_bytes);
	ss_row_int(out, part->events);
	ss_row_end(out);
}

/* -1: not known. The allocator of the CPU reserves nothing; files say 0. */
static int64_t curve_reserved_at(const struct ss_pools *pools, uint32_t event)
{
	const struct ss_allocations *events = &pools->trace->allocations;

	return events->device_type[event] == 0 ? -1 : events->reserved_bytes[event];
}

static void curve_count_event(const struct ss_pools *pools, uint32_t event,
			      struct curve_sample *part)
{
	part->now_bytes = pools->total_bytes[event];
	part->now_reserved_bytes = curve_reserved_at(pools, event);
	if (part->now_bytes < part->min_bytes)
		part->min_bytes = part->now_bytes;
	if (part->now_bytes > part->max_bytes)
		part->max_bytes = part->now_bytes;
	if (part->now_reserved_bytes > part->reserved_bytes)
		part->reserved_bytes = part->now_reserved_bytes;
	part->events++;
}

static void curve_add_events(const struct ss_pools *pools, const struct ss_pool *pool,
			     struct curve_sample *part, struct ss_table *out)
{
	for (uint32_t i = 0; i < pool->events; i++) {
		uint32_t event = pools->order[pool->first + i];

		part->now_bytes = pools->total_bytes[event];
		part->now_reserved_bytes = curve_reserved_at(pools, event);
		curve_begin_sample(part);
		part->events = 1;
		curve_add_row(out, part, pools->trace->allocations.start_ns[event]);
	}
}

/*
 * Samples without events are shown only if there are more events than samples: otherwise a
 * file that names thousands of devices would become thousands of empty curves.
 */
static void curve_add_samples(const struct ss_pools *pools, const struct ss_pool *pool,
			      uint32_t count, struct curve_sample *part, struct ss_table *out)
{
	const struct ss_allocations *events = &pools->trace->allocations;
	const uint32_t *order = pools->order + pool->first;
	int64_t width_ns = pools->trace->span_ns / count + 1;
	int64_t last = pools->trace->span_ns / width_ns;
	bool draws_all = pool->events > count;
	uint32_t next = 0;

	for (int64_t i = 0; i <= last && (draws_all || next < pool->events); i++) {
		if (!draws_all)
			i = events->start_ns[order[next]] / width_ns;
		curve_begin_sample(part);
		for (; next < pool->events && events->start_ns[order[next]] / width_ns <= i; next++)
			curve_count_event(pools, order[next], part);
		curve_add_row(out, part, i * width_ns);
	}
}

static enum ss_status memory_curve_run(const struct ss_subject *subject, struct ss_table *out,
				       struct ss_error *err)
{
	struct ss_pools pools;

	SS_TRY(ss_pools_init(&pools, subject->trace, out->arena->memory, err));
	for (uint32_t i = 0; i < pools.count; i++) {
		const struct ss_pool *pool = &pools.items[i];
		bool falls = pool->first_bytes > pool->peak_bytes;
		struct curve_sample part = { .top_bytes = falls ? pool->first_bytes
								: pool->peak_bytes,
					     .now_bytes = pool->first_bytes,
					     .now_reserved_bytes = -1 };

		if (!pool->events || !ss_pool_is_shown(&pools, pool))
			continue;
		part.device = ss_pool_name(pool, out);
		if (subject->group == ALL)
			curve_add_events(&pools, pool, &part, out);
		else
			curve_add_samples(&pools, pool, part_counts[subject->group], &part, out);
	}
	ss_pools_note(&pools, true, out);
	ss_pools_release(&pools);
	return SS_OK;
}

const struct ss_view ss_view_memory_curve = {
	.name = "memory-curve",
	.summary = "Memory over time: allocated and reserved, to print or plot",
	.empty = "Allocations are not recorded: use profile(profile_memory=True).",
	SS_TABLE_COLUMNS(columns),
	.groups = { "coarse", "fine", "all" },
	.events = 1u << COARSE | 1u << FINE | 1u << ALL,
	.run = memory_curve_run,
};
