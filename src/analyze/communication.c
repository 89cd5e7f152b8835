/*
 * communication.c - view: collectives by kind, group and size: time, what of it
 * is exposed, and bandwidth.
 *
 * A rank alone cannot tell waiting for others from moving data: durations hold
 * both. So bandwidth is given for the mean and for the shortest call, which has
 * waited least. Busbw has the factors of nccl-tests.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/roles.h"
#include "analyze/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "collective", SS_COLUMN_TEXT, "its name; the kernel's where nothing else is recorded",
	  0 },
	{ "group", SS_COLUMN_TEXT, "name of the process group", SS_COLUMN_DETAIL },
	{ "group_size", SS_COLUMN_COUNT, "ranks of the group", SS_COLUMN_DETAIL },
	{ "calls", SS_COLUMN_COUNT, "kernels", 0 },
	{ "message_bytes", SS_COLUMN_BYTES, "of one call: the larger of input and output", 0 },
	{ "total_ns", SS_COLUMN_NS, "sum of their durations, waiting for other ranks included", 0 },
	{ "exposed_ns", SS_COLUMN_NS, "of that, beside no compute kernel of the device", 0 },
	{ "overlap_percent", SS_COLUMN_PERCENT, "of the total, beside compute kernels", 0 },
	{ "mean_ns", SS_COLUMN_NS, "mean duration", SS_COLUMN_DETAIL },
	{ "min_ns", SS_COLUMN_NS, "shortest: waited least", 0 },
	{ "busbw", SS_COLUMN_NUMBER, "GB/s of the shortest call, by the factors of nccl-tests", 0 },
	{ "mean_busbw", SS_COLUMN_NUMBER, "GB/s of the mean call", SS_COLUMN_DETAIL },
	{ "algbw", SS_COLUMN_NUMBER, "GB/s of the shortest call without factor", SS_COLUMN_DETAIL },
	{ "dtype", SS_COLUMN_TEXT, "type of the elements", SS_COLUMN_DETAIL },
};

/* What makes a row. Compared as bytes: no padding. */
struct key {
	uint32_t name; /* of the kernel; 0 where the arguments tell */
	uint32_t args; /* record of comm_args; SS_NO_ID: none */
};

struct tally {
	struct key key;
	int64_t calls, total_ns, hidden_ns, min_ns;
};

static const struct {
	const char *name;
	int bytes;
} dtypes[] = {
	{ "Float", 4 }, { "BFloat16", 2 }, { "Half", 2 }, { "Double", 8 }, { "Byte", 1 },
	{ "Char", 1 },  { "Bool", 1 },     { "Int", 4 },  { "Long", 8 },   { "Short", 2 },
};

static int64_t message_bytes(const struct ss_trace *trace, const struct ss_comm_args *args)
{
	const char *dtype = ss_strings_text(&trace->texts, args->dtype);
	int64_t count = args->in_nelems > args->out_nelems ? args->in_nelems : args->out_nelems;

	for (size_t i = 0; i < SS_COUNT(dtypes); i++)
		if (strcmp(dtypes[i].name, dtype) == 0)
			return count >= 0 && count < INT64_MAX / 8 ? count * dtypes[i].bytes : -1;
	return strncmp(dtype, "Float8", 6) == 0 && count >= 0 ? count : -1;
}

/* What each link carries of a message. */
static double bus_factor(const char *collective, double ranks)
{
	if (strstr(collective, "allreduce"))
		return 2 * (ranks - 1) / ranks;
	if (strstr(collective, "gather") || strstr(collective, "reduce_scatter") ||
	    strstr(collective, "all_to_all") || strstr(collective, "alltoall"))
		return (ranks - 1) / ranks;
	return 1;
}

/* How much of the row ran beside compute kernels; rows come in the order of their starts. */
static int64_t hidden_part(const struct ss_cover *compute, int64_t start_ns, int64_t end_ns,
			   uint32_t *at)
{
	int64_t hidden_ns = 0;

	while (*at < compute->count && compute->items[*at].end_ns <= start_ns)
		(*at)++;
	for (uint32_t i = *at; i < compute->count && compute->items[i].start_ns < end_ns; i++) {
		int64_t from_ns = compute->items[i].start_ns, to_ns = compute->items[i].end_ns;

		from_ns = from_ns > start_ns ? from_ns : start_ns;
		to_ns = to_ns < end_ns ? to_ns : end_ns;
		hidden_ns += to_ns - from_ns;
	}
	return hidden_ns;
}

