/*
 * copies.c - view: copies and memsets by kind: bytes, time, rate, and how long the
 * host waited for them.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "direction and kinds of memory, as the trace has it", 0 },
	{ "calls", SS_COLUMN_COUNT, "how many", 0 },
	{ "moved_bytes", SS_COLUMN_BYTES, "sum; not recorded when no call has it", 0 },
	{ "total_ns", SS_COLUMN_NS, "sum of their durations on the device", 0 },
	{ "gb_per_s", SS_COLUMN_NUMBER, "bytes over time, 1 GB = 10^9 bytes", 0 },
	{ "host_memory", SS_COLUMN_TEXT,
	  "pageable memory is copied twice and waited for; ROCm does not say which it is", 0 },
	{ "host_ns", SS_COLUMN_NS,
	  "time of their calls on the CPU, where recorded: long when they block", 0 },
};

struct tally {
	uint32_t name;
	int64_t calls, bytes, bytes_known_ns, total_ns, host_ns;
	bool has_bytes, has_host;
	uint32_t launch; /* the last one: a graph launch makes several copies */
};

static int compare(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void count_row(const struct ss_trace *trace, uint32_t row, struct tally *tally)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t launch = slices->link[row];

	tally->name = slices->name[row];
	tally->calls++;
	tally->total_ns += slices->dur_ns[row];
	if (launch != SS_NO_ROW && !(tally->has_host && tally->launch == launch)) {
		tally->host_ns += slices->dur_ns[launch];
		tally->launch = launch;
		tally->has_host = true;
	}
	if (slices->args[row] != SS_NO_ARGS) {
		const struct ss_copy_args *args = ss_records_at(&trace->copy_args,
								slices->args[row]);

		if (args->bytes >= 0) {
			tally->bytes += args->bytes;
			tally->bytes_known_ns += slices->dur_ns[row];
			tally->has_bytes = true;
		}
	}
}

static const char *host_memory(const char *name)
{
	if (strstr(name, "Pageable"))
		return "pageable";
	return strstr(name, "Pinned") ? "pinned" : NULL;
}

static void add(const struct ss_trace *trace, struct ss_table *out, const struct tally *tally)
{
	const char *name = ss_strings_text(&trace->names, tally->name);

	ss_row_begin(out);
	ss_row_text(out, name);
	ss_row_int(out, tally->calls);
	ss_row_int_known(out, tally->has_bytes ? tally->bytes : -1);
	ss_row_int(out, tally->total_ns);
	ss_row_rate(out, (double)tally->bytes,
		    tally->has_bytes ? (double)tally->bytes_known_ns : 0);
	ss_row_text(out, host_memory(name));
	ss_row_int_known(out, tally->has_host ? tally->host_ns : -1);
	ss_row_end(out);
}

static enum ss_status copies_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct tally *tallies = SS_ARENA_NEW(out->arena, struct tally,
					     (size_t)trace->names.count + 1);
	uint32_t used = 0;

	if (!tallies)
		return ss_fail_memory(err, "the copies");
	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (trace->slices.kind[row] == SS_KIND_MEMCPY ||
		    trace->slices.kind[row] == SS_KIND_MEMSET)
			count_row(trace, row, &tallies[trace->slices.name[row]]);
	for (uint32_t i = 0; i < trace->names.count; i++)
		if (tallies[i].calls)
			tallies[used++] = tallies[i];
	qsort(tallies, used, sizeof(*tallies), compare);
	for (uint32_t i = 0; i < used; i++)
		add(trace, out, &tallies[i]);
	return SS_OK;
}

const struct ss_view ss_view_copies = {
	.name = "copies",
	.summary = "Copies and memsets by kind: bytes, time, rate, and what the host waited",
	.empty = "No copies and no memsets.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run = copies_run,
};
