/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.h - what torch.compile left in a trace: calls of compiled code, and what
 * each of them launched.
 *
 * Compiled code is a region of Dynamo ("Torch-Compiled Region: 3/1": frame 3, the
 * second time it was compiled), a function of AOTAutograd (CompiledFunction,
 * CompiledFunctionBackward) or a graph of Inductor ("## Call CompiledFxGraph ..."),
 * which stand in each other. A call is a region, or the outermost of the others
 * where no region is around: backward. What a call does belongs to the innermost
 * call around it, so nothing counts twice.
 */
#ifndef SS_ANALYZE_HOST_REGIONS_H
#define SS_ANALYZE_HOST_REGIONS_H

#include "trace/trace.h"

enum ss_compiled {
	SS_COMPILED_NOT = 0,
	SS_COMPILED_REGION,
	SS_COMPILED_FUNCTION,
	SS_COMPILED_GRAPH,
	SS_COMPILED_LOOKUP,  /* guards: is there code for these inputs? */
	SS_COMPILED_COMPILE, /* compiling */
};

/* One call of compiled code. */
struct ss_region_call {
	uint32_t row;
	uint32_t around; /* the call that it is in, or SS_NO_ROW */
	uint32_t graph;  /* its first graph, id into graphs; 0: none */
	bool is_break;   /* a region inside another region, outside its graph */
	int64_t host_ns; /* without the calls inside */
	int64_t kernels, device_ns, triton_ns;
};

struct ss_regions {
	const struct ss_trace *trace;
	struct ss_arena arena;
	uint8_t *names;           /* enum ss_compiled, per name, for operators and ranges */
	struct ss_strings graphs; /* names of graphs: f4bw... */
	uint32_t *name_graphs;    /* id into graphs, per name; 0: none */
	uint32_t *call;           /* the call that a host row is in, or SS_NO_ROW */
	struct ss_region_call *calls;
	uint32_t call_count;
	bool has_compile, has_lookups; /* rows of that kind */
	struct ss_region_call eager;   /* kernels outside of calls */
};

SS_MUST_USE
enum ss_status ss_regions_init(struct ss_regions *regions, const struct ss_trace *trace,
			       struct ss_memory *memory, struct ss_error *err);
void ss_regions_release(struct ss_regions *regions);

/* What a host row is. */
enum ss_compiled ss_region_kind(const struct ss_regions *regions, uint32_t row);

/* --- by step: compiled and eager kernels, guards, compile time ------------------------ */

struct ss_region_step {
	int64_t calls;  /* outermost ones */
	int64_t breaks; /* regions inside another region, outside its graph */
	int64_t lookups;
	int64_t kernels, device_ns, triton_ns; /* launched in calls */
	int64_t eager_kernels, eager_ns;       /* outside of them */
	int64_t between;                       /* of these, between two calls of a thread */
	int64_t compile_ns, guard_ns;          /* of the step's range on the CPU */
};

/* One for each step, dropped ones too; NULL: no memory. */
SS_MUST_USE
struct ss_region_step *ss_region_steps(const struct ss_regions *regions, struct ss_arena *arena);

#endif