static bool count_row(const struct ss_trace *trace, uint32_t row, int64_t hidden_ns,
		      struct ss_records *keys, struct tally *tallies)
{
	const struct ss_comm_row *comm = ss_trace_comm(trace, row);
	struct key key = { comm ? 0 : trace->slices.name[row], comm ? comm->args : SS_NO_ID };
	uint32_t at = ss_records_add(keys, &key);
	struct tally *tally;

	if (at == SS_NO_ID)
		return false;
	tally = &tallies[at];
	tally->key = key;
	if (!tally->calls++ || trace->slices.dur_ns[row] < tally->min_ns)
		tally->min_ns = trace->slices.dur_ns[row];
	tally->total_ns += trace->slices.dur_ns[row];
	tally->hidden_ns += hidden_ns;
	return true;
}

static bool count_device(const struct ss_trace *trace, int64_t device, struct ss_memory *memory,
			 struct ss_records *keys, struct tally *tallies)
{
	const struct ss_slices *slices = &trace->slices;
	struct ss_device_cover own;
	bool whole = ss_device_cover_init(&own, trace, device, memory);

	for (uint32_t i = 0; whole && i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		uint32_t at = 0;

		if (track->class != SS_TRACK_DEVICE || track->pid != device)
			continue;
		for (uint32_t k = 0; whole && k < track->row_count; k++) {
			uint32_t row = track->first_row + k;

			if (slices->kind[row] != SS_KIND_COMM_KERNEL)
				continue;
			whole = count_row(trace, row,
					  hidden_part(&own.compute, slices->start_ns[row],
						      ss_slice_end(slices, row), &at),
					  keys, tallies);
		}
	}
	ss_device_cover_release(&own);
	return whole;
}

static int compare(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->key.args != y->key.args)
		return x->key.args < y->key.args ? -1 : 1;
	return x->key.name < y->key.name ? -1 : x->key.name > y->key.name;
}

static void add_rate(struct ss_table *out, double bytes, double ns)
{
	ss_row_rate(out, bytes, bytes > 0 ? ns : 0);
}

static void add(const struct ss_trace *trace, struct ss_table *out, const struct tally *tally)
{
	const struct ss_comm_args *args = NULL;
	const char *name = ss_strings_text(&trace->names, tally->key.name);
	double mean = (double)tally->total_ns / (double)tally->calls, factor = 0;
	int64_t bytes = -1;

	if (tally->key.args != SS_NO_ID) {
		args = ss_records_at(&trace->comm_args, tally->key.args);
		name = ss_strings_text(&trace->texts, args->collective);
		bytes = message_bytes(trace, args);
		if (args->group_size > 0)
			factor = bus_factor(name, args->group_size);
	}
	ss_row_begin(out);
	ss_row_text(out, name);
	ss_row_text(out, args ? ss_strings_text(&trace->texts, args->group_name) : NULL);
	ss_row_int_known(out, args ? args->group_size : -1);
	ss_row_int(out, tally->calls);
	ss_row_int_known(out, bytes);
	ss_row_int(out, tally->total_ns);
	ss_row_int(out, tally->total_ns - tally->hidden_ns);
	ss_row_share(out, (double)tally->hidden_ns, (double)tally->total_ns);
	ss_row_int(out, (int64_t)(mean + 0.5));
	ss_row_int(out, tally->min_ns);
	add_rate(out, (double)bytes * factor, (double)tally->min_ns);
	add_rate(out, (double)bytes * factor, mean);
	add_rate(out, (double)bytes, (double)tally->min_ns);
	ss_row_text(out, args ? ss_strings_text(&trace->texts, args->dtype) : NULL);
	ss_row_end(out);
}

static enum ss_status communication_run(const struct ss_subject *subject, struct ss_table *out,
					struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct ss_memory *memory = out->arena->memory;
	struct tally *tallies = SS_ARENA_NEW(out->arena, struct tally,
					     (size_t)trace->comm_args.count + trace->names.count +
						     1);
	int64_t device = INT64_MIN;
	struct ss_records keys;
	bool whole = true;

	if (!tallies || !ss_records_init(&keys, memory, sizeof(struct key)))
		return ss_fail_memory(err, "the collectives");
	while (whole && ss_device_next(trace, device, &device))
		whole = count_device(trace, device, memory, &keys, tallies);
	if (whole)
		qsort(tallies, keys.count, sizeof(*tallies), compare);
	for (uint32_t i = 0; whole && i < keys.count; i++)
		add(trace, out, &tallies[i]);
	ss_records_release(&keys);
	return whole ? SS_OK : ss_fail_memory(err, "the collectives");
}

const struct ss_view ss_view_communication = {
	.name = "communication",
	.summary = "Collectives by kind, group and size: time, what is exposed, bandwidth",
	.empty = "No communication kernels ran.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run = communication_run,
};
