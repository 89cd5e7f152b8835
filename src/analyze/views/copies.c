/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.c - view: copies and memsets by kind, operator or line: bytes, time, bandwidth,
 * and how long the host waited for them.
 *
 * A call that returns after its copy is done has waited for it and for the work before it:
 * all of its time counts as blocked. A call that returns while its copy runs was blocked
 * since the copy started: copies from pageable memory return shortly before they end. A
 * call that returns before its copy starts was not blocked.
 */
#include <string.h>

#include "analyze/facts.h"
#include "analyze/host/ops.h"
#include "analyze/host/places.h"
#include "base/sort.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "direction and memory kinds, as in the trace", SS_COLUMN_SLICES },
	{ "op", SS_COLUMN_TEXT, "innermost operator that made the calls (group op)",
	  SS_COLUMN_SLICES },
	{ "line", SS_COLUMN_TEXT, "source line that made the calls (group line)", 0 },
	{ "calls", SS_COLUMN_COUNT, "number of copies or memsets", SS_COLUMN_FILLED },
	{ "moved_bytes", SS_COLUMN_BYTES, "total size; empty if no call has a size", 0 },
	{ "total_ns", SS_COLUMN_NS, "sum of the durations on the device", SS_COLUMN_FILLED },
	{ "blocked_ns", SS_COLUMN_NS,
	  "time the host was blocked in the call while the copy ran; the whole call if it waited "
	  "for the copy",
	  0 },
	{ "gb_per_s", SS_COLUMN_NUMBER, "bytes per time, 1 GB = 10^9 bytes", 0 },
	{ "host_memory", SS_COLUMN_TEXT,
	  "pageable or pinned; copies of pageable memory are staged and block the host. Not "
	  "recorded on ROCm",
	  0 },
	{ "host_ns", SS_COLUMN_NS,
	  "time of the calls on the CPU, where recorded: long if they block", 0 },
};

enum copies_group { BY_KIND, BY_OP, BY_LINE };

/* What makes a row. Compared as bytes: no padding. */
struct copy_key {
	uint32_t name;
	uint32_t place; /* name of the operator or line, by the group; 0: none */
};

struct copy_tally {
	struct copy_key key;
	uint32_t number;
	int64_t calls, bytes, bytes_known_ns, total_ns, host_ns, blocked_ns;
	bool has_bytes, has_host;
	uint32_t launch;   /* the last one: a graph launch can make several copies */
	int64_t launch_ns; /* its part of blocked_ns */
};

struct copy_counting {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	enum copies_group group;
	struct ss_facts *facts;
	const struct ss_ops *ops;       /* only for group op */
	const struct ss_places *places; /* only for group line */
	struct ss_records keys;
	struct copy_tally *tallies; /* one per key */
	uint32_t tally_capacity;
};

SS_COMPARATOR(copy_compare_total, struct copy_tally,
	      SS_DESCENDING(total_ns) SS_ASCENDING(key.name) SS_ASCENDING(number))

static uint32_t copy_place(const struct copy_counting *view, uint32_t launch)
{
	if (launch == SS_NO_ROW || launch >= view->trace->device_from)
		return 0;
	if (view->group == BY_LINE)
		return view->places->line[launch];
	if (view->group == BY_OP && view->ops->owner[launch] != SS_NO_ROW)
		return view->trace->slices.name[view->ops->owner[launch]];
	return 0;
}

/* How long a copy blocked its call. */
static int64_t copy_blocked_ns(const struct ss_slices *slices, uint32_t launch, uint32_t row)
{
	int64_t end_ns = ss_slice_end(slices, launch), from_ns = slices->start_ns[row];

	if (end_ns >= ss_slice_end(slices, row))
		return slices->dur_ns[launch];
	if (from_ns < slices->start_ns[launch])
		from_ns = slices->start_ns[launch];
	return end_ns > from_ns ? end_ns - from_ns : 0;
}

/* A call that makes several copies counts once; it is blocked as long as by the longest. */
static void copy_count_call(const struct ss_slices *slices, uint32_t row, struct copy_tally *tally)
{
	uint32_t launch = slices->link[row];
	int64_t blocked_ns;

	if (launch == SS_NO_ROW)
		return;
	if (!tally->has_host || tally->launch != launch) {
		ss_ns_add(&tally->host_ns, slices->dur_ns[launch]);
		tally->launch = launch;
		tally->launch_ns = 0;
		tally->has_host = true;
	}
	blocked_ns = copy_blocked_ns(slices, launch, row);
	if (blocked_ns > tally->launch_ns) {
		ss_ns_add(&tally->blocked_ns, blocked_ns - tally->launch_ns);
		tally->launch_ns = blocked_ns;
	}
}

static void copy_count_bytes(const struct ss_trace *trace, uint32_t row, struct copy_tally *tally)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_copy_args *args;

	if (slices->args[row] == SS_NO_ARGS)
		return;
	args = ss_records_at(&trace->copy_args, slices->args[row]);
	if (args->bytes < 0)
		return;
	/* sizes in files may be absurd */
	if (__builtin_add_overflow(tally->bytes, args->bytes, &tally->bytes))
		tally->bytes = INT64_MAX;
	ss_ns_add(&tally->bytes_known_ns, slices->dur_ns[row]);
	tally->has_bytes = true;
}

