/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile.c - view: torch.compile: compiled regions and what they launch, what
 * stays eager, guards, graph breaks, and compiling itself.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/facts.h"
#include "analyze/host/region_steps.h"
#include "table/view.h"

enum { GROUP_REGION, GROUP_STEP, GROUP_COMPILE };

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", 0 },
	{ "name", SS_COLUMN_TEXT,
	  "region, by frame and version; eager: outside of all; or what compiled",
	  SS_COLUMN_SLICES },
	{ "calls", SS_COLUMN_COUNT, "how often it ran; in a step: calls that are in no other", 0 },
	{ "version", SS_COLUMN_ID,
	  "how often its frame was compiled before: above 0 it was compiled again",
	  SS_COLUMN_DETAIL },
	{ "host_ns", SS_COLUMN_NS, "time on the CPU without regions, or compiling, inside", 0 },
	{ "host_total_ns", SS_COLUMN_NS, "time on the CPU, sum over calls", SS_COLUMN_DETAIL },
	{ "compile_ns", SS_COLUMN_NS, "a thread compiled (dynamo_timed ranges)", 0 },
	{ "guard_ns", SS_COLUMN_NS, "a thread looked for compiled code (guards)", 0 },
	{ "lookups", SS_COLUMN_COUNT, "how often it looked", SS_COLUMN_DETAIL },
	{ "graph_breaks", SS_COLUMN_COUNT,
	  "regions that run in a region after its graph; not known where regions stand beside "
	  "each other",
	  0 },
	{ "kernels", SS_COLUMN_COUNT, "kernels that it launched: compiled", 0 },
	{ "device_ns", SS_COLUMN_NS, "sum of their durations", 0 },
	{ "device_percent", SS_COLUMN_PERCENT,
	  "device_ns, of all kernels whose launch is recorded (in a step: launched in it)",
	  SS_COLUMN_BAR },
	{ "triton_percent", SS_COLUMN_PERCENT, "of device_ns, in kernels that Inductor wrote", 0 },
	{ "eager_kernels", SS_COLUMN_COUNT, "kernels that were launched outside of regions", 0 },
	{ "eager_ns", SS_COLUMN_NS, "sum of their durations", SS_COLUMN_DETAIL },
	{ "between_kernels", SS_COLUMN_COUNT,
	  "of these, launched between two regions of a thread: behind a graph break where both are "
	  "of one model",
	  0 },
	{ "graph", SS_COLUMN_TEXT, "Inductor's name of its first graph", SS_COLUMN_DETAIL },
};

static void skip(struct ss_table *out, int count)
{
	while (count--)
		ss_row_null(out);
}

/* --- regions ------------------------------------------------------------------ */

struct tally {
	uint32_t name, graph, first; /* first: order of appearance */
	int64_t calls, host_ns, total_ns, kernels, device_ns, triton_ns;
};

static int by_key(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->graph != y->graph)
		return x->graph < y->graph ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int by_time(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->device_ns != y->device_ns)
		return x->device_ns > y->device_ns ? -1 : 1;
	if (x->host_ns != y->host_ns)
		return x->host_ns > y->host_ns ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Sums tallies of equal names and graphs in place; returns how many are left. */
static uint32_t fold(struct tally *tallies, uint32_t count)
{
	uint32_t used = 0;

	qsort(tallies, count, sizeof(*tallies), by_key);
	for (uint32_t i = 0; i < count; i++) {
		struct tally *last = used ? &tallies[used - 1] : NULL;

		if (!last || last->name != tallies[i].name || last->graph != tallies[i].graph) {
			tallies[used++] = tallies[i];
			continue;
		}
		last->calls += tallies[i].calls;
		ss_ns_add(&last->host_ns, tallies[i].host_ns);
		ss_ns_add(&last->total_ns, tallies[i].total_ns);
		last->kernels += tallies[i].kernels;
		ss_ns_add(&last->device_ns, tallies[i].device_ns);
		ss_ns_add(&last->triton_ns, tallies[i].triton_ns);
	}
	qsort(tallies, used, sizeof(*tallies), by_time);
	return used;
}

