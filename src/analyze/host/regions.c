/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c - one pass over the host rows, parents before children, and one over the
 * kernels.
 */
#include "analyze/host/regions.h"

#include <string.h>

#include "analyze/time/cover.h"
#include "analyze/time/moment.h"

static bool name_starts_with(const struct ss_string *name, const char *text)
{
	return strncmp(name->text, text, strlen(text)) == 0;
}

static enum ss_compiled compiled_kind_of_name(const struct ss_string *name, uint32_t flags)
{
	if (flags & SS_NAME_COMPILE) {
		if (name_starts_with(name, "Torch-Compiled Region"))
			return SS_COMPILED_REGION;
		return name_starts_with(name, "TorchDynamo Cache Lookup") ? SS_COMPILED_LOOKUP
									  : SS_COMPILED_COMPILE;
	}
	if (name_starts_with(name, "CompiledFunction"))
		return SS_COMPILED_FUNCTION;
	return strstr(name->text, "CompiledFxGraph") ? SS_COMPILED_GRAPH : SS_COMPILED_NOT;
}

/* f4bw... of "## Call CompiledFxGraph f4bw... ##"; SS_NO_ID: no memory. */
static uint32_t region_graph_of_name(struct ss_regions *regions, const struct ss_string *name)
{
	static const char mark[] = "CompiledFxGraph ";
	const char *text = strstr(name->text, mark);

	if (!text)
		return 0;
	text += sizeof(mark) - 1;
	return ss_strings_add(&regions->graphs, text, strcspn(text, " "));
}

/* Sets *any if the file has compiled code. False: no memory. */
static bool regions_read_names(struct ss_regions *regions, bool *any)
{
	const struct ss_trace *trace = regions->trace;

	for (uint32_t i = 0; i < trace->names.count; i++) {
		const struct ss_string *name = &trace->names.items[i];

		regions->names[i] = (uint8_t)compiled_kind_of_name(name, trace->name_flags[i]);
		*any |= regions->names[i] != SS_COMPILED_NOT;
		if (regions->names[i] != SS_COMPILED_GRAPH)
			continue;
		regions->name_graphs[i] = region_graph_of_name(regions, name);
		if (regions->name_graphs[i] == SS_NO_ID)
			return false;
	}
	return true;
}

enum ss_compiled ss_region_kind(const struct ss_regions *regions, uint32_t row)
{
	enum ss_kind kind = regions->trace->slices.kind[row];

	if (kind != SS_KIND_OP && kind != SS_KIND_ANNOTATION)
		return SS_COMPILED_NOT;
	return (enum ss_compiled)regions->names[regions->trace->slices.name[row]];
}

static bool is_compiled_call(enum ss_compiled kind)
{
	return kind >= SS_COMPILED_REGION && kind <= SS_COMPILED_GRAPH;
}

/* Adds a call; its time, clipped to the call around it, is subtracted from that one. */
static void regions_add_call(struct ss_regions *regions, uint32_t row, uint32_t around,
			     bool in_graph)
{
	const struct ss_slices *slices = &regions->trace->slices;
	struct ss_region_call *call = &regions->calls[regions->call_count];
	int64_t end_ns = ss_slice_end(slices, row);

	*call = (struct ss_region_call){ .row = row, .around = around };
	call->host_ns = slices->dur_ns[row];
	call->is_break = around != SS_NO_ROW && !in_graph;
	regions->call[row] = regions->call_count++;
	if (around == SS_NO_ROW)
		return;
	if (end_ns > ss_slice_end(slices, regions->calls[around].row))
		end_ns = ss_slice_end(slices, regions->calls[around].row);
	ss_ns_subtract(&regions->calls[around].host_ns, end_ns - slices->start_ns[row]);
}

/* in_graph: per row, whether it is inside a function or graph of its call. */
static void regions_find_calls(struct ss_regions *regions, uint8_t *in_graph)
{
	const struct ss_trace *trace = regions->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		enum ss_compiled kind = ss_region_kind(regions, row);
		uint32_t parent = slices->parent[row];
		uint32_t around = parent == SS_NO_ROW ? SS_NO_ROW : regions->call[parent];
		bool inside = parent != SS_NO_ROW && in_graph[parent];

		regions->call[row] = around;
		in_graph[row] = inside;
		regions->has_compile |= kind == SS_COMPILED_COMPILE;
		regions->has_lookups |= kind == SS_COMPILED_LOOKUP;
		if (kind == SS_COMPILED_REGION || (is_compiled_call(kind) && around == SS_NO_ROW)) {
			regions_add_call(regions, row, around, inside);
			in_graph[row] = kind != SS_COMPILED_REGION;
		} else if (is_compiled_call(kind)) {
			in_graph[row] = true;
		}
		if (kind == SS_COMPILED_GRAPH && !regions->calls[regions->call[row]].graph)
			regions->calls[regions->call[row]].graph =
				regions->name_graphs[slices->name[row]];
	}
}

