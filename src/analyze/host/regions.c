/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c - one pass over the host rows, parents before children, and one over the
 * kernels.
 */
#include <string.h>

#include "analyze/host/regions.h"

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

struct ss_region_call *ss_region_of_launch(const struct ss_regions *regions, uint32_t row)
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
		call = ss_region_of_launch(regions, row);
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