/* 1 of "Torch-Compiled Region: 3/1"; -1 where it is not told. */
static int64_t version_of(const char *name)
{
	const char *slash = strncmp(name, "Torch-Compiled Region: ", 23) == 0 ? strchr(name, '/')
									      : NULL;
	int64_t version = 0;

	if (!slash || slash[1] < '0' || slash[1] > '9')
		return -1;
	/* "3/1_2": the third try of it */
	for (slash++; *slash >= '0' && *slash <= '9' && version < INT32_MAX; slash++)
		version = 10 * version + (*slash - '0');
	return version;
}

static void add_region(const struct ss_regions *regions, const struct tally *tally, int64_t all_ns,
		       struct ss_table *out)
{
	const struct ss_strings *names = &regions->trace->names;
	const char *name = tally->calls ? ss_strings_text(names, tally->name) : "eager";

	ss_row_begin(out);
	ss_row_null(out);
	ss_row_text(out, name);
	if (tally->calls) {
		ss_row_int(out, tally->calls);
		ss_row_int_known(out, version_of(name));
		ss_row_int(out, tally->host_ns);
		ss_row_int(out, tally->total_ns);
	} else {
		skip(out, 4);
	}
	skip(out, 4);
	ss_row_int(out, tally->kernels);
	ss_row_int(out, tally->device_ns);
	ss_row_share(out, (double)tally->device_ns, (double)all_ns);
	ss_row_share(out, (double)tally->triton_ns, (double)tally->device_ns);
	skip(out, 3);
	if (tally->graph)
		ss_row_text(out, ss_strings_text(&regions->graphs, tally->graph));
	else
		ss_row_null(out);
	ss_row_end(out);
}

static void note_versions(const struct ss_trace *trace, const struct tally *tallies, uint32_t count,
			  struct ss_table *out)
{
	uint32_t again = 0;

	for (uint32_t i = 0; i < count; i++)
		again += tallies[i].calls &&
			 version_of(ss_strings_text(&trace->names, tallies[i].name)) > 0;
	if (again == 1)
		ss_table_note(out, "One region is a version of a frame that was compiled before: "
				   "sizes or guards differ. TORCH_LOGS=recompiles tells why.");
	if (again > 1)
		ss_table_note(out,
			      "%u regions are versions of frames that were compiled before: sizes "
			      "or guards differ. TORCH_LOGS=recompiles tells why.",
			      (unsigned)again);
}

static bool add_regions(const struct ss_regions *regions, struct ss_table *out)
{
	const struct ss_slices *slices = &regions->trace->slices;
	struct tally *tallies = SS_ARENA_NEW(out->arena, struct tally,
					     (size_t)regions->call_count + 1);
	int64_t all_ns = regions->eager.device_ns;
	uint32_t count = regions->call_count;

	if (!tallies)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct ss_region_call *call = &regions->calls[i];

		ss_ns_add(&all_ns, call->device_ns);
		tallies[i] = (struct tally){
			.name = slices->name[call->row],
			.graph = call->graph,
			.first = i,
			.calls = 1,
			.host_ns = call->host_ns,
			.total_ns = slices->dur_ns[call->row],
			.kernels = call->kernels,
			.device_ns = call->device_ns,
			.triton_ns = call->triton_ns,
		};
	}
	count = fold(tallies, count);
	if (regions->eager.kernels)
		tallies[count++] = (struct tally){ .kernels = regions->eager.kernels,
						   .device_ns = regions->eager.device_ns,
						   .triton_ns = regions->eager.triton_ns };
	for (uint32_t i = 0; i < count; i++)
		add_region(regions, &tallies[i], all_ns, out);
	note_versions(regions->trace, tallies, count, out);
	return true;
}

/* --- steps -------------------------------------------------------------------- */

static void add_step(const struct ss_regions *regions, uint32_t step,
		     const struct ss_region_step *tally, struct ss_table *out)
{
	ss_row_begin(out);
	ss_row_int(out, step);
	ss_row_null(out);
	ss_row_int(out, tally->calls);
	skip(out, 3);
	/* writers that never record it are not told from those that had nothing to record */
	ss_row_int_known(out, regions->has_compile ? tally->compile_ns : -1);
	ss_row_int_known(out, regions->has_lookups ? tally->guard_ns : -1);
	ss_row_int_known(out, regions->has_lookups ? tally->lookups : -1);
	/* several calls beside each other may be one model or several */
	ss_row_int_known(out, tally->breaks || tally->calls == 1 ? tally->breaks : -1);
	ss_row_int(out, tally->kernels);
	ss_row_int(out, tally->device_ns);
	ss_row_share(out, (double)tally->device_ns,
		     (double)tally->device_ns + (double)tally->eager_ns);
	ss_row_share(out, (double)tally->triton_ns, (double)tally->device_ns);
	ss_row_int(out, tally->eager_kernels);
	ss_row_int(out, tally->eager_ns);
	ss_row_int(out, tally->between);
	ss_row_null(out);
	ss_row_end(out);
}