/* The call that launched a device row, or NULL. */
static struct ss_region_call *region_of_launch(const struct ss_regions *regions, uint32_t row)
{
	uint32_t launch = regions->trace->slices.link[row], call;

	if (launch >= regions->trace->device_from)
		return NULL;
	call = regions->call[launch];
	return call == SS_NO_ROW ? NULL : &regions->calls[call];
}

/* Charges each kernel to the compiled call that launched it, or to eager code. */
static void regions_count_kernels(struct ss_regions *regions)
{
	const struct ss_trace *trace = regions->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		struct ss_region_call *call;

		if (!ss_kind_is_kernel(slices->kind[row]) || slices->link[row] == SS_NO_ROW)
			continue;
		call = region_of_launch(regions, row);
		if (!call)
			call = &regions->eager;
		call->kernels++;
		ss_ns_add(&call->device_ns, slices->dur_ns[row]);
		/* Inductor's own names */
		if (name_starts_with(&trace->names.items[slices->name[row]], "triton_"))
			ss_ns_add(&call->triton_ns, slices->dur_ns[row]);
	}
}

void ss_regions_release(struct ss_regions *regions)
{
	ss_strings_release(&regions->graphs);
	ss_arena_release(&regions->arena);
	*regions = (struct ss_regions){ 0 };
}

enum ss_status ss_regions_init(struct ss_regions *regions, const struct ss_trace *trace,
			       struct ss_memory *memory, struct ss_error *err)
{
	size_t rows = (size_t)trace->device_from + 1, most = 1;
	uint8_t *in_graph;
	bool any = false;

	*regions = (struct ss_regions){ .trace = trace };
	ss_arena_init(&regions->arena, memory);
	if (!ss_strings_init(&regions->graphs, memory)) {
		ss_regions_release(regions);
		return ss_fail_memory(err, "the compiled regions");
	}
	regions->names = SS_ARENA_NEW(&regions->arena, uint8_t, (size_t)trace->names.count + 1);
	regions->name_graphs = SS_ARENA_NEW(&regions->arena, uint32_t,
					    (size_t)trace->names.count + 1);
	regions->call = SS_ARENA_NEW(&regions->arena, uint32_t, rows);
	in_graph = SS_ARENA_NEW(&regions->arena, uint8_t, rows);
	if (regions->names && regions->name_graphs && regions->call && in_graph &&
	    regions_read_names(regions, &any)) {
		for (uint32_t row = 0; any && row < trace->device_from; row++)
			most += is_compiled_call(ss_region_kind(regions, row));
		regions->calls = SS_ARENA_NEW(&regions->arena, struct ss_region_call, most);
	}
	if (!regions->calls) {
		ss_regions_release(regions);
		return ss_fail_memory(err, "the compiled regions");
	}
	if (any)
		regions_find_calls(regions, in_graph);
	else /* all bytes of SS_NO_ROW are 0xff */
		memset(regions->call, 0xff, rows * sizeof(*regions->call));
	regions_count_kernels(regions);
	return SS_OK;
}

/* --- by step: a row belongs to the step in which it starts, a kernel to that of its launch  */

struct region_of_kind {
	const struct ss_regions *regions;
	enum ss_compiled kind;
};

static bool region_is_of_kind(const void *context, uint32_t row)
{
	const struct region_of_kind *wanted = context;

	return ss_region_kind(wanted->regions, row) == wanted->kind;
}

/* Moments in which a thread ran code of this kind. */
static bool region_cover_of_kind(const struct ss_regions *regions, enum ss_compiled kind,
				 struct ss_cover *out)
{
	struct region_of_kind wanted = { regions, kind };

	ss_cover_rows(out, regions->trace, 1u << SS_TRACK_HOST, region_is_of_kind, &wanted);
	return !out->failed;
}

/* Sums the time of this kind in the range of each step on the CPU. */
static bool region_steps_time(const struct ss_regions *regions, enum ss_compiled kind,
			      struct ss_arena *scratch, struct ss_region_step *tallies)
{
	const struct ss_steps *steps = &regions->trace->steps;
	size_t size = (size_t)steps->count + 1;
	struct ss_cover ranges = { .count = steps->count };
	SS_COVER(cover, scratch->memory);
	int64_t *sums;