/* The tally of a key, made now if it is new; NULL: no memory. */
static struct copy_tally *copy_tally_of(struct copy_counting *view, const struct copy_key *key)
{
	uint32_t before = view->keys.count, number = ss_records_add(&view->keys, key);

	if (number == SS_NO_ID ||
	    !SS_RESERVE(view->memory, view->tallies, view->tally_capacity, view->keys.count))
		return NULL;
	if (number == before)
		view->tallies[number] = (struct copy_tally){ .key = *key, .number = number };
	return &view->tallies[number];
}

static bool copies_count_row(struct copy_counting *view, uint32_t row)
{
	const struct ss_slices *slices = &view->trace->slices;
	struct copy_key key = { slices->name[row], copy_place(view, slices->link[row]) };
	struct copy_tally *tally = copy_tally_of(view, &key);

	if (!tally)
		return false;
	tally->calls++;
	ss_ns_add(&tally->total_ns, slices->dur_ns[row]);
	copy_count_call(slices, row, tally);
	copy_count_bytes(view->trace, row, tally);
	return true;
}

static const char *copy_host_memory(const char *name)
{
	if (strstr(name, "Pageable"))
		return "pageable";
	return strstr(name, "Pinned") ? "pinned" : NULL;
}

static void copies_add_row(const struct copy_counting *view, struct ss_table *out,
			   const struct copy_tally *tally)
{
	const char *name = ss_strings_text(&view->trace->names, tally->key.name);
	uint32_t place = tally->key.place;

	ss_row_begin(out);
	ss_row_text(out, name);
	ss_row_text(out, view->group == BY_OP ? ss_strings_text(&view->trace->names, place) : NULL);
	ss_row_text(out, view->group == BY_LINE && place
				 ? ss_places_line(view->places, tally->launch)
				 : NULL);
	ss_row_int(out, tally->calls);
	ss_row_int_known(out, tally->has_bytes ? tally->bytes : -1);
	ss_row_int(out, tally->total_ns);
	ss_row_int_known(out, tally->has_host ? tally->blocked_ns : -1);
	ss_row_rate(out, (double)tally->bytes,
		    tally->has_bytes ? (double)tally->bytes_known_ns : 0);
	ss_row_text(out, copy_host_memory(name));
	ss_row_int_known(out, tally->has_host ? tally->host_ns : -1);
	ss_row_end(out);
}

static bool trace_has_ops(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].has_ops)
			return true;
	return false;
}

static void copies_note_missing(const struct copy_counting *view, struct ss_table *out)
{
	if (!view->keys.count)
		return;
	if (view->group == BY_LINE && !view->places->has_lines)
		ss_note_missing(out, SS_MISSING_LINES);
	if (view->group == BY_OP && !trace_has_ops(view->trace))
		ss_note_missing(out, SS_MISSING_OPERATORS);
}

static enum ss_status copies_fill(struct copy_counting *view, struct ss_table *out,
				  struct ss_error *err)
{
	const struct ss_trace *trace = view->trace;

	if (view->group == BY_OP)
		SS_TRY(ss_facts_ops(view->facts, &view->ops, err));
	if (view->group == BY_LINE)
		SS_TRY(ss_facts_places(view->facts, &view->places, err));
	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if ((trace->slices.kind[row] == SS_KIND_MEMCPY ||
		     trace->slices.kind[row] == SS_KIND_MEMSET) &&
		    !copies_count_row(view, row))
			return ss_fail_memory(err, "the copies");
	SS_SORT(view->tallies, view->keys.count, copy_compare_total);
	for (uint32_t i = 0; i < view->keys.count; i++)
		copies_add_row(view, out, &view->tallies[i]);
	copies_note_missing(view, out);
	return SS_OK;
}

static enum ss_status copies_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	struct copy_counting view = { .trace = subject->trace,
				      .memory = out->arena->memory,
				      .facts = subject->facts,
				      .group = (enum copies_group)subject->group };
	enum ss_status status;

	if (!ss_records_init(&view.keys, view.memory, sizeof(struct copy_key)))
		return ss_fail_memory(err, "the copies");
	status = copies_fill(&view, out, err);
	SS_FREE(view.memory, view.tallies, view.tally_capacity);
	ss_records_release(&view.keys);
	return status;
}

const struct ss_view ss_view_copies = {
	.name = "copies",
	.summary = "Copies and memsets: size, time, bandwidth, time the host waits",
	.empty = "No copies or memsets: record them with ProfilerActivity.CUDA.",
	SS_TABLE_COLUMNS(columns),
	.sums = "calls moved_bytes total_ns blocked_ns host_ns",
	.basis = SS_BASIS_FILE,
	.groups = { "kind", "op", "line" },
	.order = { "total_ns" },
	.of_device = true,
	.run = copies_run,
};