static bool add_steps(const struct ss_regions *regions, struct ss_table *out)
{
	const struct ss_steps *steps = &regions->trace->steps;
	const struct ss_region_step *tallies = ss_region_steps(regions, out->arena);

	if (!tallies)
		return false;
	for (uint32_t i = 0; i < steps->count; i++)
		if (!steps->items[i].dropped)
			add_step(regions, i, &tallies[i], out);
	return true;
}

/* --- compiling ---------------------------------------------------------------- */

/* Ranges that compile, by name; own time is what no range inside of it has. */
static bool add_compiling(const struct ss_regions *regions, struct ss_table *out)
{
	const struct ss_trace *trace = regions->trace;
	const struct ss_slices *slices = &trace->slices;
	struct tally *tallies = SS_ARENA_NEW(out->arena, struct tally,
					     (size_t)trace->names.count + 1);
	/* the innermost range around each row */
	uint32_t *around = SS_ARENA_NEW(out->arena, uint32_t, (size_t)trace->device_from + 1);
	uint32_t used = 0;

	if (!tallies || !around)
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		struct tally *tally = &tallies[slices->name[row]];
		uint32_t outer = slices->parent[row];
		int64_t end_ns = ss_slice_end(slices, row);

		outer = outer == SS_NO_ROW ? SS_NO_ROW : around[outer];
		around[row] = outer;
		if (ss_region_kind(regions, row) != SS_COMPILED_COMPILE)
			continue;
		around[row] = row;
		*tally = (struct tally){ .name = slices->name[row],
					 .first = slices->name[row],
					 .calls = tally->calls + 1,
					 .host_ns = tally->host_ns + slices->dur_ns[row],
					 .total_ns = tally->total_ns + slices->dur_ns[row] };
		if (outer == SS_NO_ROW)
			continue;
		if (end_ns > ss_slice_end(slices, outer))
			end_ns = ss_slice_end(slices, outer);
		ss_ns_subtract(&tallies[slices->name[outer]].host_ns,
			       end_ns - slices->start_ns[row]);
	}
	for (uint32_t i = 0; i < trace->names.count; i++)
		if (tallies[i].calls)
			tallies[used++] = tallies[i];
	qsort(tallies, used, sizeof(*tallies), by_time);
	for (uint32_t i = 0; i < used; i++) {
		ss_row_begin(out);
		ss_row_null(out);
		ss_row_text(out, ss_strings_text(&trace->names, tallies[i].name));
		ss_row_int(out, tallies[i].calls);
		ss_row_null(out);
		ss_row_int(out, tallies[i].host_ns);
		ss_row_int(out, tallies[i].total_ns);
		skip(out, 12);
		ss_row_end(out);
	}
	return true;
}

static enum ss_status compile_run(const struct ss_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	const struct ss_regions *regions;
	bool whole = true;

	SS_TRY(ss_facts_regions(subject->facts, &regions, err));
	if (subject->group == GROUP_COMPILE)
		whole = add_compiling(regions, out);
	else if (subject->group == GROUP_STEP && (regions->call_count || regions->has_compile))
		whole = add_steps(regions, out);
	else if (subject->group == GROUP_REGION && regions->call_count)
		whole = add_regions(regions, out);
	return whole ? SS_OK : ss_fail_memory(err, "the compiled regions");
}

const struct ss_view ss_view_compile = {
	.name = "compile",
	.summary = "torch.compile: regions and their kernels, eager rest, guards, compiling",
	.empty = "None here: torch.compile was not used, compiled nothing, or was not recorded.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.sums = "host_ns kernels device_ns",
	.basis = SS_BASIS_FILE,
	.bases = { [GROUP_STEP] = SS_BASIS_STEP },
	.groups = { "region", "step", "compile" },
	.order = { "device_ns", "host_ns" },
	.own_order = 1u << GROUP_STEP,
	.run = compile_run,
};
