/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspects.c - finds traces of damaged bytes in a file that is still valid JSON.
 *
 * A changed digit gives another process, another time, another shape. Most such values look
 * normal, but some contradict the rest of the file. Each check here is silent for files as
 * profilers write them, and costs next to nothing for those.
 */
#include <string.h>

#include "trace/finish/finish.h"
#include "trace/trace.h"

/* A recording covers one stretch of time; shorter ones vary too much to judge. */
#define FAR_SPAN_NS (INT64_C(60) * 1000000000)

/* The gap between the few and the others takes this share of the whole ... */
#define EMPTY_PERCENT 90

/* ... and the few are at most one event in this number: damage is rare. */
#define FEW_ONE_IN 100

#define BUCKETS 256

/* --- processes ---------------------------------------------------------------------------- */

/* Counts events of a few processes without a name, where the program has one. */
static void suspect_processes(struct ss_trace *trace)
{
	uint64_t unnamed = 0, all = 0;
	bool named = false;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class != SS_TRACK_HOST || !track->row_count)
			continue;
		all += track->row_count;
		if (!track->process)
			unnamed += track->row_count;
		/* of the program: the profiler names its own */
		named = named || (track->process && track->has_ops);
	}
	/* many writers name no process, or not all of them */
	if (named && unnamed <= all / FEW_ONE_IN)
		ss_quality_add(&trace->quality, SS_ODD_UNNAMED_PROCESS, unnamed);
}

/* --- times -------------------------------------------------------------------------------- */

/* Sorts the events into equal parts of the span; returns how many there are. */
static uint64_t fill_buckets(const struct ss_trace *trace, int64_t from_ns, int64_t span_ns,
			     uint64_t counts[BUCKETS])
{
	int64_t width = span_ns / BUCKETS + 1;

	for (uint32_t row = 0; row < trace->slices.count; row++)
		counts[(trace->slices.start_ns[row] - from_ns) / width]++;
	return trace->slices.count;
}

/* Counts few events that a long empty stretch separates from all others. */
static void suspect_times(struct ss_trace *trace)
{
	int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
	uint64_t counts[BUCKETS] = { 0 }, all, before = 0, few = 0;
	uint32_t empty = 0, longest = 0;

	for (uint32_t row = 0; row < trace->slices.count; row++) {
		int64_t start_ns = trace->slices.start_ns[row];

		from_ns = start_ns < from_ns ? start_ns : from_ns;
		to_ns = start_ns > to_ns ? start_ns : to_ns;
	}
	if (!trace->slices.count || to_ns - from_ns < FAR_SPAN_NS)
		return;
	all = fill_buckets(trace, from_ns, to_ns - from_ns, counts);
	for (uint32_t i = 0; i < BUCKETS; i++) {
		empty = counts[i] ? 0 : empty + 1;
		before += counts[i];
		if (empty > longest) {
			longest = empty;
			few = before < all - before ? before : all - before;
		}
	}
	if (longest * 100 >= BUCKETS * EMPTY_PERCENT && few <= all / FEW_ONE_IN)
		ss_quality_add(&trace->quality, SS_ODD_FAR_EVENT, few);
}

/* --- shapes ------------------------------------------------------------------------------- */

/* The end of the number or text at `at`. */
static const char *skip_item(const char *at)
{
	if (*at == '"') {
		for (at++; *at && *at != '"'; at++)
			at += at[0] == '\\' && at[1];
		return *at ? at + 1 : at;
	}
	while ((unsigned char)*at > ' ' && !strchr("[],\"", *at))
		at++;
	return at;
}

/* Lists in lists of numbers and texts, with one comma between two of them. */
static bool is_list(const char *at)
{
	bool wants_item = false, has_item = false; /* after a comma; after an item */
	uint32_t depth = 0;

	if (*at != '[')
		return true;
	while (*at) {
		if ((unsigned char)*at <= ' ') {
			at++;
		} else if (*at == '[') {
			if (has_item && !wants_item)
				return false;
			depth++;
			has_item = wants_item = false;
			at++;
		} else if (*at == ']') {
			if (!depth || wants_item)
				return false;
			depth--;
			has_item = true;
			at++;
		} else if (*at == ',') {
			if (!has_item || wants_item)
				return false;
			wants_item = true;
			at++;
		} else {
			if (has_item && !wants_item)
				return false;
			at = skip_item(at);
			has_item = true;
			wants_item = false;
		}
	}
	return depth == 0;
}

static void suspect_shapes(struct ss_trace *trace)
{
	for (uint32_t id = 0; id < trace->op_args.count; id++) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args, id);
		const uint32_t texts[] = { args->input_dims, args->input_types,
					   args->input_strides };

		for (size_t i = 0; i < SS_COUNT(texts); i++)
			if (!is_list(ss_strings_text(&trace->texts, texts[i])))
				ss_quality_add(&trace->quality, SS_ODD_SYNTAX, 1);
	}
}

void ss_finish_suspects(struct ss_trace *trace)
{
	suspect_processes(trace);
	suspect_times(trace);
	suspect_shapes(trace);
}
