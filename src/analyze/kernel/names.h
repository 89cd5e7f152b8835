/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - the short name and the category of every kernel in a trace.
 */
#ifndef SS_ANALYZE_KERNEL_NAMES_H
#define SS_ANALYZE_KERNEL_NAMES_H

#include "analyze/kernel/category.h"
#include "trace/trace.h"

struct ss_kernel_name {
	const char *text; /* short; NULL: no kernel has this name */
	enum ss_kernel_category category;
	bool is_comm; /* a kernel of this name moves data between ranks */
};

/* One for each name of the trace, in the arena; NULL: no memory. */
SS_MUST_USE
struct ss_kernel_name *ss_kernel_names(const struct ss_trace *trace, struct ss_arena *arena);

#endif