	if (!SS_ALLOC(scratch, sums, size) || !SS_ALLOC(scratch, ranges.items, size) ||
	    !region_cover_of_kind(regions, kind, &cover))
		return false;
	for (uint32_t i = 0; i < steps->count; i++)
		ranges.items[i] = (struct ss_interval){ steps->items[i].host_start_ns,
							steps->items[i].host_end_ns };
	ss_cover_share(&cover, &ranges, sums);
	for (uint32_t i = 0; i < steps->count; i++)
		if (kind == SS_COMPILED_COMPILE)
			tallies[i].compile_ns = sums[i];
		else
			tallies[i].guard_ns = sums[i];
	return true;
}

/* Counts outermost calls, graph breaks and guard checks in the step in which they start. */
static void region_steps_calls(const struct ss_regions *regions, struct ss_region_step *tallies)
{
	const struct ss_trace *trace = regions->trace;

	for (uint32_t i = 0; i < regions->call_count; i++) {
		const struct ss_region_call *call = &regions->calls[i];
		uint32_t step = ss_step_at(trace, trace->slices.start_ns[call->row]);

		if (step == SS_NO_ROW)
			continue;
		tallies[step].calls += call->around == SS_NO_ROW;
		tallies[step].breaks += call->is_break;
	}
	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t step;

		if (ss_region_kind(regions, row) != SS_COMPILED_LOOKUP)
			continue;
		step = ss_step_at(trace, trace->slices.start_ns[row]);
		if (step != SS_NO_ROW)
			tallies[step].lookups++;
	}
}

/*
 * Marks host rows between two outermost calls of their thread and step: the nearest call
 * before it and the nearest call after it are in the same step.
 */
static bool region_rows_between(const struct ss_regions *regions, struct ss_arena *scratch,
				uint8_t **out)
{
	const struct ss_trace *trace = regions->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t *before = SS_ARENA_NEW(scratch, uint32_t, (size_t)trace->device_from + 1);
	uint32_t step = SS_NO_ROW, track = SS_NO_ROW;

	*out = SS_ARENA_NEW(scratch, uint8_t, (size_t)trace->device_from + 1);
	if (!before || !*out)
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		if (slices->track[row] != track)
			step = SS_NO_ROW;
		track = slices->track[row];
		before[row] = step;
		if (regions->call[row] != SS_NO_ROW)
			step = ss_step_at(trace, slices->start_ns[row]);
	}
	step = track = SS_NO_ROW;
	for (uint32_t row = trace->device_from; row-- > 0;) {
		if (slices->track[row] != track)
			step = SS_NO_ROW;
		track = slices->track[row];
		(*out)[row] = step != SS_NO_ROW && before[row] == step;
		if (regions->call[row] != SS_NO_ROW)
			step = ss_step_at(trace, slices->start_ns[row]);
	}
	return true;
}

/* Counts kernels in the step of their launch, compiled and eager ones apart. */
static void region_steps_launches(const struct ss_regions *regions, const uint8_t *between,
				  struct ss_region_step *tallies)
{
	const struct ss_trace *trace = regions->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t step = ss_kind_is_kernel(slices->kind[row]) ? ss_step_of_launch(trace, row)
								     : SS_NO_ROW;
		bool triton = step != SS_NO_ROW &&
			      strncmp(ss_strings_text(&trace->names, slices->name[row]), "triton_",
				      7) == 0;

		if (step == SS_NO_ROW)
			continue;
		if (region_of_launch(regions, row)) {
			tallies[step].kernels++;
			ss_ns_add(&tallies[step].device_ns, slices->dur_ns[row]);
			ss_ns_add(&tallies[step].triton_ns, triton ? slices->dur_ns[row] : 0);
		} else {
			tallies[step].eager_kernels++;
			ss_ns_add(&tallies[step].eager_ns, slices->dur_ns[row]);
			tallies[step].between += between[slices->link[row]];
		}
	}
}

struct ss_region_step *ss_region_steps(const struct ss_regions *regions, struct ss_arena *arena)
{
	struct ss_region_step *tallies = SS_ARENA_NEW(arena, struct ss_region_step,
						      (size_t)regions->trace->steps.count + 1);
	SS_SCRATCH(scratch, arena->memory);
	uint8_t *between;
	bool whole;

	whole = tallies && region_rows_between(regions, &scratch, &between) &&
		region_steps_time(regions, SS_COMPILED_COMPILE, &scratch, tallies) &&
		region_steps_time(regions, SS_COMPILED_LOOKUP, &scratch, tallies);
	if (whole) {
		region_steps_calls(regions, tallies);
		region_steps_launches(regions, between, tallies);
	}
	return whole ? tallies : NULL;
}
