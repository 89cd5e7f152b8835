/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - table: samples of counters.
 */
#include "sql/raw.h"

SS_RAW_CELLS(counters_fill_at, int64_t, part->trace->counters[row].start_ns)

static void counters_fill_name(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	for (uint32_t i = 0; i < part->count; i++)
		ss_raw_put(part, SS_DOMAIN_NAMES, out, i,
			   part->trace->counters[ss_raw_row(part, i)].name);
}

static void fill_series(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	for (uint32_t i = 0; i < part->count; i++)
		ss_raw_text(out, i,
			    ss_strings_text(&part->trace->texts,
					    part->trace->counters[ss_raw_row(part, i)].series));
}

SS_RAW_CELLS(fill_value, double, part->trace->counters[row].value)

static uint32_t counters_count(const struct ss_trace *trace)
{
	return trace->counter_count;
}

static bool counters_overlap(const struct ss_trace *trace, uint32_t row, int64_t from_ns,
			     int64_t to_ns)
{
	int64_t start = trace->counters[row].start_ns;

	return start >= from_ns && start < to_ns;
}

#define COLUMNS(F)                                                                             \
	F(rank, ID, "rank of the file; empty if unknown", ss_raw_rank, NONE)                   \
	F(at_ns, NS, "time of the sample, from the first event of the file", counters_fill_at, \
	  NONE)                                                                                \
	F(name, TEXT, "name of the counter", counters_fill_name, NAMES)                        \
	F(series, TEXT, "series of the counter", fill_series, NONE)                            \
	F(value, NUMBER, "value of the sample", fill_value, NONE)

SS_RAW_TABLE(counters, COLUMNS, "Samples of the counters in the files", .count = counters_count,
	     .overlaps = counters_overlap);
