/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.c - the table of categories.
 */
#include "trace/kinds.h"

#include <string.h>

#define MAPPED(from, to, kind)          \
	{                               \
		from,                   \
		{                       \
			to, kind, false \
		}                       \
	}
#define SAME(name, kind)                  \
	{                                 \
		name,                     \
		{                         \
			name, kind, false \
		}                         \
	}
#define BY_NAME(name, kind)              \
	{                                \
		name,                    \
		{                        \
			name, kind, true \
		}                        \
	}

static const struct {
	const char *name;
	struct ss_category category;
} categories[] = {
	/* PyTorch, now and since 1.11 */
	BY_NAME("cpu_op", SS_KIND_OP),
	SAME("user_annotation", SS_KIND_ANNOTATION),
	SAME("python_function", SS_KIND_PYTHON),
	SAME("cpu_instant_event", SS_KIND_INSTANT),
	SAME("cuda_runtime", SS_KIND_RUNTIME),
	SAME("cuda_driver", SS_KIND_DRIVER),
	SAME("kernel", SS_KIND_KERNEL),
	SAME("gpu_memcpy", SS_KIND_MEMCPY),
	SAME("gpu_memset", SS_KIND_MEMSET),
	SAME("gpu_user_annotation", SS_KIND_DEVICE_ANNOTATION),
	SAME("cuda_sync", SS_KIND_SYNC),
	SAME("cuda_event", SS_KIND_SYNC),
	/* Cuspy (torch 2.14): nodes of CUDA graphs that run nothing on the device */
	SAME("graph_event_node", SS_KIND_SYNC),
	SAME("graph_host_node", SS_KIND_SYNC),
	SAME("overhead", SS_KIND_OVERHEAD),
	SAME("trace", SS_KIND_SPAN),
	SAME("cuda_profiler_range", SS_KIND_COUNTER_RANGE),
	/* 1.8 to 1.10 */
	{ "operator", { "cpu_op", SS_KIND_OP, true } },
	SAME("python", SS_KIND_ANNOTATION),
	MAPPED("runtime", "cuda_runtime", SS_KIND_RUNTIME),
	MAPPED("memcpy", "gpu_memcpy", SS_KIND_MEMCPY),
	MAPPED("memset", "gpu_memset", SS_KIND_MEMSET),
	/* other devices */
	SAME("xpu_runtime", SS_KIND_RUNTIME),
	SAME("xpu_driver", SS_KIND_DRIVER),
	SAME("xpu_sync", SS_KIND_SYNC),
	SAME("collective_comm", SS_KIND_ANNOTATION),
	SAME("mtia_runtime", SS_KIND_RUNTIME),
	BY_NAME("mtia_ccp_events", SS_KIND_KERNEL),
	SAME("mtia_insight", SS_KIND_DEVICE_ANNOTATION),
	SAME("privateuse1_runtime", SS_KIND_RUNTIME),
	SAME("privateuse1_driver", SS_KIND_DRIVER),
	SAME("glow_runtime", SS_KIND_RUNTIME),
	SAME("hpu_op", SS_KIND_KERNEL),
	/* Nsight Systems exports as Chrome JSON */
	SAME("cuda", SS_KIND_KERNEL),
	SAME("cuda_api", SS_KIND_RUNTIME),
	SAME("nvtx", SS_KIND_ANNOTATION),
	SAME("nvtx-kernel", SS_KIND_DEVICE_ANNOTATION),
	SAME("osrt", SS_KIND_OTHER),
	/* our own: finish/graphs.c */
	SAME("graph_node", SS_KIND_OTHER),
	/* SQLite of Nsight Systems: ranges that need not nest */
	SAME("nvtx-start-end", SS_KIND_ASYNC),
};

struct ss_category ss_kind_of_category(const char *name, size_t length)
{
	for (size_t i = 0; i < SS_COUNT(categories); i++)
		if (strlen(categories[i].name) == length &&
		    memcmp(categories[i].name, name, length) == 0)
			return categories[i].category;
	return (struct ss_category){ NULL, SS_KIND_OTHER, false };
}

enum ss_track_class ss_kind_track(enum ss_kind kind)
{
	switch (kind) {
	case SS_KIND_KERNEL:
	case SS_KIND_COMM_KERNEL:
	case SS_KIND_MEMCPY:
	case SS_KIND_MEMSET:
		return SS_TRACK_DEVICE;
	case SS_KIND_DEVICE_ANNOTATION:
		return SS_TRACK_DEVICE_ANNOTATION;
	case SS_KIND_SYNC:
		return SS_TRACK_SYNC;
	case SS_KIND_OVERHEAD:
	case SS_KIND_SPAN:
		return SS_TRACK_PROFILER;
	case SS_KIND_ASYNC:
		return SS_TRACK_ASYNC;
	default:
		return SS_TRACK_HOST;
	}
}

const char *ss_kind_name(enum ss_kind kind)
{
	static const char *const names[] = {
		[SS_KIND_OTHER] = "other",
		[SS_KIND_OP] = "operator",
		[SS_KIND_ANNOTATION] = "annotation",
		[SS_KIND_PYTHON] = "python",
		[SS_KIND_RUNTIME] = "runtime",
		[SS_KIND_DRIVER] = "driver",
		[SS_KIND_KERNEL] = "kernel",
		[SS_KIND_COMM_KERNEL] = "comm-kernel",
		[SS_KIND_MEMCPY] = "memcpy",
		[SS_KIND_MEMSET] = "memset",
		[SS_KIND_DEVICE_ANNOTATION] = "device-annotation",
		[SS_KIND_SYNC] = "sync",
		[SS_KIND_OVERHEAD] = "overhead",
		[SS_KIND_SPAN] = "span",
		[SS_KIND_COUNTER_RANGE] = "counter-range",
		[SS_KIND_INSTANT] = "instant",
		[SS_KIND_ASYNC] = "async",
	};

	return names[kind];
}

const char *ss_track_class_name(enum ss_track_class class)
{
	static const char *const names[] = {
		[SS_TRACK_HOST] = "thread",
		[SS_TRACK_DEVICE] = "stream",
		[SS_TRACK_DEVICE_ANNOTATION] = "ranges",
		[SS_TRACK_SYNC] = "waits",
		[SS_TRACK_PROFILER] = "profiler",
		[SS_TRACK_ASYNC] = "async",
	};

	return names[class];
}
