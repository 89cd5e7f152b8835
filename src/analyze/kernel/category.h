/* SPDX-License-Identifier: Apache-2.0 */
/*
 * category.h - what kind of work a kernel does, from its name; the short name and the category of
 * every kernel in a trace.
 */
#ifndef SS_ANALYZE_KERNEL_CATEGORY_H
#define SS_ANALYZE_KERNEL_CATEGORY_H

#include "base/error.h"
#include "trace/trace.h"

enum ss_kernel_category {
	SS_KERNEL_OTHER = 0, /* no pattern matches */
	SS_KERNEL_GEMM,
	SS_KERNEL_CONVOLUTION,
	SS_KERNEL_ATTENTION,
	SS_KERNEL_REDUCTION,
	SS_KERNEL_NORMALIZATION,
	SS_KERNEL_SOFTMAX,
	SS_KERNEL_ELEMENTWISE,
	SS_KERNEL_COPY, /* copies, casts, transposes, fills */
	SS_KERNEL_INDEXING,
	SS_KERNEL_OPTIMIZER,
	SS_KERNEL_SORT,
	SS_KERNEL_COMMUNICATION,
	SS_KERNEL_FUSED, /* several operators, fused by a compiler */
	SS_KERNEL_CATEGORIES,
};

/*
 * The category of a short name (short_name.h): that says what the kernel does, without the
 * types of its parameters, which would mislead. Never SS_KERNEL_COMMUNICATION: the trace
 * decides that, by more than the name.
 */
enum ss_kernel_category ss_kernel_category(const char *short_name, size_t length);

const char *ss_kernel_category_name(enum ss_kernel_category category);

struct ss_kernel_name {
	const char *text; /* short; NULL: no kernel has this name */
	enum ss_kernel_category category;
	bool is_comm; /* a kernel of this name moves data between ranks */
};

/* One for each name of the trace, in the arena; NULL: no memory. */
SS_MUST_USE
struct ss_kernel_name *ss_kernel_names(const struct ss_trace *trace, struct ss_arena *arena);

#endif
