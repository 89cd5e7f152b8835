/*
 * memory.c - view: memory by device: peaks, what was reserved beyond them, growth.
 *
 * From [memory] events. Old files have no totals: then the sum of what was
 * allocated and freed from the beginning of the file stands for them, and says
 * nothing of what was there before.
 */
#include "analyze/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_TEXT, "where: CPU, CUDA:0, HIP:0 ...", 0 },
	{ "events", SS_COLUMN_COUNT, "allocations and frees", 0 },
	{ "peak_allocated_bytes", SS_COLUMN_BYTES, "most that tensors held at once", 0 },
	{ "peak_reserved_bytes", SS_COLUMN_BYTES, "most that the allocator held; CPU: nothing", 0 },
	{ "gap_bytes", SS_COLUMN_BYTES,
	  "reserved and not allocated at the first peak of allocated memory", 0 },
	{ "net_bytes", SS_COLUMN_BYTES, "allocated less freed, over the file", 0 },
	{ "peak_at_ns", SS_COLUMN_NS, "when the peak was reached, from the first event",
	  SS_COLUMN_DETAIL },
	{ "totals", SS_COLUMN_TEXT, "recorded, or summed from the beginning of the file",
	  SS_COLUMN_CONTEXT | SS_COLUMN_QUIET },
	{ "out_of_memory", SS_COLUMN_COUNT, "allocations that failed",
	  SS_COLUMN_CONTEXT | SS_COLUMN_QUIET },
};

#define DEVICES_MAX 64u

struct tally {
	uint8_t type;
	int16_t id;
	int64_t events, allocated_bytes, reserved_bytes, gap_bytes, peak_ns, sum_bytes, failed;
	bool has_totals, has_reserved, has_gap, started;
};

static struct tally *find(struct tally *tallies, uint32_t *count, uint8_t type, int16_t id)
{
	for (uint32_t i = 0; i < *count; i++)
		if (tallies[i].type == type && (tallies[i].id == id || !type))
			return &tallies[i];
	if (*count == DEVICES_MAX)
		return NULL;
	tallies[*count] = (struct tally){ .type = type, .id = id };
	return &tallies[(*count)++];
}

static void count_event(const struct ss_allocations *events, uint32_t at, struct tally *tally)
{
	int64_t allocated_bytes = events->allocated_bytes[at];
	int64_t reserved_bytes = events->reserved_bytes[at];

	if (events->out_of_memory[at]) {
		tally->failed++;
		return;
	}
	tally->events++;
	tally->sum_bytes += events->bytes[at];
	if (allocated_bytes >= 0)
		tally->has_totals = true;
	else
		allocated_bytes = tally->sum_bytes;
	if (!tally->started || allocated_bytes > tally->allocated_bytes) {
		tally->allocated_bytes = allocated_bytes;
		tally->has_gap = reserved_bytes >= 0;
		tally->gap_bytes = reserved_bytes - allocated_bytes;
		tally->peak_ns = events->start_ns[at];
		tally->started = true;
	}
	if (reserved_bytes >= 0)
		tally->has_reserved = true;
	if (reserved_bytes > tally->reserved_bytes)
		tally->reserved_bytes = reserved_bytes;
}

static const char *device_name(struct ss_table *out, const struct tally *tally)
{
	const char *type = tally->type == 1    ? "CUDA"
			   : tally->type == 6  ? "HIP"
			   : tally->type == 12 ? "XPU"
			   : tally->type == 19 ? "MTIA"
			   : tally->type == 20 ? "PrivateUse1"
					       : NULL;

	if (!tally->type)
		return "CPU";
	if (!type)
		return ss_table_print(out, "type %d:%d", tally->type, tally->id);
	return ss_table_print(out, "%s:%d", type, tally->id);
}

static void add(struct ss_table *out, const struct tally *tally)
{
	bool reserves = tally->has_gap && tally->reserved_bytes > 0;
	/* a sum that only fell was highest where it began */
	bool below = !tally->has_totals && tally->allocated_bytes < 0;

	ss_row_begin(out);
	ss_row_text(out, device_name(out, tally));
	ss_row_int(out, tally->events);
	ss_row_int(out, below ? 0 : tally->allocated_bytes);
	ss_row_int_known(out, tally->has_reserved ? tally->reserved_bytes : -1);
	if (reserves)
		ss_row_int(out, tally->gap_bytes);
	else
		ss_row_null(out);
	ss_row_int(out, tally->sum_bytes);
	ss_row_int(out, tally->peak_ns);
	ss_row_text(out, tally->has_totals ? "recorded" : "summed");
	ss_row_int(out, tally->failed);
	ss_row_end(out);
}

static enum ss_status memory_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_allocations *events = &subject->trace->allocations;
	struct tally *tallies = SS_ARENA_NEW(out->arena, struct tally, DEVICES_MAX);
	uint32_t count = 0;

	if (!tallies)
		return ss_fail_memory(err, "the memory of devices");
	for (uint32_t i = 0; i < events->count; i++) {
		struct tally *tally = find(tallies, &count, events->device_type[i],
					   events->device_id[i]);

		if (tally)
			count_event(events, i, tally);
	}
	for (uint32_t i = 0; i < count; i++)
		add(out, &tallies[i]);
	return SS_OK;
}

const struct ss_view ss_view_memory = {
	.name = "memory",
	.summary = "Memory by device: peaks, what was reserved beyond them, growth",
	.empty = "No allocations were recorded: profile(profile_memory=True) does.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run = memory_run,
};
